import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromHex, toHex } from './bytes.ts'
import { QuoinError } from './error.ts'
import { Reader } from './reader.ts'
import { Writer } from './writer.ts'

const reader = (hex: string): Reader => new Reader(fromHex(hex), 'ERR_TX_FORMAT')

const integers = fc.oneof(
  fc.maxSafeNat(),
  fc.constantFrom(0, 0xfc, 0xfd, 0xffff, 0x10000, 0xffffffff, 0x100000000, Number.MAX_SAFE_INTEGER)
)

describe('Reader', () => {
  it('reads what a Writer wrote, and then is at the end', () => {
    const value = fc.oneof(
      fc.record({ kind: fc.constant('u8' as const), value: fc.nat(0xff) }),
      fc.record({ kind: fc.constant('u16' as const), value: fc.nat(0xffff) }),
      fc.record({ kind: fc.constant('u32' as const), value: fc.nat(0xffffffff) }),
      fc.record({ kind: fc.constantFrom('u53' as const, 'varint' as const), value: integers })
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(value, fc.uint8Array({ maxLength: 300 }))), values => {
        const writer = new Writer(1)
        for (const [{ kind, value }, bytes] of values) {
          writer[kind](value)
          writer.sized(bytes)
        }
        expect(writer.finish().length).toBe(writer.length)
        const read = new Reader(writer.finish(), 'ERR_TX_FORMAT')
        for (const [{ kind, value }, bytes] of values) {
          expect(read[kind]()).toBe(value)
          expect(toHex(read.bytes(read.varint()))).toBe(toHex(bytes))
        }
        read.end()
      })
    )
  })

  it.each([
    ['00', 0],
    ['fc', 252],
    ['fdfd00', 253],
    ['fdffff', 65535],
    ['fe00000100', 65536],
    ['ff0000000001000000', 2 ** 32],
    ['ffffffffffffff1f00', Number.MAX_SAFE_INTEGER]
  ])('reads %s as the varint %d, which is written so', (hex, value) => {
    expect(reader(hex).varint()).toBe(value)
    const writer = new Writer()
    writer.varint(value)
    expect(toHex(writer.finish())).toBe(hex)
  })

  it.each(['fd0000', 'fe00000000', 'ff0000000000000000'])('reads the long form %s as well', hex => {
    expect(reader(hex).varint()).toBe(0)
  })

  it('reads eight bytes as a bigint, or as a number that holds them', () => {
    expect(reader('ffffffffffffffff').u64()).toBe(2n ** 64n - 1n)
    expect(reader('ffffffffffff1f00').u53()).toBe(Number.MAX_SAFE_INTEGER)
    expect(() => reader('0000000000002000').u53()).toThrow(QuoinError)
    expect(() => reader('ff0000000000002000').varint()).toThrow(QuoinError)
  })

  it('refuses to read past the end, and tells where', () => {
    const read = reader('0102030405')
    read.skip(3)
    expect(() => read.u32()).toThrow(
      expect.objectContaining({
        code: 'ERR_TX_FORMAT',
        details: { offset: 3, wanted: 4, remaining: 2 }
      })
    )
    expect(() => read.bytes(3)).toThrow(QuoinError)
    expect(() => read.skip(Number.MAX_SAFE_INTEGER)).toThrow(QuoinError)
    expect(read.offset).toBe(3)
    expect(read.u16()).toBe(0x0504)
    expect(() => read.u8()).toThrow(QuoinError)
  })

  it('refuses a count that the remaining bytes cannot hold, but not one that they just hold', () => {
    expect(reader('020102030405060708').count(4, 'things')).toBe(2)
    expect(() => reader('0301020304050607').count(4, 'things')).toThrow('3 things do not fit')
    expect(() => reader('ffffffffffffff1f00').count(1, 'things')).toThrow(QuoinError)
  })

  it('refuses bytes that are left over', () => {
    expect(() => reader('0102').end()).toThrow('2 bytes too many')
    expect(() => reader('').end()).not.toThrow()
  })

  it('gives views, and of a Buffer none that are Buffers', () => {
    const buffer = Buffer.from('..abcdef').subarray(2)
    const read = new Reader(buffer, 'ERR_TX_FORMAT')
    read.skip(1)
    const view = read.bytes(3)
    expect(view.constructor).toBe(Uint8Array)
    buffer[1] = 0x7a
    expect(Buffer.from(view).toString()).toBe('zcd')
    expect(Buffer.from(read.since(2)).toString()).toBe('cd')
  })
})
