/** The verdict on one input, with its signature checked. */
import type { Output } from '../transaction.ts'
import { verifySignature } from './secp256k1.ts'
import type { Sighash } from './sighash.ts'
import { judge } from './templates.ts'

export type Judged = 'valid' | 'unknown' | { readonly reason: string }

export const judged = (sighash: Sighash, index: number, spent: Output): Judged => {
  const verdict = judge(sighash, index, spent)
  if (verdict === 'unknown' || 'reason' in verdict) return verdict
  const { signature, digest, key } = verdict
  return verifySignature(signature, digest, key)
    ? 'valid'
    : { reason: 'the signature is not of this transaction by this key' }
}
