/** Claiming the rewards of a position: spread rewards of swaps, and incentives. */
import { DEC, type Dec } from '../decimal.ts'
import type { Reader } from '../reader.ts'
import type { Time } from '../time.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import type { AccumulatorContent, DecCoins, Pool, Position, TickInfo } from '../values.ts'
import { accumulatorOf, claim, claimAndLeave, leave, scaleOf } from './accumulator.ts'
import { type Coin, minus, NOTHING, payable, perShare, plus, total, wholes } from './coins.ts'
import { growthInside } from './growth.ts'
import { poolOf, positionOf, refusal } from './refusal.ts'
import { syncUptimes, UPTIMES } from './uptime.ts'

/** The ticks of a position. */
export interface Bounds {
  readonly lower: TickInfo
  readonly upper: TickInfo
}

export const boundsOf = async (reader: Reader, { pool, lowerTick, upperTick }: Position): Promise<Bounds> => {
  const [lower, upper] = await Promise.all([reader.tick(pool, lowerTick), reader.tick(pool, upperTick)])
  if (!lower || !upper)
    throw refusal('tick-range', 'a position lies between ticks that are not there', { lowerTick, upperTick })
  return { lower, upper }
}

export const spreadInside = (
  value: DecCoins,
  { lower, upper }: Bounds,
  { tick }: Pool,
  position: Position
): DecCoins => growthInside(value, lower.spreadRewardGrowth, upper.spreadRewardGrowth, tick, position)

export const uptimeInside = (
  value: DecCoins,
  { lower, upper }: Bounds,
  { tick }: Pool,
  position: Position,
  uptime: number
): DecCoins =>
  growthInside(value, lower.uptimeGrowth[uptime] ?? [], upper.uptimeGrowth[uptime] ?? [], tick, position)

export interface PositionClaim {
  readonly position: bigint
  readonly owner: string
  readonly now: Time
}

/** Removes shares of a position. When all are removed, its spread rewards are paid; else they stay claimable. */
export const leaveSpreadRewards = async (
  unit: UnitOfWork,
  pool: Pool,
  position: Position,
  shares: Dec,
  bounds: Bounds
): Promise<Coin[]> => {
  const name = { pool: pool.id }
  const { value } = await accumulatorOf(unit, name)
  await leave(unit, name, position.id, shares, spreadInside(value, bounds, pool, position))
  // Claimed after the position has left, so that fractions of coins go to the other positions.
  return shares === position.liquidity ? claimSpreadRewards(unit, pool, position, bounds) : []
}

/** Pays a position's spread rewards. Fractions of coins return to the accumulator, where the precision allows. */
const claimSpreadRewards = async (
  unit: UnitOfWork,
  pool: Pool,
  position: Position,
  bounds: Bounds
): Promise<Coin[]> => {
  const name = { pool: pool.id }
  const { value, totalShares } = await accumulatorOf(unit, name)
  const scale = await scaleOf(unit, 'spread', pool.id)
  const rewards = await claim(unit, name, position.id, spreadInside(value, bounds, pool, position))
  // Scaled values lose so little that the chain drops the rest.
  const rest =
    scale === 1n && totalShares !== 0n ? perShare(minus(rewards, wholes(rewards)), totalShares) : NOTHING
  if (rest.length > 0) unit.setAccumulator(name, { value: plus(value, rest), totalShares })
  return payable(rewards, scale)
}

export interface ClaimedIncentives {
  readonly paid: Coin[]
  /** By uptime, in scaled units: incentives of uptimes longer than the position's age. */
  readonly forfeited: readonly DecCoins[]
  readonly scale: bigint
}

/**
 * Claims a position's incentives of all uptimes, and removes `leaving` shares of it. The accumulators of the pool must be
 * up to date; their totals are not written.
 */
export const claimIncentives = async (
  unit: UnitOfWork,
  pool: Pool,
  position: Position,
  bounds: Bounds,
  uptimes: readonly AccumulatorContent[],
  { now, leaving }: { readonly now: Time; readonly leaving?: Dec | undefined }
): Promise<ClaimedIncentives> => {
  const age = now - position.joinTime
  if (age < 0n) throw refusal('time', 'the position is from later', { position: position.id })
  const scale = await scaleOf(unit, 'incentive', pool.id)
  const paid: Coin[][] = []
  const forfeited: DecCoins[] = []
  for (const [uptime, needed] of UPTIMES.entries()) {
    const inside = uptimeInside(uptimes[uptime]!.value, bounds, pool, position, uptime)
    const name = { pool: pool.id, uptime }
    const rewards =
      leaving === undefined
        ? await claim(unit, name, position.id, inside)
        : await claimAndLeave(unit, name, position.id, leaving, inside)
    if (age >= needed) paid.push(payable(rewards, scale))
    forfeited.push(age >= needed ? [] : wholes(rewards))
  }
  return { paid: total(...paid), forfeited, scale }
}

/** Incentives that return to the liquidity at the price, by uptime and per unit of it; without any they are paid. */
export const redeposit = (
  liquidity: Dec,
  { forfeited, scale }: ClaimedIncentives
): { readonly growth: readonly DecCoins[]; readonly paid: Coin[] } =>
  liquidity < DEC
    ? { growth: [], paid: total(...forfeited.map(coins => payable(coins, scale))) }
    : { growth: forfeited.map(coins => perShare(coins, liquidity)), paid: [] }

export const collectSpreadRewards = async (
  unit: UnitOfWork,
  { position: id, owner }: Omit<PositionClaim, 'now'>
): Promise<Coin[]> => {
  const position = await positionOf(unit, id, owner)
  const pool = await poolOf(unit, position.pool)
  return claimSpreadRewards(unit, pool, position, await boundsOf(unit, position))
}

export interface CollectedIncentives {
  readonly paid: Coin[]
  /**
   * Incentives that the position forfeited because of its age. They stay with the pool's incentives and nobody can
   * claim them; only a withdrawal returns them to the accumulators.
   */
  readonly forfeited: Coin[]
}

export const collectIncentives = async (
  unit: UnitOfWork,
  { position: id, owner, now }: PositionClaim
): Promise<CollectedIncentives> => {
  const position = await positionOf(unit, id, owner)
  const { pool, uptimes } = await syncUptimes(unit, await poolOf(unit, position.pool), now)
  const bounds = await boundsOf(unit, position)
  const { paid, forfeited, scale } = await claimIncentives(unit, pool, position, bounds, uptimes, {
    now
  })
  return { paid, forfeited: total(...forfeited.map(coins => payable(coins, scale))) }
}
