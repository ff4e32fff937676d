/** Wakes one waiter. A signal set without a waiter is kept for the next one. */
export class Signal {
  #isSet = false
  #wake: (() => void) | undefined

  set(): void {
    this.#isSet = true
    this.#wake?.()
  }

  /** Resolves when the signal is set, after `ms`, or on abort. */
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
