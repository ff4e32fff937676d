/** Strings to UTF-8 and back, for keys: short, mostly ASCII, and never silently repaired. */
import { allocateBytes } from './copies.ts'

/**
 * Writes the text as UTF-8 and returns the end. Text that does not fit is cut: callers check the end they get. A lone
 * surrogate has no UTF-8; where it stands, ff is written, which no well-formed text has.
 */
export const writeUtf8 = (text: string, target: Uint8Array, offset: number): number => {
  const bytes = encoder.encode(text)
  const lone = LONE_SURROGATE.exec(text)
  if (lone) bytes[encoder.encode(text.slice(0, lone.index)).length] = 0xff
  target.set(bytes.subarray(0, Math.max(0, target.length - offset)), Math.min(offset, target.length))
  return offset + bytes.length
}

/** The text as UTF-8, for short-lived use. Short texts are mostly ASCII. */
export const encodeText = (text: string): Uint8Array => {
  const { length } = text
  if (length > SHORT) return encoder.encode(text)
  const bytes = allocateBytes(length)
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i)
    if (code > 0x7f) return encoder.encode(text)
    bytes[i] = code
  }
  return bytes
}

/** Bytes below 80 as text. Node's own conversion is several times faster than building a string in JavaScript. */
export const readAscii = (source: Uint8Array, start: number, end: number): string =>
  latin1Slice ? latin1Slice.call(source, start, end) : decoder.decode(source.subarray(start, end))

export const readText = (source: Uint8Array, start: number, end: number): string => {
  for (let i = start; i < end; i++) {
    if (source[i]! > 0x7f) return decoder.decode(source.subarray(start, end))
  }
  return readAscii(source, start, end)
}

/** Whether every surrogate has its other half, so that the text has a UTF-8. */
export const isWellFormed = (text: string): boolean => !LONE_SURROGATE.test(text)

/** Text in quotes, with every character escaped that a terminal might act on or not show. */
export const quote = (text: string): string =>
  JSON.stringify(text).replace(
    /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
    char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
  )

/** The alphabet of base58: digits and letters without `0 O I l`. */
export const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** Up to here to write characters one by one is faster than to have it done. */
const SHORT = 400
const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/
// Absent in browsers; in Node, a method of Buffer that takes any Uint8Array but is not in its declared type.
const latin1Slice = (
  globalThis.Buffer?.prototype as
    | { latin1Slice?(this: Uint8Array, start: number, end: number): string }
    | undefined
)?.latin1Slice
