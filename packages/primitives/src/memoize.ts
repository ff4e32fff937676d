/**
 * Caches results by text, at most `size` of them; `undefined` is not cached. A full cache is cleared as a whole:
 * tracking the order of use would cost more than computing some results again.
 *
 * @example
 * const length = memoize(100, (text: string) => text.length)
 * length('hello') // 5
 */
export const memoize = <K extends string, T>(size: number, compute: (key: K) => T): ((key: K) => T) => {
  const results = new Map<K, T>()
  return key => {
    const cached = results.get(key)
    if (cached !== undefined) return cached
    const result = compute(key)
    if (result === undefined) return result
    if (results.size >= size) results.clear()
    results.set(key, result)
    return result
  }
}
