/**
 * The messages of the Graph Aware Sync Protocol, version 1, in the form that `@bsv/overlay` speaks over HTTP, with a strict
 * parser for each side.
 *
 * `applied` is an extension of Quoin. A request with it asks for the transactions that changed the topic after a position,
 * spends included. A node that supports it lists them instead of outputs; other nodes ignore the field.
 */
import { Beef } from '@quoin/chain'
import { type Outpoint, parseOutpoint, parseTxid, QuoinError, type Txid } from '@quoin/primitives'
import { attempt, fieldsOf, isCount, isHex, isScore, isVout, malformed, nonsense } from './fields.ts'

export const VERSION = 1
/** The most rows of one answer. */
export const MAX_PAGE = 10_000

export interface SyncRequest {
  readonly version: number
  /** The last score that was seen, 0 before the first. */
  readonly since: number
  readonly limit?: number
  /** The last position of a transaction that was seen, 0 before the first. */
  readonly applied?: number
  /**
   * Heights, both included, whose anchors were found equal: transactions in these blocks are left out. A node without
   * anchors ignores the field.
   */
  readonly anchored?: HeightRange
}

export interface HeightRange {
  readonly from: number
  readonly to: number
}

export interface ListedOutput {
  readonly txid: string
  readonly outputIndex: number
  readonly score: number
}

interface ListedTransaction {
  readonly txid: string
  readonly score: number
}

export interface SyncResponse {
  readonly UTXOList: readonly ListedOutput[]
  readonly since: number
  readonly applied?: {
    readonly transactions: readonly ListedTransaction[]
    /** The last position that was given to any. */
    readonly last: number
  }
}

export interface NodeRequest {
  /** The output at the root of the graph, `txid.vout`. */
  readonly graphID: string
  readonly txid: string
  readonly outputIndex: number
  readonly metadata?: boolean
}

/** Another extension of Quoin: several transactions of a topic at once. */
export interface BatchRequest {
  readonly version: number
  readonly txids?: readonly Txid[]
  /** Or transactions of a block by their positions in its admitted list. */
  readonly block?: BlockRequest
}

export interface BlockRequest {
  readonly height: number
  readonly hash: string
  readonly positions: readonly number[]
}

/** The most transactions of one batch. */
export const MAX_BATCH = 1000

export interface GraphNode {
  readonly graphID: string
  /** In hexadecimal. */
  readonly rawTx: string
  readonly outputIndex: number
  /** A BUMP, in hexadecimal. */
  readonly proof?: string
}

/** Parses a request; refused with `ERR_GASP_VERSION_MISMATCH` or `ERR_SYNC_REQUEST`. */
export const readSyncRequest = (given: unknown): SyncRequest & { readonly limit: number } => {
  const { version, since, limit, applied, anchored } = fieldsOf(given, malformed)
  checkVersion(version)
  const wanted = limit === undefined || limit === null || limit === 0 ? MAX_PAGE : limit
  if (!isCount(wanted)) throw malformed('limit', 'a whole number')
  if (!isScore(since)) throw malformed('since', 'a number from 0 on')
  if (applied !== undefined && !isCount(applied)) throw malformed('applied', 'a whole number')
  return {
    version: VERSION,
    since,
    limit: Math.min(wanted, MAX_PAGE),
    ...(applied !== undefined && { applied }),
    ...(anchored !== undefined && { anchored: readHeights(anchored) })
  }
}

const readHeights = (given: unknown): HeightRange => {
  const { from, to } = fieldsOf(given, malformed)
  if (!isCount(from) || !isCount(to)) throw malformed('anchored', 'a range of heights')
  return { from, to }
}

const checkVersion = (version: unknown): void => {
  if (version === VERSION) return
  throw new QuoinError('ERR_GASP_VERSION_MISMATCH', `this node speaks version ${VERSION} of GASP`, {
    currentVersion: VERSION,
    foreignVersion: version
  })
}

export const readBatchRequest = (given: unknown): readonly Txid[] | BlockRequest => {
  const { version, txids, block } = fieldsOf(given, malformed)
  checkVersion(version)
  if (txids === undefined && block !== undefined) return readBlockRequest(block)
  const parsed =
    Array.isArray(txids) && txids.length > 0 && txids.length <= MAX_BATCH
      ? txids.map(txid => (typeof txid === 'string' ? attempt(() => parseTxid(txid)) : undefined))
      : [undefined]
  if (parsed.some(txid => txid === undefined)) throw malformed('txids', `a list of 1 to ${MAX_BATCH} txids`)
  return parsed as Txid[]
}

