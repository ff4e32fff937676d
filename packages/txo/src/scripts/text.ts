/**
 * Untrusted bytes and text of scripts. One rule for all formats: text is UTF-8, and a field that is not counts as
 * absent, without replacement characters. Long values are left out: the data of an output is kept as long as the
 * output, and the script is in its transaction.
 */
import { isUtf8 } from 'node:buffer'

/** Longer texts are not events. With every byte escaped, the limit is far below the length of a key. */
const MAX_CLAIM = 256

/** UTF-8 text of at most `most` bytes; undefined for other bytes. */
export const textOf = (bytes: Uint8Array | undefined, most = MAX_CLAIM): string | undefined =>
  bytes !== undefined && bytes.length <= most && isUtf8(bytes) ? utf8(bytes) : undefined

const utf8 = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('utf8')

/** Whether the text can be part of an event. JSON text may have lone surrogates, which UTF-8 has not. */
export const isClaim = (text: string | undefined): text is string =>
  text !== undefined &&
  text !== '' &&
  text.length <= MAX_CLAIM &&
  Buffer.byteLength(text) <= MAX_CLAIM &&
  !/\p{Surrogate}/u.test(text)

/** A media type without parameters, in lower case, for comparison. */
export const mediaTypeOf = (text: string): string => text.split(';', 1)[0]!.trim().toLowerCase()

/** `toHex` for long scripts: native code of Node. */
export const hexOf = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('hex')
