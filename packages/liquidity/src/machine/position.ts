/** Positions: liquidity between two ticks, and its owner. */
import { bigDec, DEC, type Dec, dec } from '../decimal.ts'
import type { Draft } from '../draft.ts'
import { amount0Down, amount0Up, amount1Down, amount1Up, liquidityOf } from '../math/liquidity.ts'
import {
  MAX_SQRT_PRICE,
  MAX_TICK,
  MIN_SQRT_PRICE,
  MIN_TICK,
  priceToSqrtPrice,
  sqrtPriceToTick,
  tickToSqrtPrice
} from '../math/tick.ts'
import type { Time } from '../time.ts'
import type { AccumulatorContent, Pool, Position, TickInfo } from '../values.ts'
import { accumulatorOf, join, leave } from './accumulator.ts'
import { type Coin, total } from './coins.ts'
import { growthOfNewTick } from './growth.ts'
import { mustBeOfToday } from './pool.ts'
import { mustBeUnlocked, mustNotBeLast, poolOf, positionOf, refusal } from './refusal.ts'
import {
  type Bounds,
  boundsOf,
  claimIncentives,
  claimSpreadRewards,
  redeposit,
  spreadInside,
  uptimeInside
} from './rewards.ts'
import { syncUptimes, UPTIMES, valuesOf } from './uptime.ts'

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
export interface Opened extends Amounts {
  readonly position: Position
}

const NONE: Amounts = { amount0: 0n, amount1: 0n }

const checkRange = ({ tickSpacing }: Pool, lowerTick: bigint, upperTick: bigint): void => {
  if (lowerTick >= upperTick || lowerTick < MIN_TICK || upperTick > MAX_TICK)
    throw refusal('tick-range', `a range rises from ${MIN_TICK} or more to ${MAX_TICK} or less`, {
      lowerTick,
      upperTick
    })
  if (lowerTick % tickSpacing !== 0n || upperTick % tickSpacing !== 0n)
    throw refusal('tick-spacing', `the pool has ticks at multiples of ${tickSpacing}`, {
      lowerTick,
      upperTick
    })
}

/** The first position sets the price of a pool. */
const priced = (pool: Pool, { amount0, amount1 }: Amounts): Pool => {
  if (pool.sqrtPrice !== 0n) return pool
  if (amount0 <= 0n || amount1 <= 0n)
    throw refusal('amount', 'the first position of a pool has some of both tokens', { amount0, amount1 })
  const sqrtPrice = priceToSqrtPrice(dec.quo(dec.whole(amount1), dec.whole(amount0)) * DEC)
  if (sqrtPrice < MIN_SQRT_PRICE || sqrtPrice > MAX_SQRT_PRICE)
    throw refusal('price-limit', 'a price is from 10^-12 to 10^38', { sqrtPrice: bigDec.format(sqrtPrice) })
  return { ...pool, sqrtPrice, tick: sqrtPriceToTick(sqrtPrice) }
}

type Range = Pick<Position, 'lowerTick' | 'upperTick'>

const roots = ({ sqrtPrice }: Pool, { lowerTick, upperTick }: Range) => {
  const lower = tickToSqrtPrice(lowerTick)
  const upper = tickToSqrtPrice(upperTick)
  return { lower, upper, at: sqrtPrice < lower ? lower : sqrtPrice > upper ? upper : sqrtPrice }
}

const isActive = ({ tick }: Pool, { lowerTick, upperTick }: Range): boolean =>
  lowerTick <= tick && tick < upperTick

/** The amounts to pay for liquidity, rounded up. */
const cost = (pool: Pool, range: Range, liquidity: Dec): Amounts => {
  const { lower, upper, at } = roots(pool, range)
  return { amount0: amount0Up(liquidity, at, upper), amount1: amount1Up(liquidity, lower, at) }
}

/** The amounts that liquidity is worth, rounded down. */
export const worthOf = (pool: Pool, range: Range, liquidity: Dec): Amounts => {
  const { lower, upper, at } = roots(pool, range)
  return {
    amount0: bigDec.floor(amount0Down(liquidity, at, upper)),
    amount1: bigDec.floor(amount1Down(liquidity, lower, at))
  }
}

