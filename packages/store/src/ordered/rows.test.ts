import { compareBytes } from '@quoin/primitives'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type FieldValue, MAX_KEY } from '../engine.ts'
import { MAX_ID, readId } from './layout.ts'
import {
  hasFurther,
  type ItemRecord,
  NO_TOKEN,
  OWNER_LENGTH,
  PACKED_LIMIT,
  packedField,
  packedSize,
  packId,
  packItem,
  packNumber,
  packWide,
  scoresIn,
  scoreUnder,
  unpackHash,
  unpackItem,
  unpackNumber,
  wideId,
  writeField,
  writePackedTag,
  writeScore
} from './rows.ts'

const ids = fc.oneof(
  fc.nat(),
  fc.maxSafeNat().map(n => n % (MAX_ID + 1)),
  fc.constantFrom(0, 2 ** 32, MAX_ID)
)
const numbers = fc.oneof(
  fc.double({ noNaN: true }),
  fc.integer(),
  fc.constantFrom(0, -0, Infinity, -Infinity, 5e-324, Number.MAX_VALUE)
)
/** Short ones, and lengths around the places where a length takes one more byte. */
const contents = fc.oneof(
  fc.uint8Array({ maxLength: 20 }),
  fc
    .tuple(fc.constantFrom(127, 128, 129, 1600, 16383, 16384, 16385), fc.nat({ max: 255 }))
    .map(([length, byte]) => new Uint8Array(length).fill(byte))
)
const fields = fc
  .uniqueArray(fc.record({ field: contents, value: contents }), {
    maxLength: 20,
    selector: ({ field }) => Buffer.from(field).toString('hex')
  })
  .map((all): FieldValue[] => all.sort((a, b) => compareBytes(a.field, b.field)))

const packHash = (all: readonly FieldValue[]): Uint8Array => {
  const row = new Uint8Array(all.reduce((sum, { field, value }) => sum + packedSize(field, value), 1))
  let length = writePackedTag(row)
  for (const { field, value } of all) length = writeField(field, value, row, length)
  expect(length).toBe(row.length)
  return row
}

const same = (bytes: Uint8Array) => (found: Uint8Array) => Buffer.from(found).equals(bytes)

/** As LMDB lends it: a view into a larger buffer. */
const lent = (row: Uint8Array): Uint8Array => {
  const memory = new Uint8Array(row.length + 20).fill(0xff)
  memory.set(row, 7)
  return memory.subarray(7, 7 + row.length)
}

/** Hashes as text, which is compared faster than arrays are. */
const asText = (all: readonly FieldValue[]): string[][] =>
  all.map(({ field, value }) => [field, value].map(each => Buffer.from(each).toString('latin1')))

describe('a packed hash', () => {
  it('comes back field by field, in the order of their bytes', () => {
    fc.assert(
      fc.property(fields, all => {
        const row = packHash(all)
        expect(asText(unpackHash(row))).toEqual(asText(all))
        expect(asText(unpackHash(lent(row)))).toEqual(asText(all))
        expect(wideId(row)).toBeUndefined()
      })
    )
  })

  it('answers one field without the others', () => {
    fc.assert(
      fc.property(fields, contents, (all, other) => {
        const row = lent(packHash(all))
        for (const { field, value } of all) expect(packedField(row, field)).toSatisfy(same(value))
        const expected = all.find(({ field }) => same(field)(other))
        expect(packedField(row, other)).toSatisfy(found =>
          expected ? same(expected.value)(found) : found === undefined
        )
      })
    )
  })

  it('takes the longest value there is in a row, as one that was written in one go may', () => {
    const all = [{ field: new Uint8Array(MAX_KEY), value: new Uint8Array(3 * 1024 * 1024).fill(1) }]
    expect(asText(unpackHash(packHash(all)))).toEqual(asText(all))
    expect(packHash(all).length).toBeGreaterThan(PACKED_LIMIT)
  })

  it('that ends too early, or begins with something else, is damage that is said', () => {
    fc.assert(
      fc.property(
        fields.filter(all => all.length > 0),
        all => {
          const row = packHash(all)
          expect(() => unpackHash(row.subarray(0, -1))).toThrow(
            expect.objectContaining({ code: 'ERR_STORE_CORRUPT' })
          )
        }
      )
    )
    expect(() => unpackHash(Uint8Array.of(2))).toThrow(expect.objectContaining({ code: 'ERR_STORE_CORRUPT' }))
  })
})

