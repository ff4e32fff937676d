/**
 * The components of layout files, each with the examples of the table: values and words are one to one, words walk as
 * the codec claims, and a claim that fails has two values to show it. Encodings of other systems are held to vectors.
 */
import { compareBytes, fromHex, toHex } from '@quoin/primitives'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Codec } from '../codec.ts'
import { wordOf } from '../components/laws.testing.ts'
import type { Language } from '../language/language.ts'
import { notCanonical } from '../proof/canonical.ts'
import { COMPONENTS } from './components.ts'
import { layoutOf } from './parse.ts'

const codecOf = (name: string, options: object = {}): Codec<unknown> => {
  const { subjects } = layoutOf({
    name: 'x',
    collections: [{ name: 'c', key: [{ [name]: 'x', ...options }] }]
  })
  const [part] = subjects[0]!.layout.parts
  if (part?.kind !== 'component') throw new Error(`${name} is not a component`)
  return part.component.codec
}

/** The order of values, by their types alone. */
const compareValues = (a: unknown, b: unknown): number => {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b)
  if (Array.isArray(a) && Array.isArray(b)) {
    for (let i = 0; i < Math.min(a.length, b.length); i++) {
      const order = compareValues(a[i], b[i])
      if (order !== 0) return order
    }
    return a.length - b.length
  }
  if (a === null || b === null) return Number(a !== null) - Number(b !== null)
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b))
  return (a as number) < (b as number) ? -1 : (a as number) > (b as number) ? 1 : 0
}

/** Words along a random walk of the automaton. */
const wordsOf = (language: Language): fc.Arbitrary<Uint8Array> =>
  fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 24 }).map(choices => {
    const bytes: number[] = []
    let state = 0
    for (const [edge, byte] of choices) {
      const out = language.edges[state]!
      if (out.length === 0 || (language.accepting[state] && edge % 5 === 0)) break
      const { set, to } = out[edge % out.length]!
      const members = [...set]
      bytes.push(members[byte % members.length]!)
      state = to
    }
    return Uint8Array.from([...bytes, ...language.completion(state)])
  })

const CASES = Object.entries(COMPONENTS).flatMap(([name, { examples }]) =>
  examples.flatMap(options => [[name, options] as const, [name, { ...options, descending: true }] as const])
)

describe.each(CASES)('%s %j', (name, options) => {
  const codec = codecOf(name, options)
  const word = wordsOf(codec.language)
  const descending = 'descending' in options
  const compare = (a: unknown, b: unknown): number => {
    if (name === 'enum') {
      const names = Object.keys((options as { values: object }).values)
      return (names.indexOf(a as string) - names.indexOf(b as string)) * (descending ? -1 : 1)
    }
    return compareValues(a, b) * (descending ? -1 : 1)
  }

  it('reads each word and writes it again', () => {
    expect(notCanonical(codec)).toBeUndefined()
    fc.assert(
      fc.property(word, bytes => {
        expect(toHex(wordOf(codec, codec.read(bytes, 0, bytes.length)))).toBe(toHex(bytes))
      }),
      { numRuns: 30 }
    )
  })

  it('has samples that are values', () => {
    for (const sample of codec.samples ?? []) {
      const bytes = wordOf(codec, sample)
      expect(codec.language.matcher.departs(bytes, 0, bytes.length)).toBe(-1)
      if (!codec.collision) expect(codec.read(bytes, 0, bytes.length)).toStrictEqual(sample)
    }
  })

  it(`walks as it claims: ${JSON.stringify(codec.order, (_, value) => (typeof value === 'bigint' ? `${value}` : value))}`, () => {
    const { order } = codec
    if (typeof order !== 'string') {
      const [small, large] = order
      expect(compare(small, large)).toBeLessThan(0)
      expect(compareBytes(wordOf(codec, small), wordOf(codec, large))).toBeGreaterThan(0)
      return
    }
    fc.assert(
      fc.property(word, word, (a, b) => {
        const values = Math.sign(compare(codec.read(a, 0, a.length), codec.read(b, 0, b.length)))
        const startsOther = [a, b].some((each, i) => each.every((byte, k) => [b, a][i]![k] === byte))
        const bytes =
          order === 'shortlex' && a.length !== b.length
            ? a.length - b.length
            : order === 'longer first' && startsOther
              ? b.length - a.length
              : compareBytes(a, b)
        expect(Math.abs(values - Math.sign(bytes))).toBe(0)
      }),
      { numRuns: 60 }
    )
  })
})

