/**
 * A swap between two ticks, where liquidity does not change: how far the price goes, what is paid and what is given.
 * Token 0 in moves the price down, token 1 in moves it up. All is rounded in favour of the pool: the price moves too
 * little for what comes in, and far enough for what goes out.
 */
import { type BigDec, bigDec, DEC, type Dec, dec, divideUp } from '../decimal.ts'
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
  readonly amountIn: Dec
  readonly amountOut: Dec
  /** On top of the amount in. */
  readonly spreadReward: Dec
}

const paid = (direction: Direction, liquidity: Dec, from: BigDec, to: BigDec): bigint =>
  direction === 'down' ? amount0Up(liquidity, to, from) : amount1Up(liquidity, from, to)

const given = (direction: Direction, liquidity: Dec, from: BigDec, to: BigDec): BigDec =>
  direction === 'down' ? amount1Down(liquidity, to, from) : amount0Down(liquidity, from, to)

/** Where the price goes when so much comes in, at 36 places. */
export const sqrtPriceAfterIn = (
  direction: Direction,
  sqrtPrice: BigDec,
  liquidity: Dec,
  amount: BigDec
): BigDec => {
  if (direction === 'up') return sqrtPrice + (amount * DEC) / liquidity
  if (amount === 0n) return sqrtPrice
  const wide = liquidity * DEC
  return bigDec.quoUp(bigDec.mulUp(wide, sqrtPrice), wide + bigDec.mulDown(amount, sqrtPrice))
}

/** Where the price goes when so much goes out. */
export const sqrtPriceAfterOut = (
  direction: Direction,
  sqrtPrice: BigDec,
  liquidity: Dec,
  amount: Dec
): BigDec => {
  if (direction === 'down') return sqrtPrice - divideUp(amount * DEC * DEC, liquidity)
  if (amount === 0n) return sqrtPrice
  const wide = liquidity * DEC
  return bigDec.quoUp(bigDec.mulUp(wide, sqrtPrice), wide - divideUp(sqrtPrice * amount, DEC))
}

/** Spends `remaining`, the reward included, as far as the target. */
export const stepIn = (
  direction: Direction,
  sqrtPrice: BigDec,
  target: BigDec,
  liquidity: Dec,
  remaining: Dec,
  { factor, rest, onTop }: Spread
): Step => {
  const spendable: BigDec = remaining * rest
  const whole = dec.whole(paid(direction, liquidity, sqrtPrice, target))
  const next =
    spendable >= whole * DEC ? target : sqrtPriceAfterIn(direction, sqrtPrice, liquidity, spendable)
  const isReached = next === target
  const amountIn = isReached ? whole : dec.whole(paid(direction, liquidity, sqrtPrice, next))
  // Before the target everything that is left over is reward.
  const reward = isReached ? dec.mulUp(amountIn, onTop) : remaining - amountIn
  return {
    sqrtPrice: next,
    amountIn,
    amountOut: given(direction, liquidity, sqrtPrice, next) / DEC,
    spreadReward: factor === 0n ? 0n : reward
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
  const most = given(direction, liquidity, sqrtPrice, target)
  const wanted = remaining * DEC
  const next = wanted >= most ? target : sqrtPriceAfterOut(direction, sqrtPrice, liquidity, remaining)
  const found = next === target ? most : given(direction, liquidity, sqrtPrice, next)
  const amountIn = dec.whole(paid(direction, liquidity, sqrtPrice, next))
  return {
    sqrtPrice: next,
    amountIn,
    // The price is rounded away from where it was, which may find a hair more than is wanted.
    amountOut: (found < wanted ? found : wanted) / DEC,
    spreadReward: dec.mulUp(amountIn, onTop)
  }
}
