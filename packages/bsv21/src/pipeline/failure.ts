/** Queue outcomes of failed items: retry or dead letter. */

import type { Engine } from '@quoin/overlay'
import { QuoinError } from '@quoin/primitives'
import type { Failure } from '@quoin/store'
import type { AncestryResult } from './staged-transactions.ts'

/** Error codes that no retry resolves. */
const PERMANENT = new Set(['ERR_TX_INVALID', 'ERR_TX_FORMAT', 'ERR_BEEF_FORMAT', 'ERR_BEEF_LIMIT'])

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Proofs that fail against the headers are retried: their block may be unknown here, or replaced by a reorg. */
export const failureOf = async (
  error: unknown,
  ancestry: AncestryResult | undefined,
  engine: Engine
): Promise<Failure> => {
  const code = error instanceof QuoinError ? error.code : 'ERR_INTERNAL'
  const reason = `${code}: ${reasonOf(error)}`
  if (!PERMANENT.has(code)) return { outcome: 'retry', errorClass: code, reason }
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
      if (error instanceof QuoinError && error.code === 'ERR_PROOF_INVALID') return true
      throw error
    }
  }
  return false
}
