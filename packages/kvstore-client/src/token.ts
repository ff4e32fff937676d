/**
 * The token of a global entry (BRC-35 §3.2): a PushDrop whose fields are the entry, signed by its controller.
 *
 *     ‹lock key› OP_CHECKSIG ‹protocolID› ‹key› ‹value› ‹controller› [‹tags›] ‹signature› OP_2DROP … [OP_DROP]
 *
 * This module parses and writes the form, in nodes and in browsers; a parsed token is not verified. `writeToken` writes a
 * parsed script back in the same bytes.
 */
import { buildScript, OP, pushedBy, ScriptCursor } from '@quoin/primitives'
import { bytesOf, check, hexOf, isText, textOf } from './text.ts'

export { isText } from './text.ts'

/** Security level and name, the parameters of key derivation in wallets (BRC-43). */
export type ProtocolID = readonly [level: 0 | 1 | 2, name: string]

/** The content of an entry. */
export interface KvContent {
  readonly protocolID: ProtocolID
  readonly key: string
  readonly value: string
  /** The compressed public key that controls the entry, in hex. */
  readonly controller: string
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
  /** When the value is OP_0, which encodes both no bytes and a zero byte: the token with the zero byte. */
  readonly withZero?: KvToken
}

/** The reason why a script is not a token. */
export interface Refusal {
  readonly code: RefusalCode
  readonly reason: string
}

export type RefusalCode =
  | 'shape'
  | 'fields'
  | 'protocolID'
  | 'key'
  | 'value'
  | 'controller'
  | 'tags'
  | 'signature'
  | 'lock'

export const isRefusal = (read: KvToken | Refusal): read is Refusal => 'reason' in read

/** The limit of key IDs in wallets, in UTF-16 units. */
export const MAX_KEY_LENGTH = 800
/** Each tag has its own index. */
export const MAX_TAGS = 100
/** In bytes. */
export const MAX_TAG_LENGTH = 1000

const KEY_LENGTH = 33
const FIELDS_WITHOUT_TAGS = 4
const FIELDS_WITH_TAGS = 5
/** @bsv/sdk drops a leading byte order mark, and then derives the keys of another tuple. */
const BYTE_ORDER_MARK = '\ufeff'
const NO_BYTES = new Uint8Array()
const ZERO = Uint8Array.of(0)

/** Parses a locking script. */
export const parseToken = (script: Uint8Array): KvToken | Refusal => {
  if (script[0] !== KEY_LENGTH || script[1 + KEY_LENGTH] !== OP.CHECKSIG) {
    return refusal('shape', 'the script does not begin with a compressed key and OP_CHECKSIG')
  }
  const lockKey = script.subarray(1, 1 + KEY_LENGTH)
  if (!isCompressed(lockKey)) return refusal('shape', 'the lock key is not compressed')
  const pushed = readFields(script)
  if (!Array.isArray(pushed)) return pushed
  const signature = pushed[pushed.length - 1]!
  const fields = pushed.slice(0, -1)
  // A key is never empty, so OP_0 is a zero byte.
  if (fields[1]!.length === 0) fields[1] = ZERO
  const token = readToken(fields, signature, lockKey)
  if (isRefusal(token) || fields[2]!.length > 0) return token
  const withZero = { ...token, value: '\0', fields: fields.with(2, ZERO) }
  return { ...token, withZero }
}

/** The fields and the signature. Every push is minimal, and exactly the needed drops follow. */
const readFields = (script: Uint8Array): Uint8Array[] | Refusal => {
  const cursor = new ScriptCursor(script, 2 + KEY_LENGTH)
  const fields: Uint8Array[] = []
  while (cursor.next()) {
    const field = pushedBy(cursor)
    if (!field) break
    if (fields.push(field) > FIELDS_WITH_TAGS + 1) break
    if (!isShortest(cursor, field)) {
      return refusal('shape', `the push of field ${fields.length} is not minimal`)
    }
  }
  if (cursor.truncated) return refusal('shape', 'the script ends within a push')
  const { length } = fields
  if (length !== FIELDS_WITHOUT_TAGS + 1 && length !== FIELDS_WITH_TAGS + 1) {
    return refusal(
      'fields',
      `the script has ${length > FIELDS_WITH_TAGS + 1 ? 'more than 6' : length} fields, expected 5 or 6`
    )
  }
  const drops = length === 6 ? [OP['2DROP'], OP['2DROP'], OP['2DROP']] : [OP['2DROP'], OP['2DROP'], OP.DROP]
  const isDropped = drops.every((op, i) => script[cursor.start + i] === op)
  return isDropped && script.length === cursor.start + drops.length
    ? fields
    : refusal(
        'shape',
        'the script does not end with OP_2DROP for each pair of fields and OP_DROP for an odd one'
      )
}

