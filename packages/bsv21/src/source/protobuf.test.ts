import { QuoinError } from '@quoin/primitives'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { delimited, FieldReader, FieldWriter } from './protobuf.ts'

const refused = expect.objectContaining({ code: 'ERR_SOURCE_FORMAT' })
const field = fc.integer({ min: 1, max: 500 })

describe('fields', () => {
  it('are read as they were written, in their order', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.record({ field, number: fc.maxSafeNat() }),
            fc.record({ field, text: fc.string({ unit: 'binary' }) }),
            fc.record({ field, bytes: fc.uint8Array() })
          )
        ),
        fields => {
          const writer = new FieldWriter()
          for (const each of fields) {
            if ('number' in each) writer.u64(each.field, each.number)
            else if ('text' in each) writer.text(each.field, each.text)
            else writer.bytes(each.field, each.bytes)
          }
          const reader = new FieldReader(writer.finish())
          for (const each of fields) {
            if ('number' in each) {
              if (each.number === 0) continue
              expect([reader.next(), reader.u53()]).toEqual([each.field, each.number])
            } else if ('text' in each) {
              if (each.text === '') continue
              expect([reader.next(), reader.text()]).toEqual([each.field, each.text])
            } else {
              if (each.bytes.length === 0) continue
              expect([reader.next(), reader.bytes()]).toEqual([each.field, each.bytes])
            }
          }
          expect(reader.next()).toBe(0)
        }
      )
    )
  })

  it('that nobody asks for are skipped, whatever their type', () => {
    const unknown = Uint8Array.of(
      ...[0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
      ...[0x11, 1, 2, 3, 4, 5, 6, 7, 8],
      ...[0x1d, 1, 2, 3, 4],
      ...[0x22, 2, 9, 9],
      ...[0x28, 7]
    )
    const reader = new FieldReader(unknown)
    for (const number of [1, 2, 3, 4]) {
      expect(reader.next()).toBe(number)
      reader.skip()
    }
    expect([reader.next(), reader.u32(), reader.next()]).toEqual([5, 7, 0])
  })

  it('of another type than they should be are refused', () => {
    const reader = new FieldReader(new FieldWriter().u64(1, 5).finish())
    reader.next()
    expect(() => reader.bytes()).toThrow(refused)
  })

  it.each([
    ['a length beyond the end', [0x0a, 0x05, 1, 2]],
    ['a number that does not end', [0x08, ...Array.from({ length: 11 }, () => 0x80)]],
    ['a number of more than 53 bits', [0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]],
    ['the number 0 of a field', [0x00, 1]],
    ['a group', [0x0b]]
  ])('with %s are refused', (_, bytes) => {
    const reader = new FieldReader(Uint8Array.from(bytes))
    const read = (): unknown => {
      const number = reader.next()
      if (bytes[0] === 0x0a) return reader.bytes()
      return bytes[0] === 0x0b ? reader.skip() : [number, reader.u53()]
    }
    expect(read).toThrow(refused)
  })

  it('are never read beyond the bytes: what is none is refused, and it ends', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.array(fc.nat(4)), (bytes, ways) => {
        const reader = new FieldReader(bytes)
        try {
          for (let i = 0; reader.next() !== 0; i++) {
            expect(i).toBeLessThanOrEqual(bytes.length)
            const way = ways[i % (ways.length || 1)] ?? 4
            if (way === 0) reader.u32()
            else if (way === 1) reader.bytes()
            else if (way === 2) reader.text()
            else if (way === 3) reader.bool()
            else reader.skip()
          }
        } catch (error) {
          expect(error).toBeInstanceOf(QuoinError)
          expect((error as QuoinError).code).toBe('ERR_SOURCE_FORMAT')
        }
      })
    )
  })
})

describe('messages one after the other', () => {
  it('are read apart', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 })), bodies => {
        const reader = new FieldReader(delimited(bodies.map(body => new FieldWriter().bytes(1, body))))
        for (const body of bodies) {
          const inner = new FieldReader(reader.delimited())
          expect(body.length === 0 ? inner.next() : [inner.next(), inner.bytes()]).toEqual(
            body.length === 0 ? 0 : [1, body]
          )
        }
        expect(reader.isAtEnd).toBe(true)
      })
    )
  })
})
