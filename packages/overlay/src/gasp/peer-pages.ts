/** The rows that a peer lists, page by page. One commit enqueues the rows of a page and saves the progress past it. */
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
import { countItem, type SyncQueueState } from './sync-queue-state.ts'
import { type HeightRange, type ListedRow, MAX_PAGE, readSyncResponse, VERSION } from './wire.ts'

const { progress } = outputKeys.collections
const { peer: peerField } = progressFields.collections

/** The rows of a peer: its outputs, or the transactions that changed the topic. */
export type ListingKind = 'outputs' | 'applied'

/** Whether a topic has evaluated a transaction. */
export const isEvaluated = async (outputs: OutputStore, topic: Topic, txid: Txid): Promise<boolean> =>
  Object.hasOwn(await confirmedAdmissions(outputs, txid), topic)

/** Log entries of one read. */
const LOG_PAGE = 1000

/** The transaction whose rollback a change is part of. */
const rolledBackBy = (change: MembershipChange): Txid | undefined => {
  if (change.kind === 'retracted') return txidOf(change.outpoint)
  return change.kind === 'restored' ? change.spender : undefined
}

export interface PeerPagesOptions {
  readonly outputs: OutputStore
  readonly topic: Topic
  readonly peer: Peer
  readonly queue: Queue<Outpoint>
  /** Rows of a page. */
  readonly page: number
  /** Admits listed transactions at once; answers the ones for the queue. */
  readonly admit: (
    rows: readonly ListedRow[],
    pending: SyncQueueState['pending'],
    signal: AbortSignal | undefined
  ) => Promise<readonly ListedRow[]>
}

export interface PeerPage {
  readonly rows: number
  readonly isMore: boolean
  readonly kind: ListingKind
  /** The position after the page, and the end of the log of the peer. */
  readonly position: number
  readonly last: number
}

export class PeerPages {
  readonly #options: PeerPagesOptions
  readonly #outputs: OutputStore
  readonly #topic: Topic
  readonly #peer: Peer
  readonly #queue: Queue<Outpoint>

  constructor(options: PeerPagesOptions) {
    const { outputs, topic, peer, queue } = options
    this.#options = options
    this.#outputs = outputs
    this.#topic = topic
    this.#peer = peer
    this.#queue = queue
  }

  /** Enqueues transactions that were rolled back here: the peer may still have them. */
  async enqueueRolledBack(state: SyncQueueState): Promise<void> {
    const log = this.#outputs.membership(this.#topic)
    let after = await this.#progress('#retracted')
    for (let unsaved = 0; ; ) {
      const { entries } = await log.read({ after, limit: LOG_PAGE })
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
      // Progress past entries without a rollback is saved once per page.
      if (items.length === 0 && unsaved < LOG_PAGE) continue
      await this.#enqueue(items, state, '#retracted', after)
      unsaved = 0
    }
  }

  /** Enqueues a transaction that the peer has, for its graph to be fetched. */
  async enqueue(txid: Txid, score: number, state: SyncQueueState): Promise<void> {
    const position = await this.#progress('#applied')
    await this.#enqueue([{ outpoint: makeOutpoint(txid, 0), score }], state, '#applied', position)
  }

