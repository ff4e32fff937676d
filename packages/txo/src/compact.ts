/**
 * A value of JSON in few bytes, for records of outputs: numbers and amounts as LEB128, texts as in `compact-text.ts`. A
 * value is a tag and its content; no tag is the first byte of a JSON text.
 */
import { type Value, value } from '@quoin/keyspace'
import { encodeText, QuoinError, valueError } from '@quoin/primitives'
import { ByteReader, ByteWriter } from './compact-text.ts'

const TAG = {
  null: 0,
  false: 1,
  true: 2,
  whole: 3,
  float: 4,
  text: 5,
  array: 6,
  object: 7,
  /** A text that UTF-8 cannot hold, as JSON. */
  escaped: 8,
  /** Decimal text of a whole number without leading zeros. */
  amount: 11
} as const

const AMOUNT = /^(?:0|[1-9][0-9]{0,14})$/
const float = new DataView(new ArrayBuffer(8))

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

const write = (to: ByteWriter, item: Json): void => {
  if (item === null) to.byte(TAG.null)
  else if (typeof item === 'boolean') to.byte(item ? TAG.true : TAG.false)
  else if (typeof item === 'number') writeNumber(to, item)
  else if (typeof item === 'string') writeText(to, item)
  else if (Array.isArray(item)) {
    to.byte(TAG.array)
    to.count(item.length)
    for (const each of item) write(to, each)
  } else {
    const entries = Object.entries(item)
    to.byte(TAG.object)
    to.count(entries.length)
    for (const [key, each] of entries) {
      writeText(to, key)
      write(to, each)
    }
  }
}

const writeNumber = (to: ByteWriter, item: number): void => {
  if (Number.isSafeInteger(item) && item >= 0) {
    to.byte(TAG.whole)
    to.count(item)
    return
  }
  float.setFloat64(0, item)
  to.byte(TAG.float)
  to.bytes(new Uint8Array(float.buffer))
}

const writeText = (to: ByteWriter, item: string): void => {
  if (AMOUNT.test(item)) {
    to.byte(TAG.amount)
    to.count(Number(item))
  } else if (isWellFormed(item)) {
    to.byte(TAG.text)
    to.text(item)
  } else {
    const bytes = encodeText(JSON.stringify(item))
    to.byte(TAG.escaped)
    to.count(bytes.length)
    to.bytes(bytes)
  }
}

/** Whether the text has no lone surrogate. */
const isWellFormed = (text: string): boolean => !/\p{Surrogate}/u.test(text)

const read = (from: ByteReader): Json => {
  const tag = from.byte()
  switch (tag) {
    case TAG.null:
      return null
    case TAG.false:
      return false
    case TAG.true:
      return true
    case TAG.whole:
      return from.count()
    case TAG.float: {
      const bytes = from.bytes(8)
      return new DataView(bytes.buffer, bytes.byteOffset, 8).getFloat64(0)
    }
    case TAG.array:
      return Array.from({ length: from.length() }, () => read(from))
    case TAG.object:
      return readObject(from)
    default:
      return readText(from, tag)
  }
}

const readObject = (from: ByteReader): Json => {
  const object: Record<string, Json> = {}
  for (let left = from.count(); left > 0; left--) {
    const key = readText(from, from.byte())
    const item = read(from)
    // An assignment would set the prototype.
    if (key === '__proto__') Object.defineProperty(object, key, { value: item, ...OWN })
    else object[key] = item
  }
  return object
}
const OWN = { writable: true, enumerable: true, configurable: true }

const readText = (from: ByteReader, tag: number): string => {
  if (tag === TAG.text) return from.text()
  if (tag === TAG.amount) return String(from.count())
  if (tag === TAG.escaped) return JSON.parse(new TextDecoder().decode(from.bytes(from.count()))) as string
  throw from.damaged(`unknown tag ${tag}`)
}

/** Any value of JSON. */
export const compact = <T>(): Value<T> =>
  value<T>({
    name: 'compact JSON',
    encode(item) {
      const writer = new ByteWriter()
      write(writer, plain(item))
      return writer.finish()
    },
    decode(bytes) {
      const reader = new ByteReader(bytes)
      try {
        const item = read(reader)
        if (!reader.isAtEnd) throw reader.damaged('bytes follow its end')
        return item as T
      } catch (error) {
        if (error instanceof QuoinError) throw error
        throw reader.damaged('a text is not JSON', error)
      }
    }
  })

/** The value as JSON has it: without undefined properties, and with the results of `toJSON`. */
const plain = (item: unknown): Json => {
  if (typeof item === 'string' || typeof item === 'boolean' || isTexts(item)) return item
  let text: string | undefined
  try {
    text = JSON.stringify(item)
  } catch {
    // A bigint or a cycle: refused below, like any value without a JSON text.
  }
  if (text === undefined) throw valueError('compact JSON', item, 'something JSON can say')
  return JSON.parse(text) as Json
}

/** Lists of events need no copy. */
const isTexts = (item: unknown): item is readonly string[] =>
  Array.isArray(item) && item.every(each => typeof each === 'string')
