/** Texts as they are stored: UTF-8, nothing else, and nothing of it changed. */
import { QuoinError } from '@quoin/primitives'

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export const bytesOf = (text: string): Uint8Array => encoder.encode(text)

/** Undefined when the bytes are not UTF-8. */
export const textOf = (bytes: Uint8Array): string | undefined => {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

export const hexOf = (bytes: ArrayLike<number>): string =>
  Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')

/** Half of a pair of surrogates is no text: UTF-8 cannot say it. */
export const isText = (text: unknown): text is string =>
  typeof text === 'string' && !/\p{Surrogate}/u.test(text)

/** Throws what is wrong with an entry. */
export const check = (holds: boolean, field: string, message: string): void => {
  if (!holds) throw new QuoinError('ERR_KV_ENTRY', message, { field })
}
