/**
 * The components of layout files, in one table: name, meaning, options, codec, and examples of options. The codec says
 * how values are encoded and decoded, in which order they walk, and which values are samples. The parser, the JSON
 * Schema, the documentation and the tests follow from the table.
 */
import { QuoinError } from '@quoin/primitives'
import type { Codec } from '../codec.ts'
import { base58, bech32 } from '../components/base-text.ts'
import { bytes, hex } from '../components/bytes.ts'
import { groupCodec, optionalCodec, repeatedCodec } from '../components/composite.ts'
import { decimalTextCodec } from '../components/decimal-text.ts'
import {
  enumerationCodec,
  lengthPrefixedCodec,
  terminatedCodec,
  truncatedCodec
} from '../components/delimited.ts'
import { styledTextCodec } from '../components/escape.ts'
import { FDB_ELEMENTS, fdbTupleCodec } from '../components/fdb-tuple.ts'
import {
  base32Codec,
  base64urlCodec,
  hexUpperCodec,
  timestampCodec,
  uuidCodec
} from '../components/more-text.ts'
import { patternOf } from '../components/pattern-text.ts'
import { floatCodec } from '../components/raw-float.ts'
import { asciiBytes, asciiCodec, escaped, text, textPatternCodec } from '../components/text.ts'
import {
  bitcoinVarintCodec,
  cockroachVarintCodec,
  compactSizeCodec,
  leb128Codec
} from '../components/varint.ts'
import { integerCodec } from '../components/wide-integer.ts'
import { ByteSet } from '../language/byteset.ts'
import { alt, repeat, set, word } from '../language/pattern.ts'
import { type FdbElements, MAX_LENGTH, type OptionName, type Options } from './options.ts'

export interface LayoutComponent {
  readonly about: string
  readonly options: readonly OptionName[]
  readonly required?: readonly OptionName[]
  codec(options: Options): Codec<unknown>
  /** Options as files have them. The first are the most common. */
  readonly examples: readonly Readonly<Record<string, unknown>>[]
}

/** The widths of integers that have a name of their own; `uint` and `int` have any. */
const WIDTHS = [8, 16, 24, 32, 48, 64, 128, 256] as const

const given = <T extends object>(fields: T): { [K in keyof T]-?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]-?: Exclude<T[K], undefined>
  }

const lengthOf = (option: string, value: bigint | undefined): number | undefined => {
  if (value === undefined) return undefined
  if (value < 0n || value > BigInt(MAX_LENGTH))
    throw new QuoinError('ERR_KEY_VALUE', `invalid ${option}: expected 0 to ${MAX_LENGTH}`)
  return Number(value)
}

/** The bounds on a length: a fixed one, or a least and a greatest. */
const lengths = ({ length, min, max }: Options): { min?: number; max?: number } => {
  if (length === undefined) return given({ min: lengthOf('min', min), max: lengthOf('max', max) })
  if (min !== undefined || max !== undefined)
    throw new QuoinError('ERR_KEY_VALUE', 'give length, or min and max, and not both')
  return { min: length, max: length }
}

const LENGTHS: readonly OptionName[] = ['length', 'min', 'max']

const integers = (): Record<string, LayoutComponent> => {
  const table: Record<string, LayoutComponent> = {}
  for (const signed of [false, true]) {
    for (const bits of WIDTHS) {
      for (const endian of ['be', 'le'] as const) {
        if (bits === 8 && endian === 'le') continue
        const name = `${signed ? 'i' : 'u'}${bits}${bits === 8 ? '' : endian}`
        const littleEndian = endian === 'le'
        table[name] = {
          about: `${signed ? 'signed' : 'unsigned'} integer of ${bits / 8} bytes${bits === 8 ? '' : littleEndian ? ', little endian' : ', big endian'}`,
          options: signed ? ['min', 'max', 'flipped'] : ['min', 'max'],
          codec: ({ min, max, flipped }) =>
            integerCodec({ bits, signed, littleEndian, ...given({ min, max, flipped }) }),
          examples: signed ? [{}, { flipped: false }] : [{}, { max: 200 }]
        }
      }
    }
  }
  return table
}

const anyWidth = (signed: boolean): LayoutComponent => ({
  about: `${signed ? 'signed' : 'unsigned'} integer of any number of bytes`,
  options: signed ? ['bits', 'endian', 'min', 'max', 'flipped'] : ['bits', 'endian', 'min', 'max'],
  required: ['bits'],
  codec: ({ bits = 64, endian, min, max, flipped }) =>
    integerCodec({ bits, signed, littleEndian: endian === 'little', ...given({ min, max, flipped }) }),
  examples: [{ bits: 40 }, { bits: 24, endian: 'little' }]
})

const floats = (): Record<string, LayoutComponent> =>
  Object.fromEntries(
    ([32, 64] as const).flatMap(bits =>
      (['be', 'le'] as const).map((endian): [string, LayoutComponent] => [
        `f${bits}${endian}`,
        {
          about: `float of ${bits} bits, ${endian === 'be' ? 'big' : 'little'} endian`,
          options: ['sortable'],
          codec: ({ sortable = false }) => floatCodec({ bits, sortable, littleEndian: endian === 'le' }),
          examples: [{}, { sortable: true }]
        }
      ])
    )
  )

