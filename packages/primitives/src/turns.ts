/** As many as begin in one turn of the event loop. */
const AT_A_TIME = 16

/**
 * Lets a few begin in each turn of the event loop, in the order in which they asked. What those write is on its way to
 * the disk, and what they have checked is being checked, while the next are worked on; if all began together, all would
 * wait together.
 */
export class Turns {
  readonly #waiting: (() => void)[] = []
  #isScheduled = false

  next(): Promise<void> {
    return new Promise(resolve => {
      this.#waiting.push(resolve)
      this.#schedule()
    })
  }

  /** Works on all of them, and answers in their order. */
  all<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
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
      for (const begin of this.#waiting.splice(0, AT_A_TIME)) begin()
      if (this.#waiting.length > 0) this.#schedule()
    })
  }
}
