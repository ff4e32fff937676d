/** The functions that write and read keys fast, held to the declaration that is proved. */

import { compareBytes, prefixEnd, toHex } from '@quoin/primitives'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  cardinalityKey,
  MAX_ID,
  MEMBER_AT,
  META,
  numbered,
  ROLE,
  readId,
  rowKey,
  rowsPrefix,
  scoreOfRow,
  sortedSetKey,
  storeRows,
  TAG,
  tagged,
  writeId,
  writeRowHead
} from './layout.ts'

const { collections } = storeRows

const names = fc.uint8Array({ maxLength: 60 })
const ids = fc.oneof(
  fc.nat({ max: 1000 }),
  fc.maxSafeNat().map(n => n % (MAX_ID + 1)),
  fc.constantFrom(0, 1, 255, 256, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 40, MAX_ID)
)
/** -0 is 0 in a store. */
const scores = fc.oneof(
  fc.double({ noNaN: true }).map(score => score + 0),
  fc.integer(),
  fc.constantFrom(0, -1, 1, 5e-324, -5e-324, Infinity, -Infinity, 2 ** 53, Number.MAX_VALUE)
)
const roles = fc.constantFrom(...Object.values(ROLE))

const idBytes = (id: number): Uint8Array => {
  const bytes = new Uint8Array(6)
  writeId(id, bytes, 0)
  return bytes
}
const same = (written: Uint8Array, declared: Uint8Array): void => expect(toHex(written)).toBe(toHex(declared))
const owner = (key: Uint8Array): string | undefined => {
  const explanation = storeRows.explain(key)
  return explanation.found ? explanation.collection : undefined
}

describe('keys as the declaration has them', () => {
  it.each(['schema', 'next', 'commits'] as const)('meta: %s', name => {
    same(META[name], collections.meta.encode(name))
    expect(owner(META[name])).toBe('meta')
  })

  it.each(['value', 'hash', 'set', 'items', 'member'] as const)('%s', name => {
    fc.assert(
      fc.property(names, rest => {
        const key = tagged(TAG[name], rest)
        same(key, collections[name].encode(rest))
        expect(owner(key)).toBe(name)
        same(collections[name].decode(key)[0], rest)
      })
    )
  })

  it.each(['field', 'dependants', 'furtherScore'] as const)('%s', name => {
    fc.assert(
      fc.property(ids, names, (id, rest) => {
        const key = numbered(TAG[name], id, rest)
        same(key, collections[name].encode(idBytes(id), rest))
        expect(owner(key)).toBe(name)
        expect(readId(key, 1)).toBe(id)
      })
    )
  })

  it('sortedSet', () => {
    fc.assert(
      fc.property(roles, names, (role, name) => {
        const key = sortedSetKey(role, name)
        same(key, collections.sortedSet.encode(Uint8Array.of(role), name))
        expect(owner(key)).toBe('sortedSet')
      })
    )
  })

  it('cardinality', () => {
    fc.assert(
      fc.property(ids, id => {
        same(cardinalityKey(id), collections.cardinality.encode(idBytes(id)))
        expect(owner(cardinalityKey(id))).toBe('cardinality')
      })
    )
  })

  it('row', () => {
    fc.assert(
      fc.property(ids, scores, names, (id, score, member) => {
        const key = rowKey(id, score, member)
        same(key, collections.row.encode(idBytes(id), score, member))
        expect(owner(key)).toBe('row')
        const [declaredId, declaredScore, declaredMember] = collections.row.decode(key)
        expect(readId(declaredId, 0)).toBe(readId(key, 1))
        expect(scoreOfRow(key, 0)).toBe(declaredScore)
        same(key.subarray(MEMBER_AT), declaredMember)
      })
    )
  })

  it('what a row has before its member, in a buffer that is longer', () => {
    fc.assert(
      fc.property(ids, scores, names, (id, score, member) => {
        const target = new Uint8Array(MEMBER_AT + 60).fill(0xaa)
        const length = writeRowHead(id, score, target)
        same(target.subarray(0, length), rowKey(id, score, member).subarray(0, MEMBER_AT))
        expect(target.subarray(length).every(byte => byte === 0xaa)).toBe(true)
      })
    )
  })
})

describe('what the keys are for', () => {
  it('ids come back, and sort as numbers do', () => {
    fc.assert(
      fc.property(ids, ids, (a, b) => {
        expect(readId(idBytes(a), 0)).toBe(a)
        expect(Math.sign(compareBytes(idBytes(a), idBytes(b)))).toBe(Math.sign(a - b))
      })
    )
  })

  it('rows of a sorted set sort by score, then by the bytes of the member', () => {
    fc.assert(
      fc.property(ids, fc.tuple(scores, names), fc.tuple(scores, names), (id, a, b) => {
        const order = a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : compareBytes(a[1], b[1])
        expect(Math.sign(compareBytes(rowKey(id, ...a), rowKey(id, ...b)))).toBe(Math.sign(order))
      })
    )
  })

  it('the prefix of a sorted set catches its rows, and nothing else', () => {
    fc.assert(
      fc.property(ids, ids, scores, names, (id, other, score, member) => {
        const [start, end] = [rowsPrefix(id), prefixEnd(rowsPrefix(id))]
        const within = (key: Uint8Array): boolean =>
          compareBytes(key, start) >= 0 && (end === null || compareBytes(key, end) < 0)
        expect(within(rowKey(other, score, member))).toBe(id === other)
        expect(within(cardinalityKey(other))).toBe(false)
        const scan = collections.row.scan(idBytes(id))
        same(scan.start, start)
        expect(scan.end && toHex(scan.end)).toBe(end && toHex(end))
      })
    )
  })

  it('the fields of a wide hash end where the next id begins', () => {
    fc.assert(
      fc.property(
        ids.filter(id => id < MAX_ID),
        names,
        (id, field) => {
          const { start, end } = collections.field.scan(idBytes(id))
          const next = numbered(TAG.field, id + 1)
          same(numbered(TAG.field, id), start)
          expect(compareBytes(numbered(TAG.field, id, field), next)).toBeLessThan(0)
          expect(compareBytes(end!, next)).toBeLessThanOrEqual(0)
          expect(compareBytes(numbered(TAG.field, id, field), end!)).toBeLessThan(0)
        }
      )
    )
  })
})
