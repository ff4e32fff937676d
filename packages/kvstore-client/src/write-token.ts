/**
 * The fields of a new token (BRC-35 §3.2) in the one canonical form that our clients emit.
 */
import { BYTE_ORDER_MARK, bytesOf, check, isText } from './text.ts'
import type { KvContent } from './token.ts'
import {
  CONTROLLER_RULE,
  isController,
  isProtocolID,
  MAX_KEY_LENGTH,
  PROTOCOL_RULE,
  protocolText
} from './tuple.ts'

/** Tags of a new token; nodes index each of them. */
export const MAX_TAGS = 100
/** In bytes. */
const MAX_TAG_LENGTH = 1000

const isTags = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length <= MAX_TAGS && value.every(tag => isText(tag) && isTagLength(tag))

/** A UTF-16 unit has at most three bytes in UTF-8, so short tags are not encoded. */
const isTagLength = (tag: string): boolean =>
  3 * tag.length <= MAX_TAG_LENGTH || bytesOf(tag).length <= MAX_TAG_LENGTH

/**
 * The fields of a new token, without the signature; without tags, in the form of four fields. Throws `ERR_KV_ENTRY` for
 * invalid content, and for content that @bsv/sdk reads differently: its PushDrop decoder reads no bytes as a zero byte and
 * the byte 16 as no bytes, and its text decoder drops a byte order mark.
 *
 * @example
 * import { writeFields } from '@quoin/kvstore-client/token'
 * const controller = `02${'11'.repeat(32)}`
 * const fields = writeFields({ protocolID: [1, 'kvstore'], key: 'name', value: 'Ty', controller, tags: [] })
 * new TextDecoder().decode(fields[1]) // 'name'
 */
export const writeFields = ({ protocolID, key, value, controller, tags }: KvContent): Uint8Array[] => {
  check(isProtocolID(protocolID), 'protocolID', PROTOCOL_RULE)
  check(
    isText(key) && key.length > 0 && key.length <= MAX_KEY_LENGTH,
    'key',
    `key must be a string of 1 to ${MAX_KEY_LENGTH} characters`
  )
  check(isText(value) && value !== '', 'value', 'value must be a string that is not empty')
  for (const [field, text] of Object.entries({ key, value })) {
    check(text !== '\x10', field, `${field} must not be the single byte 16, which @bsv/sdk reads as empty`)
    check(
      !text.startsWith(BYTE_ORDER_MARK),
      field,
      `${field} must not begin with a byte order mark, which @bsv/sdk drops`
    )
  }
  check(isController(controller), 'controller', CONTROLLER_RULE)
  check(
    isTags(tags),
    'tags',
    `tags must be a list of at most ${MAX_TAGS} strings of at most ${MAX_TAG_LENGTH} bytes`
  )
  return [
    ...[protocolText(protocolID), key, value].map(bytesOf),
    Uint8Array.from(controller.match(/../g)!, pair => Number.parseInt(pair, 16)),
    ...(tags.length > 0 ? [bytesOf(JSON.stringify(tags))] : [])
  ]
}

/** The signed bytes (§3.3): the concatenated fields. */
export const signedBytes = (fields: readonly Uint8Array[]): Uint8Array => {
  const bytes = new Uint8Array(fields.reduce((length, field) => length + field.length, 0))
  let at = 0
  for (const field of fields) {
    bytes.set(field, at)
    at += field.length
  }
  return bytes
}
