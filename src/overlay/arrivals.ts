/**
 * The order in which things came into a topic, for other nodes to follow (`gasp/`).
 *
 * The scores of outputs do not give it: they are heights where a transaction is mined and seconds where it is not (D3),
 * so what arrives mined would lie far before what a follower has seen. Here every arrival has a position in a log,
 * which the commit itself gives: 1, 2, 3 and so on, no two the same, visible in their order. Who has seen everything up
 * to a position misses nothing by asking for what is after it, however much arrives in one moment.
 *
 * There are three logs for each topic. Outputs that are not spent are what nodes of the reference ask for.
 * Transactions that changed the topic, those included that only spend, are what Quoin nodes ask each other for: topics
 * that have seen the same transactions are the same. Transactions that were taken back are for this node itself: another
 * one may still have them, at a position that this one has passed, and has to be asked again.
 */

import type { Transaction } from '../chain/index.ts'
import { makeOutpoint, type Outpoint, type Topic, type Txid } from '../keyspace/index.ts'
import type { Batch } from '../store/index.ts'
import type { OutputStore } from '../txo/index.ts'
import { type Judgement, type Judgements, overlay } from './keys.ts'

const { judgements, arrivedOutputs, arrivedTransactions, takenBack } = overlay.collections

/** Part of the commit of a submission: what these topics did with a transaction, and had done with it before. */
export const arriveIn = (
  batch: Batch,
  transaction: Transaction,
  before: Judgements,
  judged: Judgements
): void => {
  const { txid } = transaction
  for (const [name, judgement] of Object.entries(judged)) {
    const topic = name as Topic
    const { outputsToAdmit, previousCoins } = judgement
    if (outputsToAdmit.length + previousCoins.length === 0) continue
    const outputs = arrivedOutputs.encode(topic)
    // What was taken back has left; only what is judged again may still be there.
    const arrive = before[topic] ? again : first
    for (const coin of coinsOf(transaction, judgement)) batch.zrem(outputs, coin)
    for (const vout of outputsToAdmit) arrive(batch, outputs, makeOutpoint(txid, vout))
    arrive(batch, arrivedTransactions.encode(topic), txid)
  }
}

/** Part of the commit that takes back a transaction: the coins that it spent are there again. */
export const takeBackIn = async (outputs: OutputStore, batch: Batch, txid: Txid): Promise<void> => {
  const judged = await outputs.store.use(judgements).get(txid)
  if (!judged) return
  const transaction = await outputs.transactions.get(txid)
  for (const [name, judgement] of Object.entries(judged)) {
    const topic = name as Topic
    const key = arrivedOutputs.encode(topic)
    for (const vout of judgement.outputsToAdmit) batch.zrem(key, makeOutpoint(txid, vout))
    if (transaction) for (const coin of coinsOf(transaction, judgement)) again(batch, key, coin)
    batch.zrem(arrivedTransactions.encode(topic), txid)
    again(batch, takenBack.encode(topic), txid)
  }
}

const coinsOf = ({ inputs }: Transaction, { previousCoins }: Judgement): Outpoint[] =>
  previousCoins.map(input => makeOutpoint(inputs[input]!.txid, inputs[input]!.vout))

const first = (batch: Batch, key: Uint8Array, entry: Uint8Array): unknown => batch.append(key, entry)

/** At a new position, also when it was there before. */
const again = (batch: Batch, key: Uint8Array, entry: Uint8Array): void => {
  batch.zrem(key, entry)
  batch.append(key, entry)
}
