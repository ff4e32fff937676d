import {
  formatOutpoint,
  formatTxid,
  makeOutpoint,
  parseOutpoint,
  parseTxid,
  type TokenId,
  type Topic,
  type Txid,
  txidOf,
  voutOf
} from '@quoin/primitives'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  accepts,
  byBytes,
  byCodePoint,
  bytesOf,
  codecLaws,
  hexOf,
  latin1,
  refusal,
  textOver,
  utf8,
  wordOf
} from '../../keyspace/src/components/laws.testing.ts'
import { address, outpoint, tokenId, topic, txid, txidHex } from './components.ts'

/** The coinbase transaction of the first block, as people write it and as it is hashed. */
const DISPLAY = '4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b'
const INTERNAL = '3ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a'
const MAX_VOUT = 2 ** 32 - 1

const vouts = fc.oneof(fc.nat(300), fc.integer({ min: 0, max: MAX_VOUT }), fc.constantFrom(MAX_VOUT))
const displays = fc.oneof(textOver('0123456789abcdef', 64, 64), textOver('0f', 64, 64))
const reversed = (bytes: Uint8Array): Uint8Array => Uint8Array.from([...bytes].reverse())
const txids = displays.map(display => reversed(bytesOf(display)) as Txid)
const outpoints = fc.tuple(txids, vouts).map(([id, vout]) => makeOutpoint(id, vout))

codecLaws('txid', {
  codec: txid('t').codec,
  kind: 'bytes',
  values: txids,
  encode: value => value,
  isWord: bytes => bytes.length === 32,
  order: 'bytes',
  compare: byBytes
})

codecLaws('outpoint', {
  codec: outpoint('o').codec,
  kind: 'bytes',
  values: outpoints,
  pairs: fc
    .tuple(txids, vouts, vouts)
    .map(([id, a, b]) => [makeOutpoint(id, a), makeOutpoint(id, b)] as const),
  encode: value => value,
  isWord: bytes => bytes.length === 36,
  order: 'bytes',
  compare: byBytes
})

codecLaws('txidHex, in the order of the digits that people see', {
  codec: txidHex('t').codec,
  kind: 'bytes',
  values: txids,
  near: textOver('0123456789abcdefABCDEF', 63, 65).map(utf8),
  encode: value => utf8(hexOf(reversed(value))),
  isWord: bytes => /^[0-9a-f]{64}$/.test(latin1(bytes)),
  order: 'bytes',
  compare: (a, b) => byBytes(reversed(a), reversed(b))
})

codecLaws('tokenId', {
  codec: tokenId('id').codec,
  kind: 'string',
  values: fc.tuple(displays, vouts).map(([display, vout]) => `${display}_${vout}` as TokenId),
  pairs: fc
    .tuple(displays, vouts, vouts)
    .map(([id, a, b]) => [`${id}_${a}` as TokenId, `${id}_${b}` as TokenId] as const),
  near: fc
    .tuple(
      fc.constantFrom(DISPLAY, DISPLAY.toUpperCase(), DISPLAY.slice(1)),
      fc.constantFrom('_', '.', ''),
      fc.oneof(textOver('0123456789', 0, 11), fc.bigInt(4294967290n, 4294967300n).map(String))
    )
    .map(parts => utf8(parts.join(''))),
  encode: utf8,
  isWord: bytes => {
    const match = /^[0-9a-f]{64}_(0|[1-9]\d*)$/.exec(latin1(bytes))
    return match !== null && BigInt(match[1]!) <= BigInt(MAX_VOUT)
  },
  order: 'bytes',
  compare: byCodePoint
})

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const TOPIC = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-'
codecLaws('topic', {
  codec: topic('t').codec,
  kind: 'string',
  values: textOver(TOPIC, 1, 128).map(value => value as Topic),
  near: fc.oneof(textOver('tm_-.0Z: /', 0, 6), textOver(TOPIC, 126, 130)).map(utf8),
  encode: utf8,
  isWord: bytes => /^[A-Za-z0-9._-]{1,128}$/.test(latin1(bytes)),
  order: 'bytes',
  compare: byCodePoint
})

describe('a txid', () => {
  it('is 32 bytes in hash order, and its display is their reverse in hexadecimal', () => {
    expect(hexOf(parseTxid(DISPLAY))).toBe(INTERNAL)
    expect(formatTxid(bytesOf(INTERNAL) as Txid)).toBe(DISPLAY)
    expect(latin1(wordOf(txidHex('t').codec, parseTxid(DISPLAY)))).toBe(DISPLAY)
    expect(hexOf(wordOf(txid('t').codec, parseTxid(DISPLAY)))).toBe(INTERNAL)
    for (const { codec } of [txid('t'), txidHex('t')]) expect(codec.show(parseTxid(DISPLAY))).toBe(DISPLAY)
  })

  it('must be 32 bytes long in a key', () => {
    for (const length of [0, 31, 33, 36]) {
      for (const { codec } of [txid('t'), txidHex('t')]) {
        expect(refusal(codec, new Uint8Array(length)), `${length}`).toMatchObject({ code: 'ERR_KEY_VALUE' })
      }
    }
  })
})

