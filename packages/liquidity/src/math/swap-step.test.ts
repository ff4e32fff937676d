import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BIG_DEC, bigDec, DEC, dec } from '../decimal.ts'
import { table } from '../fixtures.testing.ts'
import { type Direction, spreadOf, stepIn, stepOut } from './swap-step.ts'
import { MAX_TICK, MIN_TICK, tickToSqrtPrice } from './tick.ts'

const upstream = table('steps.json')

describe('a step, as upstream has it', () => {
  it.each([
    ...upstream.rows('exactIn', 14).map(row => ['in', ...row]),
    ...upstream.rows('exactOut', 13).map(row => ['out', ...row])
  ])('exact %s, %s from %s to %s, liquidity %s, remaining %s, spread %s', (exact, ...row) => {
    const [direction, from, target, liquidity, remaining, spread, ...expected] = row
    const step = (exact === 'in' ? stepIn : stepOut)(
      direction as Direction,
      bigDec.parse(from!),
      bigDec.parse(target!),
      dec.parse(liquidity!),
      dec.parse(remaining!),
      spreadOf(dec.parse(spread!))
    )
    expect(step).toEqual({
      sqrtPrice: bigDec.parse(expected[0]!),
      amountIn: dec.parse(expected[1]!),
      amountOut: dec.parse(expected[2]!),
      spreadReward: dec.parse(expected[3]!)
    })
  })
})

describe('a step', () => {
  const roots = fc.bigInt({ min: MIN_TICK, max: MAX_TICK }).map(tickToSqrtPrice)
  /** Of all sizes, down to the last place. */
  const amounts = fc.oneof(
    fc.bigInt({ min: 1n, max: 1000n }),
    fc.bigInt({ min: 1n, max: 10n ** 20n }),
    fc.bigInt({ min: 1n, max: 10n ** 45n })
  )
  const factors = fc
    .constantFrom('0', '0.0001', '0.003', '0.01', '0.5', '0.999999999999999999')
    .map(dec.parse)
  const given = fc.tuple(roots, roots, amounts, amounts, factors)

  const isBetween = (sqrtPrice: bigint, from: bigint, target: bigint): boolean =>
    from < target ? from <= sqrtPrice && sqrtPrice <= target : target <= sqrtPrice && sqrtPrice <= from

  it('goes neither back nor past its target, and takes no more than remains', () => {
    fc.assert(
      fc.property(given, ([from, target, liquidity, remaining, factor]) => {
        const direction = from < target ? 'up' : 'down'
        const step = stepIn(direction, from, target, liquidity, remaining, spreadOf(factor))
        expect(isBetween(step.sqrtPrice, from, target)).toBe(true)
        if (factor > 0n) expect(step.amountIn + step.spreadReward <= remaining).toBe(true)
      }),
      { numRuns: 1000 }
    )
  })

  it('gives all that was asked for unless it comes to its target, and nothing for nothing', () => {
    fc.assert(
      fc.property(given, ([from, target, liquidity, remaining, factor]) => {
        const direction = from < target ? 'up' : 'down'
        const step = stepOut(direction, from, target, liquidity, remaining, spreadOf(factor))
        expect(isBetween(step.sqrtPrice, from, target)).toBe(true)
        expect(step.amountOut <= remaining).toBe(true)
        expect(step.amountOut === remaining || step.sqrtPrice === target).toBe(true)
        expect(step.amountIn > 0n || step.amountOut === 0n).toBe(true)
      }),
      { numRuns: 1000 }
    )
  })

  it('goes no farther than it has to, though its last place is that of the target too', () => {
    const from = bigDec.parse('1.1')
    const liquidity = dec.parse('0.000000000000000015')
    // 1.5 of the last place are there.
    const step = stepOut('down', from, BIG_DEC, liquidity, 1n, spreadOf(0n))
    expect(bigDec.format(step.sqrtPrice)).toBe('1.033333333333333333333333333333333333')
    expect(step.amountOut).toBe(1n)
  })

  it('leaves the price where it is when what comes in is less than the last place', () => {
    const from = bigDec.parse('0.500000000000000000000000000000000001')
    const spread = spreadOf(dec.parse('0.999999999999999999'))
    expect(stepIn('down', from, BIG_DEC / 4n, 3n, 1n, spread)).toEqual({
      sqrtPrice: from,
      amountIn: 0n,
      amountOut: 0n,
      spreadReward: 1n
    })
  })

  it('keeps no more of a reward than is left, though a share on top is rounded up', () => {
    const spread = spreadOf(dec.parse('0.01'))
    expect(99n * spread.onTop).toBeGreaterThan(DEC)
    expect(stepIn('up', BIG_DEC, 2n * BIG_DEC, dec.whole(99n), dec.whole(100n), spread)).toEqual({
      sqrtPrice: 2n * BIG_DEC,
      amountIn: dec.whole(99n),
      amountOut: dec.parse('49.5'),
      spreadReward: DEC
    })
  })

  it('ends at its target when it can pay for the way, and not for the coins that it is rounded up to', () => {
    const spread = spreadOf(dec.parse('0.003'))
    // 99.7 without the reward, for a way of 99.2.
    expect(stepIn('up', BIG_DEC, 2n * BIG_DEC, dec.parse('99.2'), dec.whole(100n), spread)).toEqual({
      sqrtPrice: 2n * BIG_DEC,
      amountIn: dec.whole(100n),
      amountOut: dec.parse('49.6'),
      spreadReward: 0n
    })
  })
})
