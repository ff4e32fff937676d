/** The chain's arithmetic: 8,000 ticks, steps of swaps and amounts of liquidity, to the last place. */
import { hasCode } from '@quoin/primitives'
import { describe, expect, it } from 'vitest'
import { bigDec, dec } from '../decimal.ts'
import { amount0Down, amount0Up, amount1Down, amount1Up, liquidityOf } from '../math/liquidity.ts'
import { spreadOf, stepIn, stepOut } from '../math/swap-step.ts'
import { priceToTick, sqrtPriceToTick, tickToPrice, tickToSqrtPrice } from '../math/tick.ts'
import { chainMath } from './vectors.testing.ts'

type Vector = Readonly<Record<string, string>>

const vectors = chainMath() as unknown as readonly Vector[]
const ofKind = (kind: string): readonly Vector[] => vectors.filter(each => each['kind'] === kind)

/** The vectors for which a function gives other values. */
const differences = (kind: string, count: number, valuesOf: (vector: Vector) => Vector): unknown[] => {
  const all = ofKind(kind)
  expect(all).toHaveLength(count)
  return all.flatMap(vector => {
    const found = valuesOf(vector)
    const isSame = Object.entries(found).every(([name, value]) => vector[name] === value)
    return isSame ? [] : [{ vector, found }]
  })
}

/** A value, or nothing where a number has no tick. */
const unless = (work: () => bigint, format: (value: bigint) => string): string | undefined => {
  try {
    return format(work())
  } catch (error) {
    if (hasCode(error, 'ERR_LIQUIDITY_RANGE')) return undefined
    throw error
  }
}

const bothOf = (names: readonly string[], values: readonly (string | undefined)[]): Vector =>
  Object.fromEntries(names.map((name, i) => [name, values[i]])) as Vector

describe('the chain’s arithmetic', () => {
  it('of ticks, prices and roots', () => {
    const text = String
    expect(
      differences('tick', 2078, vector => {
        const tick = BigInt(vector['tick']!)
        const [price, sqrt] = [tickToPrice, tickToSqrtPrice].map(of => unless(() => of(tick), bigDec.format))
        if (!price || !vector['price']) return bothOf(['price', 'sqrt'], [price, sqrt])
        const tickAt = (name: string) => unless(() => sqrtPriceToTick(bigDec.parse(vector[name]!)), text)
        return bothOf(
          ['price', 'sqrt', 'priceTick', 'sqrtTick', 'nearTick'],
          [price, sqrt, unless(() => priceToTick(bigDec.parse(price)), text), tickAt('sqrt'), tickAt('near')]
        )
      })
    ).toEqual([])
  })

  it('of amounts and liquidity', () => {
    const whole = (amount: bigint): string => bigDec.format(bigDec.whole(amount))
    expect(
      differences('amounts', 1974, vector => {
        const liquidity = dec.parse(vector['liquidity']!)
        const [lower, upper, at] = ['lower', 'upper', 'at'].map(name => bigDec.parse(vector[name]!))
        const made = liquidityOf(at!, lower!, upper!, BigInt(vector['a0']!), BigInt(vector['a1']!))
        return {
          a0down: bigDec.format(amount0Down(liquidity, lower!, upper!)),
          a1down: bigDec.format(amount1Down(liquidity, lower!, upper!)),
          a0up: whole(amount0Up(liquidity, lower!, upper!)),
          a1up: whole(amount1Up(liquidity, lower!, upper!)),
          made: dec.format(made)
        }
      })
    ).toEqual([])
  })

  it.each([
    ['stepIn', stepIn],
    ['stepOut', stepOut]
  ] as const)('of swaps: %s', (kind, stepBy) => {
    expect(
      differences(kind, 1974, vector => {
        const direction = (vector['down'] as unknown as boolean) ? 'down' : 'up'
        const { sqrtPrice, amountIn, amountOut, spreadReward } = stepBy(
          direction,
          bigDec.parse(vector['from']!),
          bigDec.parse(vector['to']!),
          dec.parse(vector['liquidity']!),
          dec.parse(vector['remaining']!),
          spreadOf(dec.parse(vector['spread']!))
        )
        const names = ['next', 'in', 'out', 'charge']
        // The chain panics where the reward would be below 0.
        if (spreadReward < 0n) return bothOf(names, [])
        return bothOf(names, [
          bigDec.format(sqrtPrice),
          ...[amountIn, amountOut, spreadReward].map(dec.format)
        ])
      })
    ).toEqual([])
  })
})
