/**
 * Work with the same key runs one after the other, in the order of the calls; different keys do not wait.
 *
 * @example
 * const mutex = new KeyedMutex()
 * const order: number[] = []
 * const work = (n: number) => mutex.run('key', async () => order.push(n))
 * await Promise.all([work(1), work(2)])
 * order // [ 1, 2 ]
 */
export class KeyedMutex<K = string> {
  readonly #tails = new Map<K, Promise<unknown>>()

  /** A predecessor that fails rejects its own caller only. Without a predecessor, the work starts at once. */
  async run<T>(key: K, work: () => Promise<T> | T): Promise<T> {
    const before = this.#tails.get(key)
    const tail = before ? before.then(work, work) : Promise.resolve(work())
    this.#tails.set(key, tail)
    try {
      return await tail
    } finally {
      if (this.#tails.get(key) === tail) this.#tails.delete(key)
    }
  }
  /** Resolves when the work in progress, for any key, has ended. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#tails.values())
  }
}
