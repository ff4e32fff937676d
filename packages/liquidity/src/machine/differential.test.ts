/**
 * The machine against `@osmosis-labs/math` on ticks, prices and random pools. The peer takes roots to the nearest place
 * where the chain rounds up, and the reward on an exact amount out without rounding its factor: differences of that
 * size are the chain's rounding, and no others are allowed.
 */

import { QuoinError } from '@quoin/primitives'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { DEC, dec } from '../decimal.ts'
import { MAX_TICK, MIN_TICK, priceToTick, tickToPrice, tickToSqrtPrice } from '../math/tick.ts'
import type { Liquidity } from '../state.ts'
import { ETH, liquidityWithPool, open, USDC } from './machine.testing.ts'
import {
  type PeerQuote,
  peerCoin,
  peerExactIn,
  peerExactOut,
  peerPool,
  peerSqrtPrice,
  peerTick
} from './peer.testing.ts'
import type { SwapResult } from './simulate-swap.ts'
import { quoteExactIn, quoteExactOut } from './swap.ts'

// The peer writes a warning for each of its zeros.
beforeAll(() => {
  vi.spyOn(console, 'log').mockImplementation(() => undefined)
})
afterAll(() => {
  vi.restoreAllMocks()
})

const ticks = fc.bigInt({ min: MIN_TICK, max: MAX_TICK })
const distance = (a: bigint, b: bigint): bigint => (a > b ? a - b : b - a)

describe('a tick', () => {
  it('has the same root, to the last place', () => {
    fc.assert(
      fc.property(ticks, tick => {
        const more = tickToSqrtPrice(tick) / DEC - peerSqrtPrice(tick)
        expect(more === 0n || more === 1n).toBe(true)
      }),
      { numRuns: 500 }
    )
  })

  it('is that of its price, and of all prices below that of the next', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: MIN_TICK, max: MAX_TICK - 1n }),
        fc.bigInt({ min: 0n, max: 999n }),
        (tick, share) => {
          const from = tickToPrice(tick)
          const price = from + ((tickToPrice(tick + 1n) - from) * share) / 1000n
          expect(peerTick(price / DEC)).toBe(priceToTick(price))
        }
      ),
      { numRuns: 500 }
    )
  })
})

interface RandomPool {
  readonly price: bigint
  readonly spread: string
  readonly positions: readonly { readonly from: bigint; readonly width: bigint; readonly amount: bigint }[]
}

const randomPool: fc.Arbitrary<RandomPool> = fc.record({
  price: fc.constantFrom(1n, 7n, 5000n, 123_456n),
  spread: fc.constantFrom('0', '0.0001', '0.0005', '0.002', '0.01'),
  positions: fc.array(
    fc.record({
      from: fc.bigInt({ min: -2000n, max: 2000n }),
      width: fc.bigInt({ min: 1n, max: 3000n }),
      amount: fc.bigInt({ min: 10n ** 6n, max: 10n ** 12n })
    }),
    { maxLength: 10 }
  )
})

const build = async ({ price, spread, positions }: RandomPool): Promise<Liquidity> => {
  const { liquidity } = await liquidityWithPool({ spreadFactor: dec.parse(spread) })
  await liquidity.change(async unit => {
    const amount0 = 10n ** 9n
    await open(unit, { lowerTick: MIN_TICK, upperTick: MAX_TICK, amount0, amount1: price * amount0 })
    const at = ((await unit.pool(1n))!.tick / 100n) * 100n
    for (const { from, width, amount } of positions) {
      const lowerTick = at + from * 100n
      const range = { lowerTick, upperTick: lowerTick + width * 100n }
      await open(unit, { ...range, amount0: amount, amount1: amount * price })
    }
  })
  return liquidity
}

/** What was swapped, or that it was too little for a whole coin. */
const settled = async (quote: Promise<SwapResult>): Promise<SwapResult | 'too little'> => {
  try {
    return await quote
  } catch (error) {
    const reason = error instanceof QuoinError ? error.details['reason'] : undefined
    if (reason === 'amount') return 'too little'
    // A fraction of a coin may be left after a tick; which amounts leave one depends on the last place of its root.
    fc.pre(reason !== 'no-progress')
    throw error
  }
}

const theirAnswer = (quote: () => PeerQuote | undefined): PeerQuote => {
  try {
    return quote()!
  } catch (error) {
    fc.pre((error as Error).message !== 'Fee charge should be non-negative')
    throw error
  }
}

const expectClose = (ours: SwapResult, amount: bigint, theirs: PeerQuote, coinWorth: bigint): void => {
  // For each tick what a coin in is worth, and the last place of the factor on what is large.
  const tolerance = (1n + BigInt(ours.ticksCrossed)) * coinWorth + theirs.amount / 10n ** 17n
  expect(distance(amount, theirs.amount) <= tolerance, `${amount} for ${theirs.amount}`).toBe(true)
  // The first position alone has 10^9 of token 0, so a coin moves the price by as little as this.
  const moved = (theirs.sqrtPrice * 4n * (1n + BigInt(ours.ticksCrossed))) / 10n ** 9n
  expect(
    distance(ours.sqrtPrice, theirs.sqrtPrice) <= moved,
    `${ours.sqrtPrice} for ${theirs.sqrtPrice}`
  ).toBe(true)
}

describe('a quote on a random pool', () => {
  it.each([
    ['in', quoteExactIn, peerExactIn, 'down', 'up', 'bought'],
    ['out', quoteExactOut, peerExactOut, 'up', 'down', 'paid']
  ] as const)('with an exact amount %s is the same', async (_, quote, peerQuote, ofEth, ofUsdc, side) => {
    let compared = 0
    await fc.assert(
      fc.asyncProperty(
        randomPool,
        fc.constantFrom(ETH, USDC),
        fc.bigInt({ min: 1000n, max: 10n ** 13n }),
        async (given, denom, amount) => {
          const liquidity = await build(given)
          const coin = { denom, amount }
          const ours = await settled(quote(liquidity, { pool: 1n, coin }))
          const pool = (await liquidity.pool(1n))!
          const direction = denom === ETH ? ofEth : ofUsdc
          // Where hardly any liquidity is left a coin is worth a lot; and at the lowest price the peer does not end.
          if (ours !== 'too little') fc.pre(distance(ours.sqrtPrice, pool.sqrtPrice) * 2n < pool.sqrtPrice)
          const params = await peerPool(liquidity, pool, direction)
          const theirs = theirAnswer(() => peerQuote(params, peerCoin(coin)))
          if (ours === 'too little') expect(theirs.amount <= 1n).toBe(true)
          else {
            compared++
            // A coin of token 0 is worth so many of token 1.
            const coinWorth = side === 'bought' && direction === 'down' ? given.price + 1n : 1n
            expectClose(ours, ours[side].amount, theirs, coinWorth)
          }
        }
      ),
      { numRuns: 200 }
    )
    expect(compared).toBeGreaterThan(150)
  })
})
