/**
 * The graph of a transaction of a peer: the transaction and its ancestors, back to proved or locally known ones. Each node
 * is fetched once and checked against its txid, which is a hash, so there are no cycles. Proofs and scripts are verified
 * when the transaction is submitted.
 */
import { Beef, type BeefTransaction, Bump, parseTransaction, type Transaction } from '@quoin/chain'
import {
  bytesKey,
  formatTxid,
  fromHex,
  hasCode,
  makeOutpoint,
  type Outpoint,
  QuoinError,
  type Txid,
  txidOf,
  voutOf
} from '@quoin/primitives'
import type { Peer } from './peer.ts'
import { readGraphNode } from './wire.ts'

export interface GraphLimits {
  /** Transactions of one graph. */
  readonly transactions: number
  /** Steps back from the root. */
  readonly depth: number
  /** Bytes of raw transactions and proofs together. */
  readonly bytes: number
  /** Deadline of the fetch. */
  readonly milliseconds: number
}

export const GRAPH_LIMITS: GraphLimits = {
  transactions: 2000,
  depth: 1000,
  bytes: 16 * 1024 * 1024,
  milliseconds: 120_000
}

/** Concurrent requests of one graph. */
const CONCURRENCY = 8

export interface FetchedNode extends BeefTransaction {
  readonly transaction: Transaction
}

/** The root first; every other node comes after a node that spends or needs it. */
export type Graph = readonly FetchedNode[]

export interface GraphContext {
  readonly peer: Peer
  readonly limits: GraphLimits
  /** Whether a transaction is stored and verified here, and needs no fetch. */
  readonly isKnown: (txid: Txid) => Promise<boolean>
  /** Inputs that the topic needs to evaluate a proved transaction. */
  readonly needs: (node: FetchedNode) => Promise<readonly Outpoint[]>
  /** Requested nodes by txid, shared between graphs that are fetched together. */
  readonly fetched: Map<string, Promise<FetchedNode>>
  readonly signal: AbortSignal | undefined
}

interface NodeRequest {
  readonly outpoint: Outpoint
  /** The topic named it; without it the transaction is evaluated with less history. */
  readonly isOptional: boolean
}

export const fetchGraph = async (root: Outpoint, context: GraphContext): Promise<Graph> => {
  const { limits } = context
  const graphID = nameOf(root)
  const nodes: FetchedNode[] = []
  const asked = new Set([formatTxid(txidOf(root))])
  let wanted: NodeRequest[] = [{ outpoint: root, isOptional: false }]
  let bytes = 0
  for (let depth = 0; wanted.length > 0; depth++) {
    // At a limit, optional nodes are dropped: there is less history, and the transaction all the same.
    const room = depth > limits.depth ? 0 : limits.transactions - nodes.length
    if (wanted.length > room) wanted = wanted.filter(({ isOptional }) => !isOptional)
    if (wanted.length === 0) break
    if (depth > limits.depth) throw beyond(graphID, `goes back more than ${limits.depth} steps`)
    if (nodes.length + wanted.length > limits.transactions) {
      throw beyond(graphID, `has more than ${limits.transactions} transactions`)
    }
    const next = new Map<string, NodeRequest>()
    for (let i = 0; i < wanted.length; i += CONCURRENCY) {
      const slice = wanted.slice(i, i + CONCURRENCY)
      const fetched = await Promise.all(slice.map(each => fetchNode(graphID, each, context)))
      for (const [at, node] of fetched.entries()) {
        if (!node) continue
        const size = node.transaction.raw.length + (node.bump?.toBytes().length ?? 0)
        if (bytes + size > limits.bytes) {
          if (slice[at]!.isOptional) continue
          throw beyond(graphID, `has more than ${limits.bytes} bytes`)
        }
        bytes += size
        nodes.push(node)
        for (const each of await requestsBehind(node, context)) {
          const name = formatTxid(txidOf(each.outpoint))
          if (!asked.has(name) && !(next.get(name)?.isOptional === false)) next.set(name, each)
        }
      }
    }
    const open = [...next.values()]
    const known = await Promise.all(open.map(({ outpoint }) => context.isKnown(txidOf(outpoint))))
    wanted = open.filter((_, i) => !known[i])
    for (const { outpoint } of wanted) asked.add(formatTxid(txidOf(outpoint)))
  }
  return nodes
}

/** The next requests behind a node. */
const requestsBehind = async (node: FetchedNode, { needs }: GraphContext): Promise<NodeRequest[]> => {
  const { transaction, bump } = node
  const spent = transaction.inputs.map(({ txid, vout }) => makeOutpoint(txid, vout))
  if (!bump) return spent.map(outpoint => ({ outpoint, isOptional: false }))
  // An output that the transaction does not spend is not its history.
  const names = new Set(spent.map(nameOf))
  return (await needs(node))
    .filter(outpoint => names.has(nameOf(outpoint)))
    .map(outpoint => ({ outpoint, isOptional: true }))
}

