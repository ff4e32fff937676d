/** Tells one who waits that there is something to do; what is told while nobody waits is not forgotten. */
export class Signal {
  #isSet = false
  #wake: (() => void) | undefined

  set(): void {
    this.#isSet = true
    this.#wake?.()
  }

  /** Until it is set, the time is over, or the other signal aborts. */
  async wait(ms: number, abort: AbortSignal): Promise<void> {
    if (!this.#isSet && !abort.aborted) {
      let done: () => void = () => undefined
      const woken = new Promise<void>(resolve => {
        done = resolve
      })
      const timer = setTimeout(done, ms)
      this.#wake = done
      abort.addEventListener('abort', done)
      await woken
      clearTimeout(timer)
      abort.removeEventListener('abort', done)
      this.#wake = undefined
    }
    this.#isSet = false
  }
}
