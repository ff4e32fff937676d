/** Positions: liquidity between two ticks, and its owner. */
import { bigDec, DEC, type Dec, dec } from '../decimal.ts'
import { amount0Down, amount0Up, amount1Down, amount1Up, liquidityOf } from '../math/liquidity.ts'
import {
  floorToSpacing,
  MAX_SQRT_PRICE,
  MAX_TICK,
  MIN_SQRT_PRICE,
  MIN_TICK,
  priceToSqrtPrice,
  sqrtPriceToTick,
  tickToSqrtPrice
} from '../math/tick.ts'
import type { Time } from '../time.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import type { Pool, Position } from '../values.ts'
import { accumulatorOf, join } from './accumulator.ts'
import { type Coin, NOTHING, plus, total } from './coins.ts'
import type { TickRange } from './growth.ts'
import { assertCurrentTicks } from './pool.ts'
import { assertNotLast, mustBeUnlocked, poolOf, positionOf, refusal } from './refusal.ts'
import {
  boundsOf,
  claimIncentives,
  leaveSpreadRewards,
  redeposit,
  spreadInside,
  uptimeInside
} from './rewards.ts'
import { addToTicks, removeFromTicks } from './tick-liquidity.ts'
import { syncUptimes, UPTIMES } from './uptime.ts'

export interface Amounts {
  readonly amount0: bigint
  readonly amount1: bigint
}

export interface NewPosition extends Amounts {
  readonly pool: bigint
  readonly owner: string
  readonly lowerTick: bigint
  readonly upperTick: bigint
  /** The least amounts to pay; below them the operation is refused. */
  readonly least?: Amounts | undefined
  readonly now: Time
}

/** A position, and the amounts paid for it. */
export interface PositionReceipt extends Amounts {
  readonly position: Position
}

const NONE: Amounts = { amount0: 0n, amount1: 0n }

const checkRange = ({ tickSpacing }: Pool, lowerTick: bigint, upperTick: bigint): void => {
  if (lowerTick % tickSpacing !== 0n || upperTick % tickSpacing !== 0n)
    throw refusal('tick-spacing', `invalid ticks: expected multiples of the tick spacing ${tickSpacing}`, {
      lowerTick,
      upperTick
    })
  if (lowerTick >= upperTick || lowerTick < MIN_TICK || upperTick > MAX_TICK)
    throw refusal('tick-range', `invalid range: expected rising ticks from ${MIN_TICK} to ${MAX_TICK}`, {
      lowerTick,
      upperTick
    })
}

/** The first position sets the price of a pool. */
const withPrice = (pool: Pool, { amount0, amount1 }: Amounts): Pool => {
  if (pool.sqrtPrice !== 0n) return pool
  if (amount0 <= 0n || amount1 <= 0n)
    throw refusal('amount', 'the first position of a pool needs both tokens', { amount0, amount1 })
  const sqrtPrice = priceToSqrtPrice(dec.quo(dec.whole(amount1), dec.whole(amount0)) * DEC)
  if (sqrtPrice < MIN_SQRT_PRICE || sqrtPrice > MAX_SQRT_PRICE)
    throw refusal('price-limit', 'invalid price: expected 10^-12 to 10^38', {
      sqrtPrice: bigDec.format(sqrtPrice)
    })
  // Until a swap moves the price, the pool is at a tick that positions may have.
  return { ...pool, sqrtPrice, tick: floorToSpacing(sqrtPriceToTick(sqrtPrice), pool.tickSpacing) }
}

const roots = ({ sqrtPrice }: Pool, { lowerTick, upperTick }: TickRange) => {
  const lower = tickToSqrtPrice(lowerTick)
  const upper = tickToSqrtPrice(upperTick)
  return { lower, upper, at: sqrtPrice < lower ? lower : sqrtPrice > upper ? upper : sqrtPrice }
}

const isActive = ({ tick }: Pool, { lowerTick, upperTick }: TickRange): boolean =>
  lowerTick <= tick && tick < upperTick

