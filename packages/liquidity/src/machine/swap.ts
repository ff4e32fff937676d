/**
 * Swaps: the amount that comes in moves the price and rewards the liquidity that it passes. A swap writes the pool,
 * the growth of rewards and the crossed ticks.
 */
import { dec } from '../decimal.ts'
import type { Draft } from '../draft.ts'
import type { Reader } from '../reader.ts'
import type { Time } from '../time.ts'
import type { AccumulatorContent, DecCoins, Pool, TickInfo } from '../values.ts'
import { accumulatorOf, scaleOf } from './accumulator.ts'
import { minus, NOTHING, plus } from './coins.ts'
import { mustBeOfToday } from './pool.ts'
import { poolOf, refusal } from './refusal.ts'
import { syncUptimes } from './uptime.ts'
import { type Exact, findWay, type Quote, type Swapped, type Way } from './way.ts'

export interface SwapIn extends Quote {
  /** The least amount to get. */
  readonly least?: bigint | undefined
  readonly now: Time
}

export interface SwapOut extends Quote {
  /** The most to pay. */
  readonly most?: bigint | undefined
  readonly now: Time
}

const quote = async (reader: Reader, exact: Exact, given: Quote): Promise<Swapped> =>
  (await findWay(reader, await poolOf(reader, given.pool), exact, given)).swapped

/** Simulates a swap; nothing is written. */
export const quoteExactIn = (reader: Reader, given: Quote): Promise<Swapped> => quote(reader, 'in', given)
export const quoteExactOut = (reader: Reader, given: Quote): Promise<Swapped> => quote(reader, 'out', given)

/** Pays an exact amount, or less when the price limit is reached. */
export const swapExactIn = async (draft: Draft, given: SwapIn): Promise<Swapped> => {
  const { least = 0n } = given
  return swap(draft, 'in', given, ({ bought }) => bought.amount >= least)
}

/** Buys an exact amount, or less when the price limit is reached. */
export const swapExactOut = async (draft: Draft, given: SwapOut): Promise<Swapped> => {
  const { most } = given
  return swap(draft, 'out', given, ({ paid }) => most === undefined || paid.amount <= most)
}

const swap = async (
  draft: Draft,
  exact: Exact,
  given: Quote & { readonly now: Time },
  isWanted: (swapped: Swapped) => boolean
): Promise<Swapped> => {
  const pool = await poolOf(draft, given.pool)
  mustBeOfToday(pool)
  const way = await findWay(draft, pool, exact, given)
  const { swapped } = way
  if (!isWanted(swapped))
    throw refusal('amount-limit', 'it would be more to pay or less to get than was asked for', {
      paid: swapped.paid.amount,
      bought: swapped.bought.amount
    })
  await go(draft, pool, way, given.now)
  return swapped
}

/** Writes the results of a simulated swap. */
const go = async (draft: Draft, before: Pool, { swapped, stretches }: Way, now: Time): Promise<void> => {
  const { sqrtPrice, tick, liquidity, ticksCrossed, paid } = swapped
  const name = { pool: before.id }
  const { value, totalShares } = await accumulatorOf(draft, name)
  const scale = await scaleOf(draft, 'spread', before.id)
  // Incentives belong to the liquidity at the price, so they are emitted before it changes.
  const { pool, uptimes } =
    ticksCrossed > 0 ? await syncUptimes(draft, before, now) : { pool: before, uptimes: [] }
  draft.setPool({ ...pool, sqrtPrice, tick, liquidity })
  let grown = value
  for (const stretch of stretches) {
    if (stretch.spreadReward > 0n) {
      const amount = dec.quoDown(stretch.spreadReward * scale, stretch.liquidity)
      if (amount > 0n) grown = plus(grown, [{ denom: paid.denom, amount }])
    }
    if (stretch.crossed) {
      const { index, info } = stretch.crossed
      draft.setTick(pool.id, index, fromOtherSide(info, grown, uptimes))
    }
  }
  if (grown !== value) draft.setAccumulator(name, { value: grown, totalShares })
}

/** A crossed tick: its record switches to the growth on the other side, the total less the recorded growth. */
const fromOtherSide = (
  info: TickInfo,
  spreadRewards: DecCoins,
  uptimes: readonly AccumulatorContent[]
): TickInfo => ({
  ...info,
  spreadRewardGrowth: minus(spreadRewards, info.spreadRewardGrowth),
  uptimeGrowth: uptimes.map(({ value }, uptime) => minus(value, info.uptimeGrowth[uptime] ?? NOTHING))
})
