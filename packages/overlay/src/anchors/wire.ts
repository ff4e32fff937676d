/**
 * The five questions of BRC-136, as JSON over HTTP, with a strict parser for each side. Hashes are lower-case hexadecimal
 * in display order.
 */
import { Bump, formatHash, parseHash } from '@quoin/chain'
import { formatTxid, fromHex, parseTxid, QuoinError, type Txid } from '@quoin/primitives'
import { attempt, fieldsOf, isCount, isHex, malformed, nonsense, type Refusal } from '../gasp/fields.ts'
import { type AdmittedTransaction, type TopicAnchor, ZERO_HASH } from './tree.ts'

/** The path of each question. */
export const ANCHOR_ROUTES = {
  tip: '/requestTopicAnchorTip',
  range: '/requestTopicAnchorRange',
  admitted: '/requestAdmittedList',
  proof: '/requestCompoundMerklePath',
  raw: '/requestRawTransactions'
} as const
export type AnchorQuestion = keyof typeof ANCHOR_ROUTES

/** The most anchors, and the most transactions, of one answer. */
export const MAX_RANGE = 1024
export const MAX_TXIDS = 1000
/** The most admitted transactions of a block that a client reads. */
const MAX_ADMITTED = 100_000
const MAX_HEIGHT = 0xffffffff

export interface AnchorJson {
  readonly blockHeight: number
  readonly blockHash: string
  readonly basmRoot: string
  readonly admittedCount: number
  readonly tac: string
}

export const anchorJson = ({ height, blockHash, root, count, tac }: TopicAnchor): AnchorJson => ({
  blockHeight: height,
  blockHash: formatHash(blockHash),
  basmRoot: formatHash(root),
  admittedCount: count,
  tac: formatHash(tac)
})

/** The height of the tip of a topic without anchors. */
export const NO_HEIGHT = -1

/** Requests; refused with `ERR_SYNC_REQUEST`. */
export const readRange = (
  given: unknown
): { readonly from: number; readonly to: number; readonly isShort: boolean } => {
  const { fromHeight: from, toHeight: to, short = false } = fieldsOf(given, malformed)
  if (typeof short !== 'boolean') throw malformed('short', 'true or false')
  if (!isHeight(from)) throw malformed('fromHeight', 'a height')
  if (!isHeight(to) || to < from) throw malformed('toHeight', 'a height from fromHeight on')
  if (to - from >= MAX_RANGE) throw malformed('toHeight', `within ${MAX_RANGE} heights of fromHeight`)
  return { from, to, isShort: short }
}

export const readBlock = (
  given: unknown
): { readonly height: number; readonly hash: Uint8Array | undefined } => {
  const { blockHeight, blockHash } = fieldsOf(given, malformed)
  if (!isHeight(blockHeight)) throw malformed('blockHeight', 'a height')
  return {
    height: blockHeight,
    hash: blockHash === undefined ? undefined : hashOf('blockHash', blockHash, malformed)
  }
}

export const readProofRequest = (
  given: unknown
): { readonly height: number; readonly txids: readonly Txid[] } => {
  const { height } = readBlock(given)
  const txids = txidsOf(fieldsOf(given, malformed)['txids'])
  if (txids.length === 0) throw malformed('txids', 'a list of txids that is not empty')
  return { height, txids }
}

export const readRawRequest = (given: unknown): readonly Txid[] =>
  txidsOf(fieldsOf(given, malformed)['txids'])

const txidsOf = (given: unknown): readonly Txid[] => {
  if (!Array.isArray(given) || given.length > MAX_TXIDS) {
    throw malformed('txids', `a list of up to ${MAX_TXIDS} txids`)
  }
  const txids = given.map(txid => txidOf('txids', txid, malformed))
  if (new Set(txids.map(formatTxid)).size < txids.length)
    throw malformed('txids', 'a list without repetitions')
  return txids
}

/** Answers of a peer; refused with `ERR_SYNC_PEER`. Undefined for a topic without anchors. */
export const readTip = (given: unknown, topic: string): { height: number; tac: Uint8Array } | undefined => {
  const fields = fieldsOf(given, nonsense)
  checkTopic(fields['topic'], topic)
  const { blockHeight } = fields
  const tac = hashOf('tac', fields['tac'], nonsense)
  if (blockHeight === NO_HEIGHT) {
    if (formatHash(tac) !== formatHash(ZERO_HASH)) throw nonsense('tac', 'zero at height -1')
    return undefined
  }
  if (!isHeight(blockHeight)) throw nonsense('blockHeight', 'a height')
  return { height: blockHeight, tac }
}

