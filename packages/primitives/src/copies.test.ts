/** Bytes that share memory do not share anything else. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeText } from './chars.ts'
import { allocateBytes, copyOfPart, copyOfRow } from './copies.ts'

describe('room for bytes', () => {
  it('is as large as asked for, and nobody else has it', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 3000 }), { maxLength: 60 }), lengths => {
        const allocated = lengths.map((length, i) => allocateBytes(length).fill(i))
        allocated.forEach((room, i) => {
          expect(room.length).toBe(lengths[i])
          expect(room.every(byte => byte === i)).toBe(true)
          // Who wants to read eight bytes at a time can.
          expect(room.byteOffset % 8).toBe(0)
        })
      })
    )
  })

  it('takes copies that stay as they were', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 3000 }), fc.nat(3000), fc.nat(3000), (source, a, b) => {
        const [start, end] = [Math.min(a, b, source.length), Math.min(Math.max(a, b), source.length)]
        const expected = Array.from(source)
        const [whole, part] = [copyOfRow(source), copyOfPart(source, start, end)]
        source.fill(0xee)
        expect(Array.from(whole)).toEqual(expected)
        expect(Array.from(part)).toEqual(expected.slice(start, end))
      })
    )
  })
})

describe('text as bytes', () => {
  it('is UTF-8, whatever the text and however long', () => {
    const texts = fc.oneof(
      fc.string({ maxLength: 900 }),
      fc.string({ unit: 'binary', maxLength: 500 }),
      fc.string({ unit: 'grapheme', maxLength: 500 })
    )
    fc.assert(
      fc.property(fc.array(texts, { maxLength: 20 }), all => {
        const encoded = all.map(encodeText)
        encoded.forEach((bytes, i) => {
          expect(Array.from(bytes)).toEqual(Array.from(new TextEncoder().encode(all[i])))
        })
      })
    )
  })
})
