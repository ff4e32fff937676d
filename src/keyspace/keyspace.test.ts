/** Keyspaces in use: types, keys, ranges, explanations, groups. */
import fc from 'fast-check'
import { describe, expect, expectTypeOf, it } from 'vitest'
import type { Collection } from './collection.ts'
import { type KeyPart, partsOf } from './declaration.ts'
import { keyReader, keyWriter } from './generate.ts'
import {
  address,
  bytes,
  Codec,
  collection,
  compareBytes,
  component,
  decimal,
  escaped,
  f64,
  fromHex,
  hex,
  i64,
  KeyspaceGroup,
  keyspace,
  lengthPrefixed,
  outpoint,
  raw,
  rawValue,
  startsWith,
  terminated,
  text,
  tick9,
  toHex,
  u8,
  u16,
  u64,
  word
} from './index.ts'
import { Layout } from './layout.ts'
import { stepsOf } from './step.ts'

const space = keyspace('test', {
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
const small = fc.uint8Array({ maxLength: 4 })

describe('types', () => {
  it('follow from the declaration', () => {
    expectTypeOf(ticks.encode).parameters.toEqualTypeOf<[bigint, bigint]>()
    expectTypeOf(ticks.decode).returns.toEqualTypeOf<[bigint, bigint]>()
    expectTypeOf(owners.decode).returns.toEqualTypeOf<[Uint8Array, bigint, number]>()
    expectTypeOf(owners.scan).parameters.toEqualTypeOf<[] | [Uint8Array] | [Uint8Array, bigint]>()
    expectTypeOf(rightmost.decode).returns.toEqualTypeOf<[Uint8Array, 'x' | 'yy']>()
    expectTypeOf(one.encode).parameters.toEqualTypeOf<[]>()
  })

  it('refuse what was not promised, as the program does', () => {
    const notPromised = expect.objectContaining({ code: 'ERR_SCAN_NOT_PROMISED' })
    // @ts-expect-error no scan under both components
    expect(() => ticks.scan(1n, 2n)).toThrow(notPromised)
    // @ts-expect-error texts promises no scan over everything
    expect(() => texts.scan()).toThrow(notPromised)
    // @ts-expect-error no scan at all
    expect(() => rightmost.scan(new Uint8Array())).toThrow(notPromised)
    // @ts-expect-error a number is no pool
    expect(() => ticks.scan(1)).toThrow(expect.objectContaining({ code: 'ERR_KEY_VALUE' }))
    // @ts-expect-error the second component does not lead the key
    expect(() => keyspace('x', { x: collection({ key: [u8('a'), u8('b')], scans: [['b']] }) })).toThrow(
      expect.objectContaining({ code: 'ERR_KEYSPACE_UNSOUND' })
    )
    // @ts-expect-error a bound compares components after the prefix
    expect(() => ticks.range([1n], { gte: ['a'] })).toThrow(
      expect.objectContaining({ code: 'ERR_KEY_VALUE' })
    )
  })
})

/** Every collection with random keys of it. */
const samples = fc.oneof(
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

describe('keys', () => {
  it('round trip, fresh and into a buffer, and have one owner', () => {
    const buffer = new Uint8Array(4096)
    fc.assert(
      fc.property(samples, fc.nat(100), ([of, key], offset) => {
        const bytesOf = of.encode(...key)
        expect(of.decode(bytesOf)).toEqual(key)
        const end = of.encodeInto(buffer, offset, ...key)
        expect(buffer.slice(offset, end)).toEqual(bytesOf)
        expect(space.all.filter(each => each.owns(bytesOf))).toEqual([of])
        expect(space.explain(bytesOf)).toMatchObject({ found: true, collection: of.name })
        for (const short of [bytesOf.length - 1, 0]) {
          expect(() => of.encodeInto(new Uint8Array(short), 0, ...key)).toThrow(
            expect.objectContaining({ code: 'ERR_KEY_BUFFER' })
          )
        }
      }),
      { numRuns: 1000 }
    )
  })

  it('that are changed in any way decode to what encodes to them, or are refused at a byte', () => {
    const mutations = fc.record({
      at: fc.nat(60),
      byte: fc.nat(255),
      kind: fc.constantFrom('set', 'insert', 'remove', 'cut')
    })
    fc.assert(
      fc.property(samples, mutations, ([of, key], { at, byte, kind }) => {
        const original = [...of.encode(...key)]
        const place = at % (original.length + 1)
        if (kind === 'set') original[place] = byte
        else if (kind === 'insert') original.splice(place, 0, byte)
        else if (kind === 'remove') original.splice(place, 1)
        else original.length = place
        const changed = Uint8Array.from(original)
        for (const each of space.all) {
          let decoded: unknown[]
          try {
            decoded = each.decode(changed)
          } catch (error) {
            expect(error).toMatchObject({ code: 'ERR_KEY_DECODE' })
            const { offset } = (error as { details: { offset: number } }).details
            expect(offset).toBeLessThanOrEqual(changed.length)
            // The byte that is named is the first that can be: everything before it begins some key.
            expect(each.layout.parse(changed.slice(0, offset))).not.toMatchObject({
              offset: expect.toSatisfy((n: number) => n < offset)
            })
            expect(each.owns(changed)).toBe(false)
            continue
          }
          expect(each.encode(...decoded)).toEqual(changed)
        }
      }),
      { numRuns: 2000 }
    )
  })

  it('are written and read alike by generated functions and by the loops that stand in for them', () => {
    fc.assert(
      fc.property(samples, fc.uint8Array({ maxLength: 40 }), ([of, key], noise) => {
        const steps = stepsOf(of.layout)
        const [fast, slow] = [true, false].map(canGenerate => ({
          write: keyWriter(steps, canGenerate),
          read: keyReader(steps, canGenerate)
        }))
        const [a, b] = [new Uint8Array(2048), new Uint8Array(2048)]
        expect(fast!.write(a, 3, ...(key as never[]))).toBe(slow!.write(b, 3, ...(key as never[])))
        expect(a).toEqual(b)
        if (of.name === 'rightmost') return
        for (const bytesOf of [of.encode(...key), noise])
          expect(fast!.read(bytesOf)).toEqual(slow!.read(bytesOf))
      }),
      { numRuns: 1000 }
    )
  })

  it('are never written outside the language, whatever a codec does', () => {
    const { name, phrase, language, order, orderName, read, show } = tick9('tick').codec
    const like = { name, phrase, language, order, orderName, read, show }
    const wrong = (sign: number, top: number) =>
      new Codec<bigint>({
        ...like,
        put: (_, target, offset) => {
          target.set([sign, top, 0, 0, 0, 0, 0, 0, 0], offset)
          return offset + 9
        }
      })
    for (const [sign, top] of [
      [4, 0],
      [7, 0],
      [5, 0x7f],
      [6, 0x80]
    ] as const) {
      const steps = stepsOf(new Layout(partsOf(['t', component('tick', wrong(sign, top))])))
      for (const canGenerate of [true, false]) {
        expect(() => keyWriter(steps, canGenerate)(new Uint8Array(20), 0, 1n)).toThrow(
          expect.objectContaining({ code: 'ERR_KEY_VALUE' })
        )
      }
    }
  })

  it('longer than any buffer kept for them are encoded too', () => {
    const long = new Uint8Array(10_000).fill(7)
    expect(rightmost.decode(rightmost.encode(long, 'x'))).toEqual([long, 'x'])
  })
})

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

describe('explain', () => {
  it('names the components, their bytes and their values', () => {
    const explained = space.explain(owners.encode(Uint8Array.of(0xab), 10n, 7))
    expect(explained).toMatchObject({
      found: true,
      keyspace: 'test',
      collection: 'owners',
      spans: [
        { start: 0, end: 2, hex: '027c', text: "0x02 '|'" },
        { start: 2, end: 4, hex: '6162', component: 'owner', codec: 'hex', text: 'ab' },
        { start: 4, end: 5, hex: '7c' },
        { start: 5, end: 7, component: 'pool', text: '10' },
        { start: 7, end: 8 },
        { start: 8, end: 9, component: 'n', text: '7' }
      ]
    })
  })

  it('of a key that fits nothing, names the nearest collection and where it departs', () => {
    expect(space.explain(fromHex('027c6162417c31'))).toEqual({
      found: false,
      nearest: {
        keyspace: 'test',
        collection: 'owners',
        offset: 4,
        expected: "'0'-'9' 'a'-'f' '|'",
        message: "byte 4 is 41, where '0'-'9' 'a'-'f' '|' (owner or a separator) must stand"
      }
    })
    expect(space.explain(fromHex('0100000000000000010600'))).toMatchObject({
      nearest: {
        collection: 'ticks',
        offset: 11,
        message: expect.stringMatching(/^it ends at byte 11, where any byte/)
      }
    })
    expect(space.explain(new Uint8Array())).toMatchObject({ found: false, nearest: { offset: 0 } })
  })
})

describe('a group of keyspaces in one store', () => {
  const make = (name: string, prefix: string) =>
    keyspace(name, { all: collection({ key: [prefix, text('rest')], scans: [[]] }) })

  it('takes disjoint ones and explains keys across them', () => {
    const group = new KeyspaceGroup('store')
    group.add(make('a', 'a:'))
    group.add(make('b', 'b:'))
    expect(group.explain(new TextEncoder().encode('b:x'))).toMatchObject({
      found: true,
      keyspace: 'b',
      collection: 'all'
    })
  })

  it('refuses one whose scan would catch a key of another, in either order, and stays as it was', () => {
    for (const [first, second] of [
      ['a:', 'a:b:'],
      ['a:b:', 'a:']
    ] as const) {
      const group = new KeyspaceGroup('store', [make('one', first) as never])
      expect(() => group.add(make('two', second))).toThrow(/two.all|one.all/)
      expect(group.members.length).toBe(1)
    }
  })

  it('refuses a name that is taken', () => {
    const group = new KeyspaceGroup('store', [make('a', 'a:') as never])
    expect(() => group.add(make('a', 'z:'))).toThrow(
      expect.objectContaining({ code: 'ERR_KEYSPACE_DECLARATION' })
    )
  })
})

describe('a malformed declaration', () => {
  it('of a codec that does not say how to write, or says it twice, is refused', () => {
    const { name, phrase, language, order, orderName, read, show } = u8('n').codec
    const like = { name, phrase, language, order, orderName, read, show }
    const malformed = expect.objectContaining({ code: 'ERR_KEYSPACE_DECLARATION' })
    expect(() => new Codec(like)).toThrow(malformed)
    expect(() => new Codec({ ...like, put: () => 0, text: String })).toThrow(malformed)
  })

  it('is refused with its code', () => {
    const declare = (...key: KeyPart[]) => keyspace('x', { x: collection({ key }) })
    const malformed = expect.objectContaining({ code: 'ERR_KEYSPACE_DECLARATION' })
    expect(() => declare()).toThrow(malformed)
    expect(() => declare('')).toThrow(malformed)
    expect(() => declare(u8('a') as never, u8('a'))).toThrow(malformed)
    expect(() => declare('x'.repeat(257))).toThrow(malformed)
  })
})

it('a value is held as declared, raw bytes unless said', () => {
  expect(ticks.value.codec.name).toBe('bytes')
  const named = keyspace('v', {
    v: collection({ key: [outpoint('o'), address('a')], value: rawValue('TickInfo') })
  })
  expect(named.collections.v.value.codec.name).toBe('TickInfo')
})

const isSame = (a: unknown, b: unknown): boolean =>
  a instanceof Uint8Array && b instanceof Uint8Array ? compareBytes(a, b) === 0 : a === b
