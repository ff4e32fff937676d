/** The options of components in layout files: for each its meaning, its JSON Schema and its parser. */
import { fromHex } from '@quoin/primitives'
import { LENGTH_PREFIXES, type LengthPrefix } from '../components/delimited.ts'
import { ESCAPE_STYLES, type EscapeStyleName } from '../components/escape.ts'
import { FDB_ELEMENTS, type FdbElement } from '../components/fdb-tuple.ts'
import { BASE32_ALPHABETS } from '../components/more-text.ts'
import type { Part } from '../layout.ts'
import { array, integer, located, malformed, record } from './errors.ts'

/** The limit on lengths, which bounds the time of proofs. */
export const MAX_LENGTH = 512
const MAX_WORDS = 1000
const MAX_TEXT = 4096

export type FdbElements = readonly (FdbElement | FdbElements)[]

export interface Options {
  readonly length?: number
  readonly min?: bigint
  readonly max?: bigint
  readonly bits?: number
  readonly width?: number
  readonly decimals?: number
  readonly fraction?: number
  readonly of?: readonly Part[]
  readonly from?: number
  readonly signed?: boolean
  readonly flipped?: boolean
  readonly sortable?: boolean
  readonly zigzag?: boolean
  readonly upper?: boolean
  readonly nested?: boolean
  readonly descending?: boolean
  readonly endian?: 'big' | 'little'
  readonly form?: 'binary' | 'text'
  readonly style?: EscapeStyleName
  readonly variant?: keyof typeof BASE32_ALPHABETS
  readonly prefix?: LengthPrefix
  readonly element?: FdbElement
  readonly elements?: FdbElements
  readonly except?: string
  readonly characters?: string
  readonly matches?: string
  readonly hrp?: string
  readonly suffix?: string
  readonly terminator?: number
  readonly separator?: Uint8Array
  readonly words?: readonly string[]
  readonly values?: ReadonlyMap<string, Uint8Array>
}

export type OptionName = keyof Options
type JsonSchema = Readonly<Record<string, unknown>>

/** Parses the parts of a composite, which are those of a key. */
type PartsParser = (given: unknown, path: string) => readonly Part[]

export interface OptionKind<T> {
  readonly about: string
  readonly schema: JsonSchema
  parse(given: unknown, path: string, parts: PartsParser): T
}

const count = (about: string, least: number, most: number): OptionKind<number> => ({
  about,
  schema: { type: 'integer', minimum: least, maximum: most },
  parse: (given, path) => integer(given, path, least, most)
})

const flag = (about: string): OptionKind<boolean> => ({
  about,
  schema: { type: 'boolean' },
  parse(given, path) {
    if (typeof given !== 'boolean') throw malformed(path, 'true or false')
    return given
  }
})

const choice = <T extends string>(about: string, ...values: T[]): OptionKind<T> => ({
  about,
  schema: { enum: values },
  parse(given, path) {
    if (!values.includes(given as T)) throw malformed(path, `one of ${values.join(', ')}`)
    return given as T
  }
})

const text = (about: string, expected: string): OptionKind<string> => ({
  about,
  schema: { type: 'string', maxLength: MAX_TEXT },
  parse(given, path) {
    if (typeof given !== 'string' || given.length > MAX_TEXT) throw malformed(path, expected)
    return given
  }
})

const INTEGER = /^(0|-?[1-9][0-9]{0,77})$/

