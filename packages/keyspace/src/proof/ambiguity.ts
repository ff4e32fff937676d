/**
 * P1, every key decodes one way: a search for two accepting runs of one layout that differ over the same bytes. Runs
 * determine readings, so the pair exists exactly when some key has two readings.
 */
import type { Layout, ParsedKey, Run } from '../layout.ts'
import { type Effort, shortestPath } from './search.ts'

export const ambiguity = (layout: Layout, effort: Effort): readonly [ParsedKey, ParsedKey] | undefined => {
  const { size, moves, accepting, rest } = layout
  // (p, q) is p * size + q; equal states before the runs part; `size * size + p` when they have met again.
  const met = size * size
  const path = shortestPath(
    0,
    (state, emit) => {
      const p = Math.floor(state / size)
      const q = state % size
      if (state >= met) return
      moves[p]!.forEach((e, i) => {
        moves[q]!.forEach((f, j) => {
          if (p === q && i > j) return
          const joined = e.to === f.to && (p !== q || i !== j)
          emit(joined ? met + e.to : e.to * size + f.to, e.set, f.set)
        })
      })
    },
    state => {
      if (state >= met) return rest[state - met]!
      const p = Math.floor(state / size)
      const q = state % size
      return p !== q && accepting[p] && accepting[q] ? 0 : Number.POSITIVE_INFINITY
    },
    effort
  )
  if (!path) return undefined
  const last = path.states.at(-1)!
  const tail: Run = last >= met ? layout.complete(last - met) : []
  const run = (of: (state: number) => number): Run => [
    ...path.states.map((state, i) => ({
      byte: path.bytes[i]!,
      state: state >= met ? state - met : of(state)
    })),
    ...tail
  ]
  return [layout.reading(run(state => Math.floor(state / size))), layout.reading(run(state => state % size))]
}
