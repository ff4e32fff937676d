/**
 * Rewards by accumulation. What a pool earns is counted once, per unit of liquidity, in a value that only grows. A tick
 * keeps what of it grew while the price was on its other side, so that the growth inside a range is what is neither
 * below nor above it. A position keeps the growth inside its range when it was last touched; what is more than that,
 * times its liquidity, is owed to it. Snapshots of ticks begin at different moments, so growth inside a range may be
 * below zero; only its differences mean something.
 */
import type { Dec } from '../decimal.ts'
import type { AccumulatorRecord, DecCoins, Position } from '../values.ts'
import { minus, NOTHING, plus, times } from './coins.ts'

type Range = Pick<Position, 'lowerTick' | 'upperTick'>

/** The growth that a new tick begins with: by convention, everything before now was below it. */
export const growthOfNewTick = (value: DecCoins, tick: bigint, current: bigint): DecCoins =>
  tick <= current ? value : NOTHING

/** The growth inside a range, of ticks with these snapshots. */
export const growthInside = (
  value: DecCoins,
  lower: DecCoins,
  upper: DecCoins,
  current: bigint,
  { lowerTick, upperTick }: Range
): DecCoins => {
  const below = current >= lowerTick ? lower : minus(value, lower)
  const above = current < upperTick ? upper : minus(value, upper)
  return minus(minus(value, below), above)
}

export const newRecord = (shares: Dec, inside: DecCoins, options: boolean): AccumulatorRecord => ({
  shares,
  valuePerShare: inside,
  unclaimed: NOTHING,
  options
})

/** What is owed: what was put aside, and what grew inside the range since. */
export const owed = ({ shares, valuePerShare, unclaimed }: AccumulatorRecord, inside: DecCoins): DecCoins =>
  plus(unclaimed, times(minus(inside, valuePerShare), shares))
