/**
 * The depth of a pool: cumulated amounts by price. From the current price to each tick above: token 0 that can be
 * bought and token 1 that it costs; to each tick below, the reverse. Without spread rewards.
 */
import { QuoinError } from '@quoin/primitives'
import { BIG_DEC, type BigDec, type Dec, integerSqrt } from './decimal.ts'
import { MAX_SQRT_PRICE, MIN_SQRT_PRICE, sqrtPriceToTick, tickToPrice } from './math/tick.ts'
import type { Reader } from './reader.ts'
import { formerTick, moved, NO_RESERVES, plus, presentTick, type Reserves, sqrtPriceAt } from './reserves.ts'
import type { Pool } from './values.ts'

export interface DepthOptions {
  /** The range of prices, in percent above and below the price; 10 by default. */
  readonly percent?: number | undefined
  /** The limit on ticks in each direction; 1000 by default. */
  readonly ticks?: number | undefined
}

export interface DepthPoint {
  readonly tick: bigint
  readonly price: BigDec
  /** Active liquidity between the previous point and this one. */
  readonly liquidity: Dec
  /** Cumulated amounts from the current price, in whole coins. */
  readonly amount0: bigint
  readonly amount1: bigint
}

export interface Depth {
  readonly pool: Pool
  readonly price: BigDec
  /** Points below the price: buyers of token 0. */
  readonly bids: readonly DepthPoint[]
  /** Points above the price: sellers of token 0. */
  readonly asks: readonly DepthPoint[]
  /** Whether the walk covered the range within the limit on ticks. */
  readonly isWhole: boolean
}

const UNIT = BIG_DEC * 10n ** 18n
const magnitude = (amount: bigint): bigint => (amount < 0n ? -amount : amount) / UNIT

export const priceOf = (sqrtPrice: BigDec): BigDec => (sqrtPrice * sqrtPrice) / BIG_DEC

/** The price at a tick of a pool. */
export const priceAtTick = ({ exponentAtPriceOne }: Pick<Pool, 'exponentAtPriceOne'>, tick: bigint): BigDec =>
  tickToPrice(presentTick(tick, exponentAtPriceOne))

export const depthOf = async (
  reader: Reader,
  id: bigint,
  { percent = 10, ticks = 1000 }: DepthOptions = {}
): Promise<Depth> => {
  if (!(percent > 0 && percent <= 1000))
    throw new QuoinError('ERR_LIQUIDITY_RANGE', 'depth is looked at up to 1000 percent', { percent })
  const pool = await reader.pool(id)
  if (!pool) throw new QuoinError('ERR_NOT_FOUND', `unknown pool ${id}`, { pool: `${id}` })
  const price = priceOf(pool.sqrtPrice)
  if (price === 0n) return { pool, price, bids: [], asks: [], isWhole: true }
  const millionths = BigInt(Math.round(percent * 10_000))
  const root = (numerator: bigint, denominator: bigint): BigDec =>
    integerSqrt((price * BIG_DEC * numerator) / denominator)
  // Half and double the price are equally far.
  const lowest = max(root(MILLION, MILLION + millionths), MIN_SQRT_PRICE)
  const highest = min(root(MILLION + millionths, MILLION), MAX_SQRT_PRICE)
  const bids = await walkPoints(reader, pool, true, lowest, ticks)
  const asks = await walkPoints(reader, pool, false, highest, ticks)
  return { pool, price, bids: bids.points, asks: asks.points, isWhole: bids.isWhole && asks.isWhole }
}

const MILLION = 1_000_000n
const min = (a: bigint, b: bigint): bigint => (a < b ? a : b)
const max = (a: bigint, b: bigint): bigint => (a > b ? a : b)

/** The points from the price of the pool to a bound, in that order. */
const walkPoints = async (
  reader: Reader,
  pool: Pool,
  isDown: boolean,
  bound: BigDec,
  most: number
): Promise<{ points: DepthPoint[]; isWhole: boolean }> => {
  const points: DepthPoint[] = []
  let { sqrtPrice, liquidity } = pool
  let sum: Reserves = NO_RESERVES
  const goTo = (tick: bigint, next: BigDec): void => {
    sum = plus(sum, moved(liquidity, sqrtPrice, next))
    sqrtPrice = next
    points.push({
      tick,
      price: priceOf(next),
      liquidity,
      amount0: magnitude(sum.amount0),
      amount1: magnitude(sum.amount1)
    })
  }
  for await (const { index, info } of reader.ticks(pool.id, {
    from: pool.tick,
    inclusive: isDown,
    reverse: isDown
  })) {
    const next = sqrtPriceAt(pool, index)
    if (isDown ? next < bound : next > bound) break
    if (points.length === most) return { points, isWhole: false }
    goTo(index, next)
    liquidity += isDown ? -info.liquidityNet : info.liquidityNet
  }
  goTo(formerTick(sqrtPriceToTick(bound), pool.exponentAtPriceOne), bound)
  return { points, isWhole: true }
}
