/** The way of a swap: from tick to tick, as far as the amount or a price limit. Finding it only reads. */
import { type BigDec, bigDec, type Dec, dec } from '../decimal.ts'
import { type Direction, type Spread, type Step, spreadOf, stepIn, stepOut } from '../math/swap-step.ts'
import { MAX_SQRT_PRICE, MIN_SQRT_PRICE, priceToSqrtPrice, sqrtPriceToTick } from '../math/tick.ts'
import type { Reader, Tick } from '../reader.ts'
import { formerTick, sqrtPriceAt } from '../reserves.ts'
import type { Pool } from '../values.ts'
import { scaleOf } from './accumulator.ts'
import type { Coin } from './coins.ts'
import { refusal } from './refusal.ts'

export interface Quote {
  readonly pool: bigint
  /** What is paid in exactly, or bought exactly. */
  readonly coin: Coin
  /** The price at which to stop, at 36 places; the other end of all prices unless given. */
  readonly priceLimit?: BigDec | undefined
  /** A way across more ticks than this is refused. */
  readonly maxTicks?: number | undefined
}

export interface Swapped {
  readonly paid: Coin
  readonly bought: Coin
  /** Of what is paid, the part of those who provide liquidity. */
  readonly spreadReward: Coin
  /** Where the pool is afterwards. */
  readonly sqrtPrice: BigDec
  readonly tick: bigint
  readonly liquidity: Dec
  readonly ticksCrossed: number
}

export type Exact = 'in' | 'out'

interface Crossing extends Tick {
  /** The reward per unit of liquidity since the swap began. */
  readonly growth: Dec
}

/** What a swap does, and what it does on the way. */
export interface Way {
  readonly swapped: Swapped
  readonly crossings: readonly Crossing[]
  readonly growth: Dec
}

/** The chain ends a swap that has so many steps without an amount. */
const MAX_IDLE_STEPS = 100
const AMOUNT_LIMIT = 2n ** 256n

const directionOf = (pool: Pool, { denom }: Coin, exact: Exact): Direction => {
  if (denom !== pool.token0 && denom !== pool.token1)
    throw refusal('denoms', `pool ${pool.id} has no ${denom}`, { denom })
  return (denom === pool.token0) === (exact === 'in') ? 'down' : 'up'
}

const limitOf = (pool: Pool, direction: Direction, priceLimit: BigDec | undefined): BigDec => {
  if (priceLimit !== undefined && priceLimit < 0n) throw refusal('price-limit', 'no price is below zero', {})
  const limit = priceLimit
    ? priceToSqrtPrice(priceLimit)
    : direction === 'down'
      ? MIN_SQRT_PRICE
      : MAX_SQRT_PRICE
  const isAhead = direction === 'down' ? limit <= pool.sqrtPrice : limit >= pool.sqrtPrice
  if (!isAhead || limit < MIN_SQRT_PRICE || limit > MAX_SQRT_PRICE)
    throw refusal('price-limit', 'the price does not go there', { sqrtPriceLimit: bigDec.format(limit) })
  return limit
}

/** A swap under way. */
class Walk {
  readonly #exact: Exact
  readonly #direction: Direction
  readonly #spread: Spread
  readonly #limit: BigDec
  readonly #scale: bigint
  #idle = 0
  remaining: Dec
  calculated: Dec = 0n
  sqrtPrice: BigDec
  liquidity: Dec
  reward: Dec = 0n
  growth: Dec = 0n

  constructor(
    pool: Pool,
    exact: Exact,
    direction: Direction,
    { amount }: Coin,
    limit: BigDec,
    scale: bigint
  ) {
    this.#exact = exact
    this.#direction = direction
    this.#spread = spreadOf(pool.spreadFactor)
    this.#limit = limit
    this.#scale = scale
    this.remaining = dec.whole(amount)
    this.sqrtPrice = pool.sqrtPrice
    this.liquidity = pool.liquidity
  }

  /** The last place of a decimal buys nothing. */
  get isDone(): boolean {
    return this.remaining <= 1n || this.sqrtPrice === this.#limit
  }

