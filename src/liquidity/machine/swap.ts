/**
 * Swaps. A quote is the way that one would take; a swap also turns the ticks on its way, counts the reward and moves
 * the price.
 */
import type { Dec } from '../decimal.ts'
import type { Draft } from '../draft.ts'
import type { Reader } from '../reader.ts'
import type { Time } from '../time.ts'
import type { DecCoins, Pool } from '../values.ts'
import { accumulatorOf } from './accumulator.ts'
import { minus, plus } from './coins.ts'
import { mustBeOfToday } from './pool.ts'
import { poolOf, refusal } from './refusal.ts'
import { syncUptimes, valuesOf } from './uptime.ts'
import { findWay, type Quote, type Swapped, type Way } from './way.ts'

export interface SwapIn extends Quote {
  /** The least to get. */
  readonly least?: bigint | undefined
  readonly now: Time
}

export interface SwapOut extends Quote {
  /** The most to pay. */
  readonly most?: bigint | undefined
  readonly now: Time
}

/** Turns the ticks on the way, counts the reward and moves the price. */
const follow = async (
  draft: Draft,
  before: Pool,
  { swapped, crossings, growth }: Way,
  now: Time
): Promise<void> => {
  const name = { pool: before.id }
  const grown = (amount: Dec): DecCoins => (amount === 0n ? [] : [{ denom: swapped.paid.denom, amount }])
  const spread = await accumulatorOf(draft, name)
  let pool = before
  if (crossings.length > 0) {
    const synced = await syncUptimes(draft, before, now)
    const values = valuesOf(synced.uptimes)
    pool = synced.pool
    for (const { index, info, growth: soFar } of crossings)
      draft.setTick(pool.id, index, {
        ...info,
        spreadRewardGrowth: minus(plus(spread.value, grown(soFar)), info.spreadRewardGrowth),
        uptimeGrowth: values.map((value, uptime) => minus(value, info.uptimeGrowth[uptime] ?? []))
      })
  }
  if (growth !== 0n) draft.setAccumulator(name, { ...spread, value: plus(spread.value, grown(growth)) })
  const { sqrtPrice, tick, liquidity } = swapped
  draft.setPool({ ...pool, sqrtPrice, tick, liquidity })
}

const todaysPool = async (reader: Reader, id: bigint): Promise<Pool> => {
  const pool = await poolOf(reader, id)
  mustBeOfToday(pool)
  return pool
}

/** What a swap would do. Nothing is written. */
export const quoteExactIn = async (reader: Reader, given: Quote): Promise<Swapped> =>
  (await findWay(reader, await poolOf(reader, given.pool), 'in', given)).swapped

export const quoteExactOut = async (reader: Reader, given: Quote): Promise<Swapped> =>
  (await findWay(reader, await poolOf(reader, given.pool), 'out', given)).swapped

/** Pays exactly so much. At a price limit it is less. */
export const swapExactIn = async (draft: Draft, given: SwapIn): Promise<Swapped> => {
  const pool = await todaysPool(draft, given.pool)
  const way = await findWay(draft, pool, 'in', given)
  const { bought } = way.swapped
  if (given.least !== undefined && bought.amount < given.least)
    throw refusal('amount-limit', `that buys ${bought.amount}`, { least: given.least, bought: bought.amount })
  await follow(draft, pool, way, given.now)
  return way.swapped
}

/** Buys exactly so much. At a price limit it is less. */
export const swapExactOut = async (draft: Draft, given: SwapOut): Promise<Swapped> => {
  const pool = await todaysPool(draft, given.pool)
  const way = await findWay(draft, pool, 'out', given)
  const { paid } = way.swapped
  if (given.most !== undefined && paid.amount > given.most)
    throw refusal('amount-limit', `that costs ${paid.amount}`, { most: given.most, paid: paid.amount })
  await follow(draft, pool, way, given.now)
  return way.swapped
}
