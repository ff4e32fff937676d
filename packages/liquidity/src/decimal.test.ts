import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  BIG_DEC,
  bigDec,
  DEC,
  dec,
  divideUp,
  integerSqrt,
  sqrtBigDec,
  sqrtDec,
  toDec,
  toDecUp
} from './decimal.ts'

const amount = fc.bigInt({ min: -(10n ** 60n), max: 10n ** 60n })
const divisor = fc.bigInt({ min: 1n, max: 10n ** 45n })

describe.each([
  ['Dec', dec],
  ['BigDec', bigDec]
])('%s', (_, d) => {
  it('reads what it writes', () => {
    fc.assert(
      fc.property(amount, a => {
        expect(d.parse(d.format(a))).toBe(a)
      })
    )
  })

  it('puts a product between its roundings, which differ by one step at most', () => {
    fc.assert(
      fc.property(amount, amount, (a, b) => {
        const up = d.mulUp(a, b)
        expect(up * d.unit >= a * b && (up - 1n) * d.unit < a * b).toBe(true)
        const down = d.mulDown(a, b)
        const size = (n: bigint): bigint => (n < 0n ? -n : n)
        expect(size(down) * d.unit <= size(a * b) && (size(down) + 1n) * d.unit > size(a * b)).toBe(true)
        const error = size(d.mul(a, b) * d.unit - a * b) * 2n
        expect(error < d.unit || (error === d.unit && d.mul(a, b) % 2n === 0n)).toBe(true)
      })
    )
  })

  it('puts a quotient between its roundings', () => {
    fc.assert(
      fc.property(amount, divisor, (a, b) => {
        const up = d.quoUp(a, b)
        expect(up * b >= a * d.unit && (up - 1n) * b < a * d.unit).toBe(true)
        const even = d.quo(a, b)
        expect([up, up - 1n]).toContain(even)
        expect([up, up - 1n]).toContain(d.quoDown(a, b))
      })
    )
  })

  it('rounds a half to the even neighbour, on both sides of zero', () => {
    const half = d.unit / 2n
    expect([1n, 3n, 5n, -1n, -3n].map(n => d.mul(n, half))).toEqual([0n, 2n, 2n, 0n, -2n])
  })

  it('cuts a quotient at twice the places first, so a hair above a half is still a half', () => {
    // One half and 1/(2·unit^2) of a step: the hair is beyond twice the places.
    const b = 2n * d.unit * d.unit * d.unit
    expect(d.quo(d.unit * d.unit + 1n, b)).toBe(0n)
  })

  it.each(['', '.5', '5.', '-', '--1', '+1', '01', '1e3', ' 1', '1,5', '0x1', '1.', `0.${'1'.repeat(37)}`])(
    'refuses %j',
    text => {
      expect(() => d.parse(text)).toThrow(expect.objectContaining({ code: 'ERR_DECIMAL' }))
    }
  )
})

describe('square roots', () => {
  it('are exact integers from below', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 2200n }), n => {
        const root = integerSqrt(n)
        expect(root * root <= n && (root + 1n) ** 2n > n).toBe(true)
      })
    )
    for (const n of [0n, 1n, 2n, 3n, 4n, 2n ** 52n - 1n, 2n ** 53n, 10n ** 36n, 10n ** 36n - 1n]) {
      const root = integerSqrt(n)
      expect(root * root <= n && (root + 1n) ** 2n > n).toBe(true)
    }
  })

  it('are never below the root at 18 and 36 places, and never fall while the number rises', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 10n ** 60n }),
        fc.bigInt({ min: 0n, max: 10n ** 20n }),
        (a, more) => {
          expect(sqrtDec(a) ** 2n >= a * DEC).toBe(true)
          expect(sqrtBigDec(a) ** 2n >= a * BIG_DEC).toBe(true)
          expect(sqrtDec(a + more) >= sqrtDec(a)).toBe(true)
        }
      )
    )
    expect(dec.format(sqrtDec(dec.parse('2')))).toBe('1.414213562373095049')
    expect(() => integerSqrt(-1n)).toThrow(expect.objectContaining({ code: 'ERR_DECIMAL' }))
  })
})

describe('between the precisions', () => {
  it('cuts off or rounds up', () => {
    expect(toDec(DEC + 1n)).toBe(1n)
    expect(toDecUp(DEC + 1n)).toBe(2n)
    expect(toDecUp(-DEC - 1n)).toBe(-1n)
    expect(divideUp(-3n, 2n)).toBe(-1n)
  })
})
