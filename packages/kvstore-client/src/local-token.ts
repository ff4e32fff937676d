/**
 * The token of a local entry (BRC-35 §4.4): a PushDrop with the value as its field, and an optional signature that needs
 * no verification.
 *
 *     ‹lock key› OP_CHECKSIG ‹value› [‹signature›] OP_2DROP | OP_DROP
 */
import { PublicKey, Signature } from '@bsv/sdk'
import { OP, pushedBy, ScriptCursor } from '@quoin/primitives'
import { hexOf } from './text.ts'

export interface LocalToken {
  /** In hex. */
  readonly lockKey: string
  /** Any number; a valid token has one or two. */
  readonly fields: readonly Uint8Array[]
}

const KEY_LENGTH = 33
const ZERO = Uint8Array.of(0)

/** Undefined when the script is not a PushDrop with its lock before the fields: the key that spends it is unknown. */
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
 * The bytes of the value; undefined unless there are one or two fields. OP_0 encodes both no bytes and a zero byte; only
 * the signature distinguishes them.
 */
export const valueField = ({ lockKey, fields }: LocalToken): Uint8Array | undefined => {
  const [value, signature] = fields
  if (!value || fields.length > 2) return undefined
  return value.length === 0 && signature && isSigned(lockKey, signature, [0]) ? ZERO : value
}

/** For counterparty `self`, the signing key is the lock key. */
const isSigned = (lockKey: string, signature: Uint8Array, data: number[]): boolean => {
  try {
    return PublicKey.fromString(lockKey).verify(data, Signature.fromDER(Array.from(signature)))
  } catch {
    // Not a DER signature.
    return false
  }
}
