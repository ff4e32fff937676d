import { QuoinError } from '@quoin/primitives'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { notCanonical } from '../proof/canonical.ts'
import { i32, i64, u8, u16, u32, u64 } from './integer.ts'
import { altered, byNumber, bytesOf, codecLaws, hexOf, refusal, wordOf } from './laws.testing.ts'

const big = (value: bigint, width: number): Uint8Array => bytesOf(value.toString(16).padStart(2 * width, '0'))
const unsigned = (bytes: Uint8Array): bigint => BigInt(`0x${hexOf(bytes) || '0'}`)
const around = (middle: bigint, width: number): fc.Arbitrary<Uint8Array> =>
  fc.bigInt(-3n, 3n).map(step => big(BigInt.asUintN(8 * width, middle + step), width))
const neighbours = <T extends number | bigint>(
  values: fc.Arbitrary<T>,
  next: (value: T) => T
): fc.Arbitrary<readonly [T, T]> => values.map(value => [value, next(value)] as const)

const MAX_64 = 2n ** 64n - 1n
/** The powers of two at which 32-bit halves, exact float64s and 64 bits end, and the numbers around them. */
const EDGES = [31n, 32n, 53n, 63n].flatMap(bit => [-2n, -1n, 0n, 1n, 2n].map(step => 2n ** bit + step))
const signed64 = fc.oneof(
  fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
  fc.bigInt(-300n, 300n),
  fc.constantFrom(...[...EDGES, ...EDGES.map(edge => -edge)].filter(edge => BigInt.asIntN(64, edge) === edge))
)
const nextSigned64 = (value: bigint): bigint => (value === 2n ** 63n - 1n ? value : value + 1n)

for (const [name, { codec }, width] of [
  ['u8', u8('n'), 1],
  ['u16', u16('n'), 2],
  ['u32', u32('n'), 4]
] as const) {
  const max = 256 ** width - 1
  const values = fc.integer({ min: 0, max })
  codecLaws(`${name}, an unsigned integer of ${8 * width} bits`, {
    codec,
    kind: 'number',
    values,
    pairs: neighbours(values, value => Math.min(value + 1, max)),
    encode: value => big(BigInt(value), width),
    isWord: bytes => bytes.length === width,
    order: 'bytes',
    compare: byNumber
  })
}

codecLaws('i32, a signed integer of 32 bits', {
  codec: i32('n').codec,
  kind: 'number',
  values: fc.oneof(fc.integer(), fc.integer({ min: -300, max: 300 })),
  pairs: neighbours(fc.integer({ min: -300, max: 300 }), value => value + 1),
  encode: value => big(BigInt(value) + 2n ** 31n, 4),
  isWord: bytes => bytes.length === 4,
  order: 'bytes',
  compare: byNumber
})

const unsigned64 = fc.oneof(fc.bigInt(0n, MAX_64), fc.bigInt(0n, 300n), fc.constantFrom(MAX_64, ...EDGES))
codecLaws('u64, an unsigned integer of 64 bits', {
  codec: u64('n').codec,
  kind: 'bigint',
  values: unsigned64,
  pairs: neighbours(unsigned64, value => (value === MAX_64 ? value : value + 1n)),
  encode: value => big(value, 8),
  isWord: bytes => bytes.length === 8,
  order: 'bytes',
  compare: byNumber
})

codecLaws('i64, a signed integer of 64 bits', {
  codec: i64('n').codec,
  kind: 'bigint',
  values: signed64,
  pairs: neighbours(signed64, nextSigned64),
  encode: value => big(value + 2n ** 63n, 8),
  isWord: bytes => bytes.length === 8,
  order: 'bytes',
  compare: byNumber
})

for (const [max, { codec }, width] of [
  [0, u8('n', { max: 0 }), 1],
  [9, u8('n', { max: 9 }), 1],
  [255, u8('n', { max: 255 }), 1],
  [1000, u16('n', { max: 1000 }), 2],
  [0xff00, u16('n', { max: 0xff00 }), 2],
  [850_000, u32('n', { max: 850_000 }), 4]
] as const) {
  codecLaws(`an integer of ${8 * width} bits from 0 to ${max}`, {
    codec,
    kind: 'number',
    values: fc.integer({ min: 0, max }),
    near: around(BigInt(max), width),
    encode: value => big(BigInt(value), width),
    isWord: bytes => bytes.length === width && unsigned(bytes) <= BigInt(max),
    order: 'bytes',
    compare: byNumber
  })
}

const SUPPLY = 2_100_000_000_000_000n
codecLaws('an integer of 64 bits from 0 to the number of satoshis', {
  codec: u64('n', { max: SUPPLY }).codec,
  kind: 'bigint',
  values: fc.oneof(fc.bigInt(0n, SUPPLY), fc.bigInt(0n, 300n), fc.constantFrom(SUPPLY)),
  near: around(SUPPLY, 8),
  encode: value => big(value, 8),
  isWord: bytes => bytes.length === 8 && unsigned(bytes) <= SUPPLY,
  order: 'bytes',
  compare: byNumber
})

