/**
 * Simulation of a swap: steps from tick to tick, until the amount is used up or the price reaches its limit. It only
 * reads.
 */
import { type BigDec, bigDec, type Dec, dec } from '../decimal.ts'
import { type Direction, spreadOf, stepIn, stepOut } from '../math/swap-step.ts'
import { MAX_SQRT_PRICE, MIN_SQRT_PRICE, priceToSqrtPrice, sqrtPriceToTick } from '../math/tick.ts'
import type { Reader, Tick } from '../reader.ts'
import { formerTick, sqrtPriceAt } from '../reserves.ts'
import type { Pool } from '../values.ts'
import type { Coin } from './coins.ts'
import { refusal } from './refusal.ts'

export interface Quote {
  readonly pool: bigint
  /** The exact amount, paid or bought. */
  readonly coin: Coin
  /** The price limit at 36 places; without one, or with 0, the end of all prices. */
  readonly priceLimit?: BigDec | undefined
  /** The limit on crossed ticks. */
  readonly maxTicks?: number | undefined
}

export interface SwapResult {
  readonly paid: Coin
  readonly bought: Coin
  /** The part of the payment that rewards liquidity. */
  readonly spreadReward: Coin
  /** The price of the pool after the swap. */
  readonly sqrtPrice: BigDec
  readonly tick: bigint
  readonly liquidity: Dec
  readonly ticksCrossed: number
}

/** The side of a swap whose amount is exact: into the pool, or out of it. */
export type ExactSide = 'in' | 'out'

/** A part of the swap with constant liquidity. */
interface SwapSegment {
  readonly liquidity: Dec
  readonly spreadReward: Dec
  /** The tick at its end; undefined where the swap ends between ticks. */
  readonly crossed: Tick | undefined
}

/** The result of a swap, and its segments for the writes. */
export interface SwapSimulation {
  readonly result: SwapResult
  readonly segments: readonly SwapSegment[]
}

/** The chain's limit on an amount. */
const AMOUNT_LIMIT = 2n ** 256n
/** The chain's limit on steps without an amount, which occur where no position has liquidity. */
const MAX_FREE_STEPS = 100

/** Simulates a swap; nothing is written. */
export const simulateSwap = async (
  reader: Reader,
  pool: Pool,
  exact: ExactSide,
  { coin, priceLimit, maxTicks = Number.POSITIVE_INFINITY }: Quote
): Promise<SwapSimulation> => {
  const direction = directionOf(pool, exact, coin)
  const isDown = direction === 'down'
  const limit = limitOf(pool, direction, priceLimit)
  const spread = spreadOf(pool.spreadFactor)
  const stepBy = exact === 'in' ? stepIn : stepOut
  const segments: SwapSegment[] = []
  let { sqrtPrice, tick, liquidity } = pool
  let remaining = dec.whole(coin.amount)
  let amountIn = 0n
  let amountOut = 0n
  let spreadReward = 0n
  let ticksCrossed = 0
  let freeSteps = 0

  const walk = reader.ticks(pool.id, { from: pool.tick, inclusive: isDown, reverse: isDown })
  const ticks = walk[Symbol.asyncIterator]()
  let next: NextTick | undefined
  // The chain drops the last place of an amount.
  while (remaining > 1n && sqrtPrice !== limit) {
    next ??= await nextTick(pool, ticks)
    if (!next) throw refusal('no-ticks', 'the pool has too little liquidity', { ...coin })
    const { root } = next
    const target = (isDown ? root < limit : root > limit) ? limit : root
    const step = stepBy(direction, sqrtPrice, target, liquidity, remaining, spread)
    const isMoved = step.sqrtPrice !== sqrtPrice
    const isCrossed = step.sqrtPrice === root
    const isPast = isDown ? step.sqrtPrice < root : step.sqrtPrice > root
    // Whole coins may be too coarse for the amount that remains after a tick.
    if (step.spreadReward < 0n || isPast || (!isMoved && (step.amountIn !== 0n || step.amountOut !== 0n)))
      throw refusal('no-progress', 'the amount that remains after a tick is too small to swap', { tick })
    remaining -= exact === 'in' ? step.amountIn + step.spreadReward : step.amountOut
    amountIn += step.amountIn
    amountOut += step.amountOut
    spreadReward += step.spreadReward
    segments.push({
      liquidity,
      spreadReward: step.spreadReward,
      crossed: isCrossed ? next.tick : undefined
    })
    if (isCrossed) {
      const { index, info } = next.tick
      if (++ticksCrossed > maxTicks) throw refusal('no-ticks', `the swap crosses more than ${maxTicks} ticks`)
      // Ranges include their lower tick: a price that moves down leaves a range at that tick.
      tick = isDown ? index - 1n : index
      liquidity += isDown ? -info.liquidityNet : info.liquidityNet
      next = undefined
    } else if (isMoved) tick = tickAt(pool, step.sqrtPrice)
    sqrtPrice = step.sqrtPrice
    if ((exact === 'in' ? step.amountIn : step.amountOut) === 0n && ++freeSteps > MAX_FREE_STEPS)
      throw refusal('no-progress', `the swap takes more than ${MAX_FREE_STEPS} steps without an amount`, {
        tick
      })
  }
  if (remaining < 0n)
    throw refusal('no-progress', 'the reward, rounded up, exceeds the amount that remains', { tick })
  const coins = settle(pool, direction, amountIn, amountOut, spreadReward)
  // The side that is not exact must move a coin; at the end of all prices, the other one may be 0.
  if ((exact === 'in' ? coins.bought : coins.paid).amount === 0n)
    throw refusal('amount', 'the amount moves less than one coin', { amountIn: dec.format(amountIn) })
  return { result: { ...coins, sqrtPrice, tick, liquidity, ticksCrossed }, segments }
}

