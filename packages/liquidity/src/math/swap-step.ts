/**
 * A step of a swap with constant liquidity: the new price, the payment and the purchase. The amounts of liquidity.ts,
 * solved for the new root: Δ of token 1 moves √p by Δ/L, and Δ of token 0 moves it to L·√p/(L ± Δ·√p), plus for Δ
 * that comes in. Token 0 in moves the price down, token 1 in moves it up.
 * All rounding favours the pool. Roots of prices have 36 places: the price moves less than the exact result for an
 * amount in, and at least as far for an amount out.
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

/** The payment between two prices, in whole coins. */
const paid = (direction: Direction, liquidity: Dec, from: BigDec, to: BigDec): bigint =>
  direction === 'down' ? amount0Up(liquidity, to, from) : amount1Up(liquidity, from, to)

/** The purchase between two prices. */
const got = (direction: Direction, liquidity: Dec, from: BigDec, to: BigDec): BigDec =>
  direction === 'down' ? amount1Down(liquidity, to, from) : amount0Down(liquidity, from, to)

/** The price, cut at the end of the step: with little liquidity, places are coarse. */
const within = (direction: Direction, from: BigDec, target: BigDec, sqrtPrice: BigDec): BigDec => {
  const [lower, upper] = direction === 'down' ? [target, from] : [from, target]
  return sqrtPrice < lower ? lower : sqrtPrice > upper ? upper : sqrtPrice
}

const min = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/** Spends `remaining`, reward included, up to the target. */
export const stepIn = (
  direction: Direction,
  sqrtPrice: BigDec,
  target: BigDec,
  liquidity: Dec,
  remaining: Dec,
  { factor, rest, onTop }: Spread
): Step => {
  const coins = paid(direction, liquidity, sqrtPrice, target)
  const budget: BigDec = remaining * rest
  if (budget >= coins * BIG_DEC) {
    const amountIn = coins * DEC
    return {
      sqrtPrice: target,
      amountIn,
      amountOut: toDec(got(direction, liquidity, sqrtPrice, target)),
      // The reward is rounded up, which may exceed the rest.
      spreadReward: min(coins * onTop, remaining - amountIn)
    }
  }
  // An amount below the whole coins of the target may still reach it.
  const after = sqrtPriceAfterIn(direction, sqrtPrice, liquidity, budget)
  const next = within(direction, sqrtPrice, target, after)
  const amountIn = paid(direction, liquidity, sqrtPrice, next) * DEC
  return {
    sqrtPrice: next,
    amountIn,
    amountOut: toDec(got(direction, liquidity, sqrtPrice, next)),
    // The last step: the part that does not move the price is reward.
    spreadReward: factor === 0n ? 0n : remaining - amountIn
  }
}

/** Buys `remaining` up to the target. */
export const stepOut = (
  direction: Direction,
  sqrtPrice: BigDec,
  target: BigDec,
  liquidity: Dec,
  remaining: Dec,
  { onTop }: Spread
): Step => {
  const most = got(direction, liquidity, sqrtPrice, target)
  const isAll = remaining * DEC >= most
  const next = isAll
    ? target
    : within(direction, sqrtPrice, target, sqrtPriceAfterOut(direction, sqrtPrice, liquidity, remaining))
  const coins = paid(direction, liquidity, sqrtPrice, next)
  return {
    sqrtPrice: next,
    amountIn: coins * DEC,
    // The price moved far enough for all of `remaining`, whatever the rounding of quotients.
    amountOut: isAll ? toDec(most) : remaining,
    spreadReward: coins * onTop
  }
}
