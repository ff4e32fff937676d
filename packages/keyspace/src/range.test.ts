/** Ranges: exactly the keys that were asked for, in both directions. */

import { compareBytes, equalBytes, startsWith, toHex } from '@quoin/primitives'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { collection, keyspace, raw, text, u8 } from './index.ts'
import { samples, small, space } from './keyspace.testing.ts'

const { ticks, owners, scores, top } = space.collections

describe('ranges', () => {
  const inside = (key: Uint8Array, { start, end }: { start: Uint8Array; end: Uint8Array | null }): boolean =>
    compareBytes(key, start) >= 0 && (end === null || compareBytes(key, end) < 0)
  const pools = fc.constantFrom(0n, 1n, 254n, 255n, 256n, 2n ** 64n - 1n)
  const ticksOf = fc.constantFrom(-(2n ** 63n), -256n, -2n, -1n, 0n, 1n, 255n, 256n, 2n ** 63n - 1n)

  it('of a scan hold exactly the keys with its components', () => {
    fc.assert(
      fc.property(fc.array(samples, { minLength: 1, maxLength: 20 }), keys => {
        for (const [of, key] of keys) {
          for (const { components } of of.scans) {
            const prefix = key.slice(0, components.length)
            const range = of.range(prefix)
            for (const [other, otherKey] of keys) {
              const encoded = other.encode(...otherKey)
              const wanted = other === of && prefix.every((value, i) => isSame(value, otherKey[i]))
              expect(inside(encoded, range)).toBe(wanted)
            }
          }
        }
      })
    )
  })

  it('hold the values between their bounds, each bound inclusive or exclusive', () => {
    const bound = fc.constantFrom('gt', 'gte', 'lt', 'lte')
    fc.assert(
      fc.property(
        pools,
        ticksOf,
        bound,
        ticksOf,
        bound,
        pools,
        ticksOf,
        (pool, a, opA, b, opB, otherPool, tick) => {
          const range = ticks.range([pool], { [opA]: [a], [opB]: [b] })
          const holds = (op: string, limit: bigint): boolean =>
            op === 'gt'
              ? tick > limit
              : op === 'gte'
                ? tick >= limit
                : op === 'lt'
                  ? tick < limit
                  : tick <= limit
          const both = opA === opB ? holds(opB, b) : holds(opA, a) && holds(opB, b)
          expect(inside(ticks.encode(otherPool, tick), range)).toBe(otherPool === pool && both)
        }
      ),
      { numRuns: 3000 }
    )
  })

  it.each([
    ['after a literal', raw('05')],
    ['at the very end of all keys', raw('ffff')],
    ['without a literal', '']
  ])(
    'bound by some of the components after the prefix, take or leave all keys that have them: %s',
    (_, literal) => {
      const { k } = keyspace('w', {
        k: collection({
          key: [literal, u8('a'), u8('b'), u8('c')],
          scans: [[], { prefix: ['a'], order: 'value' }]
        })
      }).collections
      const byte = fc.constantFrom(0, 1, 254, 255)
      fc.assert(
        fc.property(byte, byte, byte, byte, (a, b, otherB, c) => {
          const key = k.encode(a, otherB, c)
          expect(inside(key, k.range([a], { gt: [b] }))).toBe(otherB > b)
          expect(inside(key, k.range([a], { gte: [b] }))).toBe(otherB >= b)
          expect(inside(key, k.range([a], { lt: [b] }))).toBe(otherB < b)
          expect(inside(key, k.range([a], { lte: [b] }))).toBe(otherB <= b)
          expect(inside(key, k.range([], { gt: [b] }))).toBe(a > b)
          expect(inside(key, k.range([], { lte: [b] }))).toBe(a <= b)
        })
      )
    }
  )

  it('between bounds that exclude each other are empty, never inverted', () => {
    fc.assert(
      fc.property(pools, ticksOf, ticksOf, (pool, a, b) => {
        const { start, end } = ticks.range([pool], { gt: [a], lt: [b] })
        expect(end !== null && compareBytes(start, end) <= 0).toBe(true)
        if (a >= b) expect(start).toEqual(end)
      })
    )
  })

  it('bound by a word that begins others, tell it from them', () => {
    const { k } = keyspace('w', {
      k: collection({ key: ['k', text('name')], scans: [{ prefix: [], order: 'value' }] })
    }).collections
    const names = fc.string({ unit: fc.constantFrom('a', 'b', '\u{10ffff}'), maxLength: 3 })
    fc.assert(
      fc.property(names, names, (limit, name) => {
        const order = compareBytes(new TextEncoder().encode(name), new TextEncoder().encode(limit))
        const key = k.encode(name)
        expect(inside(key, k.range([], { gt: [limit] }))).toBe(order > 0)
        expect(inside(key, k.range([], { gte: [limit] }))).toBe(order >= 0)
        expect(inside(key, k.range([], { lt: [limit] }))).toBe(order < 0)
        expect(inside(key, k.range([], { lte: [limit] }))).toBe(order <= 0)
      })
    )
  })

  it('resume a walk after or before a key, in whatever order it walks', () => {
    fc.assert(
      fc.property(
        small,
        fc.uniqueArray(fc.tuple(fc.nat(255), fc.nat(3)), { minLength: 2, selector: String }),
        (owner, rest) => {
          const walk = rest
            .map(([pool, n]) => ({
              rest: [BigInt(pool), n] as [bigint, number],
              key: owners.encode(owner, BigInt(pool), n)
            }))
            .sort((x, y) => compareBytes(x.key, y.key))
          walk.forEach(({ rest: place }, i) => {
            const after = owners.range([owner], { after: place })
            const before = owners.range([owner], { before: place, reverse: true })
            expect(walk.filter(({ key }) => inside(key, after))).toEqual(walk.slice(i + 1))
            expect(walk.filter(({ key }) => inside(key, before))).toEqual(walk.slice(0, i))
            expect(before.reverse).toBe(true)
          })
        }
      )
    )
  })

  it('refuse to compare values where the keys do not walk by them, and say what does', () => {
    expect(() => owners.range([new Uint8Array()], { gte: [9n] })).toThrow(
      /10 comes before 2.*resume with `after`/
    )
    expect(() => scores.range([new Uint8Array()], { gt: [1, new Uint8Array(2)] })).toThrow(
      expect.objectContaining({ code: 'ERR_RANGE_ORDER' })
    )
  })

  it('of prefixes that end in ff end where they should, or nowhere', () => {
    expect(toHex(ticks.scan(0xffn).end!)).toBe('0100000000000001')
    expect(top.scan().end).toBeNull()
    expect(startsWith(top.encode(255), top.scan().start)).toBe(true)
  })
})

const isSame = (a: unknown, b: unknown): boolean =>
  a instanceof Uint8Array && b instanceof Uint8Array ? equalBytes(a, b) : a === b
