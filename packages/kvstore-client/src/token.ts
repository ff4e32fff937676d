/**
 * The token of a global entry (BRC-35 §3.2): a PushDrop whose fields are the entry, signed by its controller.
 *
 *     ‹lock key› OP_CHECKSIG ‹protocolID› ‹key› ‹value› ‹controller› [‹tags›] ‹signature› OP_2DROP … [OP_DROP]
 *
 * Here is its form alone, for nodes and for browsers: what is read has yet to be verified. A script that is read is
 * written by `writeToken` in the same bytes.
 */
import { buildScript, OP, pushedBy, QuoinError, ScriptCursor } from '@quoin/primitives'

/** A security level and a name, as wallets derive keys from (BRC-43). */
export type ProtocolID = readonly [level: 0 | 1 | 2, name: string]

/** What an entry says. */
export interface KvContent {
  readonly protocolID: ProtocolID
  readonly key: string
  readonly value: string
  /** The compressed public key of whoever controls the entry, in hex. */
  readonly controller: string
  /** None in the form without tags, and none in one with an empty list. */
  readonly tags: readonly string[]
}

export interface KvToken extends KvContent {
  /** The fields before the signature, as they are signed. */
  readonly fields: readonly Uint8Array[]
  /** In DER, over the fields one after the other. */
  readonly signature: Uint8Array
  /** The public key that has to sign to spend it. */
  readonly lockKey: Uint8Array
  /** The value is OP_0, which is written for no bytes and for a zero byte alike: this is the token with the zero. */
  readonly withZero?: KvToken
}

/** Why a script is no token. */
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

/** Wallets take no longer key IDs; counted as they count, in units of UTF-16. */
export const MAX_KEY_LENGTH = 800
/** Each is found by an index of its own. */
export const MAX_TAGS = 100
/** In bytes. */
export const MAX_TAG_LENGTH = 1000

const KEY_LENGTH = 33
const FIELDS_WITHOUT_TAGS = 4
const FIELDS_WITH_TAGS = 5
/** A byte order mark. @bsv/sdk drops one in front, and so derives the keys of another tuple. */
const MARK = '\ufeff'
const NO_BYTES = new Uint8Array()
const ZERO = Uint8Array.of(0)

/** Reads a locking script: the token, or why it is none. */
export const parseToken = (script: Uint8Array): KvToken | Refusal => {
  if (script[0] !== KEY_LENGTH || script[1 + KEY_LENGTH] !== OP.CHECKSIG) {
    return refusal('shape', 'it does not begin with a compressed key and OP_CHECKSIG')
  }
  const lockKey = script.subarray(1, 1 + KEY_LENGTH)
  if (!isCompressed(lockKey)) return refusal('shape', 'the key that locks it is not compressed')
  const pushed = readFields(script)
  if (!Array.isArray(pushed)) return pushed
  const signature = pushed[pushed.length - 1]!
  const fields = pushed.slice(0, -1)
  // No key is empty, so this one can only be a zero byte.
  if (fields[1]!.length === 0) fields[1] = ZERO
  const token = readToken(fields, signature, lockKey)
  if (isRefusal(token) || fields[2]!.length > 0) return token
  const withZero = { ...token, value: '\0', fields: fields.with(2, ZERO) }
  return { ...token, withZero }
}

/** The fields with the signature; what drops them is exactly what is needed, and every push as short as it can be. */
const readFields = (script: Uint8Array): Uint8Array[] | Refusal => {
  const cursor = new ScriptCursor(script, 2 + KEY_LENGTH)
  const fields: Uint8Array[] = []
  while (cursor.next()) {
    const field = pushedBy(cursor)
    if (!field) break
    if (fields.push(field) > FIELDS_WITH_TAGS + 1) break
    if (!isShortest(cursor, field)) {
      return refusal('shape', `field ${fields.length} is not pushed in the shortest way`)
    }
  }
  if (cursor.truncated) return refusal('shape', 'the script breaks off within a push')
  const { length } = fields
  if (length !== FIELDS_WITHOUT_TAGS + 1 && length !== FIELDS_WITH_TAGS + 1) {
    return refusal(
      'fields',
      `it has ${length > FIELDS_WITH_TAGS + 1 ? 'more than 6' : length} fields, not 5 or 6`
    )
  }
  const drops = length === 6 ? [OP['2DROP'], OP['2DROP'], OP['2DROP']] : [OP['2DROP'], OP['2DROP'], OP.DROP]
  const isDropped = drops.every((op, i) => script[cursor.start + i] === op)
  return isDropped && script.length === cursor.start + drops.length
    ? fields
    : refusal('shape', 'it does not end with OP_2DROP for every two fields and OP_DROP for one')
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
    return refusal('protocolID', 'field 1 is not the JSON of a wallet protocol, such as [1,"kvstore"]')
  }
  const key = textOf(fields[1]!)
  if (!key || key.length > MAX_KEY_LENGTH) {
    return refusal('key', `field 2 is no key: 1 to ${MAX_KEY_LENGTH} characters in UTF-8`)
  }
  if (key.startsWith(MARK)) return refusal('key', 'field 2 begins with a byte order mark')
  const value = textOf(fields[2]!)
  if (value === undefined) return refusal('value', 'field 3 is no value: text in UTF-8')
  const controller = fields[3]!
  if (!isCompressed(controller)) return refusal('controller', 'field 4 is no compressed public key')
  const tags = fields.length === FIELDS_WITH_TAGS ? readTags(fields[4]!) : []
  if (!tags) {
    return refusal(
      'tags',
      `field 5 is not the JSON of at most ${MAX_TAGS} tags, each a text of at most ${MAX_TAG_LENGTH} bytes`
    )
  }
  return { protocolID, key, value, controller: hexOf(controller), tags, fields, signature, lockKey }
}

