/**
 * The graph of a transaction that another node has: the transaction, and what it spends, back to what is proved or is
 * known here. Every node is asked for once and is what it was asked for, since a txid is a hash; that is why there are
 * no cycles, and why nothing has to be believed: whether proofs hold and scripts run is found out when it is submitted.
 */
import { type BeefTransaction, Bump, parseTransaction, type Transaction, writeBeef } from '@quoin/chain'
import {
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
  /** Steps back from the first. */
  readonly depth: number
  /** Of raw transactions and proofs together. */
  readonly bytes: number
  /** That fetching it may take. */
  readonly milliseconds: number
}

export const GRAPH_LIMITS: GraphLimits = {
  transactions: 2000,
  depth: 1000,
  bytes: 16 * 1024 * 1024,
  milliseconds: 120_000
}

/** Requests of one graph that are on their way together. */
const AT_ONCE = 8

export interface FetchedNode extends BeefTransaction {
  readonly transaction: Transaction
}

/** The first is the one that was asked for; every other one comes after something that spends it, or needs it. */
export type Graph = readonly FetchedNode[]

export interface GraphContext {
  readonly peer: Peer
  readonly limits: GraphLimits
  /** Whether a transaction need not be asked for: it is here, and good. */
  readonly isKnown: (txid: Txid) => Promise<boolean>
  /** Outputs that the topic wants to have seen before it judges a transaction that is proved. */
  readonly needs: (node: FetchedNode) => Promise<readonly Outpoint[]>
  /** Nodes that were asked for already, by txid, shared between graphs that are fetched together. */
  readonly fetched: Map<string, Promise<FetchedNode>>
  readonly signal: AbortSignal | undefined
}

interface Wanted {
  readonly outpoint: Outpoint
  /** The topic would like it; without it the transaction is judged as it is. */
  readonly isOptional: boolean
}

export const fetchGraph = async (root: Outpoint, context: GraphContext): Promise<Graph> => {
  const { limits } = context
  const graphID = nameOf(root)
  const nodes: FetchedNode[] = []
  const asked = new Set([formatTxid(txidOf(root))])
  let wanted: Wanted[] = [{ outpoint: root, isOptional: false }]
  let bytes = 0
  for (let depth = 0; wanted.length > 0; depth++) {
    // Without what a topic would like to have there is less history, and the transaction all the same.
    const room = depth > limits.depth ? 0 : limits.transactions - nodes.length
    if (wanted.length > room) wanted = wanted.filter(({ isOptional }) => !isOptional)
    if (wanted.length === 0) break
    if (depth > limits.depth) throw beyond(graphID, `goes back more than ${limits.depth} steps`)
    if (nodes.length + wanted.length > limits.transactions) {
      throw beyond(graphID, `has more than ${limits.transactions} transactions`)
    }
    const next = new Map<string, Wanted>()
    for (let i = 0; i < wanted.length; i += AT_ONCE) {
      const slice = wanted.slice(i, i + AT_ONCE)
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
        for (const each of await follow(node, context)) {
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

/** What has to be asked for beside a node. */
const follow = async (node: FetchedNode, { needs }: GraphContext): Promise<Wanted[]> => {
  const { transaction, bump } = node
  const spent = transaction.inputs.map(({ txid, vout }) => makeOutpoint(txid, vout))
  if (!bump) return spent.map(outpoint => ({ outpoint, isOptional: false }))
  // What it does not even spend is no history of it.
  const names = new Set(spent.map(nameOf))
  return (await needs(node))
    .filter(outpoint => names.has(nameOf(outpoint)))
    .map(outpoint => ({ outpoint, isOptional: true }))
}

const fetchNode = async (
  graphID: string,
  { outpoint, isOptional }: Wanted,
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
    // It is the first alone that the peer may have taken back; else what it has is not whole.
    if (error.details['gone'] !== true || nameOf(outpoint) === graphID) throw error
    throw new QuoinError('ERR_SYNC_PEER', error.message, { cause: error })
  }
}

/** Refused when it is not the transaction that was asked for, or the proof is of another. */
const nodeOf = (txid: Txid, given: unknown): FetchedNode => {
  const { rawTx, proof } = readGraphNode(given)
  const name = formatTxid(txid)
  const transaction = parseTransaction(fromHex(rawTx))
  if (formatTxid(transaction.txid) !== name) throw lie('a transaction that was not asked for', name)
  const bump = proof === undefined ? undefined : Bump.parse(fromHex(proof))
  if (bump && bump.offsetOf(txid) === undefined) throw lie('a proof of something else', name)
  return { txid, transaction, bump: bump?.trimmedTo(txid) }
}

/** One of the nodes with those that prove it, and with others that are here already. */
export const beefOf = (node: FetchedNode, graph: Graph, others: readonly BeefTransaction[]): Uint8Array => {
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
  return writeBeef({ version: 1, atomic: node.txid, transactions: [...found.values()].reverse() })
}

/** Every node after those that it spends. */
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

const lie = (what: string, txid: string): QuoinError =>
  new QuoinError('ERR_SYNC_PEER', `the peer answered with ${what}`, { txid })
