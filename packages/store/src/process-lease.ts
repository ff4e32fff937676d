/** The lease of a process: of the processes on a store, one at a time has it. A process that is killed loses it after its seconds. */
import { hasCode, reasonOf, withHeartbeat } from '@quoin/primitives'
import type { Batch } from './batch.ts'
import type { Lease, Queue } from './queue.ts'

/** The attempts of a queue that is a lease: each process that acquires the lease is one. */
export const LEASE_ATTEMPTS = 2 ** 31
/** The one item of the queue. */
const HOLDER = 'holder'

export interface ProcessLeaseOptions {
  /** Seconds after which the lease ends unless it is renewed. */
  readonly seconds: number
  /** Milliseconds after which `hold` renews it. */
  readonly renewMs: number
  /** Called when another process may have had the lease. */
  readonly onAcquired?: () => void
  /** Called when the lease cannot be renewed or released; it then ends by itself. */
  readonly onWarning: (event: string, reason: string) => void
  /** The item of the queue, for a queue that stores have already. */
  readonly item?: string
}

export class ProcessLease {
  readonly #queue: Queue<string>
  readonly #options: ProcessLeaseOptions
  #lease: { readonly lease: Lease<string>; readonly renewAt: number } | undefined
  #isElsewhere = false
  #isAbandoned = false

  /** @param queue Made with `attempts: LEASE_ATTEMPTS`. */
  constructor(queue: Queue<string>, options: ProcessLeaseOptions) {
    this.#queue = queue
    this.#options = options
  }

  /** Whether another process had the lease at the last attempt. */
  get isElsewhere(): boolean {
    return this.#isElsewhere
  }

  /** Acquires or renews the lease; answers whether this process has it. */
  async hold(): Promise<boolean> {
    if (this.#lease && performance.now() < this.#lease.renewAt) return true
    const renewAt = performance.now() + this.#options.renewMs
    const lease = (await this.#renew()) ?? (await this.#acquire())
    this.#lease = lease && { lease, renewAt }
    this.#isElsewhere = lease === undefined
    return lease !== undefined
  }

  /** Holds the lease during work that takes longer than it. */
  during<T>(work: () => Promise<T>): Promise<T> {
    const renew = (): void => {
      if (this.#lease && !this.#isAbandoned)
        void this.hold().catch(error => this.#warn('a lease was not renewed', error))
    }
    return withHeartbeat(this.#options.renewMs, renew, work)
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

  /** Another process may have the lease at once. */
  async release(): Promise<void> {
    if (!this.#lease) return
    const { lease } = this.#lease
    this.#lease = undefined
    const dependency = new TextEncoder().encode(lease.item)
    try {
      await this.#queue.fail(lease, { outcome: 'wait', dependency, atMost: 0, reason: 'closed' })
    } catch (error) {
      if (!hasCode(error, 'ERR_STORE_LEASE_LOST')) this.#warn('a lease was not released', error)
    }
  }

  async #renew(): Promise<Lease<string> | undefined> {
    if (!this.#lease) return undefined
    try {
      return await this.#queue.renew(this.#lease.lease, this.#options.seconds)
    } catch (error) {
      if (!hasCode(error, 'ERR_STORE_LEASE_LOST')) throw error
      return undefined
    }
  }

  async #acquire(): Promise<Lease<string> | undefined> {
    const { due, leased, waiting } = await this.#queue.stats()
    if (due + leased + waiting === 0) await this.#queue.enqueue(this.#options.item ?? HOLDER, 0)
    const [lease] = await this.#queue.lease(1, this.#options.seconds)
    if (lease) this.#options.onAcquired?.()
    return lease
  }

  #warn(event: string, error: unknown): void {
    this.#options.onWarning(event, reasonOf(error))
  }
}
