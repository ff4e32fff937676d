/**
 * P4, the order of keys: keys that first differ in one component sort as its values do, or as its words do, or as
 * neither. Two keys sort by their first differing byte. If that byte lies in the component for both, their words
 * differ there too. Otherwise one word is a prefix of the other, so the shorter is the smaller in either order, and
 * the bytes after it decide the order of the keys: the separator may sort above.
 */

import type { Edge } from '../language/language.ts'
import type { Layout, ParsedKey, Run } from '../layout.ts'
import { type Effort, type Path, shortestPath } from './search.ts'

/** Two keys in the order of their values, whose bytes sort the other way. */
type Disorder = readonly [ParsedKey, ParsedKey]

export interface OrderOfPart {
  /** Keys sort by values, by words, or by neither. */
  readonly by: 'value' | 'word' | 'neither'
  /** A counterexample to the order of values. */
  readonly value?: Disorder
  /** A counterexample to the order of words. */
  readonly word?: Disorder
}

/** The order of each part of a key. */
export const ordersOf = (layout: Layout, effort: Effort = { visited: 0 }): readonly OrderOfPart[] =>
  layout.parts.map((_, part) => orderOfPart(layout, part, effort))

const orderOfPart = (layout: Layout, part: number, effort: Effort): OrderOfPart => {
  const word = prefixDisorder(layout, part, effort)
  const at = layout.parts[part]!
  const value =
    at.kind === 'component' && at.component.codec.order === 'longer first'
      ? prefixDisorder(layout, part, effort, true)
      : (valueDisorder(layout, part, effort) ?? word)
  if (!value) return { by: 'value' }
  return word ? { by: 'neither', value, word } : { by: 'word', value }
}

/** Two values of the component whose words sort the wrong way. */
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
  const key = (edge: Edge, byte: number, tail: readonly number[]): ParsedKey =>
    layout.reading([
      ...common,
      { byte, state: edge.to },
      ...layout.follow(edge.to, tail),
      ...layout.shortest(part + 1)
    ])
  return [key(short, short.set.max, shortTail), key(long, low, longTail)]
}

/**
 * One word is a prefix of the other, and the bytes after it sort above the rest of the longer word. With `longerFirst`
 * the longer word is the smaller value, and they sort below.
 */
const prefixDisorder = (
  layout: Layout,
  part: number,
  effort: Effort,
  longerFirst = false
): Disorder | undefined => {
  if (layout.parts[part]!.language.isSelfDelimiting) return undefined
  const { size, moves, accepting, rest } = layout
  const isInside = ({ to }: Edge): boolean => layout.partOf(to) === part
  const isPast = ({ to }: Edge): boolean => layout.partOf(to) > part
  // While both keys are equal, the state p of both; afterwards size + p * size + q, where p has left the component and
  // q is still in it or has left it later.
  const split = (state: number): [number, number] => {
    const pair = state < size ? state * size + state : state - size
    return [Math.floor(pair / size), pair % size]
  }
  /** Calls `visit` with each pair of moves of the shorter and of the longer word. */
  const forPairs = (state: number, visit: (e: Edge, f: Edge) => void): void => {
    const [p, q] = split(state)
    for (const e of moves[p]!) {
      if (state < size && !isPast(e)) continue
      for (const f of moves[q]!) if (state >= size || isInside(f)) visit(e, f)
    }
  }
  /** The pair of moves whose bytes sort the wrong way with the fewest bytes after them. */
  const wrongByte = (state: number): [Edge, Edge] | undefined => {
    let best: [Edge, Edge] | undefined
    let least = Number.POSITIVE_INFINITY
    forPairs(state, (e, f) => {
      if (longerFirst ? e.set.min >= f.set.max : e.set.max <= f.set.min) return
      const after = rest[e.to]! + rest[f.to]!
      if (after >= least) return
      least = after
      best = [e, f]
    })
    return best
  }
  /** One key ends here while the other, which should come before it, continues: a prefix sorts first. */
  const wrongEnd = (state: number): Edge | undefined => {
    const [p, q] = split(state)
    if (longerFirst) {
      const onward = state < size ? moves[q]!.filter(isInside) : moves[q]!
      return accepting[p] ? onward[0] : undefined
    }
    return state >= size && accepting[q] ? moves[p]![0] : undefined
  }
  const path = shortestPath(
    0,
    (state, emit) => {
      if (state < size) {
        for (const { set, to } of moves[state]!) if (layout.partOf(to) <= part) emit(to, set, set)
      }
      forPairs(state, (e, f) => emit(size + e.to * size + f.to, e.set, f.set))
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
  const go = (run: Run, edge: Edge, byte: number): ParsedKey =>
    layout.reading([...run, { byte, state: edge.to }, ...layout.complete(edge.to)])
  const end = wrongEnd(last)!
  if (longerFirst) {
    if (!wrong) return [go(long, end, end.set.sample), layout.reading(short)]
    return [go(long, wrong[1], wrong[1].set.max), go(short, wrong[0], wrong[0].set.min)]
  }
  if (wrong) return [go(short, wrong[0], wrong[0].set.max), go(long, wrong[1], wrong[1].set.min)]
  return [go(short, end, end.set.sample), layout.reading(long)]
}

const steps = (path: Path, of: (state: number) => number): Run =>
  path.states.map((state, i) => ({ byte: path.bytes[i]!, state: of(state) }))