  /** Admits or enqueues the next page of the peer. */
  async next(
    state: SyncQueueState,
    signal: AbortSignal | undefined,
    anchored?: HeightRange
  ): Promise<PeerPage> {
    const [since, position] = [await this.#progress(''), await this.#progress('#applied')]
    let limit = Math.min(this.#options.page, MAX_PAGE)
    for (;;) {
      const request = {
        version: VERSION,
        since,
        limit,
        applied: position,
        ...(anchored && { anchored })
      }
      const response = readSyncResponse(await this.#peer.syncResponse(this.#topic, request, signal), limit)
      if (response.applied) {
        const { transactions, last } = response.applied
        // The log of the peer became shorter: it has another store, which is read from its beginning.
        if (last < position) {
          await this.#enqueue([], state, '#applied', 0)
          return { rows: 0, isMore: true, kind: 'applied', position: 0, last }
        }
        const isMore = transactions.length === limit
        // What the peer left out is behind the cursor too.
        const listed = transactions.reduce((most, { score }) => Math.max(most, score), position)
        const next = anchored && !isMore ? Math.max(listed, last) : listed
        const unknown = await this.#unknown(transactions, state)
        const left = new Set(await this.#options.admit(unknown, state.pending, signal))
        const queued = transactions.filter(row => left.has(row) || isQueued(row, state))
        await this.#enqueue(queued, state, '#applied', next)
        return {
          rows: transactions.length,
          isMore: isMore && next > position,
          kind: 'applied',
          position: next,
          last
        }
      }
      const rows = response.outputs
      const next = rows.reduce((most, { score }) => Math.max(most, score), since)
      const isFull = rows.length === limit
      // Nodes of `@bsv/overlay` list from `since` on, inclusive: a page of one score needs a larger limit.
      if (isFull && next === since && limit < MAX_PAGE) {
        limit = Math.min(limit * 10, MAX_PAGE)
        continue
      }
      await this.#enqueue(rows, state, '', next)
      // Rows of one score beyond the largest page cannot be requested; rows of later scores can.
      const isStuck = isFull && next === since
      if (isStuck) await this.#enqueue([], state, '', next + 1)
      return { rows: rows.length, isMore: isFull, kind: 'outputs', position: next, last: next }
    }
  }

  /** Rows that the topic has not evaluated and that were not enqueued before. */
  async #unknown(rows: readonly ListedRow[], state: SyncQueueState): Promise<readonly ListedRow[]> {
    const isKnown = await this.#areEvaluated(rows)
    return rows.filter((row, i) => !isKnown[i] && !isQueued(row, state))
  }

  #areEvaluated(rows: readonly ListedRow[]): Promise<boolean[]> {
    return Promise.all(rows.map(({ outpoint }) => isEvaluated(this.#outputs, this.#topic, txidOf(outpoint))))
  }

  async #progress(of: '' | '#applied' | '#retracted'): Promise<number> {
    const stored = await this.#outputs.store
      .use(progress)
      .at()
      .get(peerField, this.#topic, `${this.#peer.name}${of}`)
    return stored ? Number(new TextDecoder().decode(stored)) : 0
  }

  /** Enqueues rows that the topic has not evaluated, in the commit that saves the progress. */
  async #enqueue(
    rows: readonly ListedRow[],
    state: SyncQueueState,
    of: '' | '#applied' | '#retracted',
    next: number
  ): Promise<void> {
    const { store } = this.#outputs
    const isKnown = await this.#areEvaluated(rows)
    const { pending, dead } = state
    const added: Outpoint[] = []
    const batch = store.batch()
    for (const [i, { outpoint, score }] of rows.entries()) {
      if (isKnown[i] || pending.has(formatTxid(txidOf(outpoint)))) continue
      // A dead letter that the peer lists again is attempted again.
      if (dead.delete(toHex(outpoint))) await this.#queue.revive(outpoint)
      else this.#queue.enqueueIn(batch, outpoint, dueAt(score))
      added.push(outpoint)
      countItem(pending, outpoint, 1)
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
      for (const outpoint of added) countItem(pending, outpoint, -1)
      throw error
    }
  }
}

/** Whether a row is in the queue, live or dead. */
const isQueued = ({ outpoint }: ListedRow, { pending, dead }: SyncQueueState): boolean =>
  pending.has(formatTxid(txidOf(outpoint))) || dead.has(toHex(outpoint))

/** The due time of a row. Peers choose their scores, some of them milliseconds; this is always past, and keeps their order. */
const dueAt = (score: number): number => Math.min(score, 1e15) / 1e9
