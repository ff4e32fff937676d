/**
 * P3, disjoint layouts in one store: a search for a key of both, or for a key of one under a promised scan of the
 * other.
 */
import type { Layout, ParsedKey } from '../layout.ts'
import { type Effort, type Path, shortestPath } from './search.ts'

/** A key of both layouts, parsed by each. */
export const commonKey = (
  a: Layout,
  b: Layout,
  effort: Effort
): readonly [ParsedKey, ParsedKey] | undefined => {
  const path = together(
    a,
    b,
    a.parts.length,
    (p, q) => (a.accepting[p] && b.accepting[q] ? 0 : Number.POSITIVE_INFINITY),
    effort
  )
  if (!path) return undefined
  return [
    a.reading(runOf(path, state => Math.floor(state / b.size))),
    b.reading(runOf(path, state => state % b.size))
  ]
}

/**
 * A key of `b` that begins with the first `count` parts of a key of `a`, so that a scan of `a` finds it; and that key
 * of `a`.
 */
export const strayKey = (
  a: Layout,
  count: number,
  b: Layout,
  effort: Effort
): readonly [ParsedKey, ParsedKey] | undefined => {
  const path = together(
    a,
    b,
    count,
    (p, q) => (a.endsPrefix(p, count) ? b.rest[q]! : Number.POSITIVE_INFINITY),
    effort
  )
  if (!path) return undefined
  const end = path.states.at(-1) ?? 0
  return [
    a.reading([...runOf(path, state => Math.floor(state / b.size)), ...a.shortest(count)]),
    b.reading([...runOf(path, state => state % b.size), ...b.complete(end % b.size)])
  ]
}

const runOf = (path: Path, of: (state: number) => number): { byte: number; state: number }[] =>
  path.states.map((state, i) => ({ byte: path.bytes[i]!, state: of(state) }))

/** Both layouts over the same bytes, `a` up to its first `count` parts. */
const together = (
  a: Layout,
  b: Layout,
  count: number,
  cost: (p: number, q: number) => number,
  effort: Effort
): Path | undefined =>
  shortestPath(
    0,
    (state, emit) => {
      for (const e of a.moves[Math.floor(state / b.size)]!) {
        if (a.partOf(e.to) >= count) continue
        for (const f of b.moves[state % b.size]!) {
          emit(e.to * b.size + f.to, e.set, f.set)
        }
      }
    },
    state => cost(Math.floor(state / b.size), state % b.size),
    effort
  )
