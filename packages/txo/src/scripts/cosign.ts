/**
 * `cosign`: a payment that needs the signature of a second key, as in MNEE. 60 bytes:
 *
 *     OP_DUP OP_HASH160 ‹hash of the owner's key› OP_EQUALVERIFY OP_CHECKSIGVERIFY ‹cosigner's key› OP_CHECKSIG
 */
import { OP } from '@quoin/primitives'
import { addressAt } from './addresses.ts'
import { scriptEvents } from './events.ts'
import { endsAt, readLocking } from './locking.ts'
import type { ScriptParser } from './parser.ts'
import { isPublicKey } from './pushdrop.ts'
import { hexOf } from './text.ts'
import { type ScriptView, viewOf } from './view.ts'

export interface Cosign {
  /** The owner. */
  readonly address: string
  /** The public key of the cosigner. */
  readonly cosigner: Uint8Array
}

export const decodeCosign = (script: Uint8Array | ScriptView): Cosign | undefined => {
  const lock = viewOf(script).once(readLocking)
  if (
    lock?.[0] !== OP.DUP ||
    lock[1] !== OP.HASH160 ||
    lock[2] !== 20 ||
    lock[23] !== OP.EQUALVERIFY ||
    lock[24] !== OP.CHECKSIGVERIFY ||
    lock[25] !== 33 ||
    lock[59] !== OP.CHECKSIG ||
    !endsAt(lock, 60)
  ) {
    return undefined
  }
  const cosigner = lock.subarray(26, 59)
  return isPublicKey(cosigner) ? { address: addressAt(lock, 3), cosigner } : undefined
}

export const cosignParser: ScriptParser = {
  tag: 'cosign',
  about: 'Payments to an address behind a cosigner.',
  parse(view) {
    const found = decodeCosign(view)
    if (!found) return undefined
    const { address, cosigner } = found
    return {
      data: { address, cosigner: hexOf(cosigner) },
      events: [scriptEvents.types.cosigner.text(cosigner)],
      owners: [address]
    }
  }
}
