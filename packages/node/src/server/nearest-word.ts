/** The known word nearest to a mistyped one. */

/** The nearest of the words, or undefined when none is near: more than a third of its letters would have to change. */
export const nearest = (given: string, words: Iterable<string>): string | undefined => {
  const typed = plain(given)
  let best: { readonly word: string; readonly distance: number } | undefined
  for (const word of words) {
    const distance = distanceBetween(typed, plain(word))
    if (distance > Math.max(2, Math.floor(word.length / 3))) continue
    if (!best || distance < best.distance) best = { word, distance }
  }
  return best?.word
}

/** Case and separators do not count. No word is longer than this. */
const plain = (word: string): string => word.slice(0, 64).toLowerCase().replace(/[-_.]/g, '')

/** How many letters have to be added, left out or replaced (Levenshtein). */
const distanceBetween = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[b.length]!
}