/** The next tick of a walk, and the root of its price. */
interface NextTick {
  readonly tick: Tick
  readonly root: BigDec
}

const nextTick = async (pool: Pool, ticks: AsyncIterator<Tick>): Promise<NextTick | undefined> => {
  const { done, value } = await ticks.next()
  return done ? undefined : { tick: value, root: sqrtPriceAt(pool, value.index) }
}

/** Token 0 that comes in moves the price down, token 0 that goes out moves it up. */
const directionOf = ({ token0, token1 }: Pool, exact: ExactSide, { denom, amount }: Coin): Direction => {
  if (denom !== token0 && denom !== token1)
    throw refusal('denoms', `invalid denom: expected ${token0} or ${token1}`, { denom })
  if (amount <= 0n || amount >= AMOUNT_LIMIT)
    throw refusal('amount', 'invalid amount: expected 1 to 2^256-1', { amount })
  return (denom === token0) === (exact === 'in') ? 'down' : 'up'
}

/** The root of the price at which a swap ends. */
const limitOf = ({ id, sqrtPrice }: Pool, direction: Direction, priceLimit: BigDec | undefined): BigDec => {
  if (sqrtPrice === 0n) throw refusal('pool-empty', `pool ${id} has no positions`, { pool: id })
  const isDown = direction === 'down'
  if (!priceLimit) return isDown ? MIN_SQRT_PRICE : MAX_SQRT_PRICE
  const limit = priceLimit > 0n ? priceToSqrtPrice(priceLimit) : 0n
  if (limit < MIN_SQRT_PRICE || limit > MAX_SQRT_PRICE || (isDown ? limit >= sqrtPrice : limit <= sqrtPrice))
    throw refusal(
      'price-limit',
      `invalid price limit: expected a price ${isDown ? 'below' : 'above'} the current one, from 10^-12 to 10^38`,
      {
        priceLimit: bigDec.format(priceLimit)
      }
    )
  return limit
}

/** The amounts in whole coins: the payment is rounded up, the purchase is rounded down. */
const settle = (
  { token0, token1 }: Pool,
  direction: Direction,
  amountIn: Dec,
  amountOut: Dec,
  spreadReward: Dec
): Pick<SwapResult, 'paid' | 'bought' | 'spreadReward'> => {
  const [paid, bought] = direction === 'down' ? [token0, token1] : [token1, token0]
  return {
    paid: { denom: paid, amount: dec.ceil(amountIn + spreadReward) },
    bought: { denom: bought, amount: dec.floor(amountOut) },
    spreadReward: { denom: paid, amount: dec.ceil(spreadReward) }
  }
}

const tickAt = ({ exponentAtPriceOne }: Pool, sqrtPrice: BigDec): bigint =>
  formerTick(sqrtPriceToTick(sqrtPrice), exponentAtPriceOne)
