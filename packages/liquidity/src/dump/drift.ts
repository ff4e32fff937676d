/** Indexes and counts of an input, compared with its positions and locks. */
import type { Dec } from '../decimal.ts'
import type { Layout } from '../profile.ts'

/** An index of the input that differs from the positions' own, or a count that is below what they make. */
export interface Drift {
  readonly collection: string
  readonly key: string
  readonly given: string
  readonly derived: string
}

const MAX_DRIFT = 100

/** By the names of collections: entries of indexes, and counts by pool or denom. */
interface GivenState {
  readonly entries: ReadonlyMap<string, number>
  readonly sums: ReadonlyMap<string, ReadonlyMap<string, bigint>>
}

interface DerivedState {
  readonly positions: number
  readonly locks: number
  readonly fullRange: (pool: bigint) => Dec
  readonly total: (denom: string) => bigint
}

export const driftOf = ({ collections }: Layout, given: GivenState, derived: DerivedState): Drift[] => {
  const { positionsByOwner, positionsByPool, lockPositions, fullRangeLiquidity, totalLiquidity } = collections
  const drift: Drift[] = []
  const add = (collection: string, key: string, found: bigint | number, expected: bigint | number): void => {
    if (drift.length < MAX_DRIFT) drift.push({ collection, key, given: `${found}`, derived: `${expected}` })
  }
  for (const [{ name }, expected] of [
    [positionsByOwner, derived.positions],
    [positionsByPool, derived.positions],
    [lockPositions, derived.locks]
  ] as const) {
    const entries = given.entries.get(name)
    if (entries !== undefined && entries !== expected) add(name, 'entries', entries, expected)
  }
  for (const [{ name }, expectedOf] of [
    [fullRangeLiquidity, (pool: string) => derived.fullRange(BigInt(pool))],
    [totalLiquidity, derived.total]
  ] as const)
    for (const [key, sum] of given.sums.get(name) ?? [])
      if (sum < expectedOf(key)) add(name, key, sum, expectedOf(key))
  return drift
}
