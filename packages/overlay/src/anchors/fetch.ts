/** Fetches admitted transactions of a block from a peer, each with the proof that it is at its index. */
import { type Beef, type Bump, formatHash, type Transaction } from '@quoin/chain'
import { equalBytes, formatTxid, type Txid } from '@quoin/primitives'
import type { Engine } from '../engine.ts'
import { nonsense } from '../gasp/fields.ts'
import type { Peer } from '../gasp/peer.ts'
import { MAX_BATCH, readBatch, VERSION } from '../gasp/wire.ts'
import type { PeerAnchors } from './peer-anchors.ts'
import { type ListedAnchor, matchPrefixes, prefixOf } from './short.ts'
import { type AdmittedTransaction, rootOf, type TopicAnchor } from './tree.ts'

export interface ProvedTransaction {
  readonly txid: Txid
  readonly transaction: Transaction
  readonly bump: Bump
}

export interface FetchContext {
  readonly engine: Engine
  readonly topic: string
  readonly peer: Peer
  readonly remote: PeerAnchors
  readonly signal: AbortSignal | undefined
}

/** The transactions of a block at a peer, and the ones of them that are missing here. */
export interface BlockContent {
  readonly admitted: readonly AdmittedTransaction[]
  readonly proved: readonly ProvedTransaction[]
}

/**
 * The content of a block by the prefixes of its txids: missing transactions are fetched by their positions in the list.
 * Undefined if that does not give the root of the block.
 */
export const fetchByPrefixes = async (
  { topic, peer, signal }: FetchContext,
  { height, blockHash, root, prefixes }: ListedAnchor,
  own: readonly AdmittedTransaction[]
): Promise<BlockContent | undefined> => {
  if (!prefixes) return undefined
  const admitted = matchPrefixes(prefixes, own)
  const positions = [...admitted.keys()].filter(position => !admitted[position])
  const proved: ProvedTransaction[] = []
  for (let left = positions; left.length > 0; ) {
    const part = left.slice(0, MAX_BATCH)
    const block = { height, hash: formatHash(blockHash), positions: part }
    const answer = await peer.transactions?.(topic, { version: VERSION, block }, signal)
    const beef = answer && readBatch(answer)
    const found = part.filter(position => {
      const each = beef?.transactions.find(({ txid }) => prefixOf(txid) === prefixes[position])
      const index = each?.bump?.height === height ? each.bump.offsetOf(each.txid) : undefined
      if (index === undefined || !each?.transaction) return false
      admitted[position] = { txid: each.txid, index }
      proved.push({ txid: each.txid, transaction: each.transaction, bump: each.bump!.trimmedTo(each.txid) })
      return true
    })
    if (found.length === 0) return undefined
    left = left.filter(position => !admitted[position])
  }
  const list = admitted as AdmittedTransaction[]
  const isOrdered = list.every(({ index }, i) => i === 0 || index > list[i - 1]!.index)
  const isProved = equalBytes(rootOf(list.map(({ txid }) => txid)), root)
  return isOrdered && isProved ? { admitted: list, proved } : undefined
}

/** In the order of the block. */
export async function* fetchProved(
  { engine, topic, peer, remote, signal }: FetchContext,
  { height }: TopicAnchor,
  wanted: readonly AdmittedTransaction[]
): AsyncGenerator<ProvedTransaction, void, undefined> {
  for (let i = 0; i < wanted.length; i += MAX_BATCH) {
    const part = wanted.slice(i, i + MAX_BATCH)
    const stored = await engine.outputs.transactions.getMany(part.map(({ txid }) => txid))
    const unknown = part.flatMap(({ txid }, at) => (stored[at] ? [] : [txid]))
    // A batch of a Quoin node has the bytes of transactions and proofs without hexadecimal digits.
    const batch = unknown.length > 0 && peer.transactions
    const answer = batch && (await batch(topic, { version: VERSION, txids: unknown }, signal))
    const beef = answer ? readBatch(answer) : undefined
    const found = part.map((each, at) => stored[at] ?? beef?.find(each.txid)?.transaction)
    const proofs = part.map(each => proofIn(beef, each, height))
    const unproved = part.filter((_, at) => !proofs[at])
    const bump = unproved.length > 0 ? await remote.proof(height, unproved) : undefined
    const raw = await remote.raw(part.flatMap(({ txid }, at) => (found[at] ? [] : [txid])))
    for (const [at, { txid }] of part.entries()) {
      const transaction = found[at] ?? raw.get(formatTxid(txid))
      if (!transaction) throw nonsense('transactions', `a list with the admitted ${formatTxid(txid)}`)
      yield { txid, transaction, bump: proofs[at] ?? bump!.trimmedTo(txid) }
    }
  }
}

const proofIn = (
  beef: Beef | undefined,
  { txid, index }: AdmittedTransaction,
  height: number
): Bump | undefined => {
  const bump = beef?.find(txid)?.bump
  return bump?.height === height && bump.offsetOf(txid) === index ? bump.trimmedTo(txid) : undefined
}
