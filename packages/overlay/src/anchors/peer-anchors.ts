/** The anchors of a topic at a peer: its answers to the questions of BRC-136, checked as far as they can be by themselves. */
import type { Bump, Transaction } from '@quoin/chain'
import { equalBytes, formatTxid, type Topic, type Txid } from '@quoin/primitives'
import { nonsense } from '../gasp/fields.ts'
import { parseRaw } from '../gasp/graph.ts'
import type { Peer } from '../gasp/peer.ts'
import { type ListedAnchor, readShortRange } from './short.ts'
import { type AdmittedTransaction, rootOf, type TopicAnchor, tacAfter } from './tree.ts'
import {
  type AnchorQuestion,
  MAX_TXIDS,
  readAdmittedList,
  readAnchors,
  readProof,
  readRaw,
  readTip
} from './wire.ts'

export class PeerAnchors {
  readonly #peer: Peer
  readonly #topic: Topic
  readonly #signal: AbortSignal | undefined

  constructor(peer: Peer, topic: Topic, signal: AbortSignal | undefined) {
    this.#peer = peer
    this.#topic = topic
    this.#signal = signal
  }

  /** Undefined if the peer serves no anchors of the topic; `none` before the start of the topic. */
  async tip(): Promise<{ readonly height: number; readonly tac: Uint8Array } | 'none' | undefined> {
    const answer = await this.#peer.anchors?.('tip', this.#topic, {}, this.#signal)
    return answer === undefined ? undefined : (readTip(answer, this.#topic) ?? 'none')
  }

  /** The anchor at a height up to the tip. */
  async at(height: number): Promise<TopicAnchor> {
    return (await this.#range(height, height))[0]!
  }

  /** The anchors of heights up to the tip, chained to the hash before them, beside the anchors of this node there. */
  async range(
    from: number,
    to: number,
    before: Uint8Array,
    own: readonly TopicAnchor[]
  ): Promise<ListedAnchor[]> {
    if (own.length === to - from + 1) {
      const answer = await this.#ask('range', { fromHeight: from, toHeight: to, short: true })
      const short = readShortRange(answer, own, before)
      if (short) return short
    }
    const anchors = await this.#range(from, to)
    let tac = before
    for (const { height, blockHash, root, tac: given } of anchors) {
      tac = tacAfter(tac, blockHash, root)
      if (!equalBytes(tac, given)) {
        throw nonsense(
          `the anchor at height ${height}`,
          'the hash of the one before, the block and the root: is the start of the topic the same on both nodes?'
        )
      }
    }
    return anchors
  }

  async #range(from: number, to: number): Promise<TopicAnchor[]> {
    const answer = await this.#ask('range', { fromHeight: from, toHeight: to })
    const anchors = readAnchors(answer, this.#topic, from, to)
    if (anchors.length < to - from + 1) throw nonsense('anchors', `the heights from ${from} to ${to}`)
    return anchors
  }

  /** The transactions behind an anchor, which commits to them. */
  async admitted({ height, root, count }: TopicAnchor, blockHash: string): Promise<AdmittedTransaction[]> {
    const answer = await this.#ask('admitted', { blockHeight: height, blockHash })
    const admitted = readAdmittedList(answer, this.#topic, height)
    if (admitted.length !== count || !equalBytes(rootOf(admitted.map(({ txid }) => txid)), root)) {
      throw nonsense('admitted', `the ${count} transactions under the root of height ${height}`)
    }
    return admitted
  }

  /** One proof of transactions of a block. */
  async proof(height: number, admitted: readonly AdmittedTransaction[]): Promise<Bump> {
    const txids = admitted.map(({ txid }) => formatTxid(txid))
    return readProof(await this.#ask('proof', { blockHeight: height, txids }), height, admitted)
  }

  /** Transactions that the peer has, by txid in display order. */
  async raw(wanted: readonly Txid[]): Promise<ReadonlyMap<string, Transaction>> {
    if (wanted.length === 0) return new Map()
    const txids = wanted.slice(0, MAX_TXIDS).map(formatTxid)
    const given = readRaw(await this.#ask('raw', { txids }), txids.length)
    return new Map([...given].map(([txid, raw]) => [txid, parseRaw(raw, txid)]))
  }

  async #ask(question: AnchorQuestion, request: object): Promise<unknown> {
    const answer = await this.#peer.anchors!(question, this.#topic, request, this.#signal)
    if (answer === undefined) throw nonsense(question, 'served, as the tip of the anchors is')
    return answer
  }
}
