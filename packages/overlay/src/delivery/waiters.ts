/** Submissions that wait until the entries of their topics are delivered to a lookup service. */
import type { Topic } from '@quoin/primitives'

interface Waiter {
  /** The position to reach in the log of each topic. */
  readonly targets: Map<Topic, number>
  readonly resolve: () => void
}

export class Waiters {
  readonly #waiters = new Set<Waiter>()

  get size(): number {
    return this.#waiters.size
  }

  /** Resolves when the cursors reach the targets, or all are released. */
  until(targets: Map<Topic, number>): Promise<void> {
    return new Promise(resolve => {
      this.#waiters.add({ targets, resolve })
    })
  }

  /** The cursors moved. */
  moved(cursorOf: (topic: Topic) => number): void {
    for (const waiter of this.#waiters) {
      for (const [topic, position] of waiter.targets) {
        if (cursorOf(topic) >= position) waiter.targets.delete(topic)
      }
      if (waiter.targets.size > 0) continue
      this.#waiters.delete(waiter)
      waiter.resolve()
    }
  }

  release(): void {
    for (const { resolve } of this.#waiters) resolve()
    this.#waiters.clear()
  }
}