/** The amounts to pay for liquidity, rounded up. */
const cost = (pool: Pool, range: TickRange, liquidity: Dec): Amounts => {
  const { lower, upper, at } = roots(pool, range)
  return { amount0: amount0Up(liquidity, at, upper), amount1: amount1Up(liquidity, lower, at) }
}

/** The amounts that liquidity is worth, rounded down. */
export const worthOf = (pool: Pool, range: TickRange, liquidity: Dec): Amounts => {
  const { lower, upper, at } = roots(pool, range)
  return {
    amount0: bigDec.floor(amount0Down(liquidity, at, upper)),
    amount1: bigDec.floor(amount1Down(liquidity, lower, at))
  }
}

export const createPosition = async (unit: UnitOfWork, given: NewPosition): Promise<PositionReceipt> => {
  const { owner, lowerTick, upperTick, amount0, amount1, least = NONE, now } = given
  const found = await poolOf(unit, given.pool)
  assertCurrentTicks(found)
  checkRange(found, lowerTick, upperTick)
  if (amount0 < 0n || amount1 < 0n || (amount0 === 0n && amount1 === 0n))
    throw refusal('amount', 'a position needs an amount of a token', { amount0, amount1 })
  if (least.amount0 < 0n || least.amount1 < 0n)
    throw refusal('amount', 'invalid least amounts: expected 0 or more', { ...least })
  const synced = await syncUptimes(unit, withPrice(found, given), now)
  const { uptimes } = synced
  const spread = await accumulatorOf(unit, { pool: found.id })
  const { lower, upper } = roots(synced.pool, given)
  const liquidity = liquidityOf(synced.pool.sqrtPrice, lower, upper, amount0, amount1)
  if (liquidity <= 0n)
    throw refusal('liquidity', 'the amounts are too small for any liquidity', { amount0, amount1 })
  const paid = cost(synced.pool, given, liquidity)
  if (paid.amount0 < least.amount0 || paid.amount1 < least.amount1)
    throw refusal('amount-limit', 'the position would take less than the least amounts', { ...paid })

  const pool = withLiquidity(synced.pool, given, liquidity)
  const id = await unit.takePositionId()
  const position: Position = { id, owner, pool: pool.id, lowerTick, upperTick, joinTime: now, liquidity }
  const bounds = await addToTicks(unit, pool, given, liquidity, spread, uptimes)
  unit.setPool(pool)
  join(unit, { pool: pool.id }, spread, position, spreadInside(spread.value, bounds, pool, position))
  for (const uptime of UPTIMES.keys()) {
    const accumulator = uptimes[uptime]!
    const inside = uptimeInside(accumulator.value, bounds, pool, position, uptime)
    join(unit, { pool: pool.id, uptime }, accumulator, position, inside)
  }
  await unit.setPosition(position)
  await unit.addTotalLiquidity(pool.token0, paid.amount0)
  await unit.addTotalLiquidity(pool.token1, paid.amount1)
  return { position, ...paid }
}

const withLiquidity = (pool: Pool, range: TickRange, liquidity: Dec): Pool =>
  isActive(pool, range) ? { ...pool, liquidity: pool.liquidity + liquidity } : pool

export interface Withdrawal {
  readonly position: bigint
  readonly owner: string
  /** The liquidity to withdraw; all of it by default. */
  readonly liquidity?: Dec | undefined
  readonly now: Time
}

/** The withdrawn amounts, and the rewards paid with them. */
export interface WithdrawalReceipt extends Amounts {
  /** Paid when all liquidity is withdrawn; after a partial withdrawal they stay claimable. */
  readonly spreadRewards: Coin[]
  readonly incentives: Coin[]
}

