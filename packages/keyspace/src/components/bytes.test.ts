import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Codec } from '../codec.ts'
import { bytes, hex, lengthPrefixed, terminated } from './bytes.ts'
import {
  accepts,
  byBytes,
  bytesOf,
  codecLaws,
  errorOf,
  hexOf,
  latin1,
  refusal,
  textOver,
  utf8,
  wordOf
} from './laws.testing.ts'

const ofLength = (min: number, max: number): fc.Arbitrary<Uint8Array> =>
  fc.uint8Array({ minLength: min, maxLength: max })

/** Bytes from few different ones, so that many begin alike and some are the beginning of others. */
const similar = (min: number, max: number): fc.Arbitrary<Uint8Array> =>
  fc
    .array(fc.constantFrom(0x00, 0x01, 0x7f, 0x80, 0xff), { minLength: min, maxLength: max })
    .map(list => Uint8Array.from(list))

for (const [title, { codec }, min, max] of [
  ['bytes up to the end of the key', bytes('b'), 0, 40],
  ['four bytes', bytes('b', { length: 4 }), 4, 4],
  ['no bytes', bytes('b', { length: 0 }), 0, 0],
  ['at most three bytes', bytes('b', { max: 3 }), 0, 3]
] as const) {
  const limit = title === 'bytes up to the end of the key' ? Number.POSITIVE_INFINITY : max
  codecLaws(title, {
    codec,
    kind: 'bytes',
    values: ofLength(min, max),
    pairs: fc.tuple(similar(min, max), similar(min, max)),
    encode: value => value,
    isWord: word => word.length >= min && word.length <= limit,
    order: 'bytes',
    compare: byBytes
  })
}

for (const [title, { codec }, min, max] of [
  ['hex of any length', hex('h'), 0, Number.POSITIVE_INFINITY],
  ['hex of two bytes', hex('h', { length: 2 }), 2, 2],
  ['hex of at most two bytes', hex('h', { max: 2 }), 0, 2]
] as const) {
  const most = Math.min(max, 20)
  codecLaws(title, {
    codec,
    kind: 'bytes',
    values: ofLength(min, most),
    pairs: fc.tuple(similar(min, most), similar(min, most)),
    near: textOver('0123456789abcdefABCDEFg', 0, 6).map(utf8),
    encode: value => utf8(hexOf(value)),
    isWord: word => /^([0-9a-f]{2})*$/.test(latin1(word)) && word.length >= 2 * min && word.length <= 2 * max,
    order: 'bytes',
    compare: byBytes
  })
}

for (const [title, { codec }, min, max, order] of [
  ['length-prefixed, up to 255 bytes', lengthPrefixed('p'), 0, 255, 'disorder'],
  ['length-prefixed, two to four bytes', lengthPrefixed('p', { min: 2, max: 4 }), 2, 4, 'disorder'],
  ['length-prefixed, one or two bytes', lengthPrefixed('p', { min: 1, max: 2 }), 1, 2, 'disorder'],
  ['length-prefixed, at most one byte', lengthPrefixed('p', { max: 1 }), 0, 1, 'bytes'],
  ['length-prefixed, always three bytes', lengthPrefixed('p', { min: 3, max: 3 }), 3, 3, 'bytes'],
  ['length-prefixed, always nothing', lengthPrefixed('p', { max: 0 }), 0, 0, 'bytes']
] as const) {
  codecLaws(title, {
    codec,
    kind: 'bytes',
    values: fc.oneof(ofLength(min, max), ofLength(max, max), ofLength(min, min)),
    pairs: fc.tuple(similar(min, Math.min(max, 6)), similar(min, Math.min(max, 6))),
    near: fc
      .tuple(fc.nat(6), fc.uint8Array({ maxLength: 6 }))
      .map(([length, rest]) => Uint8Array.of(length, ...rest)),
    encode: value => Uint8Array.of(value.length, ...value),
    isWord: word => word.length === word[0]! + 1 && word[0]! >= min && word[0]! <= max,
    order,
    compare: byBytes
  })
}

