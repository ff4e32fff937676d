/**
 * Breadth-first search for the shortest path through a product of automata. States are numbers; `cost` is the number
 * of bytes from a state to the end of the search (infinity when it cannot end there), so that the whole path is
 * shortest.
 */
import { QuoinError } from '@quoin/primitives'
import type { ByteSet } from '../language/byteset.ts'

/** The limit on states visited in one search; a search beyond it is refused, never answered. */
const MAX_VISITED = 4_000_000
const MAX_VISITED_IN_ALL = 100_000_000

export interface Path {
  /** The states after the start. */
  readonly states: readonly number[]
  readonly bytes: readonly number[]
}

/** The work of proofs so far. */
export interface Effort {
  visited: number
  /** The limit on states of all searches together. */
  readonly limit?: number
  /** The limit on states of one search. */
  readonly searchLimit?: number
}

/** A move to `next` by any byte that is in both sets. */
export type Emit = (next: number, one: ByteSet, other: ByteSet) => void

export const shortestPath = (
  start: number,
  expand: (state: number, emit: Emit) => void,
  cost: (state: number) => number,
  effort: Effort
): Path | undefined => {
  const limit = effort.limit ?? MAX_VISITED_IN_ALL
  if (effort.visited > limit) throw tooLarge(limit)
  const most = effort.searchLimit ?? MAX_VISITED
  const seen = new Marks()
  const states = [start]
  const parents = [-1]
  const depths = [0]
  const moves: (readonly [ByteSet, ByteSet] | undefined)[] = [undefined]
  let best = -1
  let bestCost = Number.POSITIVE_INFINITY
  let at = 0
  const emit: Emit = (next, one, other) => {
    if (!one.intersects(other) || !seen.mark(next)) return
    states.push(next)
    parents.push(at)
    depths.push(depths[at]! + 1)
    moves.push([one, other])
  }
  seen.mark(start)
  for (; at < states.length && depths[at]! < bestCost; at++) {
    const total = depths[at]! + cost(states[at]!)
    if (total < bestCost) {
      best = at
      bestCost = total
    }
    expand(states[at]!, emit)
    if (states.length > most) {
      effort.visited += states.length
      throw tooLarge(most)
    }
  }
  effort.visited += states.length
  if (effort.visited > limit) throw tooLarge(limit)
  if (best < 0) return undefined
  const path: { states: number[]; bytes: number[] } = { states: [], bytes: [] }
  for (let step = best; step > 0; step = parents[step]!) {
    const [one, other] = moves[step]!
    path.states.push(states[step]!)
    path.bytes.push(one.meet(other)!.sample)
  }
  return { states: path.states.reverse(), bytes: path.bytes.reverse() }
}

/** A set of numbers: those below a limit in an array that all searches share, the others in a Set. */
class Marks {
  /** Made by the first search: programs whose keyspaces are proved search nothing. */
  static #shared: Uint32Array | undefined
  static #generation = 0
  readonly #table: Uint32Array
  readonly #mine: number
  readonly #others = new Set<number>()

  constructor() {
    Marks.#shared ??= new Uint32Array(1 << 22)
    this.#table = Marks.#shared
    // After four billion searches the first generation would recur.
    if (Marks.#generation === 0xffffffff) {
      Marks.#generation = 0
      this.#table.fill(0)
    }
    this.#mine = ++Marks.#generation
  }

  /** Adds a number; false when it is in the set already. */
  mark(state: number): boolean {
    if (state < this.#table.length) {
      if (this.#table[state] === this.#mine) return false
      this.#table[state] = this.#mine
      return true
    }
    if (this.#others.has(state)) return false
    this.#others.add(state)
    return true
  }
}

const tooLarge = (limit: number): QuoinError =>
  new QuoinError('ERR_KEYSPACE_TOO_LARGE', `a proof needs more than ${limit} states`, { limit })
