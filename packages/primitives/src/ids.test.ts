import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  formatOutpoint,
  formatTxid,
  makeOutpoint,
  type Outpoint,
  parseOutpoint,
  parseTxid,
  type Txid,
  voutOf
} from './ids.ts'

/** The coinbase transaction of the first block, as people write it and as it is hashed. */
const DISPLAY = '4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b'
const INTERNAL = '3ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a'
const MAX_VOUT = 2 ** 32 - 1

const vouts = fc.oneof(fc.nat(300), fc.integer({ min: 0, max: MAX_VOUT }), fc.constantFrom(MAX_VOUT))
const displays = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 64, maxLength: 64 })
const txids = displays.map(parseTxid)
const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'))
const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const errorOf = (act: () => unknown): unknown => {
  try {
    return { accepted: act() }
  } catch (error) {
    return error
  }
}

describe('a txid', () => {
  it('is read from digits of either case and shown in lower case', () => {
    fc.assert(
      fc.property(displays, display => {
        expect(formatTxid(parseTxid(display))).toBe(display)
        expect(formatTxid(parseTxid(display.toUpperCase()))).toBe(display)
      })
    )
  })

  it.each([
    ['63 digits', DISPLAY.slice(1)],
    ['65 digits', `${DISPLAY}0`],
    ['66 digits', `${DISPLAY}00`],
    ['nothing', ''],
    ['another letter', `g${DISPLAY.slice(1)}`],
    ['a prefix', `0x${DISPLAY.slice(2)}`],
    ['a space', `${DISPLAY} `],
    ['a line end', `${DISPLAY}\n`]
  ])('is not %s', (_, given) => {
    expect(errorOf(() => parseTxid(given))).toMatchObject({
      code: 'ERR_KEY_VALUE',
      details: { codec: 'txid' }
    })
  })
})

describe('an outpoint', () => {
  it('sorts after the outpoints of the same transaction with a smaller number', () => {
    fc.assert(
      fc.property(txids, vouts, vouts, (id, a, b) => {
        expect(Math.sign(Buffer.compare(makeOutpoint(id, a), makeOutpoint(id, b)))).toBe(Math.sign(a - b))
      })
    )
  })

  it('has no other separator', () => {
    const others = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)).filter(
      char => !'._:i'.includes(char)
    )
    const taken = [...others, '', '..', '__'].filter(separator => {
      try {
        return parseOutpoint(`${DISPLAY}${separator}1`)
      } catch (error) {
        expect(error).toMatchObject({ code: 'ERR_KEY_VALUE', details: { codec: 'outpoint' } })
        return false
      }
    })
    expect(taken).toStrictEqual([])
  })

  it.each([
    '',
    '00',
    '01',
    '-1',
    '+1',
    '1.0',
    '1e1',
    '0x1',
    ' 1',
    '1 ',
    '1\n',
    '4294967296',
    '9999999999',
    '42949672950'
  ])('has no output number %j', vout => {
    expect(errorOf(() => parseOutpoint(`${DISPLAY}_${vout}`))).toMatchObject({ code: 'ERR_KEY_VALUE' })
  })

  it.each([
    ['too few digits', `${DISPLAY.slice(1)}.0`],
    ['too many digits', `0${DISPLAY}.0`],
    ['another letter', `g${DISPLAY.slice(1)}.0`],
    ['the txid alone', DISPLAY],
    ['nothing', ''],
    ['a space before', ` ${DISPLAY}.0`]
  ])('is not %s', (_, given) => {
    expect(errorOf(() => parseOutpoint(given))).toMatchObject({ code: 'ERR_KEY_VALUE' })
  })

  it('has an output number of 32 bits', () => {
    expect(voutOf(makeOutpoint(parseTxid(DISPLAY), MAX_VOUT))).toBe(MAX_VOUT)
    for (const vout of [-1, 1.5, 2 ** 32, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(
        errorOf(() => makeOutpoint(parseTxid(DISPLAY), vout)),
        `${vout}`
      ).toMatchObject({
        code: 'ERR_KEY_VALUE'
      })
    }
  })

  it('is understood inside a larger buffer too', () => {
    const whole = new Uint8Array(48).fill(0xee)
    whole.set(parseOutpoint(`${DISPLAY}.7`), 5)
    const view = whole.subarray(5, 41) as Outpoint
    expect(voutOf(view)).toBe(7)
    expect(formatOutpoint(view)).toBe(`${DISPLAY}.7`)
  })
})

describe('formatting', () => {
  it.each([
    ['bytes', (hex: string): Uint8Array => bytesOf(hex)],
    ['a Buffer, whose slice is no copy', (hex: string): Uint8Array => Buffer.from(hex, 'hex')]
  ])('leaves the bytes as they are: %s', (_, make) => {
    const id = make(INTERNAL) as Txid
    expect(formatTxid(id)).toBe(DISPLAY)
    expect(hexOf(id)).toBe(INTERNAL)
    const point = make(`${INTERNAL}00000007`) as Outpoint
    expect(formatOutpoint(point)).toBe(`${DISPLAY}.7`)
    expect(hexOf(point)).toBe(`${INTERNAL}00000007`)
  })
})
