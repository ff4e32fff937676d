/**
 * Bytes and text from strangers. One rule for all formats: text is UTF-8, and a field that should be text and is not
 * counts as absent; nothing is replaced or guessed. What would be long is left out: the data of an output is kept
 * beside it for ever, and the script itself is never further away than its transaction.
 */
import { isUtf8 } from 'node:buffer'

/** Longer texts are no events. With every byte escaped it is still far below what a key may have. */
const MAX_CLAIM = 256

/** The text that the bytes are, if they are one of at most so many bytes. */
export const textOf = (bytes: Uint8Array | undefined, most = MAX_CLAIM): string | undefined =>
  bytes !== undefined && bytes.length <= most && isUtf8(bytes) ? utf8(bytes) : undefined

const utf8 = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('utf8')

/** Whether the text can be part of an event. JSON can say halves of characters, which no UTF-8 has. */
export const isClaim = (text: string | undefined): text is string =>
  text !== undefined &&
  text !== '' &&
  text.length <= MAX_CLAIM &&
  Buffer.byteLength(text) <= MAX_CLAIM &&
  !/\p{Surrogate}/u.test(text)

/** A media type as it is compared: without parameters, in lower case. */
export const mediaTypeOf = (text: string): string => text.split(';', 1)[0]!.trim().toLowerCase()

/** As `toHex`, at the speed that long scripts need. */
export const hexOf = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('hex')