const fetchNode = async (
  graphID: string,
  { outpoint, isOptional }: NodeRequest,
  { peer, fetched, signal }: GraphContext
): Promise<FetchedNode | undefined> => {
  const txid = txidOf(outpoint)
  const name = formatTxid(txid)
  const ask = async (): Promise<FetchedNode> => {
    const request = { graphID, txid: name, outputIndex: voutOf(outpoint), metadata: false }
    return nodeOf(txid, await peer.node(request, signal))
  }
  const node = fetched.get(name) ?? ask()
  fetched.set(name, node)
  try {
    return await node
  } catch (error) {
    fetched.delete(name)
    if (!(error instanceof QuoinError) || hasCode(error, 'ERR_SYNC_UNAVAILABLE')) throw error
    if (isOptional) return undefined
    // Only the root may have been rolled back by the peer; a missing ancestor makes its graph incomplete.
    if (error.details['gone'] !== true || nameOf(outpoint) === graphID) throw error
    throw new QuoinError('ERR_SYNC_PEER', error.message, { cause: error })
  }
}

/** Refused when the transaction is not the requested one. */
export const parseRaw = (raw: Uint8Array, name: string): Transaction => {
  const transaction = parseTransaction(raw)
  if (formatTxid(transaction.txid) !== name) throw peerError('a transaction that was not requested', name)
  return transaction
}

/** Refused when the transaction is not the requested one, or the proof is of another. */
const nodeOf = (txid: Txid, given: unknown): FetchedNode => {
  const { rawTx, proof } = readGraphNode(given)
  const name = formatTxid(txid)
  const transaction = parseRaw(fromHex(rawTx), name)
  const bump = proof === undefined ? undefined : Bump.parse(fromHex(proof))
  if (bump && bump.offsetOf(txid) === undefined) throw peerError('a proof of another transaction', name)
  return { txid, transaction, bump: bump?.trimmedTo(txid) }
}

/** The BEEF of a node, from the graph and from stored ancestors. */
export const beefOf = (node: FetchedNode, graph: Graph, others: readonly BeefTransaction[]): Beef => {
  const byTxid = new Map<string, BeefTransaction>(others.map(each => [formatTxid(each.txid), each]))
  for (const each of graph) byTxid.set(formatTxid(each.txid), each)
  const found = new Map<string, BeefTransaction>()
  const wanted = [node.txid]
  for (let txid = wanted.pop(); txid; txid = wanted.pop()) {
    const name = formatTxid(txid)
    const each = byTxid.get(name)
    if (!each || found.has(name)) continue
    found.set(name, each)
    if (!each.bump) wanted.push(...(each.transaction?.inputs.map(input => input.txid) ?? []))
  }
  return Beef.of([...found.values()].reverse())
}

/** Parents of unproved transactions that are not among them. */
export const missingParents = (nodes: readonly BeefTransaction[]): readonly Txid[] => {
  const names = new Set(nodes.map(({ txid }) => bytesKey(txid)))
  const missing = new Map<string, Txid>()
  for (const { transaction, bump } of nodes) {
    for (const txid of bump ? [] : (transaction?.spentTxids() ?? [])) {
      if (!names.has(bytesKey(txid))) missing.set(bytesKey(txid), txid)
    }
  }
  return [...missing.values()]
}

/** Every node after its parents. */
export const oldestFirst = (graph: Graph): FetchedNode[] => {
  const waiting = new Map(graph.map(node => [formatTxid(node.txid), node]))
  const order: FetchedNode[] = []
  for (const first of graph) {
    const stack = [first]
    for (let node = stack.at(-1); node; node = stack.at(-1)) {
      const parent = node.transaction.inputs.find(({ txid }) => waiting.has(formatTxid(txid)))
      if (parent) {
        stack.push(waiting.get(formatTxid(parent.txid))!)
        continue
      }
      if (waiting.delete(formatTxid(node.txid))) order.push(node)
      stack.pop()
    }
  }
  return order
}

const nameOf = (outpoint: Outpoint): string => `${formatTxid(txidOf(outpoint))}.${voutOf(outpoint)}`

const beyond = (graphID: string, what: string): QuoinError =>
  new QuoinError('ERR_SYNC_LIMIT', `the graph of ${graphID} ${what}`, { graphID })

const peerError = (what: string, txid: string): QuoinError =>
  new QuoinError('ERR_SYNC_PEER', `the peer answered with ${what}`, { txid })
