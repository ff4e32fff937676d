/** What is being worked on, by name, so that whatever builds on it can let it go first. */
export class Underway {
  readonly #running = new Map<string, Promise<void>>()

  /** From now on it can be waited for, until the work that it is given has ended. */
  announce(name: string): <T>(work: () => Promise<T>) => Promise<T> {
    let end: () => void = () => undefined
    const running = new Promise<void>(resolve => {
      end = resolve
    })
    this.#running.set(name, running)
    return async work => {
      try {
        return await work()
      } finally {
        if (this.#running.get(name) === running) this.#running.delete(name)
        end()
      }
    }
  }

  /** Until none of them is being worked on. */
  async finished(names: Iterable<string>): Promise<void> {
    for (const name of names) await this.#running.get(name)
  }
}
