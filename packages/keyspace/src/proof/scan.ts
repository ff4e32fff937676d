/**
 * P2, a promised scan is exact: a search for a key under its prefix with other components. The prefix is a run over
 * the first `count` parts, the key another run over the same bytes and more. The key is stray when the runs differ,
 * or when it continues a part that the prefix has ended.
 */
import { ByteSet } from '../language/byteset.ts'
import type { Edge } from '../language/language.ts'
import type { Layout, ParsedKey, Run } from '../layout.ts'
import { type Effort, shortestPath } from './search.ts'

export interface InexactScan {
  readonly prefix: Uint8Array
  /** A key of the scan. */
  readonly asked: ParsedKey
  /** A key with other components that the prefix finds as well. */
  readonly caught: ParsedKey
}

export const inexactScan = (layout: Layout, count: number, effort: Effort): InexactScan | undefined => {
  const { size, moves, rest } = layout
  const within = (to: number): boolean => layout.partOf(to) < count
  // (p, q) is p * size + q while the runs agree (then p = q), and that plus size * size once they differ.
  const differ = size * size
  const onward = (p: number) =>
    moves[p]!.filter(({ to }) => within(to)).reduce<(typeof moves)[0][0] | undefined>(
      (best, move) => (best && rest[best.to]! <= rest[move.to]! ? best : move),
      undefined
    )
  const path = shortestPath(
    0,
    (state, emit) => {
      const pair = state % differ
      const p = Math.floor(pair / size)
      const q = pair % size
      moves[p]!.forEach((e, i) => {
        if (!within(e.to)) return
        moves[q]!.forEach((f, j) => {
          const same = state < differ && i === j
          emit(e.to * size + f.to + (same ? 0 : differ), e.set, f.set)
        })
      })
    },
    state => {
      const pair = state % differ
      const p = Math.floor(pair / size)
      if (!layout.endsPrefix(p, count)) return Number.POSITIVE_INFINITY
      if (state >= differ) return rest[pair % size]!
      const next = onward(p)
      return next ? 1 + rest[next.to]! : Number.POSITIVE_INFINITY
    },
    effort
  )
  if (!path) return undefined
  const run = (of: (pair: number) => number): Run =>
    path.states.map((state, i) => ({ byte: path.bytes[i]!, state: of(state % differ) }))
  const asked = run(pair => Math.floor(pair / size))
  const caught = run(pair => pair % size)
  const end = path.states.at(-1) ?? 0
  const next = end < differ ? onward(Math.floor(end / size)) : undefined
  const more: Run = next
    ? [{ byte: next.set.sample, state: next.to }, ...layout.complete(next.to)]
    : layout.complete((end % differ) % size)
  return {
    prefix: Uint8Array.from(path.bytes),
    asked: layout.reading([...asked, ...layout.shortest(count)]),
    caught: layout.reading([...caught, ...more])
  }
}

/** A key under the prefix of `count` parts that sorts after the prefix and `seek`: a walk down from there misses it. */
export const missedKey = (
  layout: Layout,
  count: number,
  seek: Uint8Array,
  effort: Effort
): ParsedKey | undefined => {
  const { size, moves, rest } = layout
  // (state, n) is n * size + state: in the prefix for n = 0, and after n - 1 bytes that are those of `seek`.
  const beyond = (state: number): readonly Edge[] => {
    const [n, at] = [Math.floor(state / size), state % size]
    if (n === 0)
      return layout.endsPrefix(at, count)
        ? moves[at]!.filter(({ set, to }) => isPast(to) && set.max > seek[0]!)
        : []
    const next = seek[n]
    return next === undefined ? moves[at]! : moves[at]!.filter(({ set }) => set.max > next)
  }
  const isPast = (to: number): boolean => layout.partOf(to) >= count
  const path = shortestPath(
    0,
    (state, emit) => {
      const [n, at] = [Math.floor(state / size), state % size]
      for (const { set, to } of moves[at]!) {
        if (n === 0 && !isPast(to)) emit(to, set, set)
        const follows = n > 0 || (layout.endsPrefix(at, count) && isPast(to))
        if (follows && n < seek.length && set.has(seek[n]!))
          emit((n + 1) * size + to, set, ByteSet.of(seek[n]!))
      }
    },
    state => {
      const [edge] = beyond(state)
      return edge ? 1 + rest[edge.to]! : Number.POSITIVE_INFINITY
    },
    effort
  )
  if (!path) return undefined
  const last = path.states.at(-1) ?? 0
  const [edge] = beyond(last)
  const run = path.states.map((state, i) => ({ byte: path.bytes[i]!, state: state % size }))
  return layout.reading([...run, { byte: edge!.set.max, state: edge!.to }, ...layout.complete(edge!.to)])
}
