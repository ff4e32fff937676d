/** Verdict on an input of a template, its signature included. */
import type { Output } from '../transaction.ts'
import { verifySignature } from './secp256k1.ts'
import type { Sighash } from './sighash.ts'
import { evaluateInput } from './templates.ts'

export type InputVerdict = 'valid' | 'unknown' | { readonly reason: string }

export const evaluateFully = (sighash: Sighash, index: number, spent: Output): InputVerdict => {
  const verdict = evaluateInput(sighash, index, spent)
  if (verdict === 'unknown' || 'reason' in verdict) return verdict
  const { signature, digest, key } = verdict.check
  return verifySignature(signature, digest, key) ? 'valid' : { reason: 'the signature does not verify' }
}
