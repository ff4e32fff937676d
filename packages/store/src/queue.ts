/**
 * Work queues: an item is due, leased to a worker, waiting for a dependency, or dead. Many workers in many processes
 * take items under leases; an item is worked on by one of them at a time, until its lease ends. Nothing is lost: an
 * item leaves the queue when it is acknowledged, in the same commit as the writes of the work itself, and a dead item is
 * kept with the reason. An item that fails never blocks the items behind it.
 */

import type { ValueCodec } from '@quoin/keyspace'
import { backoffDelay, QuoinError } from '@quoin/primitives'
import { Batch } from './batch.ts'
import { encode } from './batch-encoder.ts'
import { readCursor, writeCursor } from './cursor.ts'
import type { Engine, ListedItem, QueueItem, QueueState } from './engine.ts'
import { TOKEN_LENGTH } from './operations.ts'
import { wholeNumber } from './whole-number.ts'

/** How items are bytes. */
export type ItemCodec<T> = Pick<ValueCodec<T>, 'encode' | 'decode'>

/** Items that are bytes already. */
export const RAW_ITEMS: ItemCodec<Uint8Array> = { encode: item => item, decode: item => item }

export interface QueueOptions {
  /** How often an item is tried before it is dead. */
  readonly attempts?: number
  /** Seconds before the second attempt; each further one waits twice as long. */
  readonly backoff?: number
  /** The longest wait between attempts, in seconds. */
  readonly backoffLimit?: number
  /** The clock, in unix seconds, of leases too; the store's own unless given. */
  readonly now?: () => number
}

/** With the item as its queue declares it. */
type WithItem<Q extends QueueItem, T> = Omit<Q, 'item'> & { readonly item: T }

/** An item that a worker holds. */
export interface Lease<T = Uint8Array> extends WithItem<QueueItem, T> {
  readonly token: Uint8Array
  /** When it ends, in unix seconds by the clock of leases. */
  readonly until: number
}

/** The outcome of a failed item: retry later, dead letter, or wait for a dependency. */
export type Failure =
  | { readonly outcome: 'retry'; readonly errorClass?: string; readonly reason: string }
  | { readonly outcome: 'dead'; readonly errorClass?: string; readonly reason: string }
  | {
      readonly outcome: 'wait'
      readonly errorClass?: string
      readonly reason: string
      /** `wake` names it when it is there. */
      readonly dependency: Uint8Array
      /** Seconds to wait at most; for ever unless given. */
      readonly atMost?: number
    }

export interface QueueStats {
  readonly due: number
  readonly leased: number
  readonly waiting: number
  readonly dead: number
  /** How long the item that stands first has been in the queue, in seconds; undefined when none is due. */
  readonly age: number | undefined
}

export interface ItemPage<T = Uint8Array> {
  readonly items: readonly WithItem<ListedItem, T>[]
  readonly cursor: string | undefined
}

/** The longest class and reason that are kept, in bytes. */
const CLASS_LIMIT = 100
const REASON_LIMIT = 1000
const encoder = new TextEncoder()

/**
 * Work items with leases, attempts, backoff and dead letters.
 *
 * @example
 * const bytes = (text: string) => new TextEncoder().encode(text)
 * const store = await openStore('memory:')
 * const queue = store.queue(bytes('q:mail'), { attempts: 3 })
 * await queue.enqueue(bytes('letter'), 1)
 * for (const lease of await queue.lease(10, 60)) {
 *   const done = store.batch().sadd(bytes('s:sent'), lease.item)
 *   queue.acknowledgeIn(done, lease)
 *   await done.commit()
 * }
 * await queue.stats() // { due: 0, leased: 0, waiting: 0, dead: 0, age: undefined }
 */
