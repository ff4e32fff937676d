/** Cursors: what was written is read, and nothing else is. */

import { QuoinError } from '@quoin/primitives'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readCursor, writeCursor } from './cursor.ts'
import { MAX_KEY } from './engine.ts'

const score = fc.oneof(fc.double({ noNaN: true }), fc.constantFrom(0, 850000.000000123, Infinity, -Infinity))
const member = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  fc.nat(3).map(less => new Uint8Array(MAX_KEY - less).fill(0xfe))
)
const row = fc.record({ score, member }, { noNullPrototype: true })

/** What it reads, or undefined if it is refused as it should be. */
const read = (cursor: unknown): ReturnType<typeof readCursor> | undefined => {
  try {
    return readCursor(cursor as string)
  } catch (error) {
    expect(error).toBeInstanceOf(QuoinError)
    expect(error).toMatchObject({
      code: 'ERR_STORE_CURSOR',
      message: 'invalid cursor: expected one of this store'
    })
    return undefined
  }
}
const ofBytes = (bytes: readonly number[]): string => Buffer.from(bytes).toString('base64url')

describe('a cursor', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(row, each => {
        expect(readCursor(writeCursor(each))).toStrictEqual(each)
      })
    )
  })

  it('is text that needs no escaping in a URL', () => {
    fc.assert(
      fc.property(row, each => {
        expect(writeCursor(each)).toMatch(/^[A-Za-z0-9_-]+$/)
      })
    )
  })

  it('is refused when anything but all of it is there', () => {
    fc.assert(
      fc.property(
        row,
        fc.nat(),
        fc.constantFrom('=', '==', '\n', ' ', '+', '/', '\0', 'é'),
        (each, at, extra) => {
          const cursor = writeCursor(each)
          const cut = at % cursor.length
          expect(read(cursor + extra)).toBeUndefined()
          expect(read(extra + cursor)).toBeUndefined()
          // Cut where it still is a cursor, it is that of another row.
          expect(read(cursor.slice(0, cut))).not.toStrictEqual(each)
          if (cut < 12) expect(read(cursor.slice(0, cut))).toBeUndefined()
        }
      )
    )
  })

  it('is what some row is written as, or refused', () => {
    const garbage = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.base64String(),
      fc.uint8Array({ maxLength: 60 }).map(bytes => ofBytes([...bytes])),
      fc.uint8Array({ maxLength: 60 }).map(bytes => ofBytes([1, ...bytes])),
      fc.tuple(row, fc.nat(), fc.string({ minLength: 1, maxLength: 1 })).map(([each, at, char]) => {
        const cursor = writeCursor(each)
        const i = at % cursor.length
        return cursor.slice(0, i) + char + cursor.slice(i + 1)
      })
    )
    fc.assert(
      fc.property(garbage, cursor => {
        const found = read(cursor)
        if (!found) return
        expect(writeCursor(found)).toBe(cursor)
        expect(found.score).not.toBeNaN()
        expect(found.member.length).toBeLessThanOrEqual(MAX_KEY)
      }),
      { numRuns: 2000 }
    )
  })

  it('is refused when it is of another version', () => {
    const cursor = Buffer.from(writeCursor({ score: 5, member: Uint8Array.of(1) }), 'base64url')
    for (let version = 0; version < 256; version++) {
      const found = read(ofBytes([version, ...cursor.subarray(1)]))
      expect(found).toStrictEqual(version === 1 ? { score: 5, member: Uint8Array.of(1) } : undefined)
    }
  })

  it('is refused when its score is no number, or its member too long', () => {
    expect(read(ofBytes([1, 0x7f, 0xf8, 0, 0, 0, 0, 0, 0, 65]))).toBeUndefined()
    const long = (length: number) => read(ofBytes([1, ...new Uint8Array(8 + length)]))
    expect(long(MAX_KEY)?.member).toHaveLength(MAX_KEY)
    expect(long(MAX_KEY + 1)).toBeUndefined()
    expect(read('A'.repeat(10_000_000))).toBeUndefined()
  })

  it('is refused when bits are set that no byte has', () => {
    const cursor = writeCursor({ score: 5, member: Uint8Array.of(0) })
    expect(cursor.endsWith('A')).toBe(true)
    expect(read(`${cursor.slice(0, -1)}B`)).toBeUndefined()
  })

  it('is refused when it is no text', () => {
    for (const each of [undefined, null, 5, {}, [], ['AQAAAAAAAAAA'], '']) expect(read(each)).toBeUndefined()
  })
})
