import { setImmediate as nextTurn } from 'node:timers/promises'

/** As many as are worth a commit of their own. */
const AT_A_TIME = 100

/**
 * Works on many things at once, but begins with a few at a time: what those write is on its way to the disk while the
 * next are worked on. Who comes while others begin waits for them, so that not all are waiting for the disk together.
 */
export class Turns {
  #begun: Promise<unknown> = Promise.resolve()

  async all<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
    const working: Promise<R>[] = []
    const begin = this.#begun.then(() => this.#begin(items, work, working))
    // Whoever waits for these is told what failed; the next begin all the same.
    this.#begun = begin.catch(() => undefined)
    await begin
    return Promise.all(working)
  }

  async #begin<T, R>(
    items: readonly T[],
    work: (item: T) => Promise<R>,
    working: Promise<R>[]
  ): Promise<void> {
    for (const [i, item] of items.entries()) {
      if (i > 0 && i % AT_A_TIME === 0) await nextTurn()
      const one = work(item)
      // Whoever waits for all of them hears of it; until then it is not an error that nobody has seen.
      one.catch(() => undefined)
      working.push(one)
    }
  }
}