describe('the order of integers', () => {
  const claims = (name: string, options: object = {}) => codecOf(name, options).order
  it.each([
    ['u32le', {}, [1n, 256n]],
    ['u16le', { max: 255 }, 'bytes'],
    ['u16le', { min: 600, max: 800 }, [767n, 768n]],
    ['i64be', {}, 'bytes'],
    ['i64be', { flipped: false }, [-1n, 1n]],
    ['i32be', { flipped: false, min: 0 }, 'bytes'],
    ['i16be', { flipped: false, min: -9, max: -1 }, 'bytes'],
    ['i16le', { flipped: true }, [-1n, 1n]],
    ['leb128', { max: 255 }, 'bytes'],
    ['leb128', {}, [255n, 256n]],
    ['compactSize', { max: 253 }, 'bytes'],
    ['bitcoinVarint', { max: 16511 }, 'bytes'],
    ['bitcoinVarint', { max: 16512 }, [16511n, 16512n]],
    ['cockroachVarint', { signed: true }, 'bytes']
  ])('of %s %j is %s', (name, options, order) => {
    expect(claims(name, options)).toEqual(order)
  })

  it.each([
    ['u16le', {}],
    ['u16be', { min: 500, max: 1300 }],
    ['i16be', { flipped: false, min: -300, max: 300 }],
    ['i16le', { min: -3, max: 700 }],
    ['leb128', { max: 40000 }],
    ['leb128', { bits: 16, zigzag: true }],
    ['compactSize', { max: 70000 }],
    ['bitcoinVarint', { max: 40000 }],
    ['cockroachVarint', { max: 70000 }],
    ['decimal', { width: 2, max: 1234 }],
    ['decimal', { signed: true, max: 321 }],
    ['decimal', { decimals: 2, width: 2, max: 12345 }],
    ['decimal', { decimals: 2, signed: true, max: 150 }],
    ['uint', { bits: 16, endian: 'little', max: 999 }]
  ])('%s %j, of all its numbers: every word is one, and the order is as claimed', (name, options) => {
    const codec = codecOf(name, options)
    const given = options as { min?: number; max?: number; signed?: boolean; zigzag?: boolean; bits?: number }
    const high = given.zigzag ? 32767 : (given.max ?? 65535)
    const low = given.zigzag ? -32768 : (given.min ?? (given.signed ? -high : 0))
    const all = Array.from({ length: high - low + 1 }, (_, i) => wordOf(codec, BigInt(low + i)))
    expect(countWords(codec.language)).toBe(all.length)
    const sorted = all.every((word, i) => i === 0 || compareBytes(all[i - 1]!, word) < 0)
    const shortlex = all.every(
      (word, i) =>
        i === 0 ||
        all[i - 1]!.length < word.length ||
        (all[i - 1]!.length === word.length && compareBytes(all[i - 1]!, word) < 0)
    )
    if (codec.order === 'bytes') expect(sorted).toBe(true)
    else if (codec.order === 'shortlex') expect(shortlex).toBe(true)
    else expect(sorted).toBe(false)
  })
})

/** The number of words of a finite language. */
const countWords = ({ edges, accepting }: Language): number => {
  const counts: (number | undefined)[] = []
  const count = (state: number): number => {
    counts[state] ??=
      (accepting[state] ? 1 : 0) +
      edges[state]!.reduce((sum, { set, to }) => sum + [...set].length * count(to), 0)
    return counts[state]
  }
  return count(0)
}

