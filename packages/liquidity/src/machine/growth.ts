/**
 * Rewards by accumulation. A pool's earnings are counted once, per unit of liquidity, in a value that only grows. A
 * tick records the growth on the side away from the price, so the growth inside a range is the total less the growth
 * below and above it. A position records the growth inside its range at its last change; the difference since, times
 * its liquidity, is its claim. Ticks begin to record at different times, so the growth inside a range may be
 * negative; only differences have a meaning.
 */
import type { Dec } from '../decimal.ts'
import type { AccumulatorRecord, DecCoins, Position } from '../values.ts'
import { minus, NOTHING, plus, times } from './coins.ts'

export type TickRange = Pick<Position, 'lowerTick' | 'upperTick'>

/** The initial record of a tick: by convention, all growth so far was below it. */
export const growthOfNewTick = (value: DecCoins, tick: bigint, current: bigint): DecCoins =>
  tick <= current ? value : NOTHING

/** The growth inside a range, from the records of its ticks. */
export const growthInside = (
  value: DecCoins,
  lower: DecCoins,
  upper: DecCoins,
  current: bigint,
  { lowerTick, upperTick }: TickRange
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

/** The claims of a position: earlier unclaimed rewards, and the growth inside its range since. */
export const owed = ({ shares, valuePerShare, unclaimed }: AccumulatorRecord, inside: DecCoins): DecCoins =>
  plus(unclaimed, times(minus(inside, valuePerShare), shares))
