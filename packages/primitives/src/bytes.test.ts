import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareBytes, concat, fromHex, prefixEnd, startsWith, successor, toHex } from './bytes.ts'
import { QuoinError } from './error.ts'

const RUNS = { numRuns: 1000 }

/** Few different bytes, with both ends of the range among them, so that prefixes and neighbours are common. */
const keys = fc
  .array(fc.constantFrom(0x00, 0x01, 0x7f, 0x80, 0xfe, 0xff), { maxLength: 5 })
  .map(list => Uint8Array.from(list))
const anyKeys = fc.oneof(keys, fc.uint8Array({ maxLength: 12 }))
/** A key and another one that is the same, an extension, a neighbour or just any. */
const pairs = fc.oneof(
  fc.tuple(anyKeys, anyKeys),
  fc.tuple(anyKeys, keys).map(([key, tail]) => [key, Uint8Array.of(...key, ...tail)] as const),
  fc
    .tuple(anyKeys, fc.constantFrom(-1, 0, 1), keys)
    .map(
      ([key, step, tail]) => [key, Uint8Array.of(...key.slice(0, -1), key.at(-1)! + step, ...tail)] as const
    )
    .filter(([key]) => key.length > 0)
)

describe('compareBytes', () => {
  it('orders by unsigned byte, a prefix before what extends it', () => {
    fc.assert(
      fc.property(pairs, ([a, b]) => {
        expect(Math.sign(compareBytes(a, b))).toBe(Buffer.compare(a, b))
        expect(Math.sign(compareBytes(b, a))).toBe(Buffer.compare(b, a))
      }),
      RUNS
    )
    expect(compareBytes(Uint8Array.of(0x7f), Uint8Array.of(0x80))).toBeLessThan(0)
    expect(compareBytes(Uint8Array.of(), Uint8Array.of(0x00))).toBeLessThan(0)
    expect(compareBytes(Uint8Array.of(1, 2), Uint8Array.of(1, 2))).toBe(0)
  })
})

describe('startsWith', () => {
  it('holds exactly when the first bytes are the prefix', () => {
    fc.assert(
      fc.property(pairs, ([prefix, key]) => {
        expect(startsWith(key, prefix)).toBe(toHex(key).startsWith(toHex(prefix)))
      }),
      RUNS
    )
  })
})

describe('concat', () => {
  it('puts the parts one after the other in bytes of its own', () => {
    fc.assert(
      fc.property(fc.array(anyKeys, { maxLength: 4 }), parts => {
        const whole = concat(...parts)
        expect([...whole]).toStrictEqual(parts.flatMap(part => [...part]))
        const before = parts.map(toHex)
        whole.fill(0x55)
        expect(parts.map(toHex)).toStrictEqual(before)
      })
    )
  })
})

describe('prefixEnd', () => {
  it('bounds what begins with a prefix: a key does exactly when it is at least the prefix and below the end', () => {
    fc.assert(
      fc.property(pairs, ([prefix, key]) => {
        const end = prefixEnd(prefix)
        const inRange = Buffer.compare(prefix, key) <= 0 && (end === null || Buffer.compare(key, end) < 0)
        expect(inRange).toBe(toHex(key).startsWith(toHex(prefix)))
      }),
      RUNS
    )
  })

  it.each([
    ['01', '02'],
    ['00', '01'],
    ['01fe', '01ff'],
    ['01ff', '02'],
    ['01ffff', '02'],
    ['ff00', 'ff01'],
    ['fffeff', 'ffff']
  ])('of %s is %s', (prefix, end) => {
    expect(toHex(prefixEnd(fromHex(prefix))!)).toBe(end)
  })

  it.each(['', 'ff', 'ffff', 'ffffff'])('of %j is none, for nothing is above', prefix => {
    expect(prefixEnd(fromHex(prefix))).toBeNull()
  })

  it.each([
    ['bytes', (hex: string): Uint8Array => fromHex(hex)],
    ['a Buffer, whose slice is no copy', (hex: string): Uint8Array => Buffer.from(hex, 'hex')]
  ])('leaves the prefix as it is: %s', (_, make) => {
    const prefix = make('01aaff')
    expect(toHex(prefixEnd(prefix)!)).toBe('01ab')
    expect(toHex(prefix)).toBe('01aaff')
  })
})

describe('successor', () => {
  it('is above the key, with nothing between the two', () => {
    fc.assert(
      fc.property(pairs, ([key, other]) => {
        const after = successor(key)
        expect(Buffer.compare(key, after)).toBe(-1)
        expect(Buffer.compare(key, other) < 0 && Buffer.compare(other, after) < 0).toBe(false)
      }),
      RUNS
    )
    expect(toHex(successor(fromHex('01ff')))).toBe('01ff00')
    expect(toHex(successor(fromHex('')))).toBe('00')
  })
})

describe('hexadecimal', () => {
  it('is two lower-case digits for each byte, and reads back in either case', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), bytes => {
        const hex = toHex(bytes)
        expect(hex).toBe(Buffer.from(bytes).toString('hex'))
        expect(fromHex(hex)).toStrictEqual(bytes)
        expect(fromHex(hex.toUpperCase())).toStrictEqual(bytes)
      })
    )
  })

  it('is read only when it is an even number of digits and nothing else', () => {
    const digits = fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'), maxLength: 8 })
    const almost = fc.string({ unit: fc.constantFrom(...'0fFgG xX-\n\u0660０é'), maxLength: 4 })
    fc.assert(
      fc.property(fc.oneof(digits, almost, fc.string({ unit: 'binary', maxLength: 4 })), text => {
        if (/^([0-9a-fA-F]{2})*$/.test(text)) expect(fromHex(text)).toHaveLength(text.length / 2)
        else expect(() => fromHex(text)).toThrow(QuoinError)
      }),
      RUNS
    )
  })

  it.each(['0', 'abc', '0x00', '00 11', ' 00', '00\n', 'zz', '-1', '0g', '００'])('is not %j', text => {
    expect(() => fromHex(text)).toThrow(
      expect.objectContaining({ name: 'QuoinError', code: 'ERR_KEY_VALUE', details: { text } })
    )
  })
})
