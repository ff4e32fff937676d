/** Text of entries: strict UTF-8 without normalization. */
import { QuoinError } from '@quoin/primitives'

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const lossyDecoder = new TextDecoder('utf-8', { ignoreBOM: true })

export const bytesOf = (text: string): Uint8Array => encoder.encode(text)

/** Undefined when the bytes are not UTF-8. */
export const textOf = (bytes: Uint8Array): string | undefined => {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

/** With U+FFFD for bytes that are not UTF-8. */
export const lossyTextOf = (bytes: Uint8Array): string => lossyDecoder.decode(bytes)

/** @bsv/sdk drops a leading byte order mark, and then derives the keys of another tuple. */
export const BYTE_ORDER_MARK = '\ufeff'

export const withoutMark = (text: string): string =>
  text.startsWith(BYTE_ORDER_MARK) ? text.slice(BYTE_ORDER_MARK.length) : text

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

export const hexOf = (bytes: Uint8Array): string => {
  let hex = ''
  for (let i = 0; i < bytes.length; i++) hex += HEX[bytes[i]!]!
  return hex
}

/** Whether a value is a string without lone surrogates, which UTF-8 cannot encode. */
export const isText = (text: unknown): text is string =>
  typeof text === 'string' && !/\p{Surrogate}/u.test(text)

/** Throws `ERR_KV_ENTRY` with the field and the rule that it breaks. */
export const check = (holds: boolean, field: string, message: string): void => {
  if (!holds) throw new QuoinError('ERR_KV_ENTRY', message, { field })
}
