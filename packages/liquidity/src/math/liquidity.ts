/**
 * Liquidity between two prices, as in section 6 of the Uniswap v3 whitepaper. For liquidity L, the range from the
 * root √lower to the root √upper takes L·(√upper − √lower) of token 1 and L·(1/√lower − 1/√upper) of token 0, which
 * is L·(√upper − √lower)/√upper/√lower. Each product and quotient is rounded at 36 places, as the chain rounds it;
 * payments are then rounded up to whole coins.
 */
import { BIG_DEC, type BigDec, bigDec, DEC, type Dec, divideUp, toDec } from '../decimal.ts'

/** Token 0 to pay between two prices, in whole coins. */
export const amount0Up = (liquidity: Dec, lower: BigDec, upper: BigDec): bigint =>
  divideUp(bigDec.quoUp(divideUp(liquidity * (upper - lower), DEC), upper), lower)

/** Token 0 between two prices. */
export const amount0Down = (liquidity: Dec, lower: BigDec, upper: BigDec): BigDec =>
  bigDec.quoDown(bigDec.quoDown((liquidity * (upper - lower)) / DEC, upper), lower)

/**
 * Token 1 to pay between two prices, in whole coins. The product is rounded half to even at 36 places first: up to half
 * of the last place above a whole coin is not paid.
 */
export const amount1Up = (liquidity: Dec, lower: BigDec, upper: BigDec): bigint =>
  divideUp(liquidity * (upper - lower) - DEC / 2n, DEC * BIG_DEC)

/** Token 1 between two prices. */
export const amount1Down = (liquidity: Dec, lower: BigDec, upper: BigDec): BigDec =>
  (liquidity * (upper - lower)) / DEC

/** The liquidity of an amount of token 0 alone: amount·√lower·√upper/(√upper − √lower). */
const liquidityOf0 = (amount: bigint, lower: BigDec, upper: BigDec): Dec =>
  toDec(bigDec.quo(amount * bigDec.mul(lower, upper), upper - lower))

/** The liquidity of an amount of token 1 alone: amount/(√upper − √lower). */
const liquidityOf1 = (amount: bigint, lower: BigDec, upper: BigDec): Dec =>
  toDec(bigDec.quo(amount * BIG_DEC, upper - lower))

/**
 * The most liquidity that two amounts make between two prices, at a third as the pool's. Token 0 fills the range
 * above the price and token 1 the range below it; inside of the range, the scarcer one decides.
 */
export const liquidityOf = (
  sqrtPrice: BigDec,
  lower: BigDec,
  upper: BigDec,
  amount0: bigint,
  amount1: bigint
): Dec => {
  if (sqrtPrice <= lower) return liquidityOf0(amount0, lower, upper)
  if (sqrtPrice >= upper) return liquidityOf1(amount1, lower, upper)
  const of0 = liquidityOf0(amount0, sqrtPrice, upper)
  const of1 = liquidityOf1(amount1, lower, sqrtPrice)
  return of0 < of1 ? of0 : of1
}
