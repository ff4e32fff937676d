import { describe, expect, it } from 'vitest'
import { bigDec, dec } from '../decimal.ts'
import { table } from '../fixtures.testing.ts'
import { type Direction, spreadOf, stepIn, stepOut } from './swap-step.ts'

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
