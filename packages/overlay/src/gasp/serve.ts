/**
 * The serving side of sync, from the membership log of the topic. Every change in the log has its own cursor, which is the
 * score of its row. `since` is the last cursor that the client has seen. No two changes share a cursor, so every page
 * advances, even with a limit of one row.
 */
import {
  formatTxid,
  type Outpoint,
  QuoinError,
  type Topic,
  type Txid,
  toHex,
  txidOf,
  voutOf
} from '@quoin/primitives'
import {
  changeCursor,
  changePlace,
  MAX_CHANGES,
  type MembershipChange,
  type OutputStore,
  outputs as outputKeys
} from '@quoin/txo'
import type { Engine } from '../engine.ts'
import {
  type GraphNode,
  type HeightRange,
  readNodeRequest,
  readSyncRequest,
  type SyncResponse
} from './wire.ts'

const { topicOutputs } = outputKeys.collections
/** Log entries of one read. */
const LOG_PAGE = 1000

/** The answer to `POST /requestSyncResponse`. */
export const syncResponse = async (
  { outputs, topics }: Engine,
  name: string,
  request: unknown
): Promise<SyncResponse> => {
  const { since, limit, applied, anchored } = readSyncRequest(request)
  if (!topics.has(name)) {
    throw new QuoinError('ERR_TOPIC_UNKNOWN', `no topic is called ${name}`, { topic: name })
  }
  const topic = name as Topic
  const last = await lastCursor(outputs, topic)
  if (applied !== undefined) {
    const listed = await list(outputs, topic, applied, limit, transactionOf, each =>
      areListed(outputs, each, anchored)
    )
    const transactions = listed.map(({ subject, score }) => ({ txid: formatTxid(subject), score }))
    return { UTXOList: [], since, applied: { transactions, last } }
  }
  // A cursor beyond the end of the log is of an earlier store of this node: the client begins again.
  const after = since > last ? 0 : Math.floor(since)
  const live = await list(outputs, topic, after, limit, admittedOf, each => areLive(outputs, topic, each))
  const UTXOList = live.map(({ subject, score }) => ({
    txid: formatTxid(txidOf(subject)),
    outputIndex: voutOf(subject),
    score
  }))
  return { UTXOList, since }
}

const lastCursor = async (outputs: OutputStore, topic: Topic): Promise<number> => {
  const last = await outputs.membership(topic).last()
  return last === 0 ? 0 : changeCursor(last, MAX_CHANGES - 1)
}

interface ListedSubject<T> {
  readonly subject: T
  readonly score: number
}

/** Existing subjects of changes after a cursor, each once, with the cursor of its last change. */
const list = async <T extends Uint8Array>(
  outputs: OutputStore,
  topic: Topic,
  after: number,
  limit: number,
  subjectOf: (change: MembershipChange) => T | undefined,
  areThere: (subjects: readonly T[]) => Promise<readonly boolean[]>
): Promise<ListedSubject<T>[]> => {
  const log = outputs.membership(topic)
  const listed = new Map<string, ListedSubject<T>>()
  for (let { position } = changePlace(after); ; ) {
    // The entry at the cursor may have more changes.
    const { entries } = await log.read({ after: Math.max(0, position - 1), limit: LOG_PAGE })
    const found = entries.flatMap(entry =>
      entry.changes.flatMap((change, index): ListedSubject<T>[] => {
        const subject = subjectOf(change)
        const score = changeCursor(entry.position, index)
        return subject && score > after ? [{ subject, score }] : []
      })
    )
    const isThere = await areThere(found.map(({ subject }) => subject))
    for (const [i, each] of found.entries()) {
      const name = toHex(each.subject)
      if (!isThere[i]) continue
      if (!listed.has(name) && listed.size === limit) return [...listed.values()]
      listed.delete(name)
      listed.set(name, each)
    }
    if (entries.length < LOG_PAGE) return [...listed.values()]
    position = entries.at(-1)!.position + 1
  }
}

/** The transaction behind a change: its output was admitted, or it spent one. */
const transactionOf = (change: MembershipChange): Txid | undefined =>
  change.kind === 'spent' ? change.spender : change.kind === 'admitted' ? txidOf(change.outpoint) : undefined

const admittedOf = (change: MembershipChange): Outpoint | undefined =>
  change.kind === 'admitted' || change.kind === 'restored' ? change.outpoint : undefined

/** Transactions that were not rolled back, without the ones in blocks whose anchors the client has compared. */
const areListed = async (
  outputs: OutputStore,
  txids: readonly Txid[],
  { from, to }: HeightRange = NO_HEIGHTS
): Promise<boolean[]> => {
  const records = await Promise.all(txids.map(txid => outputs.record(txid)))
  return records.map(record => {
    const height = record?.position?.height
    return record !== undefined && !(height !== undefined && height >= from && height <= to)
  })
}

const NO_HEIGHTS: HeightRange = { from: 1, to: 0 }

const areLive = async (
  outputs: OutputStore,
  topic: Topic,
  outpoints: readonly Outpoint[]
): Promise<boolean[]> => {
  const ofTopic = outputs.store.use(topicOutputs).at(topic)
  const [spenders, scores] = await Promise.all([
    outputs.spends(outpoints),
    Promise.all(outpoints.map(outpoint => ofTopic.score(outpoint)))
  ])
  return outpoints.map((_, i) => spenders[i] === null && scores[i] !== undefined)
}

/**
 * The answer to `POST /requestForeignGASPNode`: a transaction with its proof, if it has one. Any stored transaction is
 * served, so that a client can walk back to proved ones.
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
