/** Word-by-word differences of two texts (longest common subsequence). */
export interface Change {
  readonly kind: 'same' | 'added' | 'removed'
  readonly text: string
}

/** The table has the product of both lengths; longer texts are shown whole. */
const MOST_WORDS = 600

const words = (text: string): string[] => text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? []

/** Undefined when the texts are too long to compare. */
export const diff = (before: string, after: string): readonly Change[] | undefined => {
  if (before.length + after.length > 40 * MOST_WORDS) return undefined
  const [old, young] = [words(before), words(after)]
  if (old.length > MOST_WORDS || young.length > MOST_WORDS) return undefined
  const width = young.length + 1
  // At each position, the number of common words of the rests.
  const common = new Uint16Array((old.length + 1) * width)
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = young.length - 1; j >= 0; j--) {
      common[i * width + j] =
        old[i] === young[j]
          ? common[(i + 1) * width + j + 1]! + 1
          : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!)
    }
  }
  const changes: Change[] = []
  const add = (kind: Change['kind'], text: string): void => {
    const last = changes.at(-1)
    if (last?.kind === kind) changes[changes.length - 1] = { kind, text: last.text + text }
    else changes.push({ kind, text })
  }
  let [i, j] = [0, 0]
  while (i < old.length || j < young.length) {
    if (i < old.length && j < young.length && old[i] === young[j]) {
      add('same', old[i++]!)
      j++
    } else if (
      j >= young.length ||
      (i < old.length && common[(i + 1) * width + j]! >= common[i * width + j + 1]!)
    ) {
      add('removed', old[i++]!)
    } else add('added', young[j++]!)
  }
  return changes
}
