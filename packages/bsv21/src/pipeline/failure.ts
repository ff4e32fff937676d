/** What becomes of an item whose work failed: tried again later, or never. */

import type { Engine } from '@quoin/overlay'
import { QuoinError } from '@quoin/primitives'
import type { Failure } from '@quoin/store'
import type { Assembled } from './arrivals.ts'

/** What no later attempt makes good. */
const FINAL = new Set(['ERR_TX_INVALID', 'ERR_TX_FORMAT', 'ERR_BEEF_FORMAT', 'ERR_BEEF_LIMIT'])

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** A proof that the headers do not bear out may be of a block that is not known here yet, or no more. */
export const failureOf = async (
  error: unknown,
  assembled: Assembled | undefined,
  engine: Engine
): Promise<Failure> => {
  const code = error instanceof QuoinError ? error.code : 'ERR_INTERNAL'
  const reason = `${code}: ${reasonOf(error)}`
  if (!FINAL.has(code)) return { outcome: 'retry', errorClass: code, reason }
  if (assembled && !assembled.missing && (await hasDoubtfulProof(assembled, engine))) {
    return { outcome: 'retry', errorClass: 'ERR_PROOF_INVALID', reason }
  }
  return { outcome: 'dead', errorClass: code, reason }
}

const hasDoubtfulProof = async (
  { subject, ancestors }: Assembled & { missing: undefined },
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
