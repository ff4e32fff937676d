import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bigDec, DEC } from '../decimal.ts'
import { table } from '../fixtures.testing.ts'
import {
  floorToSpacing,
  MAX_SQRT_PRICE,
  MAX_TICK,
  MIN_SQRT_PRICE,
  MIN_TICK,
  priceToSqrtPrice,
  priceToTick,
  sqrtPriceToTick,
  tickToPrice,
  tickToSqrtPrice
} from './tick.ts'

const upstream = table('ticks.json')
const refused = expect.objectContaining({ code: 'ERR_LIQUIDITY_RANGE' })

describe('ticks and prices, as upstream has them', () => {
  it.each(upstream.rows('tickToPrice', 40))('tick %s is price %s', (tick, price) => {
    expect(tickToPrice(BigInt(tick!))).toBe(bigDec.parse(price!))
    expect(tickToSqrtPrice(BigInt(tick!))).toBe(priceToSqrtPrice(bigDec.parse(price!)))
  })

  it.each(upstream.rows('priceToTick', 63))('price %s with spacing %s is tick %s', (price, spacing, tick) => {
    expect(floorToSpacing(priceToTick(bigDec.parse(price!)), BigInt(spacing!))).toBe(BigInt(tick!))
  })

  it.each(upstream.rows('sqrtPriceOfTickToTick', 21))(
    'the root of tick %s and %s steps of 10^-18 is, with spacing %s, at tick %s',
    (of, steps, spacing, tick) => {
      const sqrtPrice = tickToSqrtPrice(BigInt(of!)) + BigInt(steps!) * DEC
      expect(floorToSpacing(sqrtPriceToTick(sqrtPrice), BigInt(spacing!))).toBe(BigInt(tick!))
    }
  )

  it.each(upstream.list('ticksWithoutPrice'))('tick %s has no price', tick => {
    expect(() => tickToPrice(BigInt(tick))).toThrow(refused)
  })

  it.each(upstream.list('pricesWithoutTick'))('price %s has no tick', price => {
    expect(() => priceToTick(bigDec.parse(price))).toThrow(refused)
  })
})

const ticks = fc.bigInt({ min: MIN_TICK, max: MAX_TICK - 1n })

describe('every tick', () => {
  it('comes back from its price and from its root', () => {
    fc.assert(
      fc.property(ticks, tick => {
        expect(priceToTick(tickToPrice(tick))).toBe(tick)
        expect(priceToTick(tickToPrice(tick + 1n) - 1n)).toBe(tick)
        expect(sqrtPriceToTick(tickToSqrtPrice(tick))).toBe(tick)
      }),
      { numRuns: 1000 }
    )
  })

  it('owns all roots from its own to that of the next', () => {
    fc.assert(
      fc.property(ticks, fc.bigInt({ min: 0n, max: 10n ** 18n - 1n }), (tick, share) => {
        const from = tickToSqrtPrice(tick)
        const to = tickToSqrtPrice(tick + 1n)
        expect(from < to).toBe(true)
        expect(sqrtPriceToTick(from + ((to - from) * share) / DEC)).toBe(tick)
        expect(sqrtPriceToTick(to - 1n)).toBe(tick)
      }),
      { numRuns: 1000 }
    )
  })

  it('lies on the next lower multiple of a spacing', () => {
    fc.assert(
      fc.property(ticks, fc.constantFrom(1n, 10n, 100n, 1000n), (tick, spacing) => {
        const floor = floorToSpacing(tick, spacing)
        expect(floor % spacing === 0n && floor <= tick && floor > tick - spacing).toBe(true)
      })
    )
  })
})

describe('the ends', () => {
  it('are 10^-12 and 10^38, and what lies below the lowest tick of a pool is refused', () => {
    expect(bigDec.format(MIN_SQRT_PRICE)).toBe('0.000001000000000000000000000000000000')
    expect(MAX_SQRT_PRICE).toBe(10n ** 55n)
    expect(sqrtPriceToTick(MAX_SQRT_PRICE)).toBe(MAX_TICK)
    expect(sqrtPriceToTick(MIN_SQRT_PRICE - 10n ** 11n)).toBe(MIN_TICK - 1n)
    expect(() => sqrtPriceToTick(MIN_SQRT_PRICE / 2n)).toThrow(refused)
    expect(() => sqrtPriceToTick(MAX_SQRT_PRICE * 2n)).toThrow(refused)
  })
})