  /** Goes as far as a tick, the limit or the amount; whether it has come to the tick. */
  goTo(root: BigDec): boolean {
    const isBeyond = this.#direction === 'down' ? root < this.#limit : root > this.#limit
    while (!this.isDone) {
      this.#take(this.#step(isBeyond ? this.#limit : root))
      if (this.sqrtPrice === root) return true
      if (this.#direction === 'down' ? this.sqrtPrice < root : this.sqrtPrice > root)
        throw refusal('no-progress', 'rounding leads past a tick; another amount does not', {})
    }
    return false
  }

  #step(target: BigDec): Step {
    const step = this.#exact === 'in' ? stepIn : stepOut
    return step(this.#direction, this.sqrtPrice, target, this.liquidity, this.remaining, this.#spread)
  }

  #take({ sqrtPrice, amountIn, amountOut, spreadReward }: Step): void {
    if (sqrtPrice === this.sqrtPrice && (amountIn !== 0n || amountOut !== 0n))
      throw refusal('no-progress', 'the amount is too small to move the price', {})
    this.sqrtPrice = sqrtPrice
    this.remaining -= this.#exact === 'in' ? amountIn + spreadReward : amountOut
    this.calculated += this.#exact === 'in' ? amountOut : amountIn + spreadReward
    // A fraction of a coin that is left cannot pay for the whole one that a step costs.
    if (spreadReward < 0n || this.remaining < 0n)
      throw refusal('no-progress', 'a fraction of a coin is left over; another amount leaves none', {})
    this.reward += spreadReward
    if (this.liquidity !== 0n) this.growth += dec.quoDown(spreadReward * this.#scale, this.liquidity)
    const consumed = this.#exact === 'in' ? amountIn : amountOut
    if (consumed === 0n && ++this.#idle > MAX_IDLE_STEPS)
      throw refusal('no-progress', `${MAX_IDLE_STEPS} steps without an amount`, {})
  }
}

/** Finds the way of a swap; nothing is written. */
export const findWay = async (
  reader: Reader,
  pool: Pool,
  exact: Exact,
  { coin, priceLimit, maxTicks = Number.POSITIVE_INFINITY }: Quote
): Promise<Way> => {
  if (coin.amount <= 0n || coin.amount >= AMOUNT_LIMIT)
    throw refusal('amount', 'a swap is of an amount above zero', { amount: coin.amount })
  const direction = directionOf(pool, coin, exact)
  if (pool.sqrtPrice === 0n)
    throw refusal('pool-empty', `pool ${pool.id} has no positions`, { pool: pool.id })
  const limit = limitOf(pool, direction, priceLimit)
  const walk = new Walk(pool, exact, direction, coin, limit, await scaleOf(reader, 'spread', pool.id))
  const isDown = direction === 'down'
  const crossings: Crossing[] = []
  let { tick } = pool
  for await (const each of walk.isDone ? [] : ticksAhead(reader, pool, direction)) {
    const start = walk.sqrtPrice
    if (!walk.goTo(sqrtPriceAt(pool, each.index))) {
      if (walk.sqrtPrice !== start)
        tick = formerTick(sqrtPriceToTick(walk.sqrtPrice), pool.exponentAtPriceOne)
      break
    }
    crossings.push({ ...each, growth: walk.growth })
    if (crossings.length > maxTicks)
      throw refusal('no-ticks', `the way leads across more than ${maxTicks} ticks`, { maxTicks })
    walk.liquidity += isDown ? -each.info.liquidityNet : each.info.liquidityNet
    // Of a range, the lower tick is part and the upper one is not.
    tick = isDown ? each.index - 1n : each.index
    if (walk.isDone) break
  }
  if (!walk.isDone) throw refusal('no-ticks', 'there is not enough liquidity', { amount: coin.amount })
  return {
    swapped: resultOf(pool, exact, direction, coin, walk, tick, crossings.length),
    crossings,
    growth: walk.growth
  }
}

/** Down, the tick that the pool stands at is the first to cross; up, it is already behind. */
const ticksAhead = (reader: Reader, { id, tick }: Pool, direction: Direction): AsyncIterable<Tick> =>
  direction === 'down'
    ? reader.ticks(id, { from: tick, reverse: true })
    : reader.ticks(id, { from: tick, inclusive: false })

const resultOf = (
  { token0, token1 }: Pool,
  exact: Exact,
  direction: Direction,
  { amount }: Coin,
  { remaining, calculated, reward, sqrtPrice, liquidity }: Walk,
  tick: bigint,
  ticksCrossed: number
): Swapped => {
  const [denomIn, denomOut] = direction === 'down' ? [token0, token1] : [token1, token0]
  const done = dec.whole(amount) - remaining
  const [paid, bought] = exact === 'in' ? [done, calculated] : [calculated, done]
  const swapped = {
    paid: { denom: denomIn, amount: dec.ceil(paid) },
    bought: { denom: denomOut, amount: dec.floor(bought) },
    spreadReward: { denom: denomIn, amount: dec.ceil(reward) },
    sqrtPrice,
    tick,
    liquidity,
    ticksCrossed
  }
  if (swapped.paid.amount <= 0n || swapped.bought.amount <= 0n)
    throw refusal('amount', 'that is too little to swap', { amount })
  return swapped
}
