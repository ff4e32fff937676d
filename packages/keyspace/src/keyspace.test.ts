/** Keyspaces in use: types, keys, groups, and declarations that are refused. */

import { toHex } from '@quoin/primitives'
import fc from 'fast-check'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { address, outpoint } from '../../chain/src/components.ts'
import { tick9 } from '../../liquidity/src/components.ts'
import { type KeyPart, partsOf } from './declaration.ts'
import { keyReader, keyWriter } from './generate.ts'
import {
  alphabet,
  base58,
  bech32,
  bytes,
  Codec,
  collection,
  component,
  hex,
  KeyspaceGroup,
  keyspace,
  lengthPrefixed,
  raw,
  rawValue,
  text,
  u8,
  u64
} from './index.ts'
import { samples, space } from './keyspace.testing.ts'
import { Layout } from './layout.ts'
import { stepsOf } from './step.ts'

const { ticks, owners, texts, rightmost, one } = space.collections

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

describe('what a program may get wrong', () => {
  const { ticks: pairs } = space.collections

  it('a codec that encodes another key does not disturb the key it is part of', () => {
    const inner = keyspace('inner', { i: collection({ key: ['I', u64('a')] }) }).collections.i
    const { name, phrase, language, order, orderName, read, show } = u64('n').codec
    const nested = new Codec<bigint>({
      ...{ name, phrase, language, order, orderName, read, show },
      put: (value, target, offset) => {
        target.set(inner.encode(value).subarray(1), offset)
        return offset + 8
      }
    })
    const outer = keyspace('outer', { o: collection({ key: ['outer:', component('n', nested)] }) })
      .collections.o
    expect(outer.decode(outer.encode(7n))).toEqual([7n])
  })

  it('an offset that is none is refused', () => {
    for (const offset of [-1, -5, 1.5, Number.NaN, undefined as unknown as number, 2 ** 32]) {
      expect(() => pairs.encodeInto(new Uint8Array(64), offset, 1n, 2n), `${offset}`).toThrow(
        expect.objectContaining({ code: 'ERR_KEY_BUFFER' })
      )
    }
  })

  it('bytes that a literal was made from may change afterwards', () => {
    const literal = raw('01')
    const { k } = keyspace('l', { k: collection({ key: [literal, u8('n')] }) }).collections
    literal[0] = 2
    expect(toHex(k.encode(5))).toBe('0105')
  })

  it('a key that is not bytes is refused with a code', () => {
    for (const key of [null, undefined, 'abc', [1]] as unknown as Uint8Array[]) {
      for (const use of [() => pairs.decode(key), () => pairs.owns(key), () => space.explain(key)]) {
        expect(use).toThrow(expect.objectContaining({ code: 'ERR_KEY_VALUE' }))
      }
    }
    expect(() => pairs.range([1n], { gte: 5 as never })).toThrow(
      expect.objectContaining({ code: 'ERR_KEY_VALUE' })
    )
  })

  it('a message about a long key stays short', () => {
    const long = new Uint8Array(100_000)
    expect(() => pairs.decode(long)).toThrow(
      expect.objectContaining({ message: expect.toSatisfy((m: string) => m.length < 500) })
    )
  })

  it('a long key that needs the automaton of the whole is read in time that grows with its length', () => {
    const long = new Uint8Array(300_000).fill(0x7c)
    expect(rightmost.decode(rightmost.encode(long, 'yy'))[0].length).toBe(300_000)
    expect(space.explain(rightmost.encode(long, 'yy'))).toMatchObject({
      found: true,
      collection: 'rightmost'
    })
  })
})

describe('a malformed declaration', () => {
  it('of lengths that cannot be is refused', () => {
    const refused = expect.objectContaining({
      code: expect.stringMatching(/^ERR_KEY(SPACE_DECLARATION|_VALUE)$/)
    })
    for (const declare of [
      () => bytes('x', { length: -1 }),
      () => bytes('x', { length: 1.5 }),
      () => bytes('x', { length: 2, max: 1 }),
      () => hex('x', { length: Number.NaN }),
      () => hex('x', { length: 2, max: 3 }),
      () => base58('x', { min: -1 }),
      () => alphabet('x', 'ab', { min: 3, max: 2 }),
      () => text('x', { max: -1 }),
      () => bech32('x', { min: 2, max: 1 }),
      () => lengthPrefixed('x', { max: 2.5 }),
      () => u64('x', { max: 3 as unknown as bigint })
    ]) {
      expect(declare, String(declare)).toThrow(refused)
    }
  })

  it.each([
    [[{ prefix: ['x'], ordr: 'value' }]],
    [[{ prefix: ['x'], trailing: 0 }]],
    [[{ prefix: ['x'], order: 'up' }]],
    [[{ prefix: 'x' }]],
    [['x']],
    [[['x', 'x']]],
    [[['y']]]
  ])('of scans %j is refused, not ignored', scans => {
    expect(() => keyspace('s', { s: { ...collection({ key: ['a', u8('x'), u8('z')] }), scans } })).toThrow(
      expect.objectContaining({ code: 'ERR_KEYSPACE_DECLARATION' })
    )
  })

  it('of a scan by a component that does not lead is P7, in any order of names', () => {
    const scanned = (...scans: string[][]) =>
      keyspace('s', { s: { ...collection({ key: ['a', u8('x'), u8('z')] }), scans } })
    expect(scanned(['z', 'x']).proof.sound).toBe(true)
    expect(() => scanned(['z'])).toThrow(/P7 .*the scan by z leaves out x, before it in the key/)
  })

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
    expect(() => declare('\ud800')).toThrow(malformed)
    expect(() => declare(null as never)).toThrow(malformed)
    expect(() => declare(5 as never)).toThrow(malformed)
  })
})

it('a value is held as declared, raw bytes unless said', () => {
  expect(ticks.value.codec.name).toBe('bytes')
  const named = keyspace('v', {
    v: collection({ key: [outpoint('o'), address('a')], value: rawValue('TickInfo') })
  })
  expect(named.collections.v.value.codec.name).toBe('TickInfo')
})
