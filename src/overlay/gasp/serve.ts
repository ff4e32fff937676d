/**
 * The side of sync that answers. Outputs are listed in the order in which they came into the topic, each with a
 * position of its own as its score (`arrivals.ts`). `since` is taken as the last position that was seen, and what comes
 * after it is listed: nothing shares a position, so a page never begins where the last one did, and a node that asks
 * for as little as one output at a time gets through.
 */
import {
  formatTxid,
  type Outpoint,
  QuoinError,
  type Topic,
  toHex,
  txidOf,
  voutOf
} from '../../keyspace/index.ts'
import type { LogEntry } from '../../store/index.ts'
import { outputs as outputKeys } from '../../txo/index.ts'
import type { Engine } from '../engine.ts'
import { overlay } from '../keys.ts'
import { type GraphNode, readNodeRequest, readSyncRequest, type SyncResponse } from './wire.ts'

const { arrivedOutputs, arrivedTransactions } = overlay.collections
const { topicOutputs } = outputKeys.collections
/** Entries that are looked at together at most. */
const STRIDE = 1000

/** The answer to `POST /requestSyncResponse`. */
export const syncResponse = async (
  { outputs, topics }: Engine,
  topic: string,
  request: unknown
): Promise<SyncResponse> => {
  const { since, limit, applied } = readSyncRequest(request)
  if (!topics.has(topic)) {
    throw new QuoinError('ERR_TOPIC_UNKNOWN', `no topic is called ${topic}`, { topic })
  }
  const { store } = outputs
  if (applied !== undefined) {
    const log = store.logAt(arrivedTransactions, [topic as Topic])
    const { entries, last } = await log.read({ after: applied, limit })
    const transactions = entries.map(({ entry, position }) => ({ txid: formatTxid(entry), score: position }))
    return { UTXOList: [], since, applied: { transactions, last } }
  }
  const log = store.logAt(arrivedOutputs, [topic as Topic])
  // Who has seen more than there is has seen it of a store that is no more, and begins anew.
  let after = since > (await log.last()) ? 0 : Math.floor(since)
  const live: LogEntry<Outpoint>[] = []
  for (;;) {
    const stride = Math.min(STRIDE, limit - live.length)
    const { entries } = await log.read({ after, limit: stride })
    const spenders = await outputs.spends(entries.map(({ entry }) => entry))
    const scores = await Promise.all(
      entries.map(({ entry }) =>
        store
          .use(topicOutputs)
          .at(topic as Topic)
          .score(entry)
      )
    )
    live.push(...entries.filter((_, i) => spenders[i] === null && scores[i] !== undefined))
    if (entries.length < stride || live.length >= limit) break
    after = entries.at(-1)!.position
  }
  const UTXOList = live.map(({ entry, position }) => ({
    txid: formatTxid(txidOf(entry)),
    outputIndex: voutOf(entry),
    score: position
  }))
  return { UTXOList, since }
}

/**
 * The answer to `POST /requestForeignGASPNode`: a transaction with its proof, if it has one. Whatever is stored can be
 * had, so that a walk gets back to what is proved, and no further.
 */
export const foreignNode = async ({ outputs }: Engine, request: unknown): Promise<GraphNode> => {
  const { graphID, txid, outputIndex } = readNodeRequest(request)
  const [transaction, proof] = await Promise.all([
    outputs.transactions.get(txid),
    outputs.transactions.proof(txid)
  ])
  if (!transaction || outputIndex >= transaction.outputCount) {
    const outpoint = `${formatTxid(txid)}.${outputIndex}`
    throw new QuoinError('ERR_TX_UNKNOWN', `output ${outpoint} is not stored`, { outpoint })
  }
  return {
    graphID,
    rawTx: toHex(transaction.raw),
    outputIndex,
    ...(proof && { proof: toHex(proof.toBytes()) })
  }
}
