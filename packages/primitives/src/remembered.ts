/** A function that remembers what it made of the last different texts: most come again and again. */
export const remembered = <K extends string, T>(size: number, make: (text: K) => T): ((text: K) => T) => {
  const made = new Map<K, T>()
  return text => {
    const known = made.get(text)
    if (known !== undefined) return known
    const value = make(text)
    if (value === undefined) return value
    // All at once: to remember which was used last would cost more than to make some again.
    if (made.size >= size) made.clear()
    made.set(text, value)
    return value
  }
}
