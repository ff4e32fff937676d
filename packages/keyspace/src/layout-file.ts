/**
 * Layout files: layouts of other systems as JSON, `{ name, collections: [{ name, key, scans }] }`. Parsing is strict,
 * and errors have the JSON path. `docs/audit.md` describes the format.
 */
import { fromHex, QuoinError, reasonOf } from '@quoin/primitives'
import { type Codec, type Component, component } from './codec.ts'
import { base58, bech32 } from './components/base-text.ts'
import { bytes, hex } from './components/bytes.ts'
import { decimal } from './components/decimal.ts'
import { f64 } from './components/float.ts'
import { i64, u8, u16, u32, u64 } from './components/integer.ts'
import { escaped, text } from './components/text.ts'
import { type KeyPart, partsOf, promisedScan } from './declaration.ts'
import { Layout, type Part } from './layout.ts'
import type { PromisedScan, Subject } from './proof/findings.ts'

export interface LayoutFile {
  readonly name: string
  readonly subjects: readonly Subject[]
}

/** Limits of a file, which bound the time of its proofs. */
const MAX_COLLECTIONS = 1000
const MAX_PARTS = 64
const MAX_LENGTH = 512

/** Components without options that a layout file may use beside those of this package, by codec name. */
export type LayoutComponents = Readonly<Record<string, (name: string) => Component>>

/**
 * Parses the text of a layout file.
 *
 * @example
 * const layout = `{ "name": "app", "collections": [{ "name": "a", "key": ["a:", { "text": "x" }, ":", { "text": "y" }] }] }`
 * auditLayout(parseLayout(layout)).findings.map(({ property }) => property) // [ 'P1' ]
 */
export const parseLayout = (source: string, components: LayoutComponents = {}): LayoutFile => {
  let file: unknown
  try {
    file = JSON.parse(source)
  } catch (error) {
    throw malformed('$', `not JSON: ${reasonOf(error)}`, error)
  }
  const { name, collections } = record(file, '$', ['name', 'collections'])
  const list = array(collections, '$.collections', MAX_COLLECTIONS)
  const names = new Set<string>()
  const codecs: Codecs = {
    known: {
      ...CODECS,
      ...Object.fromEntries(Object.entries(components).map(([codec, make]) => [codec, { options: [], make }]))
    },
    made: new Map()
  }
  return {
    name: nonEmpty(name, '$.name'),
    subjects: list.map((each, i) => {
      const subject = parseCollection(each, `$.collections[${i}]`, codecs)
      if (names.has(subject.name))
        throw malformed(`$.collections[${i}].name`, `${subject.name} is declared twice`)
      names.add(subject.name)
      return subject
    })
  }
}

interface Codecs {
  /** The codecs that a file may name. */
  readonly known: Readonly<Record<string, LayoutCodec>>
  /** Codecs by name and options: a file of many collections has few, and each is constructed and checked once. */
  readonly made: Map<string, Codec<unknown>>
}

/** The options that a codec takes, and the constructor of its component. */
interface LayoutCodec {
  readonly options: readonly (keyof Options)[]
  readonly make: (name: string, options: Options) => Component
}

const parseCollection = (given: unknown, path: string, codecs: Codecs): Subject => {
  const { name, key, scans } = record(given, path, ['name', 'key', 'scans'])
  const layoutParts = array(key, `${path}.key`, MAX_PARTS).map((part, i) =>
    parsePart(part, `${path}.key[${i}]`, codecs)
  )
  const parts = located(`${path}.key`, () => partsOf(layoutParts))
  return {
    name: nonEmpty(name, `${path}.name`),
    layout: new Layout(parts),
    scans: array(scans ?? [], `${path}.scans`, MAX_PARTS).map((scan, i) =>
      parseScan(scan, parts, `${path}.scans[${i}]`)
    )
  }
}

interface Options {
  readonly length?: number
  readonly bits?: number
  readonly except?: string
  readonly max?: bigint
}

const CODECS: Readonly<Record<string, LayoutCodec>> = {
  u8: { options: ['max'], make: (name, { max }) => u8(name, atMost(max, 0xff)) },
  u16be: { options: ['max'], make: (name, { max }) => u16(name, atMost(max, 0xffff)) },
  u32be: { options: ['max'], make: (name, { max }) => u32(name, atMost(max, 0xffffffff)) },
  u64be: { options: ['max'], make: (name, { max }) => u64(name, max === undefined ? {} : { max }) },
  i64be: { options: [], make: i64 },
  f64: { options: [], make: f64 },
  bytes: { options: ['length', 'max'], make: (name, options) => bytes(name, lengths(options)) },
  hex: { options: ['length', 'max'], make: (name, options) => hex(name, lengths(options)) },
  decimal: {
    options: ['bits', 'max'],
    make: (name, { bits, max }) =>
      decimal(name, { ...(bits === undefined ? {} : { bits }), ...(max === undefined ? {} : { max }) })
  },
  text: {
    options: ['except', 'max'],
    make: (name, { except = '', ...options }) => text(name, { except, ...lengths(options) })
  },
  escaped: {
    options: ['except'],
    make: (name, { except }) => escaped(name, except === undefined ? {} : { reserved: except })
  },
  bech32: { options: ['max'], make: (name, options) => bech32(name, lengths(options)) },
  base58: { options: ['max'], make: (name, options) => base58(name, lengths(options)) }
}

/** The codecs that every layout file may name. */
export const LAYOUT_CODECS = Object.keys(CODECS)

const atMost = (max: bigint | undefined, width: number): { max?: number } => {
  if (max === undefined) return {}
  if (max > BigInt(width)) throw new QuoinError('ERR_KEY_VALUE', `invalid max: expected at most ${width}`)
  return { max: Number(max) }
}

