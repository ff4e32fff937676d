/** A transaction of JungleBus as it arrives: its bytes and its proof become a BEEF, as far as they fit together. */
import { Beef, parseTransaction } from '@quoin/chain'
import { formatTxid, parseTxid, QuoinError } from '@quoin/primitives'
import type { SentTransaction } from './junglebus-messages.ts'
import type { SourceTransaction } from './source.ts'
import { bumpOfTsc } from './tsc-proof.ts'

/** What does not fit together is left out: whoever takes it fetches it by its id. */
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
