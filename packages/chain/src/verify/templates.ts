/**
 * Script templates that nearly all outputs have, evaluated without an interpreter: a signature for a key, or for the
 * hash of a key, with data around it that leaves the stack empty.
 *
 *     P2PKH      [<field>… DROP…] [envelope] DUP HASH160 <hash> EQUALVERIFY CHECKSIG [envelope] [RETURN …]
 *     P2PK       <key> CHECKSIG
 *     PushDrop   <key> CHECKSIG <field>… DROP…   or   <field>… DROP… <key> CHECKSIG
 *
 * An envelope (1Sat Ordinals) is `FALSE IF <push>… ENDIF`. Dropped fields before a P2PKH are those of binary tokens
 * (BRC-162): `<id> <amount> 2DROP [<payload> DROP]`. Scripts of exactly one of these forms, with pushes of the
 * shortest kind, are evaluated here; all others are `unknown`. Verdicts equal those of `Spend` in @bsv/sdk, whose rules
 * depend on the version of the transaction: from 2 on ("relaxed") a high s and SIGHASH_CHRONICLE are allowed.
 */

import { OP, ScriptCursor } from '@quoin/primitives'
import { startsP2pkh } from '../address.ts'
import { hash160 } from '../hash.ts'
import type { Output } from '../transaction.ts'
import { isPublicKeyForm, readSignature } from './secp256k1.ts'
import { isDefined, isForkId, SIGHASH, type Sighash } from './sighash.ts'
import type { SignatureCheck } from './signatures.ts'

/**
 * Result for an input: allowed if a signature holds, refused for a reason, or `unknown`, so that the interpreter
 * decides.
 */
export type Verdict = { readonly check: SignatureCheck } | 'unknown' | { readonly reason: string }

/** Spending condition: a key, or the hash of a key. */
export type Lock = { readonly key: Uint8Array } | { readonly keyHash: Uint8Array }

interface Unlock {
  readonly signature: Uint8Array
  readonly key: Uint8Array
}

/** The interpreter allows 32 MB of stack; fields that could be more are left to it. */
const MAX_FIELDS = 30_000_000

/** Evaluates one input of a transaction and the output it spends, up to its signature. */
export const evaluateInput = (sighash: Sighash, index: number, spent: Output): Verdict => {
  const lock = readLock(spent.script)
  const unlock = lock && readUnlock(sighash.transaction.inputs[index]!.script, lock)
  if (!unlock) return 'unknown'
  const { key } = unlock
  if ('keyHash' in lock && !equal(hash160(key), lock.keyHash))
    return { reason: 'the key does not hash to the key hash of the output' }
  const signature = readSignature(unlock.signature)
  if (!signature) return { reason: 'the signature is not strict DER' }
  const { type } = signature
  const isRelaxed = sighash.transaction.version > 1
  if (!isDefined(type) || (type & SIGHASH.CHRONICLE && !isRelaxed)) {
    return { reason: `unknown signature hash type ${type}` }
  }
  if (signature.isHigh && !isRelaxed) return { reason: 'the signature has a high s' }
  if (!isPublicKeyForm(key)) return { reason: 'the key is malformed' }
  // The interpreter removes the signature from the signed script, should it be there.
  if (!isForkId(type) || contains(spent.script, unlock.signature)) return 'unknown'
  return { check: { signature, digest: sighash.digest(index, spent, type), key } }
}

/** Parses a locking script; undefined outside of the templates. */
export const readLock = (script: Uint8Array): Lock | undefined => {
  const start = afterEnvelope(script, afterDropped(script))
  if (start !== undefined && startsP2pkh(script, start)) {
    const end = afterEnvelope(script, start + 25)
    // Bytes after a RETURN outside of conditions are not executed.
    return end === script.length || (end !== undefined && script[end] === OP.RETURN)
      ? { keyHash: script.subarray(start + 3, start + 23) }
      : undefined
  }
  return script.length > MAX_FIELDS ? undefined : readPushDrop(script)
}

