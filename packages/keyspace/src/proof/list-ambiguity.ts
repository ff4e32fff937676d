/**
 * Lists of items of one layout, decoded one way: two cuts of the same bytes into items. The automaton has a copy of the
 * item for each place in the list, so that a run shows where items begin. Of an unbounded list the last two copies take
 * turns.
 */
import { QuoinError } from '@quoin/primitives'
import type { Edge } from '../language/language.ts'
import { Layout, type Part } from '../layout.ts'
import { type RunGraph, twoRuns } from './ambiguity.ts'

const MAX_STATES = 4096

/** Two different lists of items that are written as the same bytes. */
export const listAmbiguity = (
  item: Layout,
  separator: readonly Part[],
  { min, max }: { readonly min: number; readonly max: number }
): readonly [Uint8Array[], Uint8Array[]] | undefined => {
  const none = new Uint8Array()
  if (item.minLength === 0 && min === 0) return [[], [none]]
  if (max === 1) return undefined
  if (item.minLength === 0 && separator.length === 0) {
    const list = Array.from({ length: Math.max(1, min) }, () => none)
    if (list.length < max) return [list, [...list, none]]
  }
  const unit = new Layout([...separator, ...item.parts])
  const skipped = separator.reduce((sum, { language }) => sum + language.minLength, 0)
  const bounded = Number.isFinite(max)
  const copies = bounded ? max : Math.max(min, 1) + 2
  const offset = (copy: number): number => (copy === 0 ? 0 : item.size + (copy - 1) * unit.size)
  if (offset(copies) > MAX_STATES) {
    throw new QuoinError(
      'ERR_KEYSPACE_TOO_LARGE',
      `a repeated component needs more than ${MAX_STATES} states`
    )
  }
  const moves: Edge[][] = []
  const accepting: boolean[] = []
  const rest: number[] = []
  const copyOfState: number[] = []
  for (let copy = 0; copy < copies; copy++) {
    const layout = copy === 0 ? item : unit
    const next = copy + 1 < copies ? copy + 1 : bounded ? undefined : copies - 2
    const entry = next === undefined ? [] : shifted(unit.moves[0]!, offset(next))
    const missing = Math.max(0, min - copy - 1)
    for (let state = 0; state < layout.size; state++) {
      const own = shifted(layout.moves[state]!, offset(copy))
      moves.push(layout.accepting[state] ? [...own, ...entry] : own)
      accepting.push(layout.accepting[state]! && missing === 0)
      rest.push(layout.rest[state]! + missing * unit.minLength)
      copyOfState.push(copy)
    }
  }
  const graph: RunGraph = { size: moves.length, moves, accepting, rest }
  const runs = twoRuns(graph, { visited: 0 })
  if (!runs) return undefined
  const tail = runs.met === undefined ? [] : completion(graph, runs.met)
  const bytes = [...runs.bytes, ...tail.map(({ byte }) => byte)]
  const cut = (states: readonly number[]): Uint8Array[] => {
    const places = [...states, ...tail.map(({ state }) => state)].map(state => copyOfState[state]!)
    const starts = places.flatMap((copy, i) => (i > 0 && copy !== places[i - 1] ? [i] : []))
    // An empty first item leaves no byte in the first copy.
    const begins = places[0] === 0 ? [0, ...starts] : [0, 0, ...starts]
    return begins.map((start, i) =>
      Uint8Array.from(bytes.slice(start + (i === 0 ? 0 : skipped), begins[i + 1] ?? bytes.length))
    )
  }
  return [cut(runs.first), cut(runs.second)]
}

const shifted = (edges: readonly Edge[], by: number): Edge[] =>
  edges.map(({ set, to }) => ({ set, to: to + by }))

/** The shortest way from a state to the end. */
const completion = (
  { moves, accepting, rest }: RunGraph,
  from: number
): { byte: number; state: number }[] => {
  const steps: { byte: number; state: number }[] = []
  for (let at = from; !accepting[at] || rest[at]! > 0; ) {
    const edge = moves[at]!.reduce((best, each) => (rest[each.to]! < rest[best.to]! ? each : best))
    steps.push({ byte: edge.set.sample, state: edge.to })
    at = edge.to
  }
  return steps
}
