/**
 * What locks an output: its script without the envelope of an inscription, which never runs. The envelope stands before
 * the lock or behind it, and behind both an OP_RETURN may follow, at which a script that came so far succeeds. Templates
 * are recognised here and nowhere else in a script: the same bytes in the middle of another contract, or in a branch of
 * it, promise nobody anything.
 */

import { startsP2pkh } from '@quoin/chain'
import { OP } from '@quoin/primitives'
import { addressAt } from './addresses.ts'
import { readInscription } from './envelope.ts'
import { NONE } from './parser.ts'
import { type ScriptView, viewOf } from './view.ts'

/** The lock, from its first byte; undefined where an inscription stands within it. */
export const readLocking = (view: ScriptView): Uint8Array | undefined => {
  const { script } = view
  const inscription = view.once(readInscription)
  if (!inscription) return script
  if (!inscription.closed) return undefined
  if (inscription.start === 0) return script.subarray(inscription.end)
  return endsAt(script, inscription.end) ? script.subarray(0, inscription.start) : undefined
}

/** Whether nothing more is asked of the spender from this byte on. */
export const endsAt = (script: Uint8Array, at: number): boolean =>
  at === script.length || script[at] === OP.RETURN

/** The address of the one who is paid, where the lock is a P2PKH, with or without an inscription. */
export const decodeOwner = (script: Uint8Array | ScriptView): string | undefined =>
  viewOf(script).once(readOwners)[0]

export const readOwners = (view: ScriptView): readonly string[] => ownersAt(view.once(readLocking), 0)

export const ownersAt = (lock: Uint8Array | undefined, at: number): readonly string[] =>
  lock && startsP2pkh(lock, at) && endsAt(lock, at + 25) ? [addressAt(lock, at + 3)] : NONE
