/** Compact values: the same as JSON has, in fewer bytes. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compact } from './compact.ts'

const { codec } = compact<unknown>()
const json = (item: unknown): unknown => JSON.parse(JSON.stringify(item))
const TOKEN = `${'ab'.repeat(32)}_0`

describe('compact JSON', () => {
  it('has every value as JSON has it', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.stringMatching(/^[0-9a-f_:]{0,200}$/),
      fc.constantFrom(
        TOKEN,
        `id:${TOKEN}`,
        `${TOKEN}9`,
        `${'cd'.repeat(32)}_01`,
        `${'cd'.repeat(32)}_7`,
        '__proto__'
      ),
      fc.string({ unit: 'grapheme', minLength: 120, maxLength: 300 }),
      fc.bigInt({ min: 0n, max: 10n ** 18n }).map(String)
    )
    const { value } = fc.letrec(tie => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constant(null),
        fc.boolean(),
        fc.double(),
        fc.integer(),
        fc.maxSafeInteger(),
        text,
        fc.array(tie('value')),
        fc.dictionary(text, tie('value'))
      )
    }))
    fc.assert(
      fc.property(value, item => {
        expect(codec.decode(codec.encode(item))).toEqual(json(item))
      })
    )
  })

  it('keeps texts that UTF-8 cannot hold, and the order of keys', () => {
    for (const item of [
      '\ud800',
      'a\udc00b'.repeat(9),
      { b: 1, a: { __proto: '\ud83d' } },
      JSON.parse('{"__proto__":[1]}')
    ])
      expect(JSON.stringify(codec.decode(codec.encode(item)))).toBe(JSON.stringify(item))
  })

  it('stores hexadecimal as bytes, and an outpoint of one value once', () => {
    const events = [`id:${TOKEN}`, `p2pkh:1HdvFwjcMgRdB8Cwgzcaady1GYd7a9Ffyc:${TOKEN}`]
    expect(codec.encode(events)).toHaveLength(87)
    expect(JSON.stringify(events)).toHaveLength(183)
    expect(codec.encode({ id: TOKEN, op: 'transfer', amt: '999999993' }).length).toBeLessThan(75)
  })

  it('refuses what JSON cannot say, and bytes of another form', () => {
    expect(() => codec.encode(1n)).toThrow(expect.objectContaining({ code: 'ERR_KEY_VALUE' }))
    expect(() => codec.encode(undefined)).toThrow(expect.objectContaining({ code: 'ERR_KEY_VALUE' }))
    const good = codec.encode({ id: TOKEN, list: [1, -1, 'a', true] })
    for (const bad of [
      [],
      [9],
      [6, 3, 0],
      [6, 255, 255, 255, 255, 15, 0],
      [5, 1, 0xff, 0],
      [5, 129, 0],
      [8, 1, 0x7b],
      [...good, 0]
    ])
      expect(() => codec.decode(Uint8Array.from(bad))).toThrow(
        expect.objectContaining({ code: 'ERR_VALUE_DECODE' })
      )
    for (let length = 0; length < good.length; length++)
      expect(() => codec.decode(good.subarray(0, length))).toThrow(
        expect.objectContaining({ code: 'ERR_VALUE_DECODE' })
      )
  })

  it('differs from JSON in the first byte', () => {
    for (const item of [null, true, false, 1, -1, 'a', '12', [], {}])
      expect(codec.encode(item)[0]).toBeLessThan(0x20)
  })
})
