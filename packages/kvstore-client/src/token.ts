/**
 * The token of a global entry (BRC-35 §3.2): a PushDrop whose fields are the entry, signed by its controller.
 *
 *     ‹protocolID› ‹key› ‹value› ‹controller› [‹tags›] ‹signature›
 *
 * This module parses the form, in nodes and in browsers; a parsed token is not verified. The reader is tolerant: an entry
 * is identified by its decoded tuple, in any spelling of its JSON, and signed in the bytes that were emitted.
 */

import { hexOf, lossyTextOf, textOf, withoutMark } from './text.ts'
import { isCompressed, readScript } from './token-script.ts'
import { type KvTuple, MAX_KEY_LENGTH, normalizeProtocol, type ProtocolID } from './tuple.ts'

export { strictDer } from './signature.ts'
export { isText } from './text.ts'
export { writeToken } from './token-script.ts'
export {
  isProtocolID,
  type KvTuple,
  MAX_KEY_LENGTH,
  normalizeProtocol,
  type ProtocolID,
  protocolText,
  tupleText
} from './tuple.ts'
export { MAX_TAGS, signedBytes, writeFields } from './write-token.ts'

/** The content of an entry. */
export interface KvContent extends KvTuple {
  /** When the bytes are not UTF-8, as clients of @bsv/sdk show them: with U+FFFD for invalid ones. */
  readonly value: string
  /** The bytes of a value that is not UTF-8. */
  readonly valueBytes?: Uint8Array
  /** Empty for the form without tags and for an empty list. */
  readonly tags: readonly string[]
}

export interface KvToken extends KvContent {
  /** The signed fields: all but the signature. */
  readonly fields: readonly Uint8Array[]
  /** In DER, over the concatenated fields. */
  readonly signature: Uint8Array
  /** The public key that spends the token. */
  readonly lockKey: Uint8Array
  /** Other readings of the same script. The one that verifies is the token. */
  readonly others?: readonly KvToken[]
}

/** The reason why a script is not a token. */
export interface Refusal {
  readonly code: RefusalCode
  /** The section of BRC-35 that the script breaks. */
  readonly section: string
  readonly reason: string
}

export type RefusalCode =
  | 'shape'
  | 'fields'
  | 'protocolID'
  | 'key'
  | 'controller'
  | 'tags'
  | 'signature'
  | 'lock'
  | 'limit'

export const isRefusal = (read: KvToken | Refusal): read is Refusal => 'reason' in read

const SECTIONS: Readonly<Record<RefusalCode, string>> = {
  shape: '§5',
  fields: '§3.2',
  protocolID: '§2.2',
  key: '§2.2',
  controller: '§3.2',
  tags: '§2.2',
  signature: '§3.3',
  lock: '§3.2',
  limit: 'a limit of this node'
}

export const refusal = (code: RefusalCode, reason: string): Refusal => ({
  code,
  section: SECTIONS[code],
  reason
})

/** Refusals of parsed tokens. */
export const NOT_ON_CURVE = refusal('controller', 'field 4 is not a point on the curve')
export const FOREIGN_LOCK = refusal('lock', 'the lock key is not derived from controller, protocol and key')
export const BAD_SIGNATURE = refusal(
  'signature',
  'the last field is not a signature of the other fields by the lock key'
)

const ZERO = Uint8Array.of(0)

/** Parses a locking script. */
export const parseToken = (script: Uint8Array): KvToken | Refusal => {
  const read = readScript(script)
  if ('reason' in read) return refusal(read.code, read.reason)
  const { lockKey, signature } = read
  // A key is never empty, so OP_0 is a zero byte.
  const fields = read.fields[1]!.length === 0 ? read.fields.with(1, ZERO) : read.fields
  const token = readToken(fields, signature, lockKey)
  if (isRefusal(token)) return token
  const [first, ...others] = readingsOf(token)
  return others.length > 0 ? { ...first!, others } : first!
}

/**
 * The readings of a token. OP_0 encodes both no bytes and a zero byte. A byte order mark before a key is dropped by the
 * text decoder of @bsv/sdk, which then derives the keys of the rest; the standard derives those of the whole text.
 */
const readingsOf = (token: KvToken): KvToken[] => {
  const { key, fields } = token
  const keys = [...new Set([withoutMark(key), key])].filter(text => text !== '')
  const values = fields[2]!.length > 0 ? [fields] : [fields, fields.with(2, ZERO)]
  return keys.flatMap(text =>
    values.map(each => ({ ...token, key: text, value: lossyTextOf(each[2]!), fields: each }))
  )
}

const readToken = (
  fields: readonly Uint8Array[],
  signature: Uint8Array,
  lockKey: Uint8Array
): KvToken | Refusal => {
  const protocolID = readProtocolID(fields[0]!)
  if (!protocolID) {
    return refusal('protocolID', 'field 1 is not a protocol in JSON, for example [1,"kvstore"]')
  }
  const key = textOf(fields[1]!)
  if (!key || key.length > MAX_KEY_LENGTH) {
    return refusal('key', `field 2 is not a key of 1 to ${MAX_KEY_LENGTH} characters in UTF-8`)
  }
  const controller = fields[3]!
  if (!isCompressed(controller)) return refusal('controller', 'field 4 is not a compressed public key')
  const tags = fields[4] ? readTags(fields[4]) : []
  if (!tags) return refusal('tags', 'field 5 is not a JSON array of strings')
  const valueBytes = fields[2]!
  return {
    protocolID,
    key,
    value: lossyTextOf(valueBytes),
    ...(textOf(valueBytes) === undefined && { valueBytes }),
    controller: hexOf(controller),
    tags,
    fields,
    signature,
    lockKey
  }
}

/** RFC 8259 lets parsers ignore a byte order mark. */
const jsonOf = (bytes: Uint8Array): unknown => {
  const text = textOf(bytes)
  try {
    return text === undefined ? undefined : JSON.parse(withoutMark(text))
  } catch {
    return undefined
  }
}

const readProtocolID = (bytes: Uint8Array): ProtocolID | undefined => normalizeProtocol(jsonOf(bytes))

const readTags = (bytes: Uint8Array): string[] | undefined => {
  const value = jsonOf(bytes)
  return Array.isArray(value) && value.every(tag => typeof tag === 'string') ? value : undefined
}
