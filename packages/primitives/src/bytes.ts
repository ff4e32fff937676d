/** Bytes as keys are compared and printed: order by unsigned byte, a prefix before what extends it. */

import { quote } from './chars.ts'
import { QuoinError } from './error.ts'

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

export const toHex = (bytes: Iterable<number>): string => {
  let text = ''
  for (const byte of bytes) text += HEX[byte]
  return text
}

/** For messages: no more than the first forty bytes. */
export const shortHex = (bytes: Uint8Array): string =>
  bytes.length > 40 ? `${toHex(bytes.subarray(0, 40))}…` : toHex(bytes)

/** Strict: an even number of hexadecimal digits, either case, and nothing else. */
export const fromHex = (text: string): Uint8Array => {
  const wrong = /[^0-9a-f]/i.exec(text)
  if (wrong) {
    throw new QuoinError(
      'ERR_KEY_VALUE',
      `not hexadecimal: ${quote(wrong[0])} at character ${wrong.index + 1}`,
      {
        text
      }
    )
  }
  if (text.length % 2)
    throw new QuoinError('ERR_KEY_VALUE', `odd number of hexadecimal digits: ${text.length}`, { text })
  return Uint8Array.from({ length: text.length / 2 }, (_, i) =>
    Number.parseInt(text.slice(2 * i, 2 * i + 2), 16)
  )
}

const DIGITS = '0123456789abcdef'
const digit = (code: number): number => (code <= 0x39 ? code - 0x30 : code - 0x57)

/** Writes the hexadecimal text of `value`, from its last byte to its first when `reversed`. */
export const writeHex = (value: Uint8Array, target: Uint8Array, offset: number, reversed = false): number => {
  const end = offset + 2 * value.length
  for (let i = 0; i < value.length; i++) {
    const byte = value[reversed ? value.length - 1 - i : i]!
    target[offset + 2 * i] = DIGITS.charCodeAt(byte >> 4)
    target[offset + 2 * i + 1] = DIGITS.charCodeAt(byte & 15)
  }
  return end
}

/** Reads lower-case hexadecimal text, from its end to its start when `reversed`. */
export const readHex = (source: Uint8Array, start: number, end: number, reversed = false): Uint8Array => {
  const length = (end - start) / 2
  const value = new Uint8Array(length)
  for (let i = 0; i < length; i++) {
    value[reversed ? length - 1 - i : i] =
      (digit(source[start + 2 * i]!) << 4) | digit(source[start + 2 * i + 1]!)
  }
  return value
}

/** A copy of `source[start..end)`. Not just `slice`: that of a Node Buffer shares its memory. */
export const copyOf = (source: Uint8Array, start = 0, end = source.length): Uint8Array =>
  source.constructor === Uint8Array ? source.slice(start, end) : new Uint8Array(source.subarray(start, end))

export const compareBytes = (a: Uint8Array, b: Uint8Array): number => {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return a[i]! - b[i]!
  return a.length - b.length
}

export const equalBytes = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && startsWith(a, b)

export const startsWith = (bytes: Uint8Array, prefix: Uint8Array): boolean => {
  if (prefix.length > bytes.length) return false
  for (let i = 0; i < prefix.length; i++) if (bytes[i] !== prefix[i]) return false
  return true
}

export const concat = (...parts: Uint8Array[]): Uint8Array => {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let offset = 0
  for (const part of parts) {
    whole.set(part, offset)
    offset += part.length
  }
  return whole
}

/**
 * The least byte string above everything that begins with `prefix`, or null when there is none (the prefix is
 * empty or all `ff`). `01 ff` gives `02`: the trailing `ff` cannot be counted up, so it is dropped.
 */
export const prefixEnd = (prefix: Uint8Array): Uint8Array | null => {
  let last = prefix.length - 1
  while (last >= 0 && prefix[last] === 0xff) last--
  if (last < 0) return null
  const end = copyOf(prefix, 0, last + 1)
  end[last]!++
  return end
}

/** The least byte string above `key` itself. */
export const successor = (key: Uint8Array): Uint8Array => concat(key, Uint8Array.of(0))

/** Node's own conversion takes any Uint8Array. Browsers have none. */
const latin1Slice = (
  globalThis.Buffer?.prototype as
    | { latin1Slice?(this: Uint8Array, start: number, end: number): string }
    | undefined
)?.latin1Slice

/** Bytes as a key of a Map or a Set: a string with one character for each byte, in the order of the bytes. */
export const bytesKey: (bytes: Uint8Array) => string = latin1Slice
  ? bytes => latin1Slice.call(bytes, 0, bytes.length)
  : bytes => {
      let key = ''
      for (let i = 0; i < bytes.length; i++) key += String.fromCharCode(bytes[i]!)
      return key
    }

export const bytesOfKey = (key: string): Uint8Array => {
  const bytes = new Uint8Array(key.length)
  for (let i = 0; i < key.length; i++) bytes[i] = key.charCodeAt(i)
  return bytes
}
