import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BIG_DEC, bigDec, type Dec, dec } from '../decimal.ts'
import { table } from '../fixtures.testing.ts'
import { amount0Down, amount0Up, amount1Down, amount1Up, liquidityOf } from './liquidity.ts'
import { sqrtPriceAfterIn, sqrtPriceAfterOut } from './swap-step.ts'
import { MAX_TICK, MIN_TICK, tickToSqrtPrice } from './tick.ts'

const upstream = table('amounts.json')
const big = bigDec.parse

describe('liquidity and amounts, as upstream has them', () => {
  it.each(upstream.rows('liquidity', 11))(
    'at %s, from %s to %s, %s and %s make liquidity %s',
    (at, lower, upper, amount0, amount1, liquidity) => {
      expect(
        dec.format(liquidityOf(big(at!), big(lower!), big(upper!), BigInt(amount0!), BigInt(amount1!)))
      ).toBe(liquidity)
    }
  )

  it.each([
    ['amount0Down', amount0Down, 2, bigDec.parse],
    ['amount1Down', amount1Down, 3, bigDec.parse],
    ['amount0Up', amount0Up, 1, BigInt],
    ['amount1Up', amount1Up, 2, BigInt]
  ] as const)('%s', (name, amount, count, parse) => {
    for (const [liquidity, lower, upper, expected] of upstream.rows(name, count))
      expect(amount(dec.parse(liquidity!), big(lower!), big(upper!))).toBe(parse(expected!))
  })

  it.each([
    ['priceAfter0In', sqrtPriceAfterIn, 'down', 3, bigDec.parse],
    ['priceAfter1In', sqrtPriceAfterIn, 'up', 4, bigDec.parse],
    ['priceAfter0Out', sqrtPriceAfterOut, 'up', 2, dec.parse],
    ['priceAfter1Out', sqrtPriceAfterOut, 'down', 2, dec.parse]
  ] as const)('%s', (name, after, direction, count, parse) => {
    for (const [from, liquidity, amount, to] of upstream.rows(name, count))
      expect(after(direction, big(from!), dec.parse(liquidity!), parse(amount!))).toBe(big(to!))
  })
})

describe('rounding', () => {
  const range = fc
    .tuple(fc.bigInt({ min: MIN_TICK, max: MAX_TICK }), fc.bigInt({ min: MIN_TICK, max: MAX_TICK }))
    .filter(([a, b]) => a !== b)
    .map(([a, b]) => [tickToSqrtPrice(a < b ? a : b), tickToSqrtPrice(a < b ? b : a)] as const)

  it('never lets somebody get more than is paid for the same liquidity', () => {
    fc.assert(
      fc.property(range, fc.bigInt({ min: 0n, max: 10n ** 45n }), ([lower, upper], liquidity: Dec) => {
        expect(amount0Up(liquidity, lower, upper) * BIG_DEC >= amount0Down(liquidity, lower, upper)).toBe(
          true
        )
        expect(amount1Up(liquidity, lower, upper) * BIG_DEC >= amount1Down(liquidity, lower, upper)).toBe(
          true
        )
      })
    )
  })

  it('never splits a range for a profit', () => {
    fc.assert(
      fc.property(range, fc.bigInt({ min: 0n, max: 10n ** 45n }), ([lower, upper], liquidity: Dec) => {
        const middle = (lower + upper) / 2n
        expect(
          amount1Down(liquidity, lower, middle) + amount1Down(liquidity, middle, upper) <=
            amount1Up(liquidity, lower, upper) * BIG_DEC
        ).toBe(true)
        expect(
          amount0Down(liquidity, lower, middle) + amount0Down(liquidity, middle, upper) <=
            amount0Up(liquidity, lower, upper) * BIG_DEC
        ).toBe(true)
      })
    )
  })
})
