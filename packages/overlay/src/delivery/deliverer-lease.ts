/** The lease of the process that delivers to a lookup service: of the processes on a store, one at a time. */

import { hasCode, reasonOf } from '@quoin/primitives'
import type { Batch, Lease, Queue } from '@quoin/store'
import type { OutputStore } from '@quoin/txo'
import { overlay } from '../keys.ts'
import type { Logger } from '../logger.ts'

const ROLE = 'deliverer'
/** Seconds of the lease, and milliseconds after which it is renewed. */
const LEASE = 30
const RENEW_MS = 10_000

export class DelivererLease {
  readonly #service: string
  readonly #logger: Logger
  readonly #queue: Queue<string>
  readonly #onAcquired: () => void
  #lease: { readonly lease: Lease<string>; readonly renewAt: number } | undefined
  #isElsewhere = false
  #isAbandoned = false

  /** @param onAcquired Called when another process may have had the lease. */
  constructor({ store }: OutputStore, service: string, logger: Logger, onAcquired: () => void) {
    this.#service = service
    this.#logger = logger
    this.#queue = store.queueAt(overlay.collections.deliverer, [service], { attempts: 2 ** 31 })
    this.#onAcquired = onAcquired
  }

  /** Whether another process had the lease at the last attempt. */
  get isElsewhere(): boolean {
    return this.#isElsewhere
  }

  /** Acquires or renews the lease; answers whether this process has it. */
  async hold(): Promise<boolean> {
    if (this.#lease && performance.now() < this.#lease.renewAt) return true
    const lease = (await this.#renew()) ?? (await this.#acquire())
    this.#lease = lease && { lease, renewAt: performance.now() + RENEW_MS }
    this.#isElsewhere = lease === undefined
    return lease !== undefined
  }

  /** Holds the lease during work that takes longer than it. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    const timer = setInterval(() => {
      if (this.#lease && !this.#isAbandoned)
        void this.hold().catch(error => this.#warn('the lease of a delivery was not renewed', error))
    }, RENEW_MS).unref()
    try {
      return await work()
    } finally {
      clearInterval(timer)
    }
  }

  /** Part of a commit that fails with `ERR_STORE_LEASE_LOST` without the lease; false when it is lost already. */
  heldIn(batch: Batch): boolean {
    if (this.#lease) this.#queue.heldIn(batch, this.#lease.lease)
    return this.#lease !== undefined
  }

  lost(): void {
    this.#lease = undefined
  }

  /** Renews the lease no more: it ends after its time. */
  abandon(): void {
    this.#isAbandoned = true
  }

  async release(): Promise<void> {
    if (!this.#lease) return
    const { lease } = this.#lease
    this.#lease = undefined
    const dependency = new TextEncoder().encode(ROLE)
    try {
      await this.#queue.fail(lease, { outcome: 'wait', dependency, atMost: 0, reason: 'closed' })
    } catch (error) {
      // A store that failed: the lease ends by itself.
      if (!hasCode(error, 'ERR_STORE_LEASE_LOST'))
        this.#warn('the lease of a delivery was not released', error)
    }
  }

  async #renew(): Promise<Lease<string> | undefined> {
    if (!this.#lease) return undefined
    try {
      return await this.#queue.renew(this.#lease.lease, LEASE)
    } catch (error) {
      if (!hasCode(error, 'ERR_STORE_LEASE_LOST')) throw error
      return undefined
    }
  }

  async #acquire(): Promise<Lease<string> | undefined> {
    const { due, leased, waiting } = await this.#queue.stats()
    if (due + leased + waiting === 0) await this.#queue.enqueue(ROLE, 0)
    const [lease] = await this.#queue.lease(1, LEASE)
    if (lease) this.#onAcquired()
    return lease
  }

  #warn(event: string, error: unknown): void {
    const reason = reasonOf(error)
    this.#logger.warn(event, { service: this.#service, reason })
  }
}