const isShortest = ({ op }: ScriptCursor, field: Uint8Array): boolean => {
  const { length } = field
  if (op > OP.PUSHDATA4 || op === OP.N0) return true
  if (length === 1) return field[0] === 0 || (field[0]! > 16 && field[0] !== 0x81)
  if (length < OP.PUSHDATA1) return op === length
  return op === (length <= 0xff ? OP.PUSHDATA1 : length <= 0xffff ? OP.PUSHDATA2 : OP.PUSHDATA4)
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
  if (key.startsWith(BYTE_ORDER_MARK)) return refusal('key', 'field 2 begins with a byte order mark')
  const value = textOf(fields[2]!)
  if (value === undefined) return refusal('value', 'field 3 is not UTF-8')
  const controller = fields[3]!
  if (!isCompressed(controller)) return refusal('controller', 'field 4 is not a compressed public key')
  const tags = fields.length === FIELDS_WITH_TAGS ? readTags(fields[4]!) : []
  if (!tags) {
    return refusal(
      'tags',
      `field 5 is not a JSON list of at most ${MAX_TAGS} tags of at most ${MAX_TAG_LENGTH} bytes`
    )
  }
  return { protocolID, key, value, controller: hexOf(controller), tags, fields, signature, lockKey }
}

const refusal = (code: RefusalCode, reason: string): Refusal => ({ code, reason })

const isCompressed = (key: Uint8Array): boolean => key.length === KEY_LENGTH && (key[0] === 2 || key[0] === 3)

const jsonOf = (text: string | undefined): unknown => {
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Whether a wallet accepts the protocol and writes it so: `[1,"KVStore"]` would be another tuple with the same keys. */
export const isProtocolID = (value: unknown): value is ProtocolID => {
  if (!Array.isArray(value) || value.length !== 2) return false
  const [level, name]: unknown[] = value
  if (level !== 0 && level !== 1 && level !== 2) return false
  if (typeof name !== 'string' || !/^[a-z0-9]+( [a-z0-9]+)*$/.test(name)) return false
  // The protocol of a specific linkage revelation contains the name of another protocol.
  const longest = name.startsWith('specific linkage revelation ') ? 430 : 400
  return name.length >= 5 && name.length <= longest && !name.endsWith(' protocol')
}

/** The canonical JSON of a protocol. */
export const protocolText = ([level, name]: ProtocolID): string => JSON.stringify([level, name])

const readProtocolID = (bytes: Uint8Array): ProtocolID | undefined => {
  const text = textOf(bytes)
  const value = jsonOf(text)
  return isProtocolID(value) && protocolText(value) === text ? value : undefined
}

const isTags = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length <= MAX_TAGS && value.every(tag => isText(tag) && isTagLength(tag))

/** A UTF-16 unit has at most three bytes in UTF-8, so short tags are not encoded. */
const isTagLength = (tag: string): boolean =>
  3 * tag.length <= MAX_TAG_LENGTH || bytesOf(tag).length <= MAX_TAG_LENGTH

const readTags = (bytes: Uint8Array): string[] | undefined => {
  const value = jsonOf(textOf(bytes))
  return isTags(value) ? value : undefined
}

/** A requirement on the controller, as messages name it. */
export const CONTROLLER_RULE = 'controller must be a compressed public key in lower-case hex'
export const PROTOCOL_RULE =
  'protocolID must be a level from 0 to 2 and a name that wallets accept, for example [1, "kvstore"]'

export const isController = (value: unknown): value is string =>
  typeof value === 'string' && /^0[23][0-9a-f]{64}$/.test(value)

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

/** The locking script of a token. */
export const writeToken = ({
  lockKey,
  fields,
  signature
}: Pick<KvToken, 'lockKey' | 'fields' | 'signature'>): Uint8Array => {
  const pushed = [...fields, signature].map(field =>
    field.length === 1 && field[0] === 0 ? NO_BYTES : field
  )
  const drops = Array.from({ length: pushed.length >> 1 }, () => OP['2DROP'])
  return buildScript([lockKey, OP.CHECKSIG, ...pushed, ...drops, ...(pushed.length & 1 ? [OP.DROP] : [])])
}
