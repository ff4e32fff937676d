/** In-flight work by key; dependents await it. */
export class InFlight {
  readonly #running = new Map<string, Promise<void>>()

  /** Registers a key at once. The key is in flight until the work passed to the returned function settles. */
  track(key: string): <T>(work: () => Promise<T>) => Promise<T> {
    let end: () => void = () => undefined
    const running = new Promise<void>(resolve => {
      end = resolve
    })
    this.#running.set(key, running)
    return async work => {
      try {
        return await work()
      } finally {
        if (this.#running.get(key) === running) this.#running.delete(key)
        end()
      }
    }
  }

  /** Resolves when no work on the keys is in flight. */
  async settled(keys: Iterable<string>): Promise<void> {
    for (const key of keys) await this.#running.get(key)
  }
}
