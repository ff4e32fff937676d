/**
 * P1, every key decodes one way: a search for two accepting runs of one automaton that differ over the same bytes. Runs
 * determine readings, so the pair exists exactly when some key has two readings.
 */
import type { Edge } from '../language/language.ts'
import type { Layout, ParsedKey } from '../layout.ts'
import { type Effort, shortestPath } from './search.ts'

/** An automaton of live states, perhaps nondeterministic, which starts in state 0. */
export interface RunGraph {
  readonly size: number
  readonly moves: readonly (readonly Edge[])[]
  readonly accepting: readonly boolean[]
  /** The least number of bytes to an accepting state. */
  readonly rest: readonly number[]
}

interface TwoRuns {
  readonly bytes: readonly number[]
  /** The states after each byte. */
  readonly first: readonly number[]
  readonly second: readonly number[]
  /** The state where the runs have met again, to be completed; undefined when both accept. */
  readonly met: number | undefined
}

export const twoRuns = ({ size, moves, accepting, rest }: RunGraph, effort: Effort): TwoRuns | undefined => {
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
  const run = (of: (state: number) => number): number[] =>
    path.states.map(state => (state >= met ? state - met : of(state)))
  return {
    bytes: path.bytes,
    first: run(state => Math.floor(state / size)),
    second: run(state => state % size),
    met: last >= met ? last - met : undefined
  }
}

export const ambiguity = (layout: Layout, effort: Effort): readonly [ParsedKey, ParsedKey] | undefined => {
  const runs = twoRuns(layout, effort)
  if (!runs) return undefined
  const tail = runs.met === undefined ? [] : layout.complete(runs.met)
  const reading = (states: readonly number[]): ParsedKey =>
    layout.reading([...states.map((state, i) => ({ byte: runs.bytes[i]!, state })), ...tail])
  return [reading(runs.first), reading(runs.second)]
}
