/**
 * A step of a swap, along which liquidity does not change: how far the price goes, what is paid and what is got. From
 * the amounts of liquidity.ts, solved for the root the price goes to: Δ of token 1 moves √p by Δ/L, and Δ of token 0
 * moves it to L·√p/(L ± Δ·√p), plus for what comes in. Token 0 in moves the price down, token 1 in moves it up.
 *
 * All is rounded in favour of the pool. Roots of prices have 36 places: the price moves too little for what comes in,
 * and far enough for what goes out.
 */
import { BIG_DEC, type BigDec, bigDec, DEC, type Dec, dec, divideUp, toDec } from '../decimal.ts'
import { amount0Down, amount0Up, amount1Down, amount1Up } from './liquidity.ts'

export type Direction = 'down' | 'up'

/** The share of what comes in that is kept as a reward, in the forms that steps use. */
export interface Spread {
  readonly factor: Dec
  readonly rest: Dec
  /** factor / (1 − factor), rounded up: the reward on an amount that the reward is not part of. */
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
  /** On top of the amount in. */
  readonly spreadReward: Dec
}

/** Where the price goes when so much comes in, at 36 places. */
export const sqrtPriceAfterIn = (
  direction: Direction,
  sqrtPrice: BigDec,
  liquidity: Dec,
  amount: BigDec
): BigDec =>
  direction === 'up'
    ? sqrtPrice + (amount * DEC) / liquidity
    : bigDec.quoUp(divideUp(liquidity * sqrtPrice, DEC), liquidity * DEC + bigDec.mulDown(amount, sqrtPrice))

/** Where the price goes when so much goes out. */
export const sqrtPriceAfterOut = (
  direction: Direction,
  sqrtPrice: BigDec,
  liquidity: Dec,
  amount: Dec
): BigDec =>
  direction === 'down'
    ? sqrtPrice - divideUp(amount * BIG_DEC, liquidity)
    : bigDec.quoUp(divideUp(liquidity * sqrtPrice, DEC), liquidity * DEC - divideUp(amount * sqrtPrice, DEC))

/** What comes in on the way from one price to another, in whole coins. */
const paid = (direction: Direction, liquidity: Dec, from: BigDec, to: BigDec): bigint =>
  direction === 'down' ? amount0Up(liquidity, to, from) : amount1Up(liquidity, from, to)

/** What goes out. */
const got = (direction: Direction, liquidity: Dec, from: BigDec, to: BigDec): BigDec =>
  direction === 'down' ? amount1Down(liquidity, to, from) : amount0Down(liquidity, from, to)

/** A price, or the end of the way that it is beyond: with little liquidity, places are coarse. */
const within = (direction: Direction, from: BigDec, target: BigDec, sqrtPrice: BigDec): BigDec => {
  const [lower, upper] = direction === 'down' ? [target, from] : [from, target]
  return sqrtPrice < lower ? lower : sqrtPrice > upper ? upper : sqrtPrice
}

const min = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/** Spends `remaining`, the reward included, as far as the target. */
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
      // The share on top is rounded up, which may be more than is left.
      spreadReward: min(coins * onTop, remaining - amountIn)
    }
  }
  // Less than the whole coins of the target may still be enough to get there.
  const after = sqrtPriceAfterIn(direction, sqrtPrice, liquidity, budget)
  const next = within(direction, sqrtPrice, target, after)
  const amountIn = paid(direction, liquidity, sqrtPrice, next) * DEC
  return {
    sqrtPrice: next,
    amountIn,
    amountOut: toDec(got(direction, liquidity, sqrtPrice, next)),
    // No step follows: all that the price did not take is reward.
    spreadReward: factor === 0n ? 0n : remaining - amountIn
  }
}

/** Buys `remaining` as far as the target. */
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
    // The price went far enough for all that remained, whatever the places of the quotients say.
    amountOut: isAll ? toDec(most) : remaining,
    spreadReward: coins * onTop
  }
}