const fdbTuple = (elements: FdbElements, nested: boolean): Codec<unknown> =>
  fdbTupleCodec(
    elements.map(each => (typeof each === 'string' ? FDB_ELEMENTS[each]() : fdbTuple(each, true))),
    nested
  )

export const COMPONENTS: Readonly<Record<string, LayoutComponent>> = {
  ...integers(),
  uint: anyWidth(false),
  int: anyWidth(true),
  f64: {
    about: 'sortable float of 64 bits, big endian',
    options: [],
    codec: () => floatCodec({ bits: 64, sortable: true, littleEndian: false }),
    examples: [{}]
  },
  f32: {
    about: 'sortable float of 32 bits, big endian',
    options: [],
    codec: () => floatCodec({ bits: 32, sortable: true, littleEndian: false }),
    examples: [{}]
  },
  ...floats(),
  leb128: {
    about: 'LEB128, as Protobuf and Go write it; the shortest form',
    options: ['bits', 'max', 'zigzag'],
    codec: ({ bits, max, zigzag }) => leb128Codec(given({ bits, max, zigzag })),
    examples: [{}, { max: 200 }, { zigzag: true }, { bits: 32 }]
  },
  compactSize: {
    about: "Bitcoin's compact size; the shortest form",
    options: ['bits', 'max'],
    codec: ({ bits, max }) => compactSizeCodec(given({ bits, max })),
    examples: [{}, { max: 252 }]
  },
  bitcoinVarint: {
    about: "VARINT of Bitcoin Core's databases",
    options: ['bits', 'max'],
    codec: ({ bits, max }) => bitcoinVarintCodec(given({ bits, max })),
    examples: [{}, { bits: 32 }]
  },
  cockroachVarint: {
    about: "CockroachDB's ordered varint",
    options: ['bits', 'max', 'signed'],
    codec: ({ bits, max, signed }) => cockroachVarintCodec(given({ bits, max, signed })),
    examples: [{}, { signed: true }]
  },
  bytes: {
    about: 'any bytes',
    options: LENGTHS,
    codec: options => bytes('x', lengths(options)).codec,
    examples: [{}, { length: 20 }, { min: 1, max: 20 }]
  },
  lengthPrefixed: {
    about: 'the length, then as many bytes',
    options: ['prefix', ...LENGTHS],
    codec: ({ prefix = 'u8', ...options }) => lengthPrefixedCodec(prefix, lengths(options)),
    examples: [{}, { prefix: 'u16be', max: 300 }, { prefix: 'leb128', max: 200 }, { max: 1 }]
  },
  terminated: {
    about: 'bytes other than the terminator (00), then the terminator',
    options: ['terminator', ...LENGTHS],
    codec: ({ terminator = 0, ...options }) => terminatedCodec(terminator, lengths(options)),
    examples: [{}, { terminator: '2f' }, { min: 1, max: 20 }]
  },
  truncated: {
    about: 'the first bytes of a digest, which do not tell it from others',
    options: ['length', 'from'],
    required: ['length'],
    codec: ({ length = 8, from = 32 }) => truncatedCodec(length, from),
    examples: [{ length: 8 }, { length: 4, from: 20 }]
  },
  hex: {
    about: 'bytes as hexadecimal text; lengths count bytes, two digits each',
    options: [...LENGTHS, 'upper'],
    codec: ({ upper, ...options }) =>
      upper ? hexUpperCodec(lengths(options)) : hex('x', lengths(options)).codec,
    examples: [{}, { length: 20 }, { upper: true }]
  },
  base32: {
    about: 'bytes as base32 text without padding; lengths count bytes',
    options: [...LENGTHS, 'variant'],
    codec: ({ variant = 'rfc4648', ...options }) => base32Codec(variant, lengths(options)),
    examples: [{}, { variant: 'hex' }, { length: 20, variant: 'lower' }]
  },
  base64url: {
    about: 'bytes as base64url text without padding; lengths count bytes',
    options: LENGTHS,
    codec: options => base64urlCodec(lengths(options)),
    examples: [{}, { length: 16 }]
  },
  base58: {
    about: 'base58 text; lengths count characters',
    options: LENGTHS,
    codec: options => base58('x', lengths(options)).codec,
    examples: [{}, { max: 40 }]
  },
  bech32: {
    about: 'bech32 text: the human-readable part, 1, data; the checksum is not proved',
    options: [...LENGTHS, 'hrp'],
    codec: ({ hrp, ...options }) => bech32('x', { ...lengths(options), ...given({ hrp }) }).codec,
    examples: [{}, { hrp: 'osmo', max: 60 }]
  },
  uuid: {
    about: 'UUID, as 16 bytes or as text',
    options: ['form'],
    codec: ({ form = 'binary' }) => uuidCodec(form),
    examples: [{}, { form: 'text' }]
  },
  timestamp: {
    about: 'time as text of one length: 2026-03-01T12:00:00Z',
    options: ['fraction', 'suffix'],
    codec: ({ fraction = 0, suffix = 'Z' }) => timestampCodec(fraction, suffix),
    examples: [{}, { fraction: 9, suffix: '' }]
  },
  decimal: {
    about: 'number in base 10, without leading zeros or padded to a width',
    options: ['bits', 'max', 'width', 'decimals', 'signed'],
    codec: ({ bits, max, width, decimals, signed }) =>
      decimalTextCodec(given({ bits, max, width, decimals, signed })),
    examples: [
      {},
      { bits: 8 },
      { width: 20 },
      { signed: true, max: 99 },
      { decimals: 2, max: 12345 },
      { width: 3, max: 5000 }
    ]
  },
  text: {
    about: 'UTF-8 text, without the characters in except; lengths count bytes',
    options: ['except', ...LENGTHS],
    codec: ({ except = '', ...options }) => text('x', { except, ...lengths(options) }).codec,
    examples: [{}, { except: ':|', min: 1, max: 10 }]
  },
  escaped: {
    about:
      'any text with the characters in except escaped; without a style by their neighbours, which keeps the order',
    options: ['except', 'style'],
    codec: ({ except, style }) =>
      style === undefined
        ? escaped('x', except === undefined ? {} : { reserved: except }).codec
        : styledTextCodec({ style, ...(except !== undefined && { reserved: except }) }),
    examples: [
      {},
      { except: '/' },
      { style: 'doubling', except: ':' },
      { style: 'backslash', except: ':' },
      { style: 'percent', except: ':/' },
      { style: 'fdb' },
      { style: 'cockroach' }
    ]
  },
  alphabet: {
    about: 'text of the given characters; at least one unless min says so',
    options: ['characters', ...LENGTHS],
    required: ['characters'],
    codec({ characters = '', ...options }) {
      const { min = 1, max = Number.POSITIVE_INFINITY } = lengths(options)
      return asciiCodec(
        'alphabet',
        'text',
        repeat(set(ByteSet.from(asciiBytes('alphabet', characters))), min, max)
      )
    },
    examples: [{ characters: 'abc' }, { characters: 'ab', min: 0, max: 3 }]
  },
  pattern: {
    about: 'text that matches a regular expression as a whole',
    options: ['matches', ...LENGTHS],
    required: ['matches'],
    codec: ({ matches = '', ...options }) => textPatternCodec(patternOf(matches), lengths(options)),
    examples: [{ matches: '[a-z][a-z0-9/]{2,12}' }, { matches: 'v\\d+|latest' }]
  },
  word: {
    about: 'one of some words',
    options: ['words'],
    required: ['words'],
    codec: ({ words = [] }) =>
      asciiCodec('word', 'word', alt(...words.map(each => word(asciiBytes('word', each))))),
    examples: [{ words: ['bid', 'ask'] }]
  },
  enum: {
    about: 'names that stand for bytes, in the order of the file',
    options: ['values'],
    required: ['values'],
    codec: ({ values = new Map() }) => enumerationCodec(values),
    examples: [{ values: { open: '01', closed: '02' } }, { values: { low: '02', high: '01' } }]
  },
  group: {
    about: 'several parts as one component',
    options: ['of'],
    required: ['of'],
    codec: ({ of = [] }) => groupCodec(of),
    examples: [{ of: [{ u16be: 'major' }, { u16be: 'minor' }] }]
  },
  optional: {
    about: 'the parts, or nothing',
    options: ['of'],
    required: ['of'],
    codec: ({ of = [] }) => optionalCodec(of),
    examples: [{ of: ['#', { decimal: 'n', max: 12 }] }]
  },
  repeated: {
    about: 'the parts any number of times, with the separator between',
    options: ['of', 'separator', 'min', 'max'],
    required: ['of'],
    codec: ({ of = [], separator, min, max }) =>
      repeatedCodec(of, given({ separator, min: lengthOf('min', min), max: lengthOf('max', max) })),
    examples: [
      { of: { alphabet: 'item', characters: 'ab' }, separator: '/' },
      { of: { u16be: 'n' }, min: 1, max: 3 }
    ]
  },
  fdb: {
    about: "element of FoundationDB's tuple layer",
    options: ['element'],
    required: ['element'],
    codec: ({ element = 'bytes' }) => FDB_ELEMENTS[element](),
    examples: Object.keys(FDB_ELEMENTS).map(element => ({ element }))
  },
  fdbTuple: {
    about: "tuple of FoundationDB's tuple layer as one component",
    options: ['elements', 'nested'],
    required: ['elements'],
    codec: ({ elements = [], nested = false }) => fdbTuple(elements, nested),
    examples: [{ elements: ['string', 'int'] }, { elements: ['int', ['bytes', 'bool']], nested: true }]
  }
}