describe('an outpoint', () => {
  it('is the txid in hash order and the output number, most significant byte first', () => {
    const point = parseOutpoint(`${DISPLAY}.258`)
    expect(hexOf(point)).toBe(`${INTERNAL}00000102`)
    expect(hexOf(wordOf(outpoint('o').codec, point))).toBe(`${INTERNAL}00000102`)
    expect(hexOf(txidOf(point))).toBe(INTERNAL)
    expect(voutOf(point)).toBe(258)
    expect(makeOutpoint(parseTxid(DISPLAY), 258)).toStrictEqual(point)
  })

  it('is read from each of its four spellings and written in two', () => {
    fc.assert(
      fc.property(displays, vouts, (display, vout) => {
        const point = makeOutpoint(parseTxid(display), vout)
        for (const separator of ['.', '_', ':', 'i']) {
          expect(parseOutpoint(`${display}${separator}${vout}`)).toStrictEqual(point)
          expect(parseOutpoint(`${display.toUpperCase()}${separator}${vout}`)).toStrictEqual(point)
        }
        expect(formatOutpoint(point)).toBe(`${display}.${vout}`)
        expect(formatOutpoint(point, '.')).toBe(`${display}.${vout}`)
        expect(formatOutpoint(point, '_')).toBe(`${display}_${vout}`)
        expect(outpoint('o').codec.show(point)).toBe(`${display}.${vout}`)
        expect(formatTxid(txidOf(point))).toBe(display)
        expect(voutOf(point)).toBe(vout)
      })
    )
  })

  it('must be 36 bytes long in a key', () => {
    for (const length of [0, 32, 35, 37]) {
      expect(refusal(outpoint('o').codec, new Uint8Array(length))).toMatchObject({ code: 'ERR_KEY_VALUE' })
    }
  })
})

describe('the text of a key that was read from a Buffer', () => {
  it('leaves the bytes as they are', () => {
    const { codec } = outpoint('o')
    const source = Buffer.from(`${INTERNAL}00000007`, 'hex')
    const point = codec.read(source, 0, source.length)
    expect(codec.show(point)).toBe(`${DISPLAY}.7`)
    expect(hexOf(source)).toBe(`${INTERNAL}00000007`)
  })
})

describe('a token id', () => {
  const { codec } = tokenId('id')

  it('is an outpoint as it is emitted where a token is meant', () => {
    fc.assert(
      fc.property(outpoints, point => {
        const id = formatOutpoint(point, '_') as TokenId
        expect(latin1(wordOf(codec, id))).toBe(id)
        expect(parseOutpoint(id)).toStrictEqual(point)
      })
    )
  })

  it.each([
    ['upper-case digits', `${DISPLAY.toUpperCase()}_0`, 1],
    ['a number with a leading zero', `${DISPLAY}_00`, 66],
    ['a number with a leading zero', `${DISPLAY}_01`, 66],
    ['a number beyond 32 bits', `${DISPLAY}_4294967296`, 74],
    ['eleven digits', `${DISPLAY}_10000000000`, 75],
    ['no number', `${DISPLAY}_`, 65],
    ['another separator', `${DISPLAY}.0`, 64],
    ['too few digits', `${DISPLAY.slice(1)}_0`, 63],
    ['a sign', `${DISPLAY}_-1`, 65],
    ['a character outside ASCII', `${DISPLAY}_\u0130`, 65]
  ])('has no second spelling: %s is refused at the byte', (_, value, offset) => {
    expect(refusal(codec, value)).toMatchObject({
      code: 'ERR_KEY_VALUE',
      details: { codec: 'tokenId', offset }
    })
    expect(accepts(codec, utf8(value))).toBe(false)
  })
})

describe('a topic', () => {
  it.each([
    ['nothing', '', 0],
    ['129 characters', 'a'.repeat(129), 128],
    ['a colon', 'tm_a:b', 4],
    ['a space', 'tm a', 2],
    ['a slash', 'tm/a', 2],
    ['NUL', 'tm\0', 2],
    ['a letter outside ASCII', 'tmé', 2]
  ])('is refused at the byte when it has %s', (_, value, offset) => {
    expect(refusal(topic('t').codec, value)).toMatchObject({ code: 'ERR_KEY_VALUE', details: { offset } })
  })

  it('may hold a token id', () => {
    const name = `tm_${DISPLAY}_0` as Topic
    expect(latin1(wordOf(topic('t').codec, name))).toBe(name)
  })
})

codecLaws('address', {
  codec: address('a').codec,
  kind: 'string',
  values: textOver(BASE58, 25, 35),
  near: textOver(BASE58, 24, 36).map(utf8),
  encode: utf8,
  isWord: bytes => /^[1-9A-HJ-NP-Za-km-z]{25,35}$/.test(latin1(bytes)),
  order: 'bytes',
  compare: byCodePoint
})

describe('an address', () => {
  it.each([
    ['the genesis address', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'],
    ['the shortest address of 20 zero bytes', '1111111111111111111114oLvT2']
  ])('is written as it is: %s', (_, value) => {
    expect(latin1(wordOf(address('a').codec, value))).toBe(value)
  })

  it.each([
    ['24 characters', '1'.repeat(24), 24],
    ['36 characters', '1'.repeat(36), 35]
  ])('is refused at the byte when it has %s', (_, value, offset) => {
    expect(refusal(address('a').codec, value)).toMatchObject({ code: 'ERR_KEY_VALUE', details: { offset } })
  })
})
