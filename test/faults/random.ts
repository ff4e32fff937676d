/** Numbers by a seed, so that a run can be repeated. */
export interface Random {
  /** From 0 to 1, exclusively. */
  real(): number
  /** From 0 to `end`, exclusively. */
  below(end: number): number
  pick<T>(from: readonly T[]): T
}

/** Mulberry32. */
export const newRandom = (seed: number): Random => {
  let state = seed >>> 0
  const real = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (end: number): number => Math.floor(real() * end)
  return { real, below, pick: from => from[below(from.length)]! }
}
