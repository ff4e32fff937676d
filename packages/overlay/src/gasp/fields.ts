/** Parsing of messages between nodes: requests, and answers of peers, which may be hostile. */
import { QuoinError } from '@quoin/primitives'

export type Fields = Readonly<Record<string, unknown>>
export type Refusal = (field: string, expected: string) => QuoinError

/** The fields of a JSON object. */
export const fieldsOf = (given: unknown, refusal: Refusal): Fields => {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw refusal('body', 'an object')
  return given as Fields
}

/** Refuses a request. */
export const malformed: Refusal = (field, expected) =>
  new QuoinError('ERR_SYNC_REQUEST', `${field} is not ${expected}`, { field })

/** Refuses an answer of a peer. */
export const nonsense: Refusal = (field, expected) =>
  new QuoinError('ERR_SYNC_PEER', `the peer sent a malformed answer: ${field} is not ${expected}`, {
    field
  })

export const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0
export const isScore = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0
export const isVout = (value: unknown): value is number => isCount(value) && value <= 0xffffffff
export const isHex = (value: unknown): value is string =>
  typeof value === 'string' && value.length % 2 === 0 && /^[0-9a-fA-F]+$/.test(value)

/** Undefined for a value that does not parse: the caller reports the field with its own error. */
export const attempt = <T>(read: () => T): T | undefined => {
  try {
    return read()
  } catch (error) {
    if (error instanceof QuoinError) return undefined
    throw error
  }
}
