/** The outbox: transactions to submit to the network or to ask it about, each with the time at which that is due. */
import { backoffDelay, type Txid } from '@quoin/primitives'
import type { Batch, Lease, Queue, Store } from '@quoin/store'
import { broadcasts } from './keys.ts'

/** Seconds of a lease, which is renewed during the work: the items of a killed process are due after them. */
export const LEASE_SECONDS = 5
/** Seconds between the last checks of a transaction. */
const MAX_CHECK = 1200
/** Nothing in the outbox is given up. */
const ATTEMPTS = 1e9

export class Outbox {
  readonly queue: Queue<Txid>
  readonly #firstCheck: number

  /** `firstCheck` is the time from a submission to its first check, in seconds. */
  constructor(store: Store, firstCheck: number) {
    this.queue = store.queueAt(broadcasts.collections.outbox, [], { attempts: ATTEMPTS })
    this.#firstCheck = firstCheck
  }

  /** Due at once. */
  enqueueIn(batch: Batch, txid: Txid): void {
    this.queue.enqueueIn(batch, txid, now())
  }

  /** Due for the next check, later the more checks there were. */
  trackIn(batch: Batch, txid: Txid, checks = 0): void {
    const delay = backoffDelay(checks + 1, { first: this.#firstCheck, limit: MAX_CHECK, jitter: 0.2 })
    this.queue.enqueueIn(batch, txid, now() + delay)
  }

  removeIn(batch: Batch, txid: Txid): void {
    this.queue.removeIn(batch, txid)
  }

  /** An item that is due; the lease of a killed process ends, and its item is due again. */
  async lease(): Promise<Lease<Txid> | undefined> {
    if (!(await this.#isDue())) return undefined
    const [lease] = await this.queue.lease(1, LEASE_SECONDS)
    return lease
  }

  /** A read, since most passes find nothing due and taking a lease is a commit. */
  async #isDue(): Promise<boolean> {
    const { items } = await this.queue.list('due', { limit: 1 })
    if (items[0] && items[0].at <= now()) return true
    return (await this.queue.stats()).leased > 0
  }
}

const now = (): number => Date.now() / 1000