export const withdrawPosition = async (unit: UnitOfWork, given: Withdrawal): Promise<WithdrawalReceipt> => {
  const { owner, now } = given
  const position = await positionOf(unit, given.position, owner)
  await mustBeUnlocked(unit, position.id)
  const { liquidity = position.liquidity } = given
  if (liquidity <= 0n || liquidity > position.liquidity)
    throw refusal('liquidity', `invalid liquidity: the position has ${dec.format(position.liquidity)}`, {
      liquidity: dec.format(liquidity)
    })
  const { pool: before, uptimes } = await syncUptimes(unit, await poolOf(unit, position.pool), now)
  assertCurrentTicks(before)
  const bounds = await boundsOf(unit, position)
  const claimed = await claimIncentives(unit, before, position, bounds, uptimes, { now, leaving: liquidity })
  const paid = worthOf(before, position, liquidity)
  const left = withLiquidity(before, position, -liquidity)
  const returned = redeposit(left.liquidity, claimed)
  for (const [uptime, { value, totalShares }] of uptimes.entries())
    unit.setAccumulator(
      { pool: left.id, uptime },
      { value: plus(value, returned.growth[uptime] ?? NOTHING), totalShares: totalShares - liquidity }
    )
  const spreadRewards = await leaveSpreadRewards(unit, before, position, liquidity, bounds)
  removeFromTicks(unit, position, liquidity, bounds)
  if (liquidity === position.liquidity) await unit.removePosition(position.id)
  else await unit.setPosition({ ...position, liquidity: position.liquidity - liquidity })
  // Without positions a pool has no price, and the next position sets it.
  const pool = (await unit.hasPositions(left.id)) ? left : { ...left, sqrtPrice: 0n, tick: 0n }
  unit.setPool(pool)
  return { ...paid, spreadRewards, incentives: total(claimed.paid, returned.paid) }
}

export interface Addition extends Amounts {
  readonly position: bigint
  readonly owner: string
  /**
   * The least amounts to pay on top of the withdrawn ones. The enlarged position never takes less than was withdrawn.
   */
  readonly least?: Amounts | undefined
  readonly now: Time
}

/** A position that replaces another. Its amounts include those of the replaced one. */
export interface AdditionReceipt extends PositionReceipt {
  readonly withdrawn: WithdrawalReceipt
}

/** Withdraws a position and creates a larger one of the same range, with a new id and a new age. */
export const addToPosition = async (unit: UnitOfWork, given: Addition): Promise<AdditionReceipt> => {
  const { owner, amount0, amount1, least = NONE, now } = given
  const position = await positionOf(unit, given.position, owner)
  await mustBeUnlocked(unit, position.id)
  if (amount0 < 0n || amount1 < 0n || (amount0 === 0n && amount1 === 0n))
    throw refusal('amount', 'an addition needs an amount of a token', { amount0, amount1 })
  await assertNotLast(unit, position)
  const withdrawn = await withdrawPosition(unit, { position: position.id, owner, now })
  const opened = await createPosition(unit, {
    ...position,
    owner,
    amount0: withdrawn.amount0 + amount0,
    amount1: withdrawn.amount1 + amount1,
    least: { amount0: withdrawn.amount0 + least.amount0, amount1: withdrawn.amount1 + least.amount1 },
    now
  })
  return { ...opened, withdrawn }
}

export interface Transfer {
  readonly positions: readonly bigint[]
  readonly owner: string
  readonly to: string
}

/** Gives positions, with their claims and their age, to another owner. */
export const transferPositions = async (
  unit: UnitOfWork,
  { positions, owner, to }: Transfer
): Promise<Position[]> => {
  if (positions.length === 0 || new Set(positions).size !== positions.length)
    throw refusal('position-unknown', 'invalid positions: expected at least one, each once', {})
  const transferred: Position[] = []
  for (const id of positions) {
    const position = await positionOf(unit, id, owner)
    await mustBeUnlocked(unit, id)
    await assertNotLast(unit, position)
    transferred.push({ ...position, owner: to })
  }
  for (const position of transferred) await unit.setPosition(position)
  return transferred
}
