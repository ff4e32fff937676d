/** The serving side of BRC-136: anchors of topics, and the transactions and proofs behind them. */
import { Bump, formatHash } from '@quoin/chain'
import { equalBytes, formatTxid, QuoinError, type Topic, type Txid, toHex } from '@quoin/primitives'
import type { Engine } from '../engine.ts'
import { shortRange } from './short.ts'
import type { TopicAnchors } from './topic-anchors.ts'
import { ZERO_HASH } from './tree.ts'
import {
  type AnchorQuestion,
  anchorJson,
  NO_HEIGHT,
  readBlock,
  readProofRequest,
  readRange,
  readRawRequest,
  unsupported
} from './wire.ts'

/** Bytes of raw transactions in one answer. */
const MAX_RAW = 16 * 1024 * 1024

/** The answer to `POST /requestTopicAnchorTip`. */
const anchorTip = async (engine: Engine, name: string) => {
  const { anchors, topic } = anchorsOf(engine, name)
  const tip = await anchors.tip(topic)
  return tip ? { topic, ...anchorJson(tip) } : { topic, blockHeight: NO_HEIGHT, tac: formatHash(ZERO_HASH) }
}

/** The answer to `POST /requestTopicAnchorRange`. */
const anchorRange = async (engine: Engine, name: string, request: unknown): Promise<object> => {
  const { anchors, topic } = anchorsOf(engine, name)
  const { from, to, isShort } = readRange(request)
  const range = await anchors.range(topic, from, to)
  const short = isShort ? await shortRange(anchors, topic, range) : undefined
  return short ? { topic, anchors: [], short } : { topic, anchors: range.map(anchorJson) }
}

/** The answer to `POST /requestAdmittedList`. */
const admittedList = async (engine: Engine, name: string, request: unknown) => {
  const { anchors, topic } = anchorsOf(engine, name)
  const { height, hash } = readBlock(request)
  const anchor = await anchors.at(topic, height)
  if (hash && !(anchor && equalBytes(anchor.blockHash, hash))) {
    throw new QuoinError('ERR_SYNC_REQUEST', `the block at height ${height} is another one`, {
      height,
      ...(anchor && { blockHash: formatHash(anchor.blockHash) })
    })
  }
  const admitted = anchor ? await anchors.admitted(topic, height) : []
  return {
    topic,
    blockHeight: height,
    ...(anchor && { blockHash: formatHash(anchor.blockHash) }),
    admitted: admitted.map(({ txid, index }) => ({ txid: formatTxid(txid), blockIndex: index }))
  }
}

/** The answer to `POST /requestCompoundMerklePath`: one proof of several admitted transactions of a block. */
const compoundPath = async (engine: Engine, name: string, request: unknown) => {
  const { anchors, topic } = anchorsOf(engine, name)
  const { height, txids } = readProofRequest(request)
  const admitted = new Set((await anchors.admitted(topic, height)).map(({ txid }) => formatTxid(txid)))
  const unknown = txids.find(txid => !admitted.has(formatTxid(txid)))
  if (unknown) throw notAdmitted(topic, height, unknown)
  const bumps = await engine.outputs.transactions.proofs(txids)
  const moved = txids.find((_, i) => bumps[i]?.height !== height)
  if (moved) throw notAdmitted(topic, height, moved)
  const bump = Bump.merge(bumps as Bump[]).provingOnly(txids)
  return { topic, blockHeight: height, txids: txids.map(formatTxid), merklePath: toHex(bump.toBytes()) }
}

/** The answer to `POST /requestRawTransactions`. */
const rawTransactions = async (engine: Engine, request: unknown) => {
  const txids = readRawRequest(request)
  const stored = await engine.outputs.transactions.getMany(txids)
  const bytes = stored.reduce((sum, each) => sum + (each?.raw.length ?? 0), 0)
  if (bytes > MAX_RAW) {
    throw new QuoinError(
      'ERR_REQUEST_LIMIT',
      `the transactions have ${bytes} bytes, more than ${MAX_RAW}: request fewer at once`,
      { bytes, limit: MAX_RAW }
    )
  }
  return {
    transactions: stored.flatMap(each =>
      each ? [{ txid: formatTxid(each.txid), rawTx: toHex(each.raw) }] : []
    ),
    missing: txids.filter((_, i) => !stored[i]).map(formatTxid)
  }
}

/** Answers one question of BRC-136. */
export const answerAnchors = (
  engine: Engine,
  question: AnchorQuestion,
  topic: string,
  request: unknown
): Promise<object> => {
  switch (question) {
    case 'tip':
      return anchorTip(engine, topic)
    case 'range':
      return anchorRange(engine, topic, request)
    case 'admitted':
      return admittedList(engine, topic, request)
    case 'proof':
      return compoundPath(engine, topic, request)
    case 'raw':
      return rawTransactions(engine, request)
  }
}

const anchorsOf = (
  engine: Engine,
  name: string
): { readonly anchors: TopicAnchors; readonly topic: Topic } => {
  if (!engine.topics.has(name)) {
    throw new QuoinError('ERR_TOPIC_UNKNOWN', `no topic is called ${name}`, { topic: name })
  }
  const { anchors } = engine
  if (anchors?.start(name as Topic) === undefined) throw unsupported(name)
  return { anchors, topic: name as Topic }
}

const notAdmitted = (topic: string, height: number, txid: Txid): QuoinError =>
  new QuoinError('ERR_SYNC_REQUEST', `${topic} admitted no transaction of that txid at height ${height}`, {
    topic,
    height,
    txid: formatTxid(txid)
  })
