/**
 * `pushdrop`: fields that are pushed and dropped beside a key that has to sign (BRC-48), in the two forms of the SDK:
 *
 *     ‹key› OP_CHECKSIG ‹field› … OP_2DROP … [OP_DROP]          the lock before the fields
 *     ‹field› … OP_2DROP … [OP_DROP] ‹key› OP_CHECKSIG          the lock after them
 *
 * The key is a compressed public key. There is at least one field, and exactly the drops that the fields need: OP_2DROP
 * for every two, OP_DROP for an odd one. No opcode is before or behind.
 *
 * A field of OP_1 to OP_16 or OP_1NEGATE is the byte that the opcode pushes. OP_0 is written for no bytes and for a
 * zero byte alike: only a signature over the fields tells one from the other.
 */
import { OP, pushedBy, ScriptCursor } from '@quoin/primitives'
import { scriptEvents } from './events.ts'
import { NONE, type ScriptParser } from './parser.ts'
import { hexOf } from './text.ts'
import { type ScriptView, viewOf } from './view.ts'

export interface PushDrop {
  /** The public key that has to sign, compressed. */
  readonly key: Uint8Array
  readonly fields: readonly Uint8Array[]
  /** Where the lock is. */
  readonly position: 'before' | 'after'
}

const KEY_LENGTH = 33
/** A script with more fields is not parsed. */
const MAX_FIELDS = 1024
/** Bytes of the fields that the index keeps. */
const MAX_KEPT_BYTES = 4096

/** Checks the form only, not that the point is on the curve. */
export const isPublicKey = (bytes: Uint8Array): boolean =>
  bytes.length === KEY_LENGTH && (bytes[0] === 2 || bytes[0] === 3)

/**
 * Decodes an output in the form of `PushDrop` of @bsv/sdk; undefined for any other script.
 *
 * @example
 * import { buildScript, OP } from '@quoin/primitives'
 * const key = Uint8Array.of(2, ...new Uint8Array(32).fill(1))
 * const script = buildScript([key, OP.CHECKSIG, new TextEncoder().encode('hello'), OP.DROP])
 * decodePushDrop(script)!.fields.map(field => new TextDecoder().decode(field)) // [ 'hello' ]
 */
export const decodePushDrop = (script: Uint8Array | ScriptView): PushDrop | undefined => {
  const { script: bytes } = viewOf(script)
  const { length } = bytes
  if (bytes[0] === KEY_LENGTH && bytes[1 + KEY_LENGTH] === OP.CHECKSIG) {
    return pushDrop(bytes, 'before', 1, 2 + KEY_LENGTH, length)
  }
  const lock = length - KEY_LENGTH - 2
  return bytes[length - 1] === OP.CHECKSIG && bytes[lock] === KEY_LENGTH
    ? pushDrop(bytes, 'after', lock + 1, 0, lock)
    : undefined
}

/** The key at one offset, and the fields with their drops in a range. */
const pushDrop = (
  script: Uint8Array,
  position: PushDrop['position'],
  keyAt: number,
  start: number,
  end: number
): PushDrop | undefined => {
  const key = script.subarray(keyAt, keyAt + KEY_LENGTH)
  const fields = isPublicKey(key) ? readFields(script.subarray(start, end)) : undefined
  return fields && { key, fields, position }
}

const readFields = (script: Uint8Array): Uint8Array[] | undefined => {
  const cursor = new ScriptCursor(script)
  const fields: Uint8Array[] = []
  while (cursor.next()) {
    const field = pushedBy(cursor)
    if (!field) return fields.length > 0 && dropsAll(script, cursor.start, fields.length) ? fields : undefined
    if (fields.push(field) > MAX_FIELDS) return undefined
  }
  return undefined
}

const dropsAll = (script: Uint8Array, at: number, count: number): boolean => {
  const pairs = count >> 1
  const end = at + pairs + (count & 1)
  if (end !== script.length || (count & 1 && script[end - 1] !== OP.DROP)) return false
  for (let i = at; i < at + pairs; i++) if (script[i] !== OP['2DROP']) return false
  return true
}

export const pushDropParser: ScriptParser = {
  tag: 'pushdrop',
  about: 'Tokens with fields beside a key.',
  parse(view) {
    const token = decodePushDrop(view)
    if (!token) return undefined
    const { key, fields, position } = token
    const size = fields.reduce((total, { length }) => total + length, 0)
    return {
      data: {
        key: hexOf(key),
        position,
        ...(size <= MAX_KEPT_BYTES
          ? { fields: fields.map(hexOf) }
          : { sizes: fields.map(field => field.length) })
      },
      events: [scriptEvents.types.pushDropKey.text(key)],
      owners: NONE
    }
  }
}
