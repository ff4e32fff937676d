/** Queue outcomes of failed items: retry or dead letter. */

import type { Engine } from '@quoin/overlay'
import { ERRORS, hasCode, QuoinError, reasonOf } from '@quoin/primitives'
import type { Failure } from '@quoin/store'
import type { AncestryResult } from './staged-transactions.ts'

/** Proofs that fail against the headers are retried: their block may be unknown here, or replaced by a reorg. */
export const failureOf = async (
  error: unknown,
  ancestry: AncestryResult | undefined,
  engine: Engine
): Promise<Failure> => {
  const code = error instanceof QuoinError ? error.code : 'ERR_INTERNAL'
  const reason = `${code}: ${reasonOf(error)}`
  const { origin, retry } = ERRORS[code]
  if (origin !== 'transaction' || retry !== 'never') return { outcome: 'retry', errorClass: code, reason }
  if (ancestry && !ancestry.missing && (await hasInvalidProof(ancestry, engine))) {
    return { outcome: 'retry', errorClass: 'ERR_PROOF_INVALID', reason }
  }
  return { outcome: 'dead', errorClass: code, reason }
}

const hasInvalidProof = async (
  { subject, ancestors }: AncestryResult & { missing: undefined },
  { proofs }: Engine
): Promise<boolean> => {
  for (const { txid, bump } of [...ancestors, subject]) {
    try {
      if (bump) await proofs.check(txid, bump)
    } catch (error) {
      if (hasCode(error, 'ERR_PROOF_INVALID')) return true
      throw error
    }
  }
  return false
}
