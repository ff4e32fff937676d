import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { f64 } from './float.ts'
import { accepts, byNumber, bytesOf, codecLaws, hexOf, refusal, wordOf } from './laws.testing.ts'

const SIGN = 1n << 63n
const MASK = 2n ** 64n - 1n
const unsigned = (bytes: Uint8Array): bigint => BigInt(`0x${hexOf(bytes)}`)
const eight = (value: bigint): Uint8Array => bytesOf(value.toString(16).padStart(16, '0'))

const bitsOf = (value: number): bigint => {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleBE(value)
  return unsigned(bytes)
}
const ofBits = (bits: bigint): number => Buffer.from(eight(bits)).readDoubleBE()

/** The IEEE-754 bits that a word stands for. */
const unsorted = (bytes: Uint8Array): bigint => {
  const sorted = unsigned(bytes)
  return sorted & SIGN ? sorted ^ SIGN : sorted ^ MASK
}
const isNaNBits = (bits: bigint): boolean =>
  ((bits >> 52n) & 0x7ffn) === 0x7ffn && (bits & (2n ** 52n - 1n)) !== 0n

const EDGES = [
  0,
  -0,
  1,
  -1,
  Number.MIN_VALUE,
  -Number.MIN_VALUE,
  2 ** -1022,
  -(2 ** -1022),
  Number.EPSILON,
  Number.MAX_SAFE_INTEGER,
  Number.MAX_VALUE,
  -Number.MAX_VALUE,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY
]
const numbers = fc.oneof(fc.double({ noNaN: true }), fc.integer(), fc.constantFrom(...EDGES))
const nextDouble = (value: number): number => {
  const next = ofBits((bitsOf(value) + 1n) & MASK)
  return Number.isNaN(next) ? value : next
}

codecLaws('f64, a float64 whose bytes sort as the numbers do', {
  codec: f64('score').codec,
  kind: 'number',
  values: numbers,
  pairs: fc.oneof(
    numbers.map(value => [value, nextDouble(value)] as const),
    fc.tuple(fc.constantFrom(...EDGES), fc.constantFrom(...EDGES))
  ),
  near: fc
    .tuple(
      fc.constantFrom('000fffffffffffff', '7fffffffffffffff', '8000000000000000', 'fff0000000000000'),
      fc.bigInt(-3n, 3n)
    )
    .map(([edge, step]) => eight((BigInt(`0x${edge}`) + step) & MASK)),
  encode: value => {
    const bits = bitsOf(value === 0 ? 0 : value)
    return eight(bits & SIGN ? bits ^ MASK : bits | SIGN)
  },
  isWord: bytes => bytes.length === 8 && !isNaNBits(unsorted(bytes)) && unsorted(bytes) !== SIGN,
  order: 'bytes',
  compare: byNumber,
  normal: value => (value === 0 ? 0 : value)
})

describe('f64', () => {
  const { codec } = f64('score')

  it.each([
    [0, '8000000000000000'],
    [1, 'bff0000000000000'],
    [-1, '400fffffffffffff'],
    [850_000.000000123, 'c129f0a000000421'],
    // biome-ignore lint/correctness/noPrecisionLoss: the vector is stated with more digits than a float64 has
    [1_703_097_600.123456789, 'c1d960cd4007e6b7'],
    [Number.NEGATIVE_INFINITY, '000fffffffffffff'],
    [-Number.MIN_VALUE, '7ffffffffffffffe'],
    [Number.MIN_VALUE, '8000000000000001'],
    [Number.POSITIVE_INFINITY, 'fff0000000000000']
  ])('writes %d as the score of the seeds', (value, word) => {
    expect(hexOf(wordOf(codec, value))).toBe(word)
    expect(codec.read(bytesOf(word), 0, 8)).toBe(value)
  })

  it('writes -0 as 0, so that it sorts among the numbers and comes back as 0', () => {
    expect(hexOf(wordOf(codec, -0))).toBe('8000000000000000')
    expect(codec.read(wordOf(codec, -0), 0, 8)).toBe(0)
  })

  it.each([
    ['-0', '7fffffffffffffff'],
    ['the positive NaN with the least payload', 'fff0000000000001'],
    ['the quiet NaN', 'fff8000000000000'],
    ['the positive NaN with the greatest payload', 'ffffffffffffffff'],
    ['the negative NaN with the least payload', '000ffffffffffffe'],
    ['the negative NaN with the greatest payload', '0000000000000000']
  ])('has no word for %s', (_, word) => {
    expect(accepts(codec, bytesOf(word))).toBe(false)
  })

  it('refuses NaN, which has no place in the order', () => {
    expect(refusal(codec, Number.NaN)).toMatchObject({ code: 'ERR_KEY_VALUE', details: { codec: 'f64' } })
  })
})
