/**
 * Liquidity L between two square roots of prices: as much of token 0 as L/√lower − L/√upper and as much of token 1 as
 * L·√upper − L·√lower. What somebody pays is rounded up to whole coins, what somebody gets is cut off.
 */
import { BIG_DEC, type BigDec, bigDec, DEC, type Dec, divideUp, toDec } from '../decimal.ts'

/** What of token 0 has to be paid between two prices, in whole coins. */
export const amount0Up = (liquidity: Dec, lower: BigDec, upper: BigDec): bigint =>
  // Divided by the larger one first, which keeps what is rounded small; each step rounds up.
  divideUp(bigDec.quoUp(divideUp((upper - lower) * liquidity, DEC), upper), lower)

/** What of token 0 is there between two prices. */
export const amount0Down = (liquidity: Dec, lower: BigDec, upper: BigDec): BigDec =>
  bigDec.quoDown(bigDec.quoDown(((upper - lower) * liquidity) / DEC, upper), lower)

/** What of token 1 has to be paid between two prices, in whole coins. */
export const amount1Up = (liquidity: Dec, lower: BigDec, upper: BigDec): bigint =>
  // The product is rounded half to even at 36 places before it is rounded up to a coin.
  divideUp(roundedProduct(upper - lower, liquidity), BIG_DEC)

/** What of token 1 is there between two prices. */
export const amount1Down = (liquidity: Dec, lower: BigDec, upper: BigDec): BigDec =>
  ((upper - lower) * liquidity) / DEC

const roundedProduct = (a: BigDec, liquidity: Dec): BigDec => bigDec.mul(a, liquidity * DEC)

/** The liquidity that an amount of token 0 makes between two prices. */
const liquidity0 = (amount: bigint, lower: BigDec, upper: BigDec): Dec =>
  toDec(bigDec.quo(amount * bigDec.mul(lower, upper), upper - lower))

/** The liquidity that an amount of token 1 makes between two prices. */
const liquidity1 = (amount: bigint, lower: BigDec, upper: BigDec): Dec =>
  toDec(bigDec.quo(amount * BIG_DEC, upper - lower))

/** The most liquidity that two amounts make between two prices while the pool stands at a third. */
export const liquidityOf = (
  sqrtPrice: BigDec,
  lower: BigDec,
  upper: BigDec,
  amount0: bigint,
  amount1: bigint
): Dec => {
  if (sqrtPrice <= lower) return liquidity0(amount0, lower, upper)
  if (sqrtPrice >= upper) return liquidity1(amount1, lower, upper)
  const zero = liquidity0(amount0, sqrtPrice, upper)
  const one = liquidity1(amount1, lower, sqrtPrice)
  return zero < one ? zero : one
}
