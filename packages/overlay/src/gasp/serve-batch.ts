/**
 * The serving side of batches: transactions of a topic by txid, in one BEEF, each with the unproved ancestors that the log of
 * the topic does not list. A client that follows the log has the others already.
 */
import { type BeefTransaction, formatHash, writeBeef } from '@quoin/chain'
import { bytesKey, QuoinError, type Topic, type Txid } from '@quoin/primitives'
import { unsupported } from '../anchors/wire.ts'
import type { Engine } from '../engine.ts'
import { type BlockRequest, readBatchRequest } from './wire.ts'

/** Bytes of raw transactions and proofs after which a batch ends, and of one transaction with its ancestors at most. */
const MAX_BYTES = 8 * 1024 * 1024
/** Transactions of one ancestry at most. */
const MAX_ANCESTRY = 2000
/** Requested transactions that are read at once. */
const STEP = 16

/**
 * The answer to `POST /requestTransactions`: empty, or a BEEF. It has the requested transactions in their order, up to
 * the limit of a batch; a transaction that is not stored, or whose ancestry is beyond a limit, is left out.
 */
export const transactionBatch = async (
  engine: Engine,
  name: string,
  request: unknown
): Promise<Uint8Array> => {
  const wanted = readBatchRequest(request)
  if (!engine.topics.has(name)) {
    throw new QuoinError('ERR_TOPIC_UNKNOWN', `no topic is called ${name}`, { topic: name })
  }
  const topic = name as Topic
  const txids = 'height' in wanted ? await txidsAt(engine, topic, wanted) : wanted
  const found = new Map<string, BeefTransaction>()
  let bytes = 0
  for (let i = 0; i < txids.length; i += STEP) {
    const step = txids.slice(i, i + STEP).map(txid => ancestryOf(engine, topic, txid))
    for (const ancestry of await Promise.all(step)) {
      const added = ancestry.filter(({ txid }) => !found.has(bytesKey(txid)))
      bytes += added.reduce((sum, each) => sum + sizeOf(each), 0)
      if (bytes > MAX_BYTES) return beefOf(found)
      for (const each of added) found.set(bytesKey(each.txid), each)
    }
  }
  return beefOf(found)
}

/** Txids by position in the admitted list of a block; none of another block. */
const txidsAt = async (
  { anchors }: Engine,
  topic: Topic,
  { height, hash, positions }: BlockRequest
): Promise<readonly Txid[]> => {
  if (anchors?.start(topic) === undefined) throw unsupported(topic)
  const anchor = await anchors.at(topic, height)
  if (!anchor || formatHash(anchor.blockHash) !== hash) return []
  const admitted = await anchors.admitted(topic, height)
  return positions.flatMap(position => admitted[position]?.txid ?? [])
}

const beefOf = (found: ReadonlyMap<string, BeefTransaction>): Uint8Array =>
  found.size === 0 ? new Uint8Array() : writeBeef({ version: 2, transactions: [...found.values()] })

const sizeOf = ({ transaction, bump }: BeefTransaction): number =>
  (transaction?.raw.length ?? 0) + (bump?.toBytes().length ?? 0)

/** A transaction with the ancestors that a client needs; empty if it cannot be served. */
const ancestryOf = async (
  engine: Engine,
  topic: Topic,
  subject: Txid
): Promise<readonly BeefTransaction[]> => {
  const { transactions } = engine.outputs
  const found = new Map<string, BeefTransaction>()
  let bytes = 0
  for (let wanted = [subject]; wanted.length > 0; ) {
    if (found.size + wanted.length > MAX_ANCESTRY) return []
    const [stored, bumps] = await Promise.all([transactions.getMany(wanted), transactions.proofs(wanted)])
    const parents = new Map<string, Txid>()
    for (const [i, txid] of wanted.entries()) {
      const each = { txid, transaction: stored[i], bump: bumps[i] }
      if (!each.transaction) return []
      bytes += sizeOf(each)
      if (bytes > MAX_BYTES) return []
      found.set(bytesKey(txid), each)
      if (each.bump) continue
      for (const parent of each.transaction.spentTxids()) parents.set(bytesKey(parent), parent)
    }
    for (const key of found.keys()) parents.delete(key)
    wanted = await unlisted(engine, topic, [...parents.values()])
  }
  return [...found.values()].reverse()
}

/** Transactions that the log of a topic does not list: none of their outputs was admitted, and they spend no coin. */
const unlisted = async (engine: Engine, topic: Topic, txids: readonly Txid[]): Promise<Txid[]> => {
  if (txids.length === 0) return []
  const stored = await engine.admissionsOf(txids)
  return txids.filter((_, i) => {
    const { outputsToAdmit, previousCoins } = stored[i]?.[topic] ?? { outputsToAdmit: [], previousCoins: [] }
    return outputsToAdmit.length + previousCoins.length === 0
  })
}
