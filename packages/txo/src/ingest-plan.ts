/**
 * The plan of an ingest: the updates of a transaction's unknown ancestors, the positions of all that are proved, and the
 * writes that store them. Of an ancestor the index keeps only the spends: a conflict with an ancestor is a conflict with
 * its descendants, and its rollback removes them.
 */
import type { Proof, Transaction, VerifiedTransactions } from '@quoin/chain'
import { bytesKey, makeOutpoint, type Topic, type Txid } from '@quoin/primitives'
import type { OutputStore } from './output-store.ts'
import type { BlockPosition } from './position.ts'
import { TxUpdate } from './tx-update.ts'

export interface IngestOptions {
  /** When the transaction was first seen, in unix seconds. */
  readonly seen?: number | undefined
  /** Whether the transactions are recorded as verified, so that none is verified again. */
  readonly isVerified: boolean
}

export interface IngestPlan {
  readonly subject: Transaction
  readonly seen: number | undefined
  /** Position of the subject, if it comes with a proof. */
  readonly position: BlockPosition | undefined
  /** Updates to commit before the update of the subject. */
  readonly ancestors: readonly TxUpdate[]
  /** Proofs that were checked against headers, and are checked again after the commit: a reorg may come between. */
  readonly checkedProofs: readonly Proof[]
  /** Loads the known transactions whose outputs the subject spends. */
  readonly loadSources: () => Promise<(txid: Txid) => Transaction | undefined>
  /** Makes the update of the subject store all transactions and proofs, and depend on the ancestors that were known. */
  readonly complete: (update: TxUpdate) => void
}

export const planIngest = (
  outputs: OutputStore,
  subject: Transaction,
  content: VerifiedTransactions,
  { seen, isVerified }: IngestOptions
): IngestPlan => {
  const { transactions } = outputs
  const subjectKey = bytesKey(subject.txid)
  const added = new Map(content.transactions.map(each => [bytesKey(each.txid), each]))
  const bumps = new Map(content.proofs.map(({ txid, bump }) => [bytesKey(txid), bump]))
  const positionOf = (txid: Txid): BlockPosition | undefined => {
    const bump = bumps.get(bytesKey(txid))
    return bump && { height: bump.height, index: BigInt(bump.offsetOf(txid)!) }
  }
  const proved = content.proofs
    .filter(({ txid }) => bytesKey(txid) !== subjectKey && !added.has(bytesKey(txid)))
    .map(({ txid }) => new TxUpdate(txid, { position: positionOf(txid) }).dependOn(txid))
  const ancestors = content.transactions.filter(({ txid }) => bytesKey(txid) !== subjectKey)
  return {
    subject,
    seen,
    position: positionOf(subject.txid),
    ancestors: [...proved, ...ancestors.map(each => ancestorUpdate(each, positionOf(each.txid), seen))],
    checkedProofs: isVerified ? content.proofs : [],
    loadSources: async () => {
      const sources = new Map(added)
      for (const parent of await storedParents(outputs, subject, added)) {
        sources.set(bytesKey(parent.txid), parent)
      }
      return txid => sources.get(bytesKey(txid))
    },
    complete: update => {
      // An ancestor that verification found in the index must be there still when the subject is committed.
      if (!added.has(subjectKey)) update.dependOn(subject.txid)
      for (const { txid, inputs } of isVerified ? added.values() : []) {
        if (bumps.has(bytesKey(txid))) continue
        for (const input of inputs) if (!added.has(bytesKey(input.txid))) update.dependOn(input.txid)
      }
      update.addWrites(batch => {
        for (const each of content.transactions) transactions.saveIn(batch, each, { verified: isVerified })
        for (const { txid, bump } of content.proofs) transactions.saveProofIn(batch, txid, bump)
      })
      for (const each of isVerified ? content.transactions : []) {
        const topics = bytesKey(each.txid) === subjectKey ? update.appliedTopics : NO_TOPICS
        update.addWrites(batch => outputs.storedIn(batch, each, topics))
      }
    }
  }
}

const NO_TOPICS: ReadonlySet<Topic> = new Set()

const storedParents = async (
  outputs: OutputStore,
  subject: Transaction,
  added: ReadonlyMap<string, unknown>
): Promise<Transaction[]> => {
  const missing = new Map(subject.inputs.map(({ txid }) => [bytesKey(txid), txid]))
  for (const key of added.keys()) missing.delete(key)
  return (await outputs.transactions.getMany([...missing.values()])).filter(each => each !== undefined)
}

/** The update of a transaction of which the index keeps only the spends. */
export const ancestorUpdate = (
  { txid, inputs, outputCount, isCoinbase }: Transaction,
  position: BlockPosition | undefined,
  seen: number | undefined
): TxUpdate => {
  const update = new TxUpdate(txid, { seen, position, vouts: outputCount }).ensure()
  if (!isCoinbase) for (const input of inputs) update.spend(makeOutpoint(input.txid, input.vout))
  return update
}
