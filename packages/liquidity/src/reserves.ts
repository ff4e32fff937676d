/**
 * Reserves: the worth of a pool's positions at its price. Token 0 is L·(1/√price − 1/√upper), token 1 is L·(√price −
 * √lower). With roots and their reciprocals at 36 places, the sums are integers at 54 places, so additions and
 * subtractions never drift: without positions, they are zero.
 */
import { QuoinError } from '@quoin/primitives'
import { BIG_DEC, type BigDec, DEC, divideUp } from './decimal.ts'
import { floorToSpacing, MAX_TICK, MIN_TICK, tickToSqrtPrice } from './math/tick.ts'
import { decimal, message } from './protobuf.ts'
import type { Pool, Position } from './values.ts'

/** Amounts times 10^54. */
export interface Reserves {
  readonly amount0: bigint
  readonly amount1: bigint
}

export const reservesCodec = message<Reserves>('Reserves', { amount0: decimal(1), amount1: decimal(2) })

export const NO_RESERVES: Reserves = { amount0: 0n, amount1: 0n }
/** One coin in reserves. */
export const RESERVE_UNIT = BIG_DEC * DEC
const PRESENT_EXPONENT = -6n
const TICK_SIZES = [1n, 10n, 100n, 1_000n, 10_000n, 100_000n]
const FORMER_MIN_TICK = -162_000_000n

/** In whole coins, rounded up like a payment. */
export const wholeCoins = (amount: bigint): bigint => divideUp(amount, RESERVE_UNIT)

const inverse = (sqrtPrice: BigDec): BigDec => (BIG_DEC * BIG_DEC) / sqrtPrice
const clamp = (price: bigint, lower: bigint, upper: bigint): bigint =>
  price < lower ? lower : price > upper ? upper : price

/** Exports of 2023 have coarser ticks: each holds a power of ten of current ones. */
const sizeOf = (exponentAtPriceOne: bigint): bigint => {
  if (exponentAtPriceOne < PRESENT_EXPONENT || exponentAtPriceOne >= 0n)
    throw new QuoinError('ERR_LIQUIDITY_RANGE', 'the exponent at price one is from -6 to -1', {
      exponentAtPriceOne: exponentAtPriceOne.toString()
    })
  return TICK_SIZES[Number(exponentAtPriceOne - PRESENT_EXPONENT)]!
}

export const presentTick = (tick: bigint, exponentAtPriceOne: bigint): bigint =>
  tick * sizeOf(exponentAtPriceOne)

/** The coarse tick that holds a current one. */
export const formerTick = (tick: bigint, exponentAtPriceOne: bigint): bigint => {
  const size = sizeOf(exponentAtPriceOne)
  return floorToSpacing(tick, size) / size
}

/** Whether a position has the full range of prices: from 10^-12, or 10^-18 with the ticks of 2023, to 10^38. */
export const isFullRange = ({ exponentAtPriceOne }: Pool, { lowerTick, upperTick }: Position): boolean =>
  presentTick(upperTick, exponentAtPriceOne) === MAX_TICK &&
  presentTick(lowerTick, exponentAtPriceOne) ===
    (exponentAtPriceOne === PRESENT_EXPONENT ? MIN_TICK : FORMER_MIN_TICK)

export const sqrtPriceAt = (pool: Pool, tick: bigint): BigDec =>
  tickToSqrtPrice(presentTick(tick, pool.exponentAtPriceOne))

/** The worth of one position at a price. */
export const worth = (pool: Pool, { lowerTick, upperTick, liquidity }: Position, price: BigDec): Reserves => {
  const lower = sqrtPriceAt(pool, lowerTick)
  const upper = sqrtPriceAt(pool, upperTick)
  const at = clamp(price, lower, upper)
  return {
    amount0: liquidity * (inverse(at) - inverse(upper)),
    amount1: liquidity * (at - lower)
  }
}

export const plus = (a: Reserves, b: Reserves): Reserves => ({
  amount0: a.amount0 + b.amount0,
  amount1: a.amount1 + b.amount1
})

export const minus = (a: Reserves, b: Reserves): Reserves => ({
  amount0: a.amount0 - b.amount0,
  amount1: a.amount1 - b.amount1
})

/** The change of reserves by a price move between two ticks, with constant liquidity. */
export const moved = (liquidity: bigint, from: BigDec, to: BigDec): Reserves => ({
  amount0: liquidity * (inverse(to) - inverse(from)),
  amount1: liquidity * (to - from)
})
