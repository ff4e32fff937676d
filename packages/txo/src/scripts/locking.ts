/**
 * The lock of an output: its script without the prefix of a binary token, which is dropped, and without the envelope of an
 * inscription, which never runs. The envelope is before or behind the lock, and an OP_RETURN may follow, at which the
 * script succeeds. Templates are recognised at the lock
 * alone: the same bytes within another contract, or in a branch of it, do not lock the output.
 */

import { startsP2pkh } from '@quoin/chain'
import { OP } from '@quoin/primitives'
import { addressAt } from './addresses.ts'
import { readBinaryToken } from './bsv21-binary.ts'
import { readInscription } from './envelope.ts'
import { NONE } from './parser.ts'
import { type ScriptView, viewOf } from './view.ts'

/** The script from the first byte of the lock; undefined for an inscription within the lock. */
export const readLocking = (view: ScriptView): Uint8Array | undefined => {
  const { script } = view
  const start = view.once(readBinaryToken)?.lock ?? 0
  const inscription = view.once(readInscription)
  if (!inscription || inscription.start < start) return script.subarray(start)
  if (!inscription.closed) return undefined
  if (inscription.start === start) return script.subarray(inscription.end)
  return endsAt(script, inscription.end) ? script.subarray(start, inscription.start) : undefined
}

/** Whether the lock ends at an offset: at the end of the script, an inscription or an OP_RETURN. */
export const endsAt = (script: Uint8Array, at: number): boolean =>
  at === script.length || script[at] === OP.RETURN

/** The address of a P2PKH lock, with or without an inscription. */
export const decodeOwner = (script: Uint8Array | ScriptView): string | undefined =>
  viewOf(script).once(readOwners)[0]

export const readOwners = (view: ScriptView): readonly string[] => ownersAt(view.once(readLocking), 0)

export const ownersAt = (lock: Uint8Array | undefined, at: number): readonly string[] =>
  lock && startsP2pkh(lock, at) && endsAt(lock, at + 25) ? [addressAt(lock, at + 3)] : NONE