const lengths = ({ length, max }: Options): { length?: number; max?: number } => {
  if (max !== undefined && max > BigInt(MAX_LENGTH))
    throw new QuoinError('ERR_KEY_VALUE', `invalid max: expected at most ${MAX_LENGTH} bytes`)
  return { ...(length === undefined ? {} : { length }), ...(max === undefined ? {} : { max: Number(max) }) }
}

const parsePart = (given: unknown, path: string, codecs: Codecs): KeyPart => {
  if (typeof given === 'string') return given
  const entries = Object.entries(record(given, path))
  const named = entries.filter(([name]) => name === 'raw' || Object.hasOwn(codecs.known, name))
  if (named.length === 0)
    throw malformed(path, `no codec name; one of: raw ${Object.keys(codecs.known).join(' ')}`)
  if (named.length > 1) throw malformed(path, `two codec names, ${named.map(([name]) => name).join(' and ')}`)
  const [codec, value] = named[0]!
  if (codec === 'raw') {
    if (entries.length > 1) throw malformed(path, 'raw takes no options')
    if (typeof value !== 'string' || value === '')
      throw malformed(`${path}.raw`, 'literal bytes in hexadecimal')
    return located(`${path}.raw`, () => fromHex(value))
  }
  const { options, make } = codecs.known[codec]!
  const name = nonEmpty(value, `${path}.${codec}`)
  const settings: Record<string, unknown> = {}
  for (const [option, setting] of entries) {
    if (option === codec) continue
    if (!options.includes(option as keyof Options)) {
      throw malformed(
        `${path}.${option}`,
        `${codec} takes ${options.length ? `only ${options.join(', ')}` : 'no options'}`
      )
    }
    settings[option] = parseOption(option as keyof Options, setting, `${path}.${option}`)
  }
  const key = JSON.stringify([
    codec,
    Object.entries(settings)
      .map(([option, setting]) => [option, `${setting}`])
      .sort()
  ])
  const made = codecs.made.get(key) ?? located(path, () => make(name, settings as Options).codec)
  codecs.made.set(key, made)
  return component(name, made)
}

const parseOption = (option: keyof Options, given: unknown, path: string): number | bigint | string => {
  switch (option) {
    case 'except':
      if (typeof given !== 'string') throw malformed(path, 'the characters that cannot occur, as a string')
      return given
    case 'length':
      return integer(given, path, 1, MAX_LENGTH)
    case 'bits':
      return integer(given, path, 1, 256)
    case 'max':
      // A JSON number above 2^53 is not exact, so a string of digits is accepted too.
      if (typeof given === 'string' && /^(0|[1-9][0-9]{0,77})$/.test(given)) return BigInt(given)
      if (typeof given === 'number' && given > Number.MAX_SAFE_INTEGER)
        throw malformed(path, 'write numbers above 2^53 as a string of digits')
      return BigInt(integer(given, path, 0, Number.MAX_SAFE_INTEGER))
  }
}

const parseScan = (given: unknown, parts: readonly Part[], path: string): PromisedScan => {
  if (typeof given !== 'object' || given === null) throw malformed(path, 'a list of components, or an object')
  const { prefix, trailing, order } = Array.isArray(given)
    ? { prefix: given, trailing: undefined, order: undefined }
    : record(given, path, ['prefix', 'trailing', 'order'])
  const at = Array.isArray(given) ? path : `${path}.prefix`
  const names = parts.flatMap(part => (part.kind === 'component' ? [part.component.name] : []))
  const components = array(prefix, at, MAX_PARTS).map((name, i) => {
    if (typeof name !== 'string' || !names.includes(name)) {
      throw malformed(
        `${at}[${i}]`,
        `the key has no component ${JSON.stringify(name)}; it has ${names.join(', ') || 'none'}`
      )
    }
    return name
  })
  if (new Set(components).size < components.length) throw malformed(at, 'a component is named twice')
  if (trailing !== undefined && typeof trailing !== 'boolean')
    throw malformed(`${path}.trailing`, 'true or false')
  if (order !== undefined && order !== 'value')
    throw malformed(`${path}.order`, 'only "value" can be claimed')
  return promisedScan(parts, components, order, trailing)
}

const malformed = (path: string, message: string, cause?: unknown): QuoinError =>
  new QuoinError('ERR_AUDIT_FORMAT', `${path}: ${message}`, { path, cause })

/** Adds the path in the file to the error of a declaration. */
const located = <T>(path: string, make: () => T): T => {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof QuoinError)) throw error
    throw malformed(path, error.message, error)
  }
}

const record = (given: unknown, path: string, fields?: readonly string[]): Record<string, unknown> => {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw malformed(path, 'an object is needed')
  for (const field of Object.keys(given)) {
    if (fields && !fields.includes(field))
      throw malformed(`${path}.${field}`, `unknown; known: ${fields.join(', ')}`)
  }
  return given as Record<string, unknown>
}

const array = (given: unknown, path: string, most: number): unknown[] => {
  if (!Array.isArray(given)) throw malformed(path, 'an array is needed')
  if (given.length > most) throw malformed(path, `at most ${most} entries, not ${given.length}`)
  return given
}

const nonEmpty = (given: unknown, path: string): string => {
  if (typeof given !== 'string' || given === '') throw malformed(path, 'a name is needed')
  // Names are printed, and these characters could control a terminal.
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(given))
    throw malformed(path, 'a name has no control or formatting characters')
  return given
}

const integer = (given: unknown, path: string, least: number, most: number): number => {
  if (typeof given !== 'number' || !Number.isInteger(given) || given < least || given > most) {
    throw malformed(path, `a whole number from ${least} to ${most}`)
  }
  return given
}
