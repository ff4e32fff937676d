/**
 * Ticks and prices. Nine million ticks lie between one power of ten and the next and divide it evenly, so a tick is
 * worth a millionth of the power below it. The square root of a price has 18 places, rounded up; below 10^-12, where
 * that would be too coarse, it has 36.
 */
import { QuoinError } from '../../error.ts'
import { BIG_DEC, type BigDec, bigDec, DEC, sqrtBigDec, sqrtDec, toBigDec, toDec } from '../decimal.ts'

/** The lowest tick a position may have: 10^-12. */
export const MIN_TICK = -108_000_000n
/** The highest: 10^38. */
export const MAX_TICK = 342_000_000n
/** A pool whose lowest tick is crossed stands one below it. */
const MIN_CURRENT_TICK = MIN_TICK - 1n
/** The lowest tick that has a price: 10^-30. The one below it has the same. */
const LEAST_TICK = -270_000_000n

const TICKS_PER_POWER = 9_000_000n
const MILLION = 1_000_000n
const MIN_PRICE: BigDec = 10n ** 24n
const LEAST_PRICE: BigDec = 10n ** 6n
const MAX_PRICE: BigDec = 10n ** 74n

/** 10^e at 36 places, for every power of ten that a price or a tick's worth may be. */
const POWERS: readonly BigDec[] = Array.from({ length: 76 }, (_, i) => 10n ** BigInt(i))
const power = (exponent: number): BigDec => POWERS[exponent + 36]!

const outside = (what: string, value: bigint, bounds: string): QuoinError =>
  new QuoinError('ERR_LIQUIDITY_RANGE', `a ${what} is ${bounds}`, { [what]: value.toString() })

/** The price of token 0 in token 1 at a tick. */
export const tickToPrice = (tick: bigint): BigDec => {
  if (tick > MAX_TICK || tick < LEAST_TICK - 1n)
    throw outside('tick', tick, `from ${LEAST_TICK} to ${MAX_TICK}`)
  if (tick <= LEAST_TICK) return LEAST_PRICE
  const exponent = tick / TICKS_PER_POWER
  const ticks = tick - exponent * TICKS_PER_POWER
  return tick < 0n
    ? (10n * MILLION + ticks) * power(Number(exponent) - 7)
    : (MILLION + ticks) * power(Number(exponent) - 6)
}

/** The square root of a price, with as many places as prices of its size have. */
export const priceToSqrtPrice = (price: BigDec): BigDec =>
  price >= MIN_PRICE ? toBigDec(sqrtDec(toDec(price))) : sqrtBigDec(price)

export const tickToSqrtPrice = (tick: bigint): BigDec => priceToSqrtPrice(tickToPrice(tick))

export const MIN_SQRT_PRICE: BigDec = tickToSqrtPrice(MIN_TICK)
export const MAX_SQRT_PRICE: BigDec = tickToSqrtPrice(MAX_TICK)

/** The exponent of the largest power of ten that is not above the price. */
const exponentOf = (price: BigDec): number => {
  const guess = Math.floor(Math.log10(Number(price))) - 36
  // A double may be wrong by one close to a power of ten.
  if (power(guess) > price) return guess - 1
  return power(guess + 1) <= price ? guess + 1 : guess
}

/** The highest tick whose price is not above this one. */
export const priceToTick = (price: BigDec): bigint => {
  if (price < LEAST_PRICE || price > MAX_PRICE) throw outside('price', price, 'from 10^-30 to 10^38')
  const exact = price >= MIN_PRICE ? price - (price % DEC) : price
  const exponent = exponentOf(exact)
  const ticks = bigDec.quo(exact - power(exponent), power(exponent - 6)) / BIG_DEC
  return BigInt(exponent) * TICKS_PER_POWER + ticks
}

/** The highest tick whose square root is not above this one; a tick that no pool may stand at is refused. */
export const sqrtPriceToTick = (sqrtPrice: BigDec): bigint => {
  let tick = priceToTick(bigDec.mul(sqrtPrice, sqrtPrice))
  if (tick < MIN_CURRENT_TICK) throw outside('tick', tick, `from ${MIN_CURRENT_TICK} to ${MAX_TICK}`)
  // Both the root and its square are rounded, so the tick may be off by one.
  while (tickToSqrtPrice(tick) > sqrtPrice) tick--
  while (tick < MAX_TICK && tickToSqrtPrice(tick + 1n) <= sqrtPrice) tick++
  return tick
}

/** The tick, or the next one below it that a pool with this spacing has. */
export const floorToSpacing = (tick: bigint, spacing: bigint): bigint => {
  const above = tick % spacing
  return tick - (above < 0n ? above + spacing : above)
}