const withoutNul = (list: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array> =>
  list.map(value => value.filter(byte => byte !== 0))

codecLaws('terminated, bytes other than 00 and then 00', {
  codec: terminated('t').codec,
  kind: 'bytes',
  values: withoutNul(ofLength(0, 40)),
  pairs: fc.tuple(withoutNul(similar(0, 6)), withoutNul(similar(0, 6))),
  near: similar(0, 6),
  encode: value => Uint8Array.of(...value, 0),
  isWord: word => word.indexOf(0) === word.length - 1 && word.length > 0,
  order: 'bytes',
  compare: byBytes
})

describe('the words of bytes', () => {
  it.each([
    ['bytes', bytes('b').codec, '00ff7c', '00ff7c'],
    ['hex', hex('h').codec, '00ff7c', hexOf(utf8('00ff7c'))],
    ['length-prefixed', lengthPrefixed('p').codec, '00ff7c', '0300ff7c'],
    ['length-prefixed nothing', lengthPrefixed('p').codec, '', '00'],
    ['terminated', terminated('t').codec, '01ff7c', '01ff7c00'],
    ['terminated nothing', terminated('t').codec, '', '00']
  ])('%s', (_, codec, value, word) => {
    expect(hexOf(wordOf(codec, bytesOf(value)))).toBe(word)
  })

  it('of hex are in lower case only', () => {
    expect(accepts(hex('h').codec, utf8('00fa'))).toBe(true)
    expect(accepts(hex('h').codec, utf8('00FA'))).toBe(false)
    expect(accepts(hex('h').codec, utf8('00f'))).toBe(false)
  })
})

describe('the length of bytes', () => {
  it.each([
    ['four bytes', bytes('b', { length: 4 }).codec, [3, 5, 0]],
    ['at most three bytes', bytes('b', { max: 3 }).codec, [4, 100]],
    ['hex of two bytes', hex('h', { length: 2 }).codec, [1, 3, 4]],
    ['hex of at most two bytes', hex('h', { max: 2 }).codec, [3, 4]],
    ['length-prefixed', lengthPrefixed('p').codec, [256, 257, 512]],
    ['length-prefixed, two to four bytes', lengthPrefixed('p', { min: 2, max: 4 }).codec, [0, 1, 5]]
  ])('is held to: %s', (_, codec, wrong) => {
    for (const length of wrong) {
      expect(refusal(codec, new Uint8Array(length)), `${length}`).toMatchObject({ code: 'ERR_KEY_VALUE' })
    }
  })

  it('in front must be one that fits a byte, from the least to the greatest', () => {
    for (const bounds of [{ max: 256 }, { min: -1 }, { min: 5, max: 4 }]) {
      expect(errorOf(() => lengthPrefixed('p', bounds))).toMatchObject({
        code: expect.stringMatching(/^ERR_KEY(SPACE_DECLARATION|_VALUE)$/)
      })
    }
  })
})

describe('terminated', () => {
  it('refuses a value with 00 in it, wherever it is', () => {
    const { codec } = terminated('t')
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 6 }), fc.uint8Array({ maxLength: 6 }), (before, after) => {
        expect(refusal(codec, Uint8Array.of(...before, 0, ...after))).toMatchObject({ code: 'ERR_KEY_VALUE' })
      })
    )
  })
})

describe('bytes that were read', () => {
  const codecs: [string, Codec<Uint8Array>][] = [
    ['bytes', bytes('b').codec],
    ['fixed', bytes('b', { length: 3 }).codec],
    ['hex', hex('h').codec],
    ['length-prefixed', lengthPrefixed('p').codec],
    ['terminated', terminated('t').codec]
  ]

  it.each(codecs)('are a copy: %s', (_, codec) => {
    const source = wordOf(codec, Uint8Array.of(1, 2, 3))
    const value = codec.read(source, 0, source.length)
    source.fill(0xee)
    expect(value).toStrictEqual(Uint8Array.of(1, 2, 3))
  })

  it.each(codecs)(
    'are a copy also when the store hands out a Buffer, whose slice is none: %s',
    (_, codec) => {
      const source = Buffer.from(wordOf(codec, Uint8Array.of(1, 2, 3)))
      const value = codec.read(source, 0, source.length)
      source.fill(0xee)
      expect([...value]).toStrictEqual([1, 2, 3])
    }
  )
})
