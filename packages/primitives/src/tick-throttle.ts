/** Starts per turn of the event loop. */
const PER_TICK = 16

/**
 * Spreads the start of many tasks over turns of the event loop, in the order of the calls. Writes and signature checks
 * of the started tasks proceed while the next tasks start, instead of all tasks reaching each stage at once.
 */
export class TickThrottle {
  readonly #waiting: (() => void)[] = []
  #isScheduled = false

  next(): Promise<void> {
    return new Promise(resolve => {
      this.#waiting.push(resolve)
      this.#schedule()
    })
  }

  /** Works on each item from its turn on; the results are in the order of the items. */
  map<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
    return Promise.all(
      items.map(async item => {
        await this.next()
        return work(item)
      })
    )
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      for (const begin of this.#waiting.splice(0, PER_TICK)) begin()
      if (this.#waiting.length > 0) this.#schedule()
    })
  }
}