const number = (about: string): OptionKind<bigint> => ({
  about,
  schema: {
    anyOf: [
      { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
      { type: 'string', pattern: INTEGER.source }
    ]
  },
  parse(given, path) {
    // A JSON number above 2^53 is not exact, so a string of digits is accepted too.
    if (typeof given === 'string' && INTEGER.test(given)) return BigInt(given)
    if (typeof given === 'number' && Math.abs(given) > Number.MAX_SAFE_INTEGER)
      throw malformed(path, 'write numbers above 2^53 as a string of digits')
    return BigInt(integer(given, path, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER))
  }
})

const HEX = { type: 'string', pattern: '^([0-9a-f]{2})+$' }

const bytesAt = (given: unknown, path: string): Uint8Array => {
  if (typeof given !== 'string' || given === '') throw malformed(path, 'bytes in hexadecimal')
  return located(path, () => fromHex(given))
}

const fdbElements = (given: unknown, path: string, depth = 0): FdbElements => {
  if (depth > 8) throw malformed(path, 'at most 8 tuples within each other')
  const list = array(given, path, 64)
  if (list.length === 0) throw malformed(path, 'at least one element')
  return list.map((each, i) => {
    if (Array.isArray(each)) return fdbElements(each, `${path}[${i}]`, depth + 1)
    return element.parse(each, `${path}[${i}]`, noParts)
  })
}
const noParts: PartsParser = (_, path) => {
  throw malformed(path, 'no parts can stand here')
}

const element = choice('the type of the element', ...(Object.keys(FDB_ELEMENTS) as FdbElement[]))

export const OPTIONS: { readonly [Name in OptionName]-?: OptionKind<NonNullable<Options[Name]>> } = {
  length: count('the number of bytes', 1, MAX_LENGTH),
  min: number('the least value; of text, bytes and lists the least length'),
  max: number('the greatest value; of text, bytes and lists the greatest length'),
  bits: count('the width of the number in bits', 1, 256),
  width: count('the least number of digits, filled with zeros', 1, 80),
  decimals: count('the number of digits after the point', 1, 40),
  fraction: count('the number of digits of the second', 0, 9),
  from: count('the number of bytes before truncation', 2, MAX_LENGTH),
  of: {
    about: 'a part, or a list of parts',
    schema: { $ref: '#/$defs/parts' },
    parse: (given, path, parts) => parts(given, path)
  },
  signed: flag('negative numbers too'),
  flipped: flag(
    'of signed integers: the top bit is flipped, so that they sort (big endian: yes, little endian: no)'
  ),
  sortable: flag('of floats: bits are flipped so that they sort'),
  zigzag: flag('signed numbers, alternating: 0, -1, 1, -2'),
  upper: flag('upper-case digits'),
  nested: flag('a tuple within a tuple, between 05 and 00'),
  descending: flag('every bit of the words is flipped: keys walk from the greatest value down'),
  endian: choice('the order of bytes', 'big', 'little'),
  form: choice('16 bytes, or 36 characters', 'binary', 'text'),
  style: choice('the style of escapes', ...(Object.keys(ESCAPE_STYLES) as EscapeStyleName[])),
  variant: choice('the alphabet', ...(Object.keys(BASE32_ALPHABETS) as (keyof typeof BASE32_ALPHABETS)[])),
  prefix: choice('the encoding of the length', ...LENGTH_PREFIXES),
  element,
  elements: {
    about: 'the types of the elements; a list is a tuple within',
    schema: { $ref: '#/$defs/fdbElements' },
    parse: (given, path) => fdbElements(given, path)
  },
  except: text(
    'ASCII characters that cannot occur, or that are escaped',
    'the characters that cannot occur, as a string'
  ),
  characters: text('the ASCII characters that may occur', 'characters as a string'),
  matches: text('a regular expression for the whole text', 'a regular expression as a string'),
  hrp: text('the part before the separator 1', 'the part before the separator, as a string'),
  suffix: text('the text after the seconds: Z, or nothing', 'the text after the seconds, as a string'),
  terminator: {
    about: 'the byte that ends the component, in hexadecimal',
    schema: { type: 'string', pattern: '^[0-9a-f]{2}$' },
    parse(given, path) {
      const bytes = bytesAt(given, path)
      if (bytes.length !== 1) throw malformed(path, 'one byte in hexadecimal')
      return bytes[0]!
    }
  },
  separator: {
    about: 'the literal between two items: text, or { "raw": "00" }',
    schema: {
      anyOf: [
        { type: 'string', minLength: 1, maxLength: 64 },
        { type: 'object', properties: { raw: HEX }, required: ['raw'], additionalProperties: false }
      ]
    },
    parse(given, path) {
      if (typeof given === 'string') {
        if (given === '' || given.length > 64) throw malformed(path, 'a separator of 1 to 64 characters')
        return new TextEncoder().encode(given)
      }
      return bytesAt(record(given, path, ['raw'])['raw'], `${path}.raw`)
    }
  },
  words: {
    about: 'the words, of ASCII characters',
    schema: {
      type: 'array',
      items: { type: 'string', maxLength: MAX_TEXT },
      minItems: 1,
      maxItems: MAX_WORDS
    },
    parse(given, path) {
      const list = array(given, path, MAX_WORDS)
      if (list.length === 0) throw malformed(path, 'at least one word')
      return list.map((each, i) => text('', 'a word').parse(each, `${path}[${i}]`, noParts))
    }
  },
  values: {
    about: 'the bytes of each name, in hexadecimal, in ascending order of values',
    schema: { type: 'object', additionalProperties: HEX, minProperties: 1, maxProperties: MAX_WORDS },
    parse(given, path) {
      const entries = Object.entries(record(given, path))
      if (entries.length === 0 || entries.length > MAX_WORDS) throw malformed(path, `1 to ${MAX_WORDS} names`)
      return new Map(entries.map(([name, bytes]) => [name, bytesAt(bytes, `${path}.${name}`)]))
    }
  }
}