/** Offset after fields that are pushed and dropped again, as far as they leave the stack as it was; 0 without any. */
const afterDropped = (script: Uint8Array): number => {
  if (script[0]! > OP.N16 || script.length > MAX_FIELDS) return 0
  const cursor = new ScriptCursor(script)
  let [onStack, end] = [0, 0]
  while (cursor.next()) {
    if (isField(cursor)) onStack++
    else if (cursor.op === OP.DROP) onStack--
    else if (cursor.op === OP['2DROP']) onStack -= 2
    else break
    // A drop of more than there is would take the signature.
    if (onStack < 0) break
    if (onStack === 0) end = cursor.end
  }
  return end
}

/** Offset after the envelope at `at`, or `at` without one; undefined for another form. */
const afterEnvelope = (script: Uint8Array, at: number): number | undefined => {
  if (script[at] !== OP.FALSE || script[at + 1] !== OP.IF) return at
  const cursor = new ScriptCursor(script, at + 2)
  while (cursor.next() && cursor.op <= OP.N16);
  return cursor.op === OP.ENDIF ? cursor.end : undefined
}

/** PushDrop; without fields, P2PK. */
const readPushDrop = (script: Uint8Array): Lock | undefined => {
  const before = keyAt(script, 0)
  const cursor = new ScriptCursor(script, before ? before.length + 2 : 0)
  let onStack = 0
  let more = cursor.next()
  for (; more && isField(cursor); more = cursor.next()) onStack++
  for (; more && (cursor.op === OP.DROP || cursor.op === OP['2DROP']); more = cursor.next()) {
    onStack -= cursor.op === OP.DROP ? 1 : 2
  }
  if (onStack !== 0 || cursor.truncated) return undefined
  if (before) return more ? undefined : { key: before }
  const after = more ? keyAt(script, cursor.start) : undefined
  return after && cursor.start + after.length + 2 === script.length ? { key: after } : undefined
}

/** A pushed key that is checked at once. */
const keyAt = (script: Uint8Array, at: number): Uint8Array | undefined => {
  const length = script[at]
  return (length === 33 || length === 65) && script[at + 1 + length] === OP.CHECKSIG
    ? script.subarray(at + 1, at + 1 + length)
    : undefined
}

/** A push in its shortest form, which version 1 requires. */
const isField = (cursor: ScriptCursor): boolean => {
  const { op, dataLength } = cursor
  if (op > OP.PUSHDATA4) return op <= OP.N16 && op !== OP.RESERVED
  if (op === OP.N0) return true
  if (dataLength === 1) {
    const byte = cursor.data![0]!
    return op === 1 && byte !== 0x81 && (byte === 0 || byte > 16)
  }
  if (dataLength < OP.PUSHDATA1) return op === dataLength
  return op === (dataLength <= 0xff ? OP.PUSHDATA1 : dataLength <= 0xffff ? OP.PUSHDATA2 : OP.PUSHDATA4)
}

/** Parses an unlocking script: a signature, and the key if the lock has its hash. */
const readUnlock = (script: Uint8Array, lock: Lock): Unlock | undefined => {
  const length = script[0] ?? 0
  if (length < 9 || length > 73) return undefined
  const signature = script.subarray(1, 1 + length)
  if ('key' in lock) return script.length === 1 + length ? { signature, key: lock.key } : undefined
  const keyLength = script[1 + length]
  return (keyLength === 33 || keyLength === 65) && script.length === 2 + length + keyLength
    ? { signature, key: script.subarray(2 + length) }
    : undefined
}

const equal = (a: Uint8Array, b: Uint8Array): boolean => {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return a.length === b.length
}

const contains = (script: Uint8Array, bytes: Uint8Array): boolean =>
  bytes.length < script.length &&
  Buffer.from(script.buffer, script.byteOffset, script.length).indexOf(bytes) >= 0
