/**
 * The ingest stage (seed 003, discovery): submits the transactions of a delivery on the fast path, stages the others and
 * enqueues them in `q:bsv21`. One commit stages, enqueues, wakes items that waited for the transactions, and saves the
 * progress of the source.
 */
import { Beef } from '@quoin/chain'
import { bytesKey, makeOutpoint, type Outpoint, type TokenId, type Txid } from '@quoin/primitives'
import type { Batch, Queue, Store } from '@quoin/store'
import { type BlockPosition, heightScore, type OutputStore } from '@quoin/txo'
import type { FeeAddresses } from '../fee-address.ts'
import { tokenOutputs } from '../rules.ts'
import type { Delivery, SourceTransaction } from '../source/source.ts'
import type { FastPath } from './fast-path.ts'
import { saveFeeAddressesIn } from './fee-address-index.ts'
import { type Clock, discoveryQueue, queueOfToken, reviveTokenIn } from './queues.ts'
import type { StagedTransactions } from './staged-transactions.ts'

/** Seconds between the scores of consecutive unmined transactions of a delivery. */
const SCORE_STEP = 1e-6

export interface IngestOptions {
  readonly outputs: OutputStore
  readonly staged: StagedTransactions
  /** Undefined on a shared store, where all transactions go through the queues. */
  readonly fastPath: FastPath | undefined
  readonly feeAddresses: FeeAddresses | undefined
  readonly now: Clock
}

export class Ingest {
  readonly #store: Store
  readonly #staged: StagedTransactions
  readonly #queue: Queue<Txid>
  readonly #fastPath: FastPath | undefined
  readonly #feeAddresses: FeeAddresses | undefined
  readonly #now: Clock
  readonly #onQueued: () => void

  /** @param onQueued Called after each commit that enqueued transactions. */
  constructor({ outputs, staged, fastPath, feeAddresses, now }: IngestOptions, onQueued: () => void) {
    const { store } = outputs
    this.#store = store
    this.#staged = staged
    this.#fastPath = fastPath
    this.#feeAddresses = feeAddresses
    this.#queue = discoveryQueue(store, now)
    this.#now = now
    this.#onQueued = onQueued
  }

  /** Commits a delivery once its predecessor `before` is committed; returns the number of enqueued transactions. */
  async ingest(
    { transactions, mark }: Delivery,
    { before, source }: { readonly before?: Promise<unknown> | undefined; readonly source?: string } = {}
  ): Promise<number> {
    // Only a BEEF whose subject is the announced transaction qualifies.
    const candidates = transactions.map(({ txid, beef }) => (beef && isAbout(beef, txid) ? beef : undefined))
    const areDone = await this.#fastPath?.trySubmit(candidates, source)
    const deadLetterQueues = await this.#deadLetterQueues(
      candidates.filter((_, i): _ is Beef => areDone?.[i] === true)
    )
    await before
    const batch = this.#store.batch()
    const now = this.#now()
    let queued = 0
    for (const [i, transaction] of transactions.entries()) {
      if (areDone?.[i]) this.#wakeDependentsIn(batch, candidates[i]!, deadLetterQueues)
      // Unmined transactions keep the order of the delivery.
      else queued += this.#enqueueIn(batch, transaction, now - (transactions.length - i) * SCORE_STEP)
    }
    mark(batch)
    await batch.commit()
    if (queued > 0) this.#onQueued()
    return queued
  }

  /** Commits the subject of a single BEEF. */
  ingestBeef(given: Uint8Array | Beef): Promise<number> {
    const beef = Beef.from(given)
    return this.ingest({
      transactions: [{ txid: beef.subject, beef, mined: undefined }],
      reorgFrom: undefined,
      mark: () => undefined
    })
  }

  /** Wakes items that wait for the transactions of a BEEF, and revives dead letters of its subject. */
  #wakeDependentsIn(batch: Batch, beef: Beef, deadLetterQueues: ReadonlyMap<TokenId, Queue<Outpoint>>): void {
    const { subject, transactions } = beef
    for (const { txid, transaction } of transactions) if (transaction) this.#queue.wakeIn(batch, txid)
    this.#queue.reviveIn(batch, subject)
    const outputs = tokenOutputs(beef.find(subject)!.transaction!)
    for (const [vout, { id }] of outputs) {
      const queue = deadLetterQueues.get(id)
      if (queue) reviveTokenIn(batch, queue, id, makeOutpoint(subject, vout))
    }
    saveFeeAddressesIn(batch, outputs, this.#feeAddresses)
  }

  /** The token queues of the subjects that have dead letters. */
  async #deadLetterQueues(beefs: readonly Beef[]): Promise<ReadonlyMap<TokenId, Queue<Outpoint>>> {
    const found = new Map<TokenId, Queue<Outpoint>>()
    for (const token of new Set(beefs.flatMap(tokensOf))) {
      const queue = queueOfToken(this.#store, token, this.#now)
      if ((await queue.stats()).dead > 0) found.set(token, queue)
    }
    return found
  }

  #enqueueIn(batch: Batch, { txid, beef, mined }: SourceTransaction, now: number): number {
    const queued = new Map([[bytesKey(txid), txid]])
    if (beef?.find(txid)?.transaction) {
      this.#staged.saveIn(batch, beef)
      // Ancestors with tokens are enqueued too: no delivery may contain them on their own.
      for (const each of beef.transactions) {
        if (each.transaction && tokenOutputs(each.transaction).size > 0)
          queued.set(bytesKey(each.txid), each.txid)
        this.#queue.wakeIn(batch, each.txid)
      }
    }
    for (const each of queued.values()) {
      this.#queue.enqueueIn(batch, each, scoreOf(beef, each) ?? (mined && heightScore(mined)) ?? now)
      this.#queue.reviveIn(batch, each)
    }
    return queued.size
  }
}

const isAbout = ({ subject }: Beef, txid: Txid): boolean => bytesKey(subject) === bytesKey(txid)

const tokensOf = (beef: Beef): TokenId[] =>
  [...tokenOutputs(beef.find(beef.subject)!.transaction!).values()].map(({ id }) => id)

/** The score of the position in the chain; undefined without a proof. */
const scoreOf = (beef: Beef | undefined, txid: Txid): number | undefined => {
  const bump = beef?.find(txid)?.bump
  const index = bump?.offsetOf(txid)
  if (!bump || index === undefined) return undefined
  const position: BlockPosition = { height: bump.height, index: BigInt(index) }
  return heightScore(position)
}
