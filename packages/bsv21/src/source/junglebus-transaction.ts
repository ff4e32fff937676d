/** Converts a published transaction of JungleBus to a BEEF. */
import { Beef, parseTransaction } from '@quoin/chain'
import { formatTxid, parseTxid, QuoinError } from '@quoin/primitives'
import type { SentTransaction } from './junglebus-messages.ts'
import type { SourceTransaction } from './source.ts'
import { bumpOfTsc } from './tsc-proof.ts'

/** Without a BEEF when the txid, bytes and proof are inconsistent: the pipeline fetches the transaction by its txid. */
export const toSourceTransaction = (sent: SentTransaction, isMined: boolean): SourceTransaction => {
  const mined = isMined && sent.height > 0
  return {
    txid: parseTxid(sent.id),
    beef: beefOf(sent, mined),
    mined: mined ? { height: sent.height, index: BigInt(sent.index) } : undefined
  }
}

const beefOf = ({ id, height, raw, proof }: SentTransaction, mined: boolean): Beef | undefined => {
  if (raw.length === 0) return undefined
  try {
    const transaction = parseTransaction(raw)
    const { txid } = transaction
    if (formatTxid(txid) !== id) return undefined
    const bump = mined && proof.length > 0 ? bumpOfTsc(proof, txid, height) : undefined
    return Beef.of([{ txid, transaction, bump }])
  } catch (error) {
    if (!(error instanceof QuoinError)) throw error
    return undefined
  }
}