/** Adds liquidity to a tick or removes it. A tick without liquidity is deleted. */
const changeTick = async (
  draft: Draft,
  pool: Pool,
  index: bigint,
  { gross, net }: { readonly gross: Dec; readonly net: Dec },
  fresh: () => Pick<TickInfo, 'spreadRewardGrowth' | 'uptimeGrowth'>
): Promise<TickInfo> => {
  const before = (await draft.tick(pool.id, index)) ?? { liquidityGross: 0n, liquidityNet: 0n, ...fresh() }
  const after = {
    ...before,
    liquidityGross: before.liquidityGross + gross,
    liquidityNet: before.liquidityNet + net
  }
  if (after.liquidityGross === 0n) draft.removeTick(pool.id, index)
  else draft.setTick(pool.id, index, after)
  return after
}

/** Changes both ticks of a range. A new tick records the growth so far. */
const changeTicks = async (
  draft: Draft,
  pool: Pool,
  { lowerTick, upperTick }: Range,
  liquidity: Dec,
  spread: AccumulatorContent,
  uptimes: readonly AccumulatorContent[]
): Promise<Bounds> => {
  const fresh = (index: bigint) => () => ({
    spreadRewardGrowth: growthOfNewTick(spread.value, index, pool.tick),
    uptimeGrowth: valuesOf(uptimes).map(value => growthOfNewTick(value, index, pool.tick))
  })
  const change = (index: bigint, net: Dec) =>
    changeTick(draft, pool, index, { gross: liquidity, net }, fresh(index))
  return { lower: await change(lowerTick, liquidity), upper: await change(upperTick, -liquidity) }
}

export const createPosition = async (draft: Draft, given: NewPosition): Promise<Opened> => {
  const { owner, lowerTick, upperTick, amount0, amount1, least = NONE, now } = given
  const found = await poolOf(draft, given.pool)
  mustBeOfToday(found)
  checkRange(found, lowerTick, upperTick)
  if (amount0 < 0n || amount1 < 0n || (amount0 === 0n && amount1 === 0n))
    throw refusal('amount', 'a position needs some of a token', { amount0, amount1 })
  if (least.amount0 < 0n || least.amount1 < 0n)
    throw refusal('amount', 'least amounts are not below zero', { ...least })
  const synced = await syncUptimes(draft, priced(found, given), now)
  const { uptimes } = synced
  const spread = await accumulatorOf(draft, { pool: found.id })
  const { lower, upper } = roots(synced.pool, given)
  const liquidity = liquidityOf(synced.pool.sqrtPrice, lower, upper, amount0, amount1)
  if (liquidity <= 0n) throw refusal('liquidity', 'that makes no liquidity', { amount0, amount1 })
  const paid = cost(synced.pool, given, liquidity)
  if (paid.amount0 < least.amount0 || paid.amount1 < least.amount1)
    throw refusal('amount-limit', 'less would be paid than the least', { ...paid })

  const pool = withLiquidity(synced.pool, given, liquidity)
  const id = await draft.takePositionId()
  const position: Position = { id, owner, pool: pool.id, lowerTick, upperTick, joinTime: now, liquidity }
  const bounds = await changeTicks(draft, pool, given, liquidity, spread, uptimes)
  draft.setPool(pool)
  join(draft, { pool: pool.id }, spread, position, spreadInside(spread.value, bounds, pool, position))
  for (const uptime of UPTIMES.keys()) {
    const accumulator = uptimes[uptime]!
    const inside = uptimeInside(accumulator.value, bounds, pool, position, uptime)
    join(draft, { pool: pool.id, uptime }, accumulator, position, inside)
  }
  await draft.setPosition(position)
  return { position, ...paid }
}

const withLiquidity = (pool: Pool, range: Range, liquidity: Dec): Pool =>
  isActive(pool, range) ? { ...pool, liquidity: pool.liquidity + liquidity } : pool

export interface Withdrawal {
  readonly position: bigint
  readonly owner: string
  /** The liquidity to withdraw; all of it by default. */
  readonly liquidity?: Dec | undefined
  readonly now: Time
}

