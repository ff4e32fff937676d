/**
 * The first stage (seed 003, discovery): what a source delivers is kept and queued in `q:bsv21`, in one commit with how
 * far the source is. Whatever waited for a transaction that has come is woken in the same commit.
 */
import { Beef, bytesKey } from '../../chain/index.ts'
import { QuoinError, type Txid } from '../../keyspace/index.ts'
import type { Batch, Queue, Store } from '../../store/index.ts'
import { type BlockPosition, heightScore, type OutputStore } from '../../txo/index.ts'
import { claimsOf } from '../rules.ts'
import type { Arrival, Delivery } from '../source/source.ts'
import type { Arrivals } from './arrivals.ts'
import { type Clock, discoveryQueue } from './queues.ts'

/** Seconds between transactions of one delivery. */
const MOMENT = 1e-6

export class Feed {
  readonly #store: Store
  readonly #arrivals: Arrivals
  readonly #queue: Queue<Txid>
  readonly #now: Clock
  readonly #taken: () => void

  /** Calls back when something was queued. */
  constructor({ store }: OutputStore, arrivals: Arrivals, now: Clock, taken: () => void) {
    this.#now = now
    this.#taken = taken
    this.#store = store
    this.#arrivals = arrivals
    this.#queue = discoveryQueue(store, now)
  }

  /** Commits a delivery; answers how many transactions were queued. */
  async take({ transactions, mark }: Delivery): Promise<number> {
    const batch = this.#store.batch()
    const now = this.#now()
    let queued = 0
    for (const [i, arrival] of transactions.entries()) {
      // Those that are not mined stay in the order in which they came.
      queued += this.#takeIn(batch, arrival, now - (transactions.length - i) * MOMENT)
    }
    mark(batch)
    await batch.commit()
    if (queued > 0) this.#taken()
    return queued
  }

  /** Commits single transactions, for those who have them. */
  async takeBeef(bytes: Uint8Array): Promise<number> {
    const { subject } = Beef.parse(bytes)
    return this.take({
      transactions: [{ txid: subject, beef: bytes, mined: undefined }],
      reorgFrom: undefined,
      mark: () => undefined
    })
  }

  #takeIn(batch: Batch, { txid, beef: bytes, mined }: Arrival, now: number): number {
    const beef = bytes && readable(bytes)
    const queued = new Map([[bytesKey(txid), txid]])
    if (beef?.find(txid)?.transaction) {
      this.#arrivals.saveIn(batch, beef)
      // What it rests on may have tokens that nobody brought by themselves.
      for (const each of beef.transactions) {
        if (each.transaction && claimsOf(each.transaction).size > 0)
          queued.set(bytesKey(each.txid), each.txid)
        this.#queue.wakeIn(batch, each.txid)
      }
    }
    for (const each of queued.values()) {
      this.#queue.enqueueIn(batch, each, scoreOf(beef, each) ?? (mined && heightScore(mined)) ?? now)
      // What was given up is worth another look when it comes again.
      this.#queue.reviveIn(batch, each)
    }
    return queued.size
  }
}

/** In the order of the chain, where that is known. */
const scoreOf = (beef: Beef | undefined, txid: Txid): number | undefined => {
  const bump = beef?.find(txid)?.bump
  const index = bump?.offsetOf(txid)
  if (!bump || index === undefined) return undefined
  const position: BlockPosition = { height: bump.height, index: BigInt(index) }
  return heightScore(position)
}

/** What cannot be read is fetched by its id, like what did not come along. */
const readable = (bytes: Uint8Array): Beef | undefined => {
  try {
    return Beef.parse(bytes)
  } catch (error) {
    if (error instanceof QuoinError) return undefined
    throw error
  }
}
