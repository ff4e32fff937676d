/**
 * The JSON form of values, read and written by one declaration. Reading is strict: a field that is missing, unknown
 * or malformed is refused with its path.
 */
import { QuoinError } from '@quoin/primitives'
import { bigDec, DEC, dec } from '../decimal.ts'
import { formatTime, parseTime, SECOND, type Time } from '../time.ts'

export interface Form<T> {
  read(json: unknown, path: string): T
  write(value: T): unknown
}

export const malformed = (path: string, expected: string, cause?: unknown): QuoinError =>
  new QuoinError('ERR_LIQUIDITY_IMPORT', `${path} is not ${expected}`, { path, cause })

/** Text that a parser reads; its errors get the path. */
const textForm = <T>(expected: string, read: (text: string) => T, write: (value: T) => string): Form<T> => ({
  read(json, path) {
    if (typeof json !== 'string') throw malformed(path, expected)
    try {
      return read(json)
    } catch (error) {
      if (error instanceof QuoinError) throw malformed(path, expected, error)
      throw error
    }
  },
  write
})

const digits = (pattern: RegExp, expected: string): Form<bigint> => ({
  read(json, path) {
    if (typeof json !== 'string' || !pattern.test(json)) throw malformed(path, expected)
    return BigInt(json)
  },
  write: value => value.toString()
})

export const text: Form<string> = textForm(
  'a text',
  each => each,
  each => each
)
export const unsigned = digits(/^(?:0|[1-9][0-9]{0,19})$/, 'a number in digits')
export const signed = digits(/^(?:0|-?[1-9][0-9]{0,19})$/, 'an integer in digits')
export const decimal18 = textForm('a decimal of 18 places', dec.parse, dec.format)
export const decimal36 = textForm('a decimal of 36 places', bigDec.parse, bigDec.format)
/** A decimal of 36 places, stored with 18. */
export const narrow36 = textForm(
  'a decimal of 18 places',
  given => dec.parse(given) * DEC,
  value => {
    if (value % DEC !== 0n)
      throw new QuoinError('ERR_LIQUIDITY_EXPORT', 'a price has more places than this schema keeps', {
        price: bigDec.format(value)
      })
    return dec.format(value / DEC)
  }
)
export const moment: Form<Time> = textForm('a moment', parseTime, formatTime)

/** A duration as `60s` or `0.000000001s`, in nanoseconds. */
export const duration: Form<bigint> = textForm(
  'a duration',
  given => {
    const [, whole, fraction = ''] = /^(0|[1-9][0-9]{0,11})(?:\.([0-9]{1,9}))?s$/.exec(given) ?? []
    if (whole === undefined) throw malformed(given, 'a duration')
    return BigInt(whole) * SECOND + BigInt(fraction.padEnd(9, '0'))
  },
  value => {
    const fraction = (value % SECOND)
      .toString()
      .padStart(9, '0')
      .replace(/(000)+$/, '')
    return `${value / SECOND}${fraction && `.${fraction}`}s`
  }
)

export const list = <T>(item: Form<T>): Form<readonly T[]> => ({
  read(json, path) {
    if (!Array.isArray(json)) throw malformed(path, 'a list')
    return json.map((each, i) => item.read(each, `${path}[${i}]`))
  },
  write: values => values.map(value => item.write(value))
})

/** Null stands for undefined. */
export const nullable = <T>(form: Form<T>): Form<T | undefined> => ({
  read: (json, path) => (json === null ? undefined : form.read(json, path)),
  write: value => (value === undefined ? null : form.write(value))
})

/** An object that may be null; its presence is the value. */
export const presence: Form<boolean> = {
  read(json, path) {
    if (json === null) return false
    if (!isObject(json) || Object.keys(json).length > 0) throw malformed(path, 'null or an empty object')
    return true
  },
  write: value => (value ? {} : null)
}

/** A field under a name. A field without a name is absent from the JSON and has a constant value. */
export type FieldForm<T> = readonly [name: string, form: Form<T>] | { readonly always: T }

export const isObject = (json: unknown): json is Record<string, unknown> =>
  typeof json === 'object' && json !== null && !Array.isArray(json)

/** An object with exactly these fields, and constant texts. */
export const object = <T extends object>(
  fields: { readonly [K in keyof T]: FieldForm<T[K]> },
  constants: Readonly<Record<string, string>> = {}
): Form<T> => {
  const entries = Object.entries(fields) as [keyof T, FieldForm<never>][]
  const count = entries.filter(([, field]) => !('always' in field)).length + Object.keys(constants).length
  return {
    read(json, path) {
      if (!isObject(json)) throw malformed(path, 'an object')
      const value: Partial<T> = {}
      for (const [name, constant] of Object.entries(constants))
        if (json[name] !== constant) throw malformed(`${path}.${name}`, constant)
      for (const [key, field] of entries) {
        if ('always' in field) value[key] = field.always
        else value[key] = field[1].read(json[field[0]], `${path}.${field[0]}`)
      }
      const names = Object.keys(json)
      if (names.length !== count) {
        const known = new Set([
          ...Object.keys(constants),
          ...entries.map(([, field]) => ('always' in field ? '' : field[0]))
        ])
        throw malformed(`${path}.${names.find(name => !known.has(name))}`, 'known here')
      }
      return value as T
    },
    write(value) {
      const json: Record<string, unknown> = { ...constants }
      for (const [key, field] of entries)
        if (!('always' in field)) json[field[0]] = field[1].write(value[key] as never)
      return json
    }
  }
}

/** The one field of an object, without the object. */
export const inside = <T>(name: string, form: Form<T>): Form<T> => {
  const whole = object<{ value: T }>({ value: [name, form] as const })
  return { read: (json, path) => whole.read(json, path).value, write: value => whole.write({ value }) }
}
