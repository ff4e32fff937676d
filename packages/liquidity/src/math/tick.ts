/**
 * Ticks and prices. Prices are divided into decades of 9·10^6 ticks, evenly inside of a decade: the tick 9·10^6·k +
 * r, with 0 ≤ r < 9·10^6, has the price (10^6 + r)·10^(k − 6). So tick 0 is price 1, and every price of a tick has
 * seven significant digits.
 * A square root has 18 places and is rounded up, except below 10^-12, where it has 36.
 */
import { QuoinError } from '@quoin/primitives'
import { BIG_DEC, type BigDec, bigDec, sqrtBigDec, sqrtDec, toBigDec, toDec } from '../decimal.ts'

/** The lowest tick of a position: 10^-12. */
export const MIN_TICK = -108_000_000n
/** The highest tick: 10^38. */
export const MAX_TICK = 342_000_000n
/** The lowest tick with a price. It needs one place too many, and is rounded to the price of the tick above. */
const LOWEST_TICK = -270_000_001n

const LOWEST_DECADE = -30
const HIGHEST_DECADE = 38
const TICKS_PER_DECADE = 9_000_000
const DECADE_START = 1_000_000
const DECADE_START_DIGITS = 7

/**
 * The price difference of one tick, in decade `LOWEST_DECADE` (one unit at 36 places) and in the decades above it.
 */
const STEPS: readonly BigDec[] = Array.from(
  { length: HIGHEST_DECADE - LOWEST_DECADE + 1 },
  (_, decade) => 10n ** BigInt(decade)
)

const LOWEST_PRICE: BigDec = BigInt(DECADE_START)
const HIGHEST_PRICE: BigDec = 10n ** 38n * BIG_DEC
const MIN_PRICE: BigDec = BIG_DEC / 10n ** 12n

const outside = (message: string, details: Record<string, string>): QuoinError =>
  new QuoinError('ERR_LIQUIDITY_RANGE', message, details)

/** The price of token 0 in token 1 at a tick. */
export const tickToPrice = (tick: bigint): BigDec => {
  if (tick < LOWEST_TICK || tick > MAX_TICK)
    throw outside(`a tick is from ${LOWEST_TICK} to ${MAX_TICK}`, { tick: `${tick}` })
  if (tick === LOWEST_TICK) return LOWEST_PRICE
  const number = Number(tick)
  const decade = Math.floor(number / TICKS_PER_DECADE)
  return BigInt(DECADE_START + number - decade * TICKS_PER_DECADE) * STEPS[decade - LOWEST_DECADE]!
}

/** The highest tick whose price is not above this one. */
export const priceToTick = (price: BigDec): bigint => {
  if (price < LOWEST_PRICE || price > HIGHEST_PRICE)
    throw outside('a price is from 10^-30 to 10^38', { price: bigDec.format(price) })
  // Prices of the lowest decade have seven digits, and each decade has one more.
  const above = price.toString().length - DECADE_START_DIGITS
  const inDecade = Number(price / STEPS[above]!) - DECADE_START
  return BigInt((LOWEST_DECADE + above) * TICKS_PER_DECADE + inDecade)
}

/** The square root of a price, with the places that the chain uses for its size. */
export const priceToSqrtPrice = (price: BigDec): BigDec =>
  price >= MIN_PRICE ? toBigDec(sqrtDec(toDec(price))) : sqrtBigDec(price)

export const tickToSqrtPrice = (tick: bigint): BigDec => priceToSqrtPrice(tickToPrice(tick))

export const MIN_SQRT_PRICE: BigDec = tickToSqrtPrice(MIN_TICK)
export const MAX_SQRT_PRICE: BigDec = tickToSqrtPrice(MAX_TICK)

/**
 * The highest tick whose square root is not above this one. A tick outside of the range of pools is refused.
 * No root has to be taken: a root that was rounded up to some places is not above `sqrtPrice` exactly when its price
 * is not above the square of `sqrtPrice` truncated to as many places.
 */
export const sqrtPriceToTick = (sqrtPrice: BigDec): bigint => {
  if (sqrtPrice > MAX_SQRT_PRICE) throw noPrice(sqrtPrice)
  if (sqrtPrice < MIN_SQRT_PRICE) return lowestTick(sqrtPrice)
  const cut = toDec(sqrtPrice)
  return priceToTick(cut * cut)
}

/**
 * The tick of a root below all positions. A pool that crossed its lowest tick downwards is at the tick below it. The
 * chain refuses by the rounded square of the root: a root that is less than half of the last place below that tick
 * belongs to the tick under it, and is not refused.
 */
const lowestTick = (sqrtPrice: BigDec): bigint => {
  const tick = priceToTick(bigDec.mul(sqrtPrice, sqrtPrice))
  if (tick < MIN_TICK - 1n) throw noPrice(sqrtPrice)
  return sqrtPrice < tickToSqrtPrice(tick) ? tick - 1n : tick
}

const noPrice = (sqrtPrice: BigDec): QuoinError =>
  outside('no pool has such a price', { sqrtPrice: bigDec.format(sqrtPrice) })

/** The tick, or the next one below it that is a multiple of the spacing. */
export const floorToSpacing = (tick: bigint, spacing: bigint): bigint => {
  const above = tick % spacing
  return above < 0n ? tick - above - spacing : tick - above
}
