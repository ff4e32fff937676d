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

  /** Whether a root is between two others. The chain refuses a swap whose rounding leaves it elsewhere. */
  const isBetween = (sqrtPrice: bigint, from: bigint, target: bigint): boolean =>
    from < target ? from <= sqrtPrice && sqrtPrice <= target : target <= sqrtPrice && sqrtPrice <= from

  it('takes what remains, or what its target costs', () => {
    fc.assert(
      fc.property(given, ([from, target, liquidity, remaining, factor]) => {
        const direction = from < target ? 'up' : 'down'
        const spread = spreadOf(factor)
        const step = stepIn(direction, from, target, liquidity, remaining, spread)
        if (step.sqrtPrice === target) expect(step.spreadReward).toBe((step.amountIn * spread.onTop) / DEC)
        else if (factor > 0n) expect(step.amountIn + step.spreadReward).toBe(remaining)
      }),
      { numRuns: 1000 }
    )
  })

  it('gives no more than was asked for, and nothing for nothing', () => {
    fc.assert(
      fc.property(given, ([from, target, liquidity, remaining, factor]) => {
        const direction = from < target ? 'up' : 'down'
        const step = stepOut(direction, from, target, liquidity, remaining, spreadOf(factor))
        expect(step.amountOut <= remaining).toBe(true)
        if (isBetween(step.sqrtPrice, from, target))
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

  it('rounds a reward up, also above the amount that remains', () => {
    const spread = spreadOf(dec.parse('0.01'))
    expect(stepIn('up', BIG_DEC, 2n * BIG_DEC, dec.whole(99n), dec.whole(100n), spread)).toEqual({
      sqrtPrice: 2n * BIG_DEC,
      amountIn: dec.whole(99n),
      amountOut: dec.parse('49.5'),
      spreadReward: DEC + 98n
    })
  })

  it('passes its target when it pays for the way, and not for the coins that this is rounded up to', () => {
    const spread = spreadOf(dec.parse('0.003'))
    // 99.7 without the reward, for a way of 99.2.
    const step = stepIn('up', BIG_DEC, 2n * BIG_DEC, dec.parse('99.2'), dec.whole(100n), spread)
    expect(bigDec.format(step.sqrtPrice)).toBe('2.005040322580645161290322580645161290')
    expect(step).toMatchObject({ amountIn: dec.whole(100n), spreadReward: 0n })
  })
})
