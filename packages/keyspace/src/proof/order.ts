/**
 * P4, the order of keys: whether keys that first differ in one component sort as its values do, or else as its
 * words do. Two keys sort by their first differing byte. If that byte lies in the component for both, their
 * words differ there too. Otherwise one word is the beginning of the other, so the shorter is the smaller in
 * either order, and the bytes that follow it decide where the keys go: the separator may well sort above.
 */

import type { Edge } from '../language/language.ts'
import type { Layout, Reading, Run } from '../layout.ts'
import { type Effort, type Path, shortestPath } from './search.ts'

/** Two keys, the one with the smaller value first, whose bytes sort the other way. */
type Disorder = readonly [Reading, Reading]

export interface OrderOfPart {
  /** Keys sort by the values, by the words that stand for them, or by neither. */
  readonly by: 'value' | 'word' | 'neither'
  /** Why not by the values. */
  readonly value?: Disorder
  /** Why not by the words. */
  readonly word?: Disorder
}

/** The order of each part of a key. */
export const ordersOf = (layout: Layout, effort: Effort = { visited: 0 }): readonly OrderOfPart[] =>
  layout.parts.map((_, part) => orderOfPart(layout, part, effort))

const orderOfPart = (layout: Layout, part: number, effort: Effort): OrderOfPart => {
  const word = prefixDisorder(layout, part, effort)
  const value = valueDisorder(layout, part, effort) ?? word
  if (!value) return { by: 'value' }
  return word ? { by: 'neither', value, word } : { by: 'word', value }
}

/** Two values of the component whose words alone already sort the wrong way. */
const valueDisorder = (layout: Layout, part: number, effort: Effort): Disorder | undefined => {
  const at = layout.parts[part]!
  if (at.kind === 'literal' || at.component.codec.order === 'bytes') return undefined
  const { codec } = at.component
  if (codec.order !== 'shortlex') {
    const [small, large] = (codec.order as readonly [unknown, unknown]).map(value => {
      const buffer = new Uint8Array(4096)
      const word = buffer.subarray(0, codec.write(value, buffer, 0))
      return layout.reading([
        ...layout.shortest(0, part),
        ...layout.word(part, [...word]),
        ...layout.shortest(part + 1)
      ])
    })
    return [small!, large!]
  }
  // A longer word whose first differing byte is the smaller one: 10 before 9.
  const { language } = at
  const longerFirst = (state: number): [Edge, Edge] | undefined => {
    if (layout.partOf(state) > part) return undefined
    const into = layout.moves[state]!.filter(({ to }) => layout.partOf(to) === part)
    for (const long of into) {
      for (const short of into) {
        if (long.set.min >= short.set.max) continue
        if (language.longest[layout.local(long.to)]! > language.shortest[layout.local(short.to)]!)
          return [long, short]
      }
    }
    return undefined
  }
  const path = shortestPath(
    0,
    (state, emit) => {
      for (const { set, to } of layout.moves[state]!) if (layout.partOf(to) <= part) emit(to, set, set)
    },
    state => (longerFirst(state) ? 2 : Number.POSITIVE_INFINITY),
    effort
  )
  if (!path) return undefined
  const [long, short] = longerFirst(path.states.at(-1) ?? 0)!
  const low = long.set.min
  const shortTail = language.completion(layout.local(short.to))
  const longTail = language.stretch(layout.local(long.to), shortTail.length)
  const common = steps(path, state => state)
  const key = (edge: Edge, byte: number, tail: readonly number[]): Reading =>
    layout.reading([
      ...common,
      { byte, state: edge.to },
      ...layout.follow(edge.to, tail),
      ...layout.shortest(part + 1)
    ])
  return [key(short, short.set.max, shortTail), key(long, low, longTail)]
}

/** One word begins the other, and what follows it sorts above the rest of the longer one. */
const prefixDisorder = (layout: Layout, part: number, effort: Effort): Disorder | undefined => {
  const { size, moves, accepting, rest } = layout
  const isInside = ({ to }: Edge): boolean => layout.partOf(to) === part
  const isPast = ({ to }: Edge): boolean => layout.partOf(to) > part
  // While both keys are the same, the state p of both; afterwards size + p * size + q, where p has left the
  // component and q is still in it or has left it later.
  const split = (state: number): [number, number] => {
    const pair = state < size ? state * size + state : state - size
    return [Math.floor(pair / size), pair % size]
  }
  const pairs = (state: number): [Edge, Edge][] => {
    const [p, q] = split(state)
    const [short, long] =
      state < size ? [moves[p]!.filter(isPast), moves[q]!.filter(isInside)] : [moves[p]!, moves[q]!]
    return short.flatMap(e => long.map((f): [Edge, Edge] => [e, f]))
  }
  const wrongByte = (state: number): [Edge, Edge] | undefined =>
    pairs(state)
      .filter(([e, f]) => e.set.max > f.set.min)
      .sort(([a, b], [c, d]) => rest[a.to]! + rest[b.to]! - rest[c.to]! - rest[d.to]!)[0]
  /** The longer word's key ends here, while the shorter one's goes on: a prefix sorts first. */
  const wrongEnd = (state: number): Edge | undefined => {
    const [p, q] = split(state)
    return state >= size && accepting[q] ? moves[p]![0] : undefined
  }
  const path = shortestPath(
    0,
    (state, emit) => {
      if (state < size) {
        for (const { set, to } of moves[state]!) if (layout.partOf(to) <= part) emit(to, set, set)
      }
      for (const [e, f] of pairs(state)) {
        emit(size + e.to * size + f.to, e.set, f.set)
      }
    },
    state => {
      const wrong = wrongByte(state)
      const end = wrongEnd(state)
      return Math.min(
        wrong ? 1 + Math.max(rest[wrong[0].to]!, rest[wrong[1].to]!) : Number.POSITIVE_INFINITY,
        end ? 1 + rest[end.to]! : Number.POSITIVE_INFINITY
      )
    },
    effort
  )
  if (!path) return undefined
  const last = path.states.at(-1) ?? 0
  const short = steps(path, state => split(state)[0])
  const long = steps(path, state => split(state)[1])
  const wrong = wrongByte(last)
  const go = (run: Run, edge: Edge, byte: number): Reading =>
    layout.reading([...run, { byte, state: edge.to }, ...layout.complete(edge.to)])
  if (wrong) return [go(short, wrong[0], wrong[0].set.max), go(long, wrong[1], wrong[1].set.min)]
  const end = wrongEnd(last)!
  return [go(short, end, end.set.sample), layout.reading(long)]
}

const steps = (path: Path, of: (state: number) => number): Run =>
  path.states.map((state, i) => ({ byte: path.bytes[i]!, state: of(state) }))
