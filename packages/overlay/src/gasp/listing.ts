/**
 * What a peer has that is new, put into the queue of its topic. That it is in the queue, and that the peer was read so
 * far, is one commit.
 */
import {
  formatTxid,
  makeOutpoint,
  type Outpoint,
  type Topic,
  type Txid,
  toHex,
  txidOf
} from '@quoin/primitives'
import type { Queue } from '@quoin/store'
import { type MembershipChange, type OutputStore, outputs as outputKeys, progressFields } from '@quoin/txo'
import { confirmedAdmissions } from '../admissions.ts'
import type { Peer } from './peer.ts'
import { count, type State } from './queue-state.ts'
import { type Listed, MAX_PAGE, readSyncResponse, VERSION } from './wire.ts'

const { progress } = outputKeys.collections
const { peer: peerField } = progressFields.collections

/** What a peer lists: outputs that it has, or transactions that changed the topic. */
export type Kind = 'outputs' | 'applied'

/** Whether a topic has seen a transaction. */
export const isEvaluated = async (outputs: OutputStore, topic: Topic, txid: Txid): Promise<boolean> =>
  Object.hasOwn(await confirmedAdmissions(outputs, txid), topic)

/** Entries of the log that are read together. */
const SCANNED = 1000

/** The transaction whose rollback a change is part of. */
const rolledBackBy = (change: MembershipChange): Txid | undefined => {
  if (change.kind === 'retracted') return txidOf(change.outpoint)
  return change.kind === 'restored' ? change.spender : undefined
}

export class Listing {
  readonly #outputs: OutputStore
  readonly #topic: Topic
  readonly #peer: Peer
  readonly #queue: Queue<Outpoint>
  readonly #page: number

  constructor(outputs: OutputStore, topic: Topic, peer: Peer, queue: Queue<Outpoint>, page: number) {
    this.#outputs = outputs
    this.#topic = topic
    this.#peer = peer
    this.#queue = queue
    this.#page = Math.min(page, MAX_PAGE)
  }

  /** Transactions that were rolled back here are asked for again: the peer may still have them. */
  async askAgain(state: State): Promise<void> {
    const log = this.#outputs.membership(this.#topic)
    let after = await this.#progress('#retracted')
    for (let unsaved = 0; ; ) {
      const { entries } = await log.read({ after, limit: SCANNED })
      const last = entries.at(-1)
      if (!last) return
      const items = entries.flatMap(({ changes, position }) =>
        changes.flatMap(change => {
          const txid = rolledBackBy(change)
          return txid ? [{ outpoint: makeOutpoint(txid, 0), score: position }] : []
        })
      )
      after = last.position
      unsaved += entries.length
      // Progress without a retraction is worth a commit when it is long.
      if (items.length === 0 && unsaved < SCANNED) continue
      await this.#enqueue(items, state, '#retracted', after)
      unsaved = 0
    }
  }

  /** A page of what the peer has, into the queue. */
  async next(
    state: State,
    signal: AbortSignal | undefined
  ): Promise<{ rows: number; isMore: boolean; kind: Kind }> {
    const [since, position] = [await this.#progress(''), await this.#progress('#applied')]
    let limit = this.#page
    for (;;) {
      const request = { version: VERSION, since, limit, applied: position }
      const response = readSyncResponse(await this.#peer.syncResponse(this.#topic, request, signal), limit)
      if (response.applied) {
        const { transactions, last } = response.applied
        // It has less than it had: another store, which is to be read from its beginning.
        if (last < position) {
          await this.#enqueue([], state, '#applied', 0)
          return { rows: 0, isMore: true, kind: 'applied' }
        }
        const next = transactions.reduce((most, { score }) => Math.max(most, score), position)
        await this.#enqueue(transactions, state, '#applied', next)
        const isMore = transactions.length === limit && next > position
        return { rows: transactions.length, isMore, kind: 'applied' }
      }
      const rows = response.outputs
      const next = rows.reduce((most, { score }) => Math.max(most, score), since)
      const isFull = rows.length === limit
      // Nodes of the reference list from `since` on, itself included: so many of one score need a larger page.
      if (isFull && next === since && limit < MAX_PAGE) {
        limit = Math.min(limit * 10, MAX_PAGE)
        continue
      }
      await this.#enqueue(rows, state, '', next)
      // More of one score than any page holds: those beyond it cannot be asked for, those after it can.
      const isStuck = isFull && next === since
      if (isStuck) await this.#enqueue([], state, '', next + 1)
      return { rows: rows.length, isMore: isFull, kind: 'outputs' }
    }
  }

  async #progress(of: '' | '#applied' | '#retracted'): Promise<number> {
    const stored = await this.#outputs.store
      .use(progress)
      .at()
      .get(peerField, this.#topic, `${this.#peer.name}${of}`)
    return stored ? Number(new TextDecoder().decode(stored)) : 0
  }

  /** What is not known goes into the queue, in the commit that says that it did. */
  async #enqueue(
    rows: readonly Listed[],
    state: State,
    of: '' | '#applied' | '#retracted',
    next: number
  ): Promise<void> {
    const { store } = this.#outputs
    const isNew = await Promise.all(
      rows.map(async ({ outpoint }) => !(await isEvaluated(this.#outputs, this.#topic, txidOf(outpoint))))
    )
    const { pending, dead } = state
    const added: Outpoint[] = []
    const batch = store.batch()
    for (const [i, { outpoint, score }] of rows.entries()) {
      if (!isNew[i] || pending.has(formatTxid(txidOf(outpoint)))) continue
      // It was given up, and comes again: that is a new reason to try.
      if (dead.delete(toHex(outpoint))) await this.#queue.revive(outpoint)
      else this.#queue.enqueueIn(batch, outpoint, orderOf(score))
      added.push(outpoint)
      count(pending, outpoint, 1)
    }
    if (added.length === 0 && next === (await this.#progress(of))) return
    const value = new TextEncoder().encode(String(next))
    batch
      .use(progress)
      .at()
      .set(peerField, [this.#topic, `${this.#peer.name}${of}`], value)
    try {
      await batch.commit()
    } catch (error) {
      for (const outpoint of added) count(pending, outpoint, -1)
      throw error
    }
  }
}

/** Peers number as they like, some by milliseconds; a queue takes a score for a time, and this is always past. */
const orderOf = (score: number): number => Math.min(score, 1e15) / 1e9