export class Queue<T = Uint8Array> {
  readonly #engine: Engine
  readonly #key: Uint8Array
  readonly #codec: ItemCodec<T>
  readonly #attempts: number
  readonly #backoff: number
  readonly #backoffLimit: number
  readonly #clock: () => Promise<number>
  /** Leases begin and end by it. */
  readonly #leaseClock: (() => number) | undefined
  /** For writes into a batch of the caller, which cannot await the store's clock. */
  readonly #clockHere: () => number

  /** @internal Queues are made by `Store.queue`. */
  constructor(engine: Engine, key: Uint8Array, codec: ItemCodec<T>, options: QueueOptions = {}) {
    const { attempts = 10, backoff = 1, backoffLimit = 3600, now } = options
    this.#engine = engine
    this.#key = key
    this.#codec = codec
    this.#attempts = wholeNumber('attempts', attempts, 1)
    this.#backoff = seconds('backoff', backoff)
    this.#backoffLimit = seconds('backoffLimit', backoffLimit)
    this.#clock = now ? async () => now() : () => engine.now()
    this.#leaseClock = now ?? (engine.leaseNow && (() => engine.leaseNow!()))
    this.#clockHere = now ?? (() => Date.now() / 1000)
  }

  /**
   * Adds an item that is due in the order of scores, and not before the time that its score is. In a queue an item is
   * one thing: adding it again changes nothing, unless it has not been tried yet and the score differs.
   */
  async enqueue(item: T, score: number): Promise<void> {
    const batch = this.#batch()
    this.enqueueIn(batch, item, score, await this.#clock())
    await batch.commit()
  }

  /** The same as part of a batch. */
  enqueueIn(batch: Batch, item: T, score: number, now = this.#clockHere()): void {
    encode.enqueue(batch.encoder, this.#key, this.#codec.encode(item), score, now)
  }

  /** Takes up to `limit` items that are due, for so many seconds. */
  async lease(limit: number, forSeconds: number): Promise<Lease<T>[]> {
    const token = crypto.getRandomValues(new Uint8Array(TOKEN_LENGTH))
    const now = await this.#clock()
    const leaseNow = this.#leaseClock?.() ?? now
    const until = leaseNow + seconds('lease', forSeconds)
    const batch = this.#batch()
    const count = wholeNumber('limit', limit, 1)
    encode.lease(batch.encoder, this.#key, token, count, until, this.#attempts, now, leaseNow)
    const [items] = (await batch.answers()) as [readonly QueueItem[]]
    return items.map(leased => ({ ...leased, item: this.#codec.decode(leased.item), token, until }))
  }

  /** Keeps an item for so many seconds from now. Fails with `ERR_STORE_LEASE_LOST` if another worker has it. */
  async renew(lease: Lease<T>, forSeconds: number): Promise<Lease<T>> {
    const leaseNow = this.#leaseClock?.() ?? (await this.#clock())
    const until = leaseNow + seconds('lease', forSeconds)
    const batch = this.#batch()
    this.heldIn(batch, lease)
    encode.renew(batch.encoder, this.#key, this.#codec.encode(lease.item), until, leaseNow)
    await batch.commit()
    return { ...lease, until }
  }

  /** If the lease was lost, the whole batch fails with `ERR_STORE_LEASE_LOST`. */
  heldIn(batch: Batch, lease: Lease<T>): void {
    encode.leaseHeld(batch.encoder, this.#key, this.#codec.encode(lease.item), lease.token)
  }

  /** The work is done: the item leaves the queue. Best in the batch that holds the work's own writes. */
  async acknowledge(lease: Lease<T>): Promise<void> {
    const batch = this.#batch()
    this.acknowledgeIn(batch, lease)
    await batch.commit()
  }

  /** If the lease was lost, the whole batch fails with `ERR_STORE_LEASE_LOST`. */
  acknowledgeIn(batch: Batch, lease: Lease<T>): void {
    this.heldIn(batch, lease)
    encode.remove(batch.encoder, this.#key, this.#codec.encode(lease.item))
  }

  /** The work failed. After the last attempt the item is dead, even if the outcome is to retry. */
  async fail(lease: Lease<T>, failure: Failure): Promise<void> {
    const batch = this.#batch()
    this.failIn(batch, lease, failure, await this.#clock())
    await batch.commit()
  }

  failIn(batch: Batch, lease: Lease<T>, failure: Failure, now = this.#clockHere()): void {
    this.heldIn(batch, lease)
    const item = this.#codec.encode(lease.item)
    const errorClass = encoded(failure.errorClass ?? failure.outcome, CLASS_LIMIT)
    const reason = encoded(failure.reason, REASON_LIMIT)
    const { encoder } = batch
    if (failure.outcome === 'wait') {
      const deadline =
        failure.atMost === undefined ? Number.POSITIVE_INFINITY : now + seconds('atMost', failure.atMost)
      encode.wait(encoder, this.#key, item, errorClass, reason, failure.dependency, deadline, now)
    } else if (failure.outcome === 'dead' || lease.attempts >= this.#attempts) {
      encode.bury(encoder, this.#key, item, errorClass, reason, now)
    } else {
      encode.retry(encoder, this.#key, item, errorClass, reason, now + this.#delay(lease.attempts), now)
    }
  }

  /** The dependency is there: items that wait for it become due. */
  async wake(dependency: Uint8Array): Promise<void> {
    const batch = this.#batch()
    this.wakeIn(batch, dependency)
    await batch.commit()
  }

  wakeIn(batch: Batch, dependency: Uint8Array): void {
    encode.wake(batch.encoder, this.#key, dependency)
  }

  /** A dead item becomes due again, with all its attempts. */
  async revive(item: T): Promise<void> {
    const batch = this.#batch()
    this.reviveIn(batch, item)
    await batch.commit()
  }

  reviveIn(batch: Batch, item: T): void {
    encode.revive(batch.encoder, this.#key, this.#codec.encode(item))
  }

  /** Deletes an item in any state. */
  async remove(item: T): Promise<void> {
    const batch = this.#batch()
    this.removeIn(batch, item)
    await batch.commit()
  }

  removeIn(batch: Batch, item: T): void {
    encode.remove(batch.encoder, this.#key, this.#codec.encode(item))
  }

  /** Items in a state, a page at a time: dead letters with their reasons, for instance. */
  async list(
    state: QueueState,
    page: { readonly limit?: number; readonly cursor?: string } = {}
  ): Promise<ItemPage<T>> {
    const { limit = 100, cursor } = page
    const min = cursor === undefined ? undefined : { ...readCursor(cursor), exclusive: true }
    const items = await this.#engine.reads.qlist(this.#key, state, {
      min,
      count: wholeNumber('limit', limit, 1)
    })
    const last = items.at(-1)
    return {
      items: items.map(listed => ({ ...listed, item: this.#codec.decode(listed.item) })),
      cursor: last && items.length === limit ? writeCursor({ score: last.at, member: last.item }) : undefined
    }
  }

  async stats(): Promise<QueueStats> {
    const { headEnqueued, ...counts } = await this.#engine.reads.qcounts(this.#key)
    return {
      ...counts,
      age: headEnqueued === undefined ? undefined : Math.max(0, (await this.#clock()) - headEnqueued)
    }
  }

  #batch(): Batch {
    return new Batch(batch => this.#engine.commit(batch))
  }

  /** Half of it is jitter, so that items which failed together are not retried together. */
  #delay(attempts: number): number {
    return backoffDelay(attempts, { first: this.#backoff, limit: this.#backoffLimit })
  }
}

/** As much of a text as fits, in whole characters. */
const encoded = (text: string, limit: number): Uint8Array => {
  const bytes = new Uint8Array(limit)
  return bytes.subarray(0, encoder.encodeInto(text, bytes).written)
}

const seconds = (name: string, value: number): number => {
  if (!Number.isFinite(value) || value < 0) {
    throw new QuoinError('ERR_STORE_OPTION', `${name} is a number of seconds, not ${value}`, { name })
  }
  return value
}
