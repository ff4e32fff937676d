/**
 * The token of a local entry (BRC-35 §4.4): a PushDrop with one field, which is the value, and perhaps a signature that
 * nobody has to verify.
 *
 *     ‹lock key› OP_CHECKSIG ‹value› [‹signature›] OP_2DROP | OP_DROP
 */
import { PublicKey, Signature } from '@bsv/sdk'
import { OP, pushedBy, ScriptCursor } from '@quoin/primitives'
import { hexOf } from './text.ts'

export interface LocalToken {
  /** In hex. */
  readonly lockKey: string
  /** Of any number; a token has one or two. */
  readonly fields: readonly Uint8Array[]
}

const KEY_LENGTH = 33
const ZERO = Uint8Array.of(0)

/** Undefined when the script is no PushDrop with its lock before the fields, so that no key could be known to spend it. */
export const readLocalToken = (script: Uint8Array): LocalToken | undefined => {
  if (script[0] !== KEY_LENGTH || script[1 + KEY_LENGTH] !== OP.CHECKSIG) return undefined
  const lockKey = hexOf(script.subarray(1, 1 + KEY_LENGTH))
  const cursor = new ScriptCursor(script, 2 + KEY_LENGTH)
  const fields: Uint8Array[] = []
  let drops = cursor.end
  while (cursor.next()) {
    const field = pushedBy(cursor)
    drops = cursor.start
    if (!field) break
    fields.push(field)
    drops = cursor.end
  }
  return !cursor.truncated && dropsAll(script.subarray(drops), fields.length)
    ? { lockKey, fields }
    : undefined
}

const dropsAll = (drops: Uint8Array, fields: number): boolean => {
  const pairs = fields >> 1
  return (
    drops.length === pairs + (fields & 1) &&
    drops.every((op, i) => op === (i < pairs ? OP['2DROP'] : OP.DROP))
  )
}

/**
 * The bytes of the value; undefined when there are too few fields or too many. OP_0 is written for no bytes and for a
 * zero byte alike: which it was, only a signature tells.
 */
export const valueField = ({ lockKey, fields }: LocalToken): Uint8Array | undefined => {
  const [value, signature] = fields
  if (!value || fields.length > 2) return undefined
  return value.length === 0 && signature && isSigned(lockKey, signature, [0]) ? ZERO : value
}

/** For itself, a wallet signs with the key that it locks with. */
const isSigned = (lockKey: string, signature: Uint8Array, data: number[]): boolean => {
  try {
    return PublicKey.fromString(lockKey).verify(data, Signature.fromDER(Array.from(signature)))
  } catch {
    // No signature at all.
    return false
  }
}