const refusal = (code: RefusalCode, reason: string): Refusal => ({ code, reason })

const isCompressed = (key: Uint8Array): boolean => key.length === KEY_LENGTH && (key[0] === 2 || key[0] === 3)

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const encoder = new TextEncoder()

/** Undefined when the bytes are not UTF-8. */
const textOf = (bytes: Uint8Array): string | undefined => {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

const hexOf = (bytes: Uint8Array): string => {
  let hex = ''
  for (let i = 0; i < bytes.length; i++) hex += HEX[bytes[i]!]!
  return hex
}

const jsonOf = (text: string | undefined): unknown => {
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The names that wallets take, as they themselves write them: `[1,"KVStore"]` would be another tuple with the same keys. */
export const isProtocolID = (value: unknown): value is ProtocolID => {
  if (!Array.isArray(value) || value.length !== 2) return false
  const [level, name]: unknown[] = value
  if (level !== 0 && level !== 1 && level !== 2) return false
  if (typeof name !== 'string' || !/^[a-z0-9]+( [a-z0-9]+)*$/.test(name)) return false
  // Revealing a linkage is a protocol that has the name of another in its own.
  const longest = name.startsWith('specific linkage revelation ') ? 430 : 400
  return name.length >= 5 && name.length <= longest && !name.endsWith(' protocol')
}

/** The one way to write it. */
export const protocolText = ([level, name]: ProtocolID): string => JSON.stringify([level, name])

const readProtocolID = (bytes: Uint8Array): ProtocolID | undefined => {
  const text = textOf(bytes)
  const value = jsonOf(text)
  return isProtocolID(value) && protocolText(value) === text ? value : undefined
}

const isTags = (value: unknown): value is string[] =>
  Array.isArray(value) &&
  value.length <= MAX_TAGS &&
  value.every(tag => typeof tag === 'string' && isText(tag) && bytesOf(tag) <= MAX_TAG_LENGTH)

/** At least as many as there are: a character of UTF-16 has three bytes at most, and short texts need not be counted. */
const bytesOf = (text: string): number =>
  3 * text.length <= MAX_TAG_LENGTH ? 3 * text.length : encoder.encode(text).length

const readTags = (bytes: Uint8Array): string[] | undefined => {
  const value = jsonOf(textOf(bytes))
  return isTags(value) ? value : undefined
}

/** Half of a pair of surrogates is no text: UTF-8 cannot say it. */
export const isText = (text: string): boolean => !/\p{Surrogate}/u.test(text)

/**
 * The fields of a new token, to be signed one after the other; without tags, in the form without them. Throws what is
 * wrong with them, and for what readers with @bsv/sdk would take for something else: its decoder reads no bytes as a
 * zero byte, and the byte 16 as none; and drops a byte order mark.
 */
export const writeFields = ({ protocolID, key, value, controller, tags }: KvContent): Uint8Array[] => {
  const check = (holds: boolean, field: string, message: string): void => {
    if (!holds) throw new QuoinError('ERR_KV_ENTRY', message, { field })
  }
  check(
    isProtocolID(protocolID),
    'protocolID',
    'a protocol is a level from 0 to 2 and a name as wallets take it'
  )
  check(
    typeof key === 'string' && key.length > 0 && key.length <= MAX_KEY_LENGTH && isText(key),
    'key',
    `a key is a text of 1 to ${MAX_KEY_LENGTH} characters`
  )
  check(typeof value === 'string' && isText(value), 'value', 'a value is a text')
  check(value !== '', 'value', 'a value is not empty: readers with @bsv/sdk could not verify it')
  for (const [field, text] of Object.entries({ key, value })) {
    check(
      text !== '\x10',
      field,
      `a ${field} is not the byte 16 alone: readers with @bsv/sdk could not verify it`
    )
    check(
      !text.startsWith(MARK),
      field,
      `a ${field} begins with no byte order mark: readers with @bsv/sdk drop it`
    )
  }
  check(
    typeof controller === 'string' && /^0[23][0-9a-f]{64}$/.test(controller),
    'controller',
    'a controller is a compressed public key in hex'
  )
  check(isTags(tags), 'tags', `tags are at most ${MAX_TAGS} texts, each of at most ${MAX_TAG_LENGTH} bytes`)
  return [
    ...[protocolText(protocolID), key, value].map(text => encoder.encode(text)),
    Uint8Array.from(controller.match(/../g)!, pair => Number.parseInt(pair, 16)),
    ...(tags.length > 0 ? [encoder.encode(JSON.stringify(tags))] : [])
  ]
}

/** What is signed (§3.3): the fields, one after the other. */
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
