import { parseOutpoint, parseTxid } from '@quoin/primitives'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { outpoint, txid } from '../../chain/src/components.ts'
import { tick9 } from '../../liquidity/src/components.ts'
import type { Component } from './codec.ts'
import { bytes } from './components/bytes.ts'
import { decimal } from './components/decimal.ts'
import { f64 } from './components/float.ts'
import { u32, u64 } from './components/integer.ts'
import { text } from './components/text.ts'
import {
  describeShape,
  hash,
  json,
  listOf,
  logOf,
  queueOf,
  rawValue,
  setOf,
  single,
  sortedSetOf,
  type ValueCodec,
  value
} from './value.ts'

const RUNS = { numRuns: 500 }
const utf8 = (content: string): Uint8Array => new TextEncoder().encode(content)
const withCode = (code: string): unknown => expect.objectContaining({ name: 'QuoinError', code })

/** Any bytes either do not decode, with the code for that, or are what their value encodes to. */
const isStrict = <T>(codec: ValueCodec<T>, given: Uint8Array): void => {
  let decoded: T
  try {
    decoded = codec.decode(given)
  } catch (error) {
    expect(error).toMatchObject({ name: 'QuoinError', code: 'ERR_VALUE_DECODE' })
    return
  }
  expect(codec.encode(decoded)).toStrictEqual(given)
}

describe('single', () => {
  const cases: [string, Component<string, unknown>, fc.Arbitrary<unknown>, number][] = [
    ['u64', u64('n'), fc.bigInt(0n, 2n ** 64n - 1n), 9],
    ['decimal', decimal('n'), fc.bigInt(0n, 2n ** 64n - 1n), 22],
    ['f64', f64('n'), fc.double({ noNaN: true }).map(number => number + 0), 9],
    ['tick9', tick9('n'), fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), 10],
    ['text', text('t'), fc.string({ unit: 'binary' }), 6],
    ['bytes', bytes('b'), fc.uint8Array(), 6]
  ]

  it.each(cases)('gives back the value it encoded: %s', (_, component, values) => {
    const { codec } = single(component)
    fc.assert(
      fc.property(values, each => {
        expect(codec.decode(codec.encode(each))).toStrictEqual(each)
      }),
      RUNS
    )
  })

  it.each(cases)('decodes nothing but what it encodes: %s', (_, component, values, length) => {
    const { codec } = single(component)
    const given = fc.oneof(
      fc.uint8Array({ maxLength: length }),
      fc.tuple(values, fc.nat(length)).map(([each, cut]) => codec.encode(each).slice(0, cut))
    )
    fc.assert(
      fc.property(given, each => isStrict(codec, each)),
      RUNS
    )
  })

  it('encodes as a key does: the word of the value, and no more', () => {
    expect([...single(u32('n')).codec.encode(258)]).toStrictEqual([0, 0, 1, 2])
    expect([...single(decimal('n')).codec.encode(10n)]).toStrictEqual([0x31, 0x30])
    expect([...single(text('t')).codec.encode('')]).toStrictEqual([])
  })

  it('gives back a text of any length', () => {
    const { codec } = single(text('t'))
    for (const length of [4095, 4096, 4097, 100_000]) {
      const long = 'x'.repeat(length)
      expect(codec.decode(codec.encode(long)) === long, `${length}`).toBe(true)
    }
  })

  it.each([
    ['seven bytes of a u64', single(u64('n')), Uint8Array.of(0, 0, 0, 0, 0, 0, 1)],
    ['nine bytes of a u64', single(u64('n')), new Uint8Array(9)],
    ['nothing of a u64', single(u64('n')), new Uint8Array(0)],
    ['a decimal with a leading zero', single(decimal('n')), utf8('007')],
    ['a decimal beyond 64 bits', single(decimal('n')), utf8('18446744073709551616')],
    ['NaN', single(f64('n')), Uint8Array.from(Buffer.from('fff8000000000000', 'hex'))],
    ['malformed UTF-8', single(text('t')), Uint8Array.of(0x61, 0xff)]
  ])('does not decode %s, and shows the bytes', (_, { codec }, given) => {
    expect(() => codec.decode(given)).toThrow(
      expect.objectContaining({
        code: 'ERR_VALUE_DECODE',
        details: { bytes: Buffer.from(given).toString('hex') }
      })
    )
  })

  it('refuses a value outside the domain', () => {
    expect(() => single(u64('n')).codec.encode(-1n)).toThrow(withCode('ERR_KEY_VALUE'))
    expect(() => single(text('t', { except: '/' })).codec.encode('a/b')).toThrow(withCode('ERR_KEY_VALUE'))
  })
})

