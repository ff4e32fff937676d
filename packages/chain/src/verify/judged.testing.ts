/** What becomes of an input of a known form, its signature included. */
import type { Output } from '../transaction.ts'
import { verifySignature } from './secp256k1.ts'
import type { Sighash } from './sighash.ts'
import { judge } from './templates.ts'

export type Judged = 'valid' | 'unknown' | { readonly reason: string }

export const judgeWhole = (sighash: Sighash, index: number, spent: Output): Judged => {
  const verdict = judge(sighash, index, spent)
  if (verdict === 'unknown' || 'reason' in verdict) return verdict
  const { signature, digest, key } = verdict.check
  return verifySignature(signature, digest, key) ? 'valid' : { reason: 'the signature is of something else' }
}
