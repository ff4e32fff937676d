/**
 * Transactions that reach the index past the pipeline: submitted to one topic, synced, or stored as the ancestor of another.
 * The commit that stores one enqueues it, unless it applies the transaction to the topics of all its token outputs. So the
 * state of every token follows from the stored transactions, by any way of arrival.
 */
import type { Transaction } from '@quoin/chain'
import type { Topic, Txid } from '@quoin/primitives'
import type { Batch, Queue } from '@quoin/store'
import type { StoredHook } from '@quoin/txo'
import { isDeployment, tokenOutputs } from '../rules.ts'
import { DISCOVERY, topicOf } from '../topic-names.ts'
import type { Clock } from './queues.ts'
import type { StagedTransactions } from './staged-transactions.ts'

export const trackStored = (queue: Queue<Txid>, staged: StagedTransactions, now: Clock): StoredHook => {
  const enqueue = async (batch: Batch, txid: Txid): Promise<void> => {
    // A staged transaction is in the queues already, unless it failed there.
    if (!(await staged.hasAny([txid]))) queue.enqueueIn(batch, txid, now())
    queue.reviveIn(batch, txid)
  }
  return (batch, transaction, applied) => {
    if (topicsOf(transaction).every(topic => applied.has(topic))) return undefined
    return enqueue(batch, transaction.txid)
  }
}

/** The topics that evaluate a transaction by its outputs. */
const topicsOf = (transaction: Transaction): Topic[] => {
  const claims = [...tokenOutputs(transaction).values()]
  const tokens = claims.map(({ id }) => topicOf(id))
  return claims.some(isDeployment) ? [DISCOVERY, ...tokens] : tokens
}
