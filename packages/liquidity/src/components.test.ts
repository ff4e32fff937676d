import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  accepts,
  byCodePoint,
  byNumber,
  bytesOf,
  codecLaws,
  hexOf,
  latin1,
  refusal,
  textOver,
  utf8,
  wordOf
} from '../../keyspace/src/components/laws.testing.ts'
import { denom, tick9 } from './components.ts'

const big = (value: bigint, width: number): Uint8Array => bytesOf(value.toString(16).padStart(2 * width, '0'))
/** The powers of two at which 32-bit halves, exact float64s and 64 bits end, and the numbers around them. */
const EDGES = [31n, 32n, 53n, 63n].flatMap(bit => [-2n, -1n, 0n, 1n, 2n].map(step => 2n ** bit + step))
const signed64 = fc.oneof(
  fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
  fc.bigInt(-300n, 300n),
  fc.constantFrom(...[...EDGES, ...EDGES.map(edge => -edge)].filter(edge => BigInt.asIntN(64, edge) === edge))
)
const nextSigned64 = (value: bigint): bigint => (value === 2n ** 63n - 1n ? value : value + 1n)

codecLaws('tick9, a sign byte and the two’s complement', {
  codec: tick9('tick').codec,
  kind: 'bigint',
  values: signed64,
  pairs: signed64.map(value => [value, nextSigned64(value)] as const),
  near: fc
    .tuple(fc.constantFrom(0x00, 0x04, 0x05, 0x06, 0x07, 0xff), fc.uint8Array({ minLength: 7, maxLength: 9 }))
    .map(([sign, rest]) => Uint8Array.of(sign, ...rest)),
  encode: value => Uint8Array.of(value < 0n ? 5 : 6, ...big(BigInt.asUintN(64, value), 8)),
  isWord: bytes =>
    bytes.length === 9 && ((bytes[0] === 5 && bytes[1]! >= 0x80) || (bytes[0] === 6 && bytes[1]! < 0x80)),
  order: 'bytes',
  compare: byNumber
})

describe('a tick', () => {
  it('has no word outside of 64 bits', () => {
    for (const value of [-(2n ** 63n) - 1n, 2n ** 63n, 2n ** 64n]) {
      expect(refusal(tick9('n').codec, value), String(value)).toMatchObject({ code: 'ERR_KEY_VALUE' })
    }
  })

  it.each([
    [0n, '060000000000000000'],
    [1n, '060000000000000001'],
    [-1n, '05ffffffffffffffff'],
    [-200n, '05ffffffffffffff38'],
    [-124n, '05ffffffffffffff84'],
    [-108_000_000n, '05fffffffff9900d00'],
    [-108_000_001n, '05fffffffff9900cff'],
    [-270_000_000n, '05ffffffffefe82080'],
    [342_000_000n, '060000000014628180'],
    [-(2n ** 63n), '058000000000000000'],
    [2n ** 63n - 1n, '067fffffffffffffff']
  ])('of %d is the word of seed 004', (value, word) => {
    const { codec } = tick9('tick')
    expect(hexOf(wordOf(codec, value))).toBe(word)
    expect(codec.read(bytesOf(word), 0, 9)).toBe(value)
  })

  it.each([
    ['-2 with the sign of a positive number', '06fffffffffffffffe'],
    ['0 with the sign of a negative number', '050000000000000000'],
    ['2 with the sign of a negative number', '050000000000000002'],
    ['the sign byte 00', '000000000000000001'],
    ['the sign byte 07', '070000000000000001'],
    ['the sign byte ff', 'ffffffffffffffffff'],
    ['no sign byte', '0000000000000001'],
    ['a tenth byte', '06000000000000000100'],
    ['the sign byte alone', '06'],
    ['nothing', '']
  ])('has no word with %s', (_, word) => {
    expect(accepts(tick9('tick').codec, bytesOf(word))).toBe(false)
  })
})

const LOWER = 'abcdefghijklmnopqrstuvwxyz'
const UPPER = LOWER.toUpperCase()
const DIGITS = '0123456789'
const DENOM = `${LOWER}${UPPER}${DIGITS}/:._-`
codecLaws('denom', {
  kind: 'string',
  encode: utf8,
  order: 'bytes',
  compare: byCodePoint,
  codec: denom('d').codec,
  values: fc.tuple(textOver(LOWER + UPPER, 1, 1), textOver(DENOM, 2, 127)).map(parts => parts.join('')),
  near: fc.oneof(
    textOver('aZ9/:._- ', 0, 5).map(utf8),
    fc.tuple(fc.constantFrom('a', '9'), textOver(DENOM, 125, 129)).map(parts => utf8(parts.join('')))
  ),
  isWord: bytes => /^[a-zA-Z][a-zA-Z0-9/:._-]{2,127}$/.test(latin1(bytes))
})

describe('a denomination', () => {
  it.each([
    ['a native coin', denom('d').codec, 'uosmo'],
    ['a pool share', denom('d').codec, 'gamm/pool/1'],
    ['an IBC coin', denom('d').codec, 'ibc/27394FB092D2ECCD56123C74F36E4C1F926001CEADA9CA97EA622B25F41E5EB2']
  ])('is written as it is: %s', (_, codec, value) => {
    expect(latin1(wordOf(codec, value))).toBe(value)
  })

  it.each([
    ['a denom of two characters', denom('d').codec, 'ab', 2],
    ['a denom that begins with a digit', denom('d').codec, '1abc', 0],
    ['a denom of 129 characters', denom('d').codec, 'a'.repeat(129), 128],
    ['a denom with a |', denom('d').codec, 'uos|mo', 3]
  ])('is refused at the byte: %s', (_, codec, value, offset) => {
    expect(refusal(codec, value)).toMatchObject({ code: 'ERR_KEY_VALUE', details: { offset } })
  })
})
