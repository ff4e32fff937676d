/**
 * A step of a swap with constant liquidity: the new price, the payment and the purchase. The amounts of liquidity.ts,
 * solved for the new root: Δ of token 1 moves √p by Δ/L, and Δ of token 0 moves it to L·√p/(L ± Δ·√p), plus for Δ
 * that comes in. Token 0 in moves the price down, token 1 in moves it up.
 * Roots of prices have 36 places: the price moves less than the exact result for an amount in, and at least as far for
 * an amount out. A root may end past its target by its last place, as on the chain, whose swap then ends with an error.
 */
import { BIG_DEC, type BigDec, bigDec, DEC, type Dec, dec, divideUp, toDec } from '../decimal.ts'
import { amount0Down, amount0Up, amount1Down, amount1Up } from './liquidity.ts'

export type Direction = 'down' | 'up'

/** The spread factor: the share of the payment that is kept as a reward, in the forms that steps use. */
export interface Spread {
  readonly factor: Dec
  readonly rest: Dec
  /** factor / (1 − factor), rounded up: the reward on an amount without its reward. */
  readonly onTop: Dec
}

export const spreadOf = (factor: Dec): Spread => {
  const rest = DEC - factor
  return { factor, rest, onTop: dec.quoUp(factor, rest) }
}

export interface Step {
  readonly sqrtPrice: BigDec
  /** Whole coins. */
  readonly amountIn: Dec
  readonly amountOut: Dec
  /** Paid on top of the amount in. */
  readonly spreadReward: Dec
}

/** The root of the price after an amount in, at 36 places. */
export const sqrtPriceAfterIn = (
  direction: Direction,
  sqrtPrice: BigDec,
  liquidity: Dec,
  amount: BigDec
): BigDec =>
  direction === 'up'
    ? sqrtPrice + (amount * DEC) / liquidity
    : bigDec.quoUp(divideUp(liquidity * sqrtPrice, DEC), liquidity * DEC + bigDec.mulDown(amount, sqrtPrice))

/** The root of the price after an amount out. */
export const sqrtPriceAfterOut = (
  direction: Direction,
  sqrtPrice: BigDec,
  liquidity: Dec,
  amount: Dec
): BigDec =>
  direction === 'down'
    ? sqrtPrice - divideUp(amount * BIG_DEC, liquidity)
    : bigDec.quoUp(divideUp(liquidity * sqrtPrice, DEC), liquidity * DEC - divideUp(amount * sqrtPrice, DEC))

/** The payment between two prices, in whole coins. A price that rounding moved the other way counts as a distance. */
const paid = (direction: Direction, liquidity: Dec, from: BigDec, to: BigDec): bigint => {
  const amount = direction === 'down' ? amount0Up : amount1Up
  return from < to ? amount(liquidity, from, to) : amount(liquidity, to, from)
}

/** The purchase between two prices. */
const got = (direction: Direction, liquidity: Dec, from: BigDec, to: BigDec): BigDec => {
  const amount = direction === 'down' ? amount1Down : amount0Down
  return from < to ? amount(liquidity, from, to) : amount(liquidity, to, from)
}

/**
 * Spends `remaining`, reward included, up to the target. The reward is below 0 where whole coins are too coarse for
 * the amount that remains; the chain ends such a swap with an error.
 */
export const stepIn = (
  direction: Direction,
  sqrtPrice: BigDec,
  target: BigDec,
  liquidity: Dec,
  remaining: Dec,
  { factor, rest, onTop }: Spread
): Step => {
  const most = paid(direction, liquidity, sqrtPrice, target)
  const budget: BigDec = remaining * rest
  const next = budget >= most * BIG_DEC ? target : sqrtPriceAfterIn(direction, sqrtPrice, liquidity, budget)
  const isReached = next === target
  const coins = isReached ? most : paid(direction, liquidity, sqrtPrice, next)
  return {
    sqrtPrice: next,
    amountIn: coins * DEC,
    amountOut: toDec(got(direction, liquidity, sqrtPrice, next)),
    // Of the last step, the part that does not move the price is reward.
    spreadReward: isReached ? coins * onTop : factor === 0n ? 0n : remaining - coins * DEC
  }
}

/** Buys `remaining` up to the target. The amount is that of the new price, which has its own last place. */
export const stepOut = (
  direction: Direction,
  sqrtPrice: BigDec,
  target: BigDec,
  liquidity: Dec,
  remaining: Dec,
  { onTop }: Spread
): Step => {
  const wanted: BigDec = remaining * DEC
  const most = got(direction, liquidity, sqrtPrice, target)
  const isAll = wanted >= most
  const next = isAll ? target : sqrtPriceAfterOut(direction, sqrtPrice, liquidity, remaining)
  const bought = isAll ? most : got(direction, liquidity, sqrtPrice, next)
  const coins = paid(direction, liquidity, sqrtPrice, next)
  return {
    sqrtPrice: next,
    amountIn: coins * DEC,
    amountOut: bought > wanted ? remaining : toDec(bought),
    spreadReward: coins * onTop
  }
}
