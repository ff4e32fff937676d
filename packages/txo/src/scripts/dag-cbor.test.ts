/** DAG-CBOR: each value has one form, and bytes in another form are no map. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cborMap } from './dag-cbor.testing.ts'
import { CborLink, type CborValue, readDagCborMap } from './dag-cbor.ts'
import { hex, joined } from './scripts.testing.ts'

const { value: anyValue } = fc.letrec<{ value: CborValue }>(tie => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n - 1n }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.string({ unit: 'grapheme' }),
    fc.boolean(),
    fc.constant(null),
    fc.uint8Array({ maxLength: 40 }),
    fc
      .uint8Array({ minLength: 1, maxLength: 40 })
      .map(bytes => new CborLink(joined(Uint8Array.of(0), bytes))),
    fc.array(tie('value'), { maxLength: 5 }),
    fc
      .dictionary(fc.string({ unit: 'grapheme' }), tie('value'), { maxKeys: 5 })
      .map(each => new Map(Object.entries(each)))
  )
}))
const maps = fc.dictionary(fc.string({ maxLength: 30 }), anyValue, { maxKeys: 8, noNullPrototype: true })

describe('readDagCborMap', () => {
  it('reads every map in its one form', () => {
    fc.assert(
      fc.property(maps, fields => {
        expect(readDagCborMap(cborMap(fields))).toEqual(new Map(Object.entries(fields)))
      })
    )
  })

  it('reads no map out of a part of it, nor with bytes behind it', () => {
    fc.assert(
      fc.property(maps, fc.nat(), (fields, at) => {
        const bytes = cborMap(fields)
        expect(readDagCborMap(bytes.subarray(0, at % bytes.length))).toBeUndefined()
        expect(readDagCborMap(joined(bytes, Uint8Array.of(0)))).toBeUndefined()
      })
    )
  })

  it('reads what it wrote, of any damaged bytes that it reads', () => {
    fc.assert(
      fc.property(maps, fc.nat(), fc.nat(255), (fields, at, byte) => {
        const bytes = cborMap(fields)
        bytes[at % bytes.length] = byte
        const map = readDagCborMap(bytes)
        if (map)
          expect(Buffer.from(cborMap(Object.fromEntries(map))).toString('hex')).toBe(
            Buffer.from(bytes).toString('hex')
          )
      }),
      { numRuns: 2000 }
    )
  })

  it.each([
    ['a number in two bytes that fits one', 'a1 6178 1805'],
    ['a number in three bytes that fits two', 'a1 6178 190017'],
    ['a length that is longer than needed', 'b801 6178 00'],
    ['an indefinite map', 'bf 6178 00 ff'],
    ['an indefinite text', 'a1 6178 7f6161ff'],
    ['keys in another order', 'a2 6179 00 6178 00'],
    ['a longer key before a shorter one', 'a2 626161 00 6178 00'],
    ['a key twice', 'a2 6178 00 6178 00'],
    ['a key that is a number', 'a1 05 00'],
    ['a float of 16 bits', 'a1 6178 f93e00'],
    ['NaN', 'a1 6178 fb7ff8000000000000'],
    ['an infinite number', 'a1 6178 fb7ff0000000000000'],
    ['undefined', 'a1 6178 f7'],
    ['another tag than 42', 'a1 6178 c100'],
    ['a link that is no bytes', 'a1 6178 d82a00'],
    ['text that is not UTF-8', 'a1 6178 61ff'],
    ['a list', '83010203'],
    ['no bytes', ''],
    ['a length beyond the bytes', 'a1 6178 5bffffffffffffffff00'],
    ['a count beyond the bytes', 'bbffffffffffffffff'],
    ['brackets without end', `a16178${'81'.repeat(5000)}`]
  ])('is none of %s', (_, bytes) => {
    expect(readDagCborMap(hex(bytes))).toBeUndefined()
  })
})