/** The withdrawn amounts, and the rewards paid with them. */
export interface Withdrawn extends Amounts {
  /** Paid when all liquidity is withdrawn; after a partial withdrawal they stay claimable. */
  readonly spreadRewards: Coin[]
  readonly incentives: Coin[]
}

export const withdrawPosition = async (draft: Draft, given: Withdrawal): Promise<Withdrawn> => {
  const { owner, now } = given
  const position = await positionOf(draft, given.position, owner)
  await mustBeUnlocked(draft, position.id)
  const { liquidity = position.liquidity } = given
  if (liquidity <= 0n || liquidity > position.liquidity)
    throw refusal('liquidity', `the position has liquidity ${dec.format(position.liquidity)}`, {
      liquidity: dec.format(liquidity)
    })
  const { pool: before, uptimes } = await syncUptimes(draft, await poolOf(draft, position.pool), now)
  mustBeOfToday(before)
  const isAll = liquidity === position.liquidity
  const claimed = await claimIncentives(draft, before, position, uptimes, now)
  const spreadRewards = isAll ? await claimSpreadRewards(draft, before, position) : []
  const paid = worthOf(before, position, liquidity)

  const bounds = await boundsOf(draft, position)
  const spread = await accumulatorOf(draft, { pool: before.id })
  await leave(
    draft,
    { pool: before.id },
    position.id,
    liquidity,
    spreadInside(spread.value, bounds, before, position)
  )
  for (const uptime of UPTIMES.keys()) {
    const inside = uptimeInside(uptimes[uptime]!.value, bounds, before, position, uptime)
    await leave(draft, { pool: before.id, uptime }, position.id, liquidity, inside)
  }
  await changeTicks(draft, before, position, -liquidity, spread, uptimes)
  if (isAll) await draft.removePosition(position.id)
  else await draft.setPosition({ ...position, liquidity: position.liquidity - liquidity })

  const left = withLiquidity(before, position, -liquidity)
  // Without positions a pool has no price, and the next position sets it.
  const pool = (await draft.hasPositions(left.id)) ? left : { ...left, sqrtPrice: 0n, tick: 0n }
  draft.setPool(pool)
  return { ...paid, spreadRewards, incentives: total(claimed.paid, await redeposit(draft, pool, claimed)) }
}

export interface Addition extends Amounts {
  readonly position: bigint
  readonly owner: string
  /** The least amounts of the enlarged position. */
  readonly least?: Amounts | undefined
  readonly now: Time
}

/** A position that replaces another. Its amounts include those of the replaced one. */
export interface Enlarged extends Opened {
  readonly withdrawn: Withdrawn
}

/** Withdraws a position and creates a larger one of the same range, with a new id and a new age. */
export const addToPosition = async (draft: Draft, given: Addition): Promise<Enlarged> => {
  const { owner, amount0, amount1, least, now } = given
  const position = await positionOf(draft, given.position, owner)
  await mustBeUnlocked(draft, position.id)
  if (amount0 < 0n || amount1 < 0n || (amount0 === 0n && amount1 === 0n))
    throw refusal('amount', 'a position needs some more of a token', { amount0, amount1 })
  await mustNotBeLast(draft, position)
  const withdrawn = await withdrawPosition(draft, { position: position.id, owner, now })
  const opened = await createPosition(draft, {
    ...position,
    owner,
    amount0: withdrawn.amount0 + amount0,
    amount1: withdrawn.amount1 + amount1,
    least,
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
  draft: Draft,
  { positions, owner, to }: Transfer
): Promise<Position[]> => {
  if (positions.length === 0 || new Set(positions).size !== positions.length)
    throw refusal('position-unknown', 'positions are given, each once', {})
  const transferred: Position[] = []
  for (const id of positions) {
    const position = await positionOf(draft, id, owner)
    await mustBeUnlocked(draft, id)
    await mustNotBeLast(draft, position)
    transferred.push({ ...position, owner: to })
  }
  for (const position of transferred) await draft.setPosition(position)
  return transferred
}