describe('the encodings of other systems', () => {
  const text = (value: string): string => toHex(new TextEncoder().encode(value))
  it.each([
    // https://github.com/cockroachdb/cockroach: pkg/util/encoding, TestEncodeDecodeVarint and Uvarint.
    ['cockroachVarint', { signed: true }, -(2n ** 63n), '808000000000000000'],
    ['cockroachVarint', { signed: true }, -256n, '86ff00'],
    ['cockroachVarint', { signed: true }, -1n, '87ff'],
    ['cockroachVarint', { signed: true }, 0n, '88'],
    ['cockroachVarint', { signed: true }, 109n, 'f5'],
    ['cockroachVarint', { signed: true }, 112n, 'f670'],
    ['cockroachVarint', {}, 2n ** 64n - 1n, 'fdffffffffffffffff'],
    ['escaped', { style: 'cockroach' }, 'a\0b', '6100ff620001'],
    // https://apple.github.io/foundationdb and its design/tuple.md.
    ['fdb', { element: 'int' }, -5551212n, '11ab4b93'],
    ['fdb', { element: 'int' }, 0n, '14'],
    ['fdb', { element: 'int' }, 256n, '160100'],
    ['fdb', { element: 'bytes' }, Uint8Array.from(Buffer.from('foo\0bar')), '01666f6f00ff62617200'],
    ['fdb', { element: 'string' }, 'F\u00d4O\0bar', '0246c3944f00ff62617200'],
    ['fdb', { element: 'float' }, -42, '203dd7ffff'],
    ['fdb', { element: 'bool' }, true, '27'],
    ['fdbTuple', { elements: ['string', 'int'], nested: true }, ['a', 1n], '050261' + '00' + '1501' + '00'],
    // Bitcoin Core, serialize.h: VARINT; the protocol's compact size.
    ['bitcoinVarint', {}, 0x7fn, '7f'],
    ['bitcoinVarint', {}, 0x80n, '8000'],
    ['bitcoinVarint', {}, 0xffn, '807f'],
    ['bitcoinVarint', {}, 0x407fn, 'ff7f'],
    ['bitcoinVarint', {}, 0x4080n, '808000'],
    ['compactSize', {}, 252n, 'fc'],
    ['compactSize', {}, 515n, 'fd0302'],
    ['compactSize', {}, 0x10000n, 'fe00000100'],
    // Protobuf: 300 as varint, -2 as sint64.
    ['leb128', {}, 300n, 'ac02'],
    ['leb128', { zigzag: true }, -2n, '03'],
    // RFC 4648.
    ['base32', {}, new TextEncoder().encode('foob'), text('MZXW6YQ')],
    ['base32', { variant: 'hex' }, new TextEncoder().encode('fooba'), text('CPNMUOJ1')],
    ['base64url', {}, Uint8Array.of(0xfb, 0xff), text('-_8')],
    ['hex', { upper: true }, Uint8Array.of(0xab), text('AB')],
    ['uuid', {}, '018f3c1e-4b7a-7c3d-9e21-a4b5c6d7e8f9', '018f3c1e4b7a7c3d9e21a4b5c6d7e8f9'],
    ['decimal', { width: 5 }, 42n, text('00042')],
    ['decimal', { width: 5 }, 123456n, text('123456')],
    ['decimal', { decimals: 2, signed: true }, -5n, text('-0.05')],
    ['i32le', {}, -2n, 'feffffff'],
    ['u24be', {}, 1n, '000001'],
    ['f64le', {}, 1, '000000000000f03f'],
    ['lengthPrefixed', { prefix: 'u16be', max: 300 }, Uint8Array.of(7), '000107'],
    ['terminated', { terminator: '2f' }, Uint8Array.of(0x61), '612f'],
    ['escaped', { style: 'doubling', except: ':' }, 'a:b', text('a::b')],
    ['escaped', { style: 'backslash', except: ':' }, 'a:\\', text('a\\:\\\\')],
    ['escaped', { style: 'percent', except: ':' }, 'a:%', text('a%3A%25')],
    ['u16be', { descending: true }, 1n, 'fffe'],
    ['repeated', { of: { u8: 'n' }, separator: '/' }, [1n, 2n], '012f02'],
    ['optional', { of: ['#', { u8: 'n' }] }, null, ''],
    [
      'timestamp',
      { fraction: 9, suffix: '' },
      '2026-03-01T12:00:00.000000001',
      text('2026-03-01T12:00:00.000000001')
    ]
  ])('%s %j writes %s as %s', (name, options, value, hex) => {
    const codec = codecOf(name, options)
    expect(toHex(wordOf(codec, value))).toBe(hex)
    expect(codec.read(fromHex(hex), 0, hex.length / 2)).toStrictEqual(value)
  })

  it.each([
    ['leb128', {}, '8000'],
    ['leb128', { max: 200 }, 'c901'],
    ['compactSize', {}, 'fdfc00'],
    ['cockroachVarint', {}, 'f66d'],
    ['fdb', { element: 'int' }, '1500'],
    ['base32', {}, text('MZXW6YR')],
    ['decimal', {}, text('01')],
    ['decimal', { signed: true }, text('-0')],
    ['f64be', {}, '8000000000000000'],
    ['escaped', { style: 'percent', except: ':' }, text('%41')],
    ['timestamp', {}, text('2026-13-01T12:00:00Z')],
    ['pattern', { matches: '[a-z]+(/[0-9]{2})?' }, text('a/1')],
    ['pattern', { matches: '[^:\\d]+' }, text('a1')]
  ])('%s %j has no word %s', (name, options, hex) => {
    expect(codecOf(name, options).language.matcher.departs(fromHex(hex), 0, hex.length / 2)).not.toBe(-1)
  })

  it('patterns are what a regular expression accepts', () => {
    const sources = ['a|bc*', '[ab]{1,3}c?', '(?:ab)+', '\\w-\\d', '[^a]b', 'a.c', '\\x61\\.', '[a\\-c-]', '']
    for (const source of sources) {
      const { matcher } = codecOf('pattern', { matches: source }).language
      const native = new RegExp(`^(?:${source})$`, 'u')
      fc.assert(
        fc.property(fc.string({ unit: fc.constantFrom(...'abc1-.é'), maxLength: 5 }), given => {
          const bytes = new TextEncoder().encode(given)
          expect(matcher.departs(bytes, 0, bytes.length) === -1, `${source} ${given}`).toBe(
            native.test(given)
          )
        }),
        { numRuns: 80 }
      )
    }
  })
})
