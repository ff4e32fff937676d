/** Compares states line by line, and shows the lines around the first difference. */
const CONTEXT = 12

const linesOf = (value: unknown): string[] =>
  JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `${each}n` : each), 1).split('\n')

export const expectSame = (found: unknown, expected: unknown, what = 'the state'): void => {
  const [a, b] = [linesOf(found), linesOf(expected)]
  const at = a.findIndex((line, i) => line !== b[i])
  if (at === -1 && a.length === b.length) return
  const from = Math.max(0, at - CONTEXT)
  const around = (lines: readonly string[]): string => lines.slice(from, at + CONTEXT / 2).join('\n')
  throw new Error(`${what}\nfound:\n${around(a)}\nexpected:\n${around(b)}`)
}