describe('listOf', () => {
  const DISPLAY = '4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b'
  const ids = fc.uint8Array({ minLength: 32, maxLength: 32 })
  const cases: [string, Component<string, unknown>, fc.Arbitrary<unknown>, number][] = [
    ['txid', txid('t'), ids, 32],
    ['outpoint', outpoint('o'), fc.uint8Array({ minLength: 36, maxLength: 36 }), 36],
    ['u32', u32('n'), fc.integer({ min: 0, max: 2 ** 32 - 1 }), 4],
    ['tick9', tick9('n'), fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), 9]
  ]

  it.each(cases)('gives back the items it encoded, each in its width: %s', (_, component, items, width) => {
    const { codec } = listOf(component)
    const item = single(component).codec
    fc.assert(
      fc.property(fc.array(items, { maxLength: 5 }), list => {
        const encoded = codec.encode(list)
        expect([...encoded]).toStrictEqual(list.flatMap(each => [...item.encode(each)]))
        expect(encoded).toHaveLength(list.length * width)
        expect(codec.decode(encoded)).toStrictEqual(list)
      }),
      RUNS
    )
  })

  it.each(cases)('decodes nothing but what it encodes: %s', (_, component, items, width) => {
    const { codec } = listOf(component)
    const given = fc.oneof(
      fc.uint8Array({ maxLength: 2 * width + 1 }),
      fc
        .tuple(fc.array(items, { maxLength: 3 }), fc.nat(3 * width))
        .map(([list, cut]) => codec.encode(list).slice(0, cut))
    )
    fc.assert(
      fc.property(given, each => isStrict(codec, each)),
      RUNS
    )
  })

  it('is nothing for no items', () => {
    const { codec } = listOf(txid('t'))
    expect(codec.encode([])).toHaveLength(0)
    expect(codec.decode(new Uint8Array(0))).toStrictEqual([])
  })

  it('holds outpoints as 36 bytes each', () => {
    const { codec } = listOf(outpoint('o'))
    const list = [parseOutpoint(`${DISPLAY}.0`), parseOutpoint(`${DISPLAY}.1`)]
    expect(Buffer.from(codec.encode(list)).subarray(32, 72).toString('hex')).toBe(
      `00000000${Buffer.from(parseTxid(DISPLAY)).toString('hex')}00000001`
    )
  })

  it('does not decode a length that is no multiple of the width', () => {
    for (const length of [1, 31, 33, 63]) {
      expect(() => listOf(txid('t')).codec.decode(new Uint8Array(length)), `${length}`).toThrow(
        withCode('ERR_VALUE_DECODE')
      )
    }
  })

  it('does not decode when one of its items does not', () => {
    const { codec } = listOf(tick9('n'))
    const broken = codec.encode([1n, -1n, 2n])
    broken[9] = 0x06
    expect(() => codec.decode(broken)).toThrow(withCode('ERR_VALUE_DECODE'))
  })

  it('refuses an item outside the domain', () => {
    expect(() => listOf(u32('n')).codec.encode([1, -1])).toThrow(withCode('ERR_KEY_VALUE'))
  })

  it('needs items of one width', () => {
    for (const component of [decimal('n'), text('t'), bytes('b'), bytes('b', { length: 0 })]) {
      expect(() => listOf<unknown>(component)).toThrow(withCode('ERR_KEYSPACE_DECLARATION'))
    }
  })
})

describe('json', () => {
  const { codec } = json<unknown>()

  it('gives back what it encoded, which is the shortest JSON in UTF-8', () => {
    const values = fc.jsonValue().map(each => JSON.parse(JSON.stringify(each)) as unknown)
    fc.assert(
      fc.property(values, each => {
        const encoded = codec.encode(each)
        expect(Buffer.from(encoded).toString('utf8')).toBe(JSON.stringify(each))
        expect(codec.decode(encoded)).toStrictEqual(each)
      }),
      RUNS
    )
  })

  it('keeps characters of every length in UTF-8', () => {
    const events = ['own:é', '€', '\u{1f600}', '\uff5e', '\0', '\ud800']
    expect(codec.decode(codec.encode(events))).toStrictEqual(events)
  })

  it.each([
    ['nothing', ''],
    ['half an object', '{"a":'],
    ['two values', '1 2'],
    ['a trailing comma', '[1,]'],
    ['single quotes', "'a'"],
    ['a byte order mark', '\ufeff[]'],
    ['a name', 'undefined']
  ])('does not decode %s', (_, content) => {
    expect(() => codec.decode(utf8(content))).toThrow(withCode('ERR_VALUE_DECODE'))
  })

  it('does not decode malformed UTF-8, even inside a string', () => {
    expect(() => codec.decode(Uint8Array.of(0x22, 0xff, 0x22))).toThrow(withCode('ERR_VALUE_DECODE'))
    expect(() => codec.decode(Uint8Array.of(0x22, 0xc3, 0x22))).toThrow(withCode('ERR_VALUE_DECODE'))
  })

  it('refuses what JSON has no text for, rather than storing what does not decode', () => {
    const cycle: unknown[] = []
    cycle.push(cycle)
    for (const item of [undefined, () => 1, 1n, cycle]) {
      expect(() => codec.encode(item)).toThrow(withCode('ERR_KEY_VALUE'))
    }
  })
})

describe('rawValue', () => {
  it('is the bytes themselves', () => {
    const { codec } = rawValue()
    fc.assert(
      fc.property(fc.uint8Array(), each => {
        expect(codec.encode(each)).toStrictEqual(each)
        expect(codec.decode(each)).toStrictEqual(each)
      })
    )
  })
})

describe('describeShape', () => {
  it.each([
    ['bytes', rawValue()],
    ['raw transaction', rawValue('raw transaction')],
    ['JSON', json()],
    ['u64be', single(u64('n'))],
    ['list of txid', listOf(txid('t'))],
    ['score', value({ name: 'score', encode: () => new Uint8Array(0), decode: () => 0 })],
    ['set of text', setOf(text('t'))],
    ['sorted set of outpoint', sortedSetOf(outpoint('o'))],
    ['log of outpoint', logOf(outpoint('o'))],
    ['queue of txid', queueOf(txid('t'))],
    ['hash of output fields', hash({ name: 'output fields' })]
  ] as const)('says what is held: %s', (words, shape) => {
    expect(describeShape(shape)).toBe(words)
  })
})
