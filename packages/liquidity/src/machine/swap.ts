/**
 * Swaps: the amount that comes in moves the price and rewards the liquidity that it passes. A swap writes the pool,
 * the growth of rewards and the crossed ticks.
 */
import { dec } from '../decimal.ts'
import type { Reader } from '../reader.ts'
import type { Time } from '../time.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import type { AccumulatorContent, DecCoins, Pool, TickInfo } from '../values.ts'
import { accumulatorOf, scaleOf } from './accumulator.ts'
import { minus, NOTHING, plus } from './coins.ts'
import { assertCurrentTicks } from './pool.ts'
import { poolOf, refusal } from './refusal.ts'
import {
  type ExactSide,
  type Quote,
  type SwapResult,
  type SwapSimulation,
  simulateSwap
} from './simulate-swap.ts'
import { syncUptimes } from './uptime.ts'

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

const quote = async (reader: Reader, exact: ExactSide, given: Quote): Promise<SwapResult> =>
  (await simulateSwap(reader, await poolOf(reader, given.pool), exact, given)).result

/** Simulates a swap; nothing is written. */
export const quoteExactIn = (reader: Reader, given: Quote): Promise<SwapResult> => quote(reader, 'in', given)
export const quoteExactOut = (reader: Reader, given: Quote): Promise<SwapResult> =>
  quote(reader, 'out', given)

/** Pays an exact amount, or less when the price limit is reached. */
export const swapExactIn = async (unit: UnitOfWork, given: SwapIn): Promise<SwapResult> => {
  const { least = 0n } = given
  return swap(unit, 'in', given, ({ bought }) => bought.amount >= least)
}

/** Buys an exact amount, or less when the price limit is reached. */
export const swapExactOut = async (unit: UnitOfWork, given: SwapOut): Promise<SwapResult> => {
  const { most } = given
  return swap(unit, 'out', given, ({ paid }) => most === undefined || paid.amount <= most)
}

const swap = async (
  unit: UnitOfWork,
  exact: ExactSide,
  given: Quote & { readonly now: Time },
  isAcceptable: (result: SwapResult) => boolean
): Promise<SwapResult> => {
  const pool = await poolOf(unit, given.pool)
  assertCurrentTicks(pool)
  const simulation = await simulateSwap(unit, pool, exact, given)
  const { result } = simulation
  if (!isAcceptable(result))
    throw refusal('amount-limit', 'the payment exceeds the limit, or the purchase is below it', {
      paid: result.paid.amount,
      bought: result.bought.amount
    })
  await writeSwap(unit, pool, simulation, given.now)
  await unit.addTotalLiquidity(result.paid.denom, result.paid.amount)
  await unit.addTotalLiquidity(result.bought.denom, -result.bought.amount)
  return result
}

/** Writes the results of a simulated swap. */
const writeSwap = async (
  unit: UnitOfWork,
  before: Pool,
  { result, segments }: SwapSimulation,
  now: Time
): Promise<void> => {
  const { sqrtPrice, tick, liquidity, ticksCrossed, paid } = result
  const name = { pool: before.id }
  const { value, totalShares } = await accumulatorOf(unit, name)
  const scale = await scaleOf(unit, 'spread', before.id)
  // Incentives belong to the liquidity at the price, so they are emitted before it changes.
  const { pool, uptimes } =
    ticksCrossed > 0 ? await syncUptimes(unit, before, now) : { pool: before, uptimes: [] }
  unit.setPool({ ...pool, sqrtPrice, tick, liquidity })
  let grown = value
  for (const segment of segments) {
    if (segment.spreadReward > 0n) {
      const amount = dec.quoDown(segment.spreadReward * scale, segment.liquidity)
      if (amount > 0n) grown = plus(grown, [{ denom: paid.denom, amount }])
    }
    if (segment.crossed) {
      const { index, info } = segment.crossed
      unit.setTick(pool.id, index, flipGrowth(info, grown, uptimes))
    }
  }
  if (grown !== value) unit.setAccumulator(name, { value: grown, totalShares })
}

/** A crossed tick: its record switches to the growth on the other side, the total less the recorded growth. */
const flipGrowth = (
  info: TickInfo,
  spreadRewards: DecCoins,
  uptimes: readonly AccumulatorContent[]
): TickInfo => ({
  ...info,
  spreadRewardGrowth: minus(spreadRewards, info.spreadRewardGrowth),
  uptimeGrowth: uptimes.map(({ value }, uptime) => minus(value, info.uptimeGrowth[uptime] ?? NOTHING))
})
