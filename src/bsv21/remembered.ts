/** A function that remembers what it made of the last different texts: what tokens and holders are called comes again and again. */
export const remembered = <K extends string, T>(size: number, make: (text: K) => T): ((text: K) => T) => {
  const made = new Map<K, T>()
  return text => {
    const known = made.get(text)
    if (known !== undefined) return known
    // All at once: to remember which was used last would cost more than to make some again.
    if (made.size >= size) made.clear()
    const value = make(text)
    made.set(text, value)
    return value
  }
}
