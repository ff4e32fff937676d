import { QuoinError } from '@quoin/primitives'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { base58, bech32 } from './base-text.ts'
import {
  byCodePoint,
  codecLaws,
  latin1,
  refusal,
  textOver,
  utf8,
  withCommonStart,
  wordOf
} from './laws.testing.ts'

const DIGITS = '0123456789'
const LOWER = 'abcdefghijklmnopqrstuvwxyz'
const UPPER = LOWER.toUpperCase()
const BASE58 = [...DIGITS, ...UPPER, ...LOWER].filter(char => !'0OIl'.includes(char)).join('')
/** BIP-173: every digit and letter but `1 b i o`. */
const BECH32 = [...DIGITS, ...LOWER].filter(char => !'1bio'.includes(char)).join('')

const shared = { kind: 'string', encode: utf8, order: 'bytes', compare: byCodePoint } as const

codecLaws('base58', {
  ...shared,
  codec: base58('b').codec,
  values: textOver(BASE58, 1, 50),
  pairs: withCommonStart(textOver(BASE58, 1, 4)),
  near: textOver(`${BASE58}0OIl`, 0, 6).map(utf8),
  isWord: bytes => /^[1-9A-HJ-NP-Za-km-z]+$/.test(latin1(bytes))
})

codecLaws('base58 of two to four characters', {
  ...shared,
  codec: base58('b', { min: 2, max: 4 }).codec,
  values: textOver(BASE58, 2, 4),
  near: textOver(BASE58, 0, 6).map(utf8),
  isWord: bytes => /^[1-9A-HJ-NP-Za-km-z]{2,4}$/.test(latin1(bytes))
})

const hrps = textOver(`${DIGITS}${LOWER}`, 1, 90)
const data = textOver(BECH32, 6, 60)
codecLaws('bech32 with any human-readable part', {
  ...shared,
  codec: bech32('a').codec,
  values: fc.tuple(hrps, data).map(([hrp, rest]) => `${hrp}1${rest}`),
  near: fc.oneof(
    textOver('a1q', 0, 12).map(utf8),
    fc.tuple(textOver('a1', 0, 3), textOver('qb', 5, 7)).map(([hrp, rest]) => utf8(`${hrp}1${rest}`))
  ),
  isWord: bytes => /^[a-z0-9]+1[02-9ac-hj-np-z]{6,}$/.test(latin1(bytes))
})

codecLaws('bech32 of one chain', {
  ...shared,
  codec: bech32('a', { hrp: 'osmo' }).codec,
  values: data.map(rest => `osmo1${rest}`),
  pairs: withCommonStart(textOver(BECH32, 3, 5)).map(([a, b]) => [`osmo1${a}`, `osmo1${b}`] as const),
  near: textOver('q1', 0, 12).map(rest => utf8(`osmo1${rest}`)),
  isWord: bytes => /^osmo1[02-9ac-hj-np-z]{6,}$/.test(latin1(bytes))
})

codecLaws('bech32 of one chain and of bounded length', {
  ...shared,
  codec: bech32('a', { hrp: 'osmo', min: 13, max: 15 }).codec,
  values: textOver(BECH32, 8, 10).map(rest => `osmo1${rest}`),
  near: textOver('q', 0, 12).map(rest => utf8(`osmo1${rest}`)),
  isWord: bytes => /^osmo1[02-9ac-hj-np-z]{8,10}$/.test(latin1(bytes))
})

describe('base58 and bech32 text', () => {
  it.each([
    ['the example of BIP-173', bech32('a').codec, 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
    [
      'a human-readable part with a 1 in it',
      bech32('a').codec,
      'split1checkupstagehandshakeupstreamerranterredcaperred2y9e3w'
    ]
  ])('are written as they are: %s', (_, codec, value) => {
    expect(latin1(wordOf(codec, value))).toBe(value)
  })

  it.each([
    ['a 0 in base58', base58('b').codec, '1A0', 2],
    ['an l in base58', base58('b').codec, 'l', 0],
    ['an empty base58', base58('b').codec, '', 0],
    ['a character outside ASCII', base58('b').codec, '1\u0141', 1],
    ['upper-case bech32', bech32('a').codec, 'BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4', 0],
    ['a b in the data of bech32', bech32('a', { hrp: 'osmo' }).codec, 'osmo1qqqqqqb', 11],
    ['bech32 of another chain', bech32('a', { hrp: 'osmo' }).codec, 'cosmos1qqqqqq', 0],
    ['a checksum of five', bech32('a', { hrp: 'osmo' }).codec, 'osmo1qqqqq', 10]
  ])('are refused at the byte: %s', (_, codec, value, offset) => {
    expect(refusal(codec, value)).toMatchObject({ code: 'ERR_KEY_VALUE', details: { offset } })
  })

  it('have an ASCII human-readable part', () => {
    expect(() => bech32('a', { hrp: 'ösmo' })).toThrow(QuoinError)
  })
})