const readBlockRequest = (given: unknown): BlockRequest => {
  const { height, hash, positions } = fieldsOf(given, malformed)
  if (!isCount(height)) throw malformed('block.height', 'a height')
  if (typeof hash !== 'string' || !/^[0-9a-f]{64}$/.test(hash)) throw malformed('block.hash', 'a block hash')
  const isList = Array.isArray(positions) && positions.length > 0 && positions.length <= MAX_BATCH
  if (!isList || !positions.every(isCount)) {
    throw malformed('block.positions', `a list of 1 to ${MAX_BATCH} positions`)
  }
  return { height, hash, positions }
}

export const readNodeRequest = (
  given: unknown
): { readonly graphID: string; readonly txid: Txid; readonly outputIndex: number } => {
  const { graphID, txid, outputIndex } = fieldsOf(given, malformed)
  if (typeof graphID !== 'string' || !attempt(() => parseOutpoint(graphID))) {
    throw malformed('graphID', 'an outpoint: txid.vout')
  }
  const parsed = typeof txid === 'string' ? attempt(() => parseTxid(txid)) : undefined
  if (!parsed) throw malformed('txid', 'a txid')
  if (!isVout(outputIndex)) throw malformed('outputIndex', 'the index of an output')
  return { graphID, txid: parsed, outputIndex }
}

/** A row of an answer: an output to fetch, and its score in the order of the peer. */
export interface ListedRow {
  readonly outpoint: Outpoint
  readonly score: number
}

export interface ReadResponse {
  readonly outputs: readonly ListedRow[]
  readonly applied: { readonly transactions: readonly ListedRow[]; readonly last: number } | undefined
}

/** Parses the answer of a peer, which may be hostile; refused with `ERR_SYNC_PEER`. */
export const readSyncResponse = (given: unknown, limit: number): ReadResponse => {
  const { UTXOList, applied } = fieldsOf(given, nonsense)
  return {
    outputs: rowsOf('UTXOList', UTXOList, limit),
    applied: applied === undefined || applied === null ? undefined : readApplied(applied, limit)
  }
}

const readApplied = (given: unknown, limit: number): NonNullable<ReadResponse['applied']> => {
  const { transactions, last } = fieldsOf(given, nonsense)
  if (!isCount(last)) throw nonsense('applied.last', 'a whole number')
  const rows = rowsOf('applied.transactions', transactions, limit)
  if (rows.some(({ score }) => !isCount(score) || score > last)) {
    throw nonsense('applied.transactions', 'a list of positions up to the last')
  }
  return { transactions: rows, last }
}

const rowsOf = (name: string, given: unknown, limit: number): ListedRow[] => {
  if (!Array.isArray(given)) throw nonsense(name, 'a list')
  if (given.length > limit) throw nonsense(name, `a list of ${limit} at most`)
  return given.map(row => {
    const { txid, outputIndex = 0, score = 0 } = fieldsOf(row, nonsense)
    const outpoint = isVout(outputIndex)
      ? attempt(() => parseOutpoint(`${String(txid)}.${outputIndex}`))
      : undefined
    if (!outpoint) throw nonsense(name, 'a list of outpoints')
    if (!isScore(score)) throw nonsense(name, 'a list with scores')
    return { outpoint, score }
  })
}

/** Parses a batch: undefined if it is empty. The caller looks up the transactions that it requested. */
export const readBatch = (bytes: Uint8Array): Beef | undefined => {
  if (bytes.length === 0) return undefined
  try {
    return Beef.parse(bytes)
  } catch (cause) {
    if (!(cause instanceof QuoinError)) throw cause
    throw new QuoinError('ERR_SYNC_PEER', `the peer sent a malformed batch: ${cause.message}`, { cause })
  }
}

/** Parses the form of a node; the caller checks the transaction and its proof. */
export const readGraphNode = (
  given: unknown
): { readonly rawTx: string; readonly proof: string | undefined } => {
  const { rawTx, proof } = fieldsOf(given, nonsense)
  if (!isHex(rawTx)) throw nonsense('rawTx', 'hexadecimal')
  if (proof === undefined || proof === null || proof === '') return { rawTx, proof: undefined }
  if (!isHex(proof)) throw nonsense('proof', 'hexadecimal')
  return { rawTx, proof }
}
