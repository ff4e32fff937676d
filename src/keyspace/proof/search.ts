/**
 * The shortest path through a product of automata, breadth first. States are numbers; `cost` says how many more
 * bytes end the search from a state (infinity: not from here), so that what is found is shortest as a whole.
 */
import { QuoinError } from '../../error.ts'

/** A proof that visits more states than this is given up with an error, never answered. */
const MAX_VISITED = 4_000_000

export interface Path {
  /** Every state after the start. */
  readonly states: readonly number[]
  readonly bytes: readonly number[]
}

/** How much work proofs have been. */
export interface Effort {
  visited: number
}

export const shortestPath = (
  start: number,
  expand: (state: number, emit: (byte: number, next: number) => void) => void,
  cost: (state: number) => number,
  effort: Effort
): Path | undefined => {
  const seen = new Set([start])
  const states = [start]
  const parents = [-1]
  const bytes = [-1]
  const depths = [0]
  let best = -1
  let bestCost = Number.POSITIVE_INFINITY
  for (let at = 0; at < states.length && depths[at]! < bestCost; at++) {
    const state = states[at]!
    const total = depths[at]! + cost(state)
    if (total < bestCost) {
      best = at
      bestCost = total
    }
    expand(state, (byte, next) => {
      if (seen.has(next)) return
      seen.add(next)
      states.push(next)
      parents.push(at)
      bytes.push(byte)
      depths.push(depths[at]! + 1)
    })
    if (states.length > MAX_VISITED) {
      throw new QuoinError('ERR_KEYSPACE_TOO_LARGE', `a proof needs more than ${MAX_VISITED} states`, {
        limit: MAX_VISITED
      })
    }
  }
  effort.visited += states.length
  if (best < 0) return undefined
  const path: { states: number[]; bytes: number[] } = { states: [], bytes: [] }
  for (let at = best; at > 0; at = parents[at]!) {
    path.states.unshift(states[at]!)
    path.bytes.unshift(bytes[at]!)
  }
  return path
}
