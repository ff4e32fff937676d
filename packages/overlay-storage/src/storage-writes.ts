/**
 * Writes of the engine as updates of the index. The engine writes one output at a time, each with the whole BEEF. The
 * transactions of the BEEF are stored once, and their spends and block positions are in the same commit as the write.
 */
import type { Beef, BeefTransaction, Bump, Transaction } from '@quoin/chain'
import { bytesKey, formatTxid, makeOutpoint, QuoinError, type Txid } from '@quoin/primitives'
import type { Batch } from '@quoin/store'
import { type BlockPosition, type OutputStore, TxUpdate } from '@quoin/txo'

/** A transaction of a BEEF with its proof. */
export interface VerifiedTransaction extends BeefTransaction {
  readonly transaction: Transaction
  /** Unix seconds. */
  readonly seen: number | undefined
  /** Whether its inputs are saved as spends. */
  readonly savesSpends: boolean
}

/** One write of the engine. */
export interface EngineWrite {
  readonly updates: readonly TxUpdate[]
  readonly transactions: readonly VerifiedTransaction[]
}

/**
 * A transaction of a BEEF and its ancestors back to proofs: the part that the engine has verified. Transactions behind
 * a proof or beside the ancestry are unverified and left out. Spends of unmined transactions are saved, so that the
 * rollback of an ancestor removes its descendants.
 */
export const verifiedTransactions = async (
  { transactions }: OutputStore,
  beef: Beef,
  subject: Txid,
  seen?: number
): Promise<[VerifiedTransaction, ...VerifiedTransaction[]]> => {
  const found = new Map<string, VerifiedTransaction>()
  const pending = [subject]
  for (const txid of pending) {
    const entry = beef.find(txid)
    // The sender takes a transaction that is missing or given by txid only to be known to this node.
    if (found.has(bytesKey(txid)) || !entry?.transaction) continue
    const { transaction, bump } = entry
    found.set(bytesKey(txid), { txid, transaction, bump, seen, savesSpends: !bump })
    if (!bump) pending.push(...transaction.inputs.map(input => input.txid))
  }
  const all = [...found.values()]
  const [first, ...ancestors] = await Promise.all(
    // The store may have a proof that the sender did not know.
    all.map(async each => ({ ...each, bump: each.bump ?? (await transactions.proof(each.txid)) }))
  )
  if (first) return [first, ...ancestors]
  throw new QuoinError('ERR_TX_UNKNOWN', 'the BEEF lacks the transaction that it is submitted for', {
    txid: formatTxid(subject)
  })
}

/** Commits writes as one batch. */
export const commitWrites = (outputs: OutputStore, writes: readonly EngineWrite[]): Promise<boolean> => {
  const transactions = distinct(writes.flatMap(write => write.transactions))
  const updates = transactions.map(updateOf)
  updates[0]?.addWrites(batch => saveTransactions(batch, outputs, transactions))
  return outputs.commit(...writes.flatMap(write => write.updates), ...updates)
}

/** Each output of a transaction comes with the same BEEF. */
const distinct = (transactions: readonly VerifiedTransaction[]): VerifiedTransaction[] => [
  ...new Map(
    transactions.map(each => [`${bytesKey(each.txid)} ${each.savesSpends} ${each.bump?.height}`, each])
  ).values()
]

const updateOf = ({ txid, transaction, bump, seen, savesSpends }: VerifiedTransaction): TxUpdate => {
  const update = new TxUpdate(txid, {
    seen,
    position: provenPosition(txid, bump),
    vouts: transaction.outputCount
  })
  if (!savesSpends || transaction.isCoinbase) return update
  for (const input of transaction.inputs) update.spend(makeOutpoint(input.txid, input.vout))
  return update
}

export const provenPosition = (txid: Txid, bump: Bump | undefined): BlockPosition | undefined =>
  bump && { height: bump.height, index: BigInt(bump.offsetOf(txid)!) }

/** A stored transaction keeps its mark of verification. */
const saveTransactions = async (
  batch: Batch,
  { transactions }: OutputStore,
  saved: readonly VerifiedTransaction[]
): Promise<void> => {
  const stored = await transactions.getMany(saved.map(({ txid }) => txid))
  for (const [i, { txid, transaction, bump }] of saved.entries()) {
    if (!stored[i]) transactions.saveIn(batch, transaction, { verified: false })
    if (bump) transactions.saveProofIn(batch, txid, bump)
  }
}