describe('numbers and ids', () => {
  it('a wide hash is its id', () => {
    fc.assert(
      fc.property(ids, id => {
        expect(wideId(lent(packWide(id)))).toBe(id)
      })
    )
  })

  it('an id comes back', () => {
    fc.assert(
      fc.property(ids, id => {
        expect(readId(packId(id), 0)).toBe(id)
      })
    )
  })

  it('a number comes back, to the bit', () => {
    fc.assert(
      fc.property(numbers, number => {
        expect(unpackNumber(lent(packNumber(number)))).toBe(number)
      })
    )
  })
})

describe('the scores of a member', () => {
  const entries = fc.uniqueArray(fc.tuple(ids, numbers), { maxLength: 70, selector: ([id]) => id })

  const rowOf = (all: readonly (readonly [number, number])[], further: boolean): Uint8Array => {
    const row = new Uint8Array(all.length * 14 + (further ? 1 : 0))
    let at = 0
    for (const [id, score] of all) at = writeScore(id, score, row, at)
    return row
  }

  it('come back in their order, and say whether there are further ones', () => {
    fc.assert(
      fc.property(entries, fc.boolean(), (all, further) => {
        const row = lent(rowOf(all, further))
        const read: [number, number][] = []
        scoresIn(row, (id, score) => read.push([id, score]))
        expect(read).toEqual(all)
        expect(hasFurther(row)).toBe(further)
      })
    )
  })

  it('are found by id', () => {
    fc.assert(
      fc.property(entries, fc.boolean(), ids, (all, further, other) => {
        const row = rowOf(all, further)
        for (const [id, score] of all) expect(scoreUnder(row, id)).toBe(score)
        expect(scoreUnder(row, other)).toBe(all.find(([id]) => id === other)?.[1])
      })
    )
  })
})

describe('the record of an item', () => {
  const texts = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('', '\ufeff', 'é'.repeat(MAX_KEY / 2), 'x'.repeat(MAX_KEY))
  )
  const records: fc.Arbitrary<ItemRecord> = fc.record({
    score: numbers,
    enqueued: fc.double({ noNaN: true, noDefaultInfinity: true }),
    attempts: fc.nat({ max: 2 ** 32 - 1 }),
    since: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true }), { nil: undefined }),
    errorClass: texts,
    reason: texts,
    token: fc.uint8Array({ minLength: NO_TOKEN.length, maxLength: NO_TOKEN.length }),
    owner: fc.option(fc.uint8Array({ minLength: OWNER_LENGTH, maxLength: OWNER_LENGTH }), { nil: undefined }),
    dependency: fc.oneof(fc.uint8Array({ maxLength: 40 }), fc.constant(new Uint8Array(MAX_KEY).fill(9)))
  })

  it('comes back whole', () => {
    fc.assert(
      fc.property(records, record => {
        const row = packItem(record)
        expect(unpackItem(row)).toEqual(record)
        expect(unpackItem(lent(row))).toEqual(record)
      })
    )
  })

  it('of a version that wrote neither `since` nor `owner` is read', () => {
    const row =
      '3ff8000000000000' +
      '40a0000000000000' +
      '00000003' +
      '0005' +
      '0002' +
      '746f6b656e2d2d41' +
      '636c617373' +
      '6e6f' +
      '646570'
    expect(unpackItem(Uint8Array.from(Buffer.from(row, 'hex')))).toEqual({
      score: 1.5,
      enqueued: 2048,
      attempts: 3,
      since: undefined,
      owner: undefined,
      token: new Uint8Array(Buffer.from('token--A')),
      errorClass: 'class',
      reason: 'no',
      dependency: new Uint8Array(Buffer.from('dep'))
    })
  })
})
