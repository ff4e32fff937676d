/** For tests: a keyspace with collections of every kind, and random keys of it. */
import fc from 'fast-check'
import { tick9 } from '../../liquidity/src/components.ts'
import type { Collection } from './collection.ts'
import {
  bytes,
  collection,
  decimal,
  escaped,
  f64,
  hex,
  i64,
  keyspace,
  lengthPrefixed,
  raw,
  terminated,
  u8,
  u16,
  u64,
  word
} from './index.ts'

export const space = keyspace('test', {
  ticks: collection({
    key: [raw('01'), u64('pool'), tick9('tick')],
    scans: [[], { prefix: ['pool'], order: 'value' }]
  }),
  owners: collection({
    key: [raw('02'), '|', hex('owner'), '|', decimal('pool', { bits: 8 }), '|', u8('n')],
    scans: [[], ['owner'], ['owner', 'pool']]
  }),
  scores: collection({
    key: [raw('03'), terminated('name'), f64('score'), lengthPrefixed('rest', { max: 3 })],
    scans: [['name'], ['name', 'score']]
  }),
  texts: collection({
    key: ['t:', escaped('a'), ':', i64('b'), u16('c')],
    scans: [{ prefix: ['a'], order: 'value' }]
  }),
  // Only readable from the right, so that no cut from the left will do.
  rightmost: collection({ key: ['r', bytes('any'), '|', word('end', 'x', 'yy')] }),
  top: collection({ key: [raw('ffff'), u8('n')], scans: [[]] }),
  one: collection({ key: ['just this'] })
})
const { ticks, owners, scores, texts, rightmost, top, one } = space.collections

const u64s = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const i64s = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
export const small = fc.uint8Array({ maxLength: 4 })

/** Every collection with random keys of it. */
export const samples = fc.oneof(
  fc.tuple(fc.constant(ticks), fc.tuple(u64s, i64s)),
  fc.tuple(fc.constant(owners), fc.tuple(small, fc.bigInt({ min: 0n, max: 255n }), fc.nat(255))),
  fc.tuple(
    fc.constant(scores),
    fc.tuple(
      small.map(part => part.map(byte => byte || 1)),
      fc.double({ noNaN: true }).map(number => number + 0),
      fc.uint8Array({ maxLength: 3 })
    )
  ),
  fc.tuple(fc.constant(texts), fc.tuple(fc.string({ unit: 'grapheme' }), i64s, fc.nat(0xffff))),
  fc.tuple(fc.constant(rightmost), fc.tuple(small, fc.constantFrom('x', 'yy'))),
  fc.tuple(fc.constant(top), fc.tuple(fc.nat(255))),
  fc.tuple(fc.constant(one), fc.constant([]))
) as unknown as fc.Arbitrary<[Collection, unknown[]]>