describe('the domain of an integer', () => {
  it.each([
    ['u8', u8('n').codec, [-1, 256, 1.5, Number.NaN, Number.POSITIVE_INFINITY, -Number.EPSILON]],
    ['u16', u16('n').codec, [-1, 65_536, 0.5, Number.NaN, Number.NEGATIVE_INFINITY]],
    ['u32', u32('n').codec, [-1, 2 ** 32, 2 ** 53, 4294967294.5, Number.NaN]],
    ['i32', i32('n').codec, [-(2 ** 31) - 1, 2 ** 31, -1.5, Number.NaN, Number.POSITIVE_INFINITY]],
    ['u64', u64('n').codec, [-1n, 2n ** 64n, 2n ** 128n]],
    ['i64', i64('n').codec, [-(2n ** 63n) - 1n, 2n ** 63n, 2n ** 64n]],
    ['u8 up to 9', u8('n', { max: 9 }).codec, [10, -1, 9.5]],
    ['u64 up to the supply', u64('n', { max: SUPPLY }).codec, [SUPPLY + 1n, -1n]]
  ] as const)('%s refuses the numbers outside of it', (_, codec, outside) => {
    for (const value of outside) {
      expect(refusal(codec, value), String(value)).toMatchObject({ code: 'ERR_KEY_VALUE' })
    }
  })

  it('has one zero: -0 is written as 0', () => {
    for (const { codec } of [u8('n'), u16('n'), u32('n'), i32('n')]) {
      expect(wordOf(codec, -0)).toStrictEqual(wordOf(codec, 0))
      expect(codec.read(wordOf(codec, -0), 0, wordOf(codec, 0).length)).toBe(0)
    }
  })

  it('is within the width: a bound that no word of the width can reach is refused', () => {
    for (const max of [256, -1, 1.5, Number.NaN])
      expect(() => u8('n', { max }), `u8 ${max}`).toThrow(QuoinError)
    for (const max of [65_536, -1]) expect(() => u16('n', { max }), `u16 ${max}`).toThrow(QuoinError)
    for (const max of [2 ** 32, -1]) expect(() => u32('n', { max }), `u32 ${max}`).toThrow(QuoinError)
    for (const max of [2n ** 64n, -1n]) expect(() => u64('n', { max }), `u64 ${max}`).toThrow(QuoinError)
  })

  it('refuses with its code even a value that cannot be printed', () => {
    expect(refusal(u8('n').codec, Object.create(null))).toMatchObject({ code: 'ERR_KEY_VALUE' })
    expect(refusal(u64('n').codec, { toString: 1, valueOf: 1 })).toMatchObject({ code: 'ERR_KEY_VALUE' })
  })
})

describe('the words of integers', () => {
  it.each([
    ['u8', u8('n').codec, 124, '7c'],
    ['u16', u16('n').codec, 258, '0102'],
    ['u32', u32('n').codec, 850_000, '000cf850'],
    ['i32', i32('n').codec, -(2 ** 31), '00000000'],
    ['i32', i32('n').codec, -1, '7fffffff'],
    ['i32', i32('n').codec, 0, '80000000'],
    ['i32', i32('n').codec, 2 ** 31 - 1, 'ffffffff'],
    ['u64', u64('n').codec, 31_868n, '0000000000007c7c'],
    ['u64', u64('n').codec, MAX_64, 'ffffffffffffffff'],
    ['i64', i64('n').codec, -(2n ** 63n), '0000000000000000'],
    ['i64', i64('n').codec, -1n, '7fffffffffffffff'],
    ['i64', i64('n').codec, 0n, '8000000000000000'],
    ['i64', i64('n').codec, 2n ** 63n - 1n, 'ffffffffffffffff']
  ] as const)('are big endian and start at the least value: %s', (_, codec, value, word) => {
    expect(hexOf(wordOf<unknown>(codec, value))).toBe(word)
  })
})

describe('the proof that a codec is canonical', () => {
  const { codec } = u16('n')

  it('finds a read that drops a bit', () => {
    const found = notCanonical(altered(codec, { read: (...span) => codec.read(...span) & 0xfffe }))
    expect(found!.word[1]! & 1).toBe(1)
    expect(found!.back).toStrictEqual(Uint8Array.of(found!.word[0]!, found!.word[1]! & 0xfe))
  })

  it('finds a write that drops a byte', () => {
    const halved = altered(codec, {
      put(value, target, offset) {
        target[offset + 1] = value
        return offset + 2
      }
    })
    const found = notCanonical(halved)
    expect(found!.word[0]).not.toBe(0)
    expect(found!.back).toStrictEqual(Uint8Array.of(0, found!.word[1]!))
  })

  it('finds a write of another length, and keeps the error', () => {
    const found = notCanonical(altered(codec, { put: (_, __, offset) => offset + 1 }))
    expect(found!.back).toMatchObject({ code: 'ERR_KEY_VALUE', details: { offset: 1 } })
  })

  it('finds a read that goes outside the domain, and keeps the error', () => {
    const digit = u8('n', { max: 9 }).codec
    const found = notCanonical(altered(digit, { read: (...span) => digit.read(...span) - 1 }))
    expect(found!.word).toStrictEqual(Uint8Array.of(0))
    expect(found!.back).toMatchObject({ code: 'ERR_KEY_VALUE' })
  })
})