export const readAnchors = (given: unknown, topic: string, from: number, to: number): TopicAnchor[] => {
  const fields = fieldsOf(given, nonsense)
  checkTopic(fields['topic'], topic)
  const { anchors } = fields
  if (!Array.isArray(anchors) || anchors.length > to - from + 1) {
    throw nonsense('anchors', `a list of up to ${to - from + 1} anchors`)
  }
  return anchors.map((each, i) => {
    const { blockHeight, blockHash, basmRoot, admittedCount, tac } = fieldsOf(each, nonsense)
    if (blockHeight !== from + i) throw nonsense('anchors', `the consecutive heights from ${from} on`)
    if (!isCount(admittedCount)) throw nonsense('admittedCount', 'a whole number')
    return {
      height: blockHeight,
      blockHash: hashOf('blockHash', blockHash, nonsense),
      root: hashOf('basmRoot', basmRoot, nonsense),
      count: admittedCount,
      tac: hashOf('tac', tac, nonsense)
    }
  })
}

/** The admitted transactions of a block: in block order, each once. */
export const readAdmittedList = (given: unknown, topic: string, height: number): AdmittedTransaction[] => {
  const fields = fieldsOf(given, nonsense)
  checkTopic(fields['topic'], topic)
  if (fields['blockHeight'] !== height) throw nonsense('blockHeight', `the requested height ${height}`)
  const { admitted } = fields
  if (!Array.isArray(admitted) || admitted.length > MAX_ADMITTED) {
    throw nonsense('admitted', `a list of up to ${MAX_ADMITTED} transactions`)
  }
  const seen = new Set<string>()
  let last = -1
  return admitted.map(each => {
    const { txid, blockIndex } = fieldsOf(each, nonsense)
    const parsed = txidOf('admitted', txid, nonsense)
    if (!isCount(blockIndex) || blockIndex <= last)
      throw nonsense('blockIndex', 'greater than the one before')
    if (seen.has(formatTxid(parsed))) throw nonsense('admitted', 'a list without repetitions')
    seen.add(formatTxid(parsed))
    last = blockIndex
    return { txid: parsed, index: blockIndex }
  })
}

/** The proof of admitted transactions: each at its index of the block. */
export const readProof = (given: unknown, height: number, wanted: readonly AdmittedTransaction[]): Bump => {
  const { merklePath } = fieldsOf(given, nonsense)
  if (!isHex(merklePath)) throw nonsense('merklePath', 'hexadecimal')
  const bump = attempt(() => Bump.parse(fromHex(merklePath)))
  if (!bump || bump.height !== height) throw nonsense('merklePath', `a BUMP of height ${height}`)
  for (const { txid, index } of wanted) {
    if (bump.offsetOf(txid) !== index || !bump.proves(txid)) {
      throw nonsense('merklePath', `a proof of ${formatTxid(txid)} at index ${index}`)
    }
  }
  return bump
}

/** Raw transactions by txid in display order; the caller checks that they hash to it. */
export const readRaw = (given: unknown, limit: number): ReadonlyMap<string, Uint8Array> => {
  const { transactions } = fieldsOf(given, nonsense)
  if (!Array.isArray(transactions) || transactions.length > limit) {
    throw nonsense('transactions', `a list of up to ${limit} transactions`)
  }
  return new Map(
    transactions.map(each => {
      const { txid, rawTx } = fieldsOf(each, nonsense)
      if (!isHex(rawTx)) throw nonsense('rawTx', 'hexadecimal')
      return [formatTxid(txidOf('txid', txid, nonsense)), fromHex(rawTx)]
    })
  )
}

const checkTopic = (given: unknown, topic: string): void => {
  if (given !== topic) throw nonsense('topic', `the requested one, ${topic}`)
}

const isHeight = (given: unknown): given is number => isCount(given) && given <= MAX_HEIGHT

const hashOf = (field: string, given: unknown, refusal: Refusal): Uint8Array => {
  if (typeof given !== 'string' || !/^[0-9a-f]{64}$/.test(given)) {
    throw refusal(field, '64 lower-case hexadecimal digits')
  }
  return parseHash(given)
}

const txidOf = (field: string, given: unknown, refusal: Refusal): Txid => {
  const parsed = typeof given === 'string' ? attempt(() => parseTxid(given)) : undefined
  if (!parsed) throw refusal(field, 'a txid')
  return parsed
}

/** A node without anchors for a topic. */
export const unsupported = (topic: string): QuoinError =>
  new QuoinError(
    'ERR_ANCHORS_UNSUPPORTED',
    `${topic} has no anchors: it has no start on the chain of this node`,
    { topic }
  )
