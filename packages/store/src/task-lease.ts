/**
 * A gate for tasks that run in one process at a time, open while this process has the lease. It closes before the lease
 * ends, also where the store cannot be reached. On a store of one process the gate is open and nothing is written.
 */
import { QuoinError, Task, type TaskGate, unref } from '@quoin/primitives'
import type { Batch } from './batch.ts'
import { LEASE_ATTEMPTS, ProcessLease } from './process-lease.ts'
import type { Queue } from './queue.ts'
import type { Store } from './store.ts'

/** Seconds of the lease. */
const LEASE_SECONDS = 5
/** Milliseconds between renewals, and between attempts to acquire it. */
const INTERVAL_MS = 1500
/** Milliseconds after which another process has the lease of a process that was killed. */
export const TAKEOVER_MS = LEASE_SECONDS * 1000 + 2 * INTERVAL_MS
/** Milliseconds before the end of the lease at which the gate closes. */
const MARGIN_MS = 500

export interface TaskLeaseOptions {
  readonly name: string
  /** The queue that is the lease. */
  readonly queue: (options: { readonly attempts: number }) => Queue<string>
  /** Called when this process acquires the lease, and when it loses it. */
  readonly onChange?: (isHeld: boolean) => void
  /** Called when the lease cannot be renewed or released. */
  readonly onWarning: (event: string, reason: string) => void
}

export class TaskLease implements TaskGate {
  readonly name: string
  readonly #isShared: boolean
  readonly #lease: ProcessLease
  readonly #onChange: (isHeld: boolean) => void
  readonly #listeners = new Set<() => void>()
  readonly #task: Task
  #open: AbortController | undefined
  #expiry: ReturnType<typeof setTimeout> | undefined

  constructor(store: Store, { name, queue, onChange = () => undefined, onWarning }: TaskLeaseOptions) {
    this.name = name
    this.#isShared = store.isShared
    this.#onChange = onChange
    this.#lease = new ProcessLease(queue({ attempts: LEASE_ATTEMPTS }), {
      seconds: LEASE_SECONDS,
      renewMs: 0,
      // Another process may have had it since.
      onAcquired: () => this.#closed(),
      onWarning
    })
    this.#task = new Task({ name: `lease ${name}`, interval: INTERVAL_MS, work: () => this.#hold() })
  }

  get signal(): AbortSignal | undefined {
    return this.#open?.signal
  }

  onOpen(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Resolves after the first attempt to acquire the lease. */
  async start(): Promise<void> {
    if (!this.#isShared) return this.#opened()
    await this.#task.runOnce()
    this.#task.start()
  }

  /** Part of a commit that fails with `ERR_STORE_LEASE_LOST` without the lease. */
  heldIn(batch: Batch): void {
    if (this.#isShared && !(this.#open && this.#lease.heldIn(batch))) {
      throw new QuoinError('ERR_STORE_LEASE_LOST', `this process does not have the lease ${this.name}`)
    }
  }

  /** Closes the gate and releases the lease, after the tasks behind the gate have stopped. */
  async close(): Promise<void> {
    await this.#task.stop()
    clearTimeout(this.#expiry)
    this.#open?.abort()
    this.#open = undefined
    if (this.#isShared) await this.#lease.release()
  }

  async #hold(): Promise<void> {
    // The lease ends by the clock of the store, which is read after this.
    const end = performance.now() + LEASE_SECONDS * 1000 - MARGIN_MS
    if (!(await this.#lease.hold())) return this.#closed()
    const left = end - performance.now()
    // The next pass renews it, if no other process has it by then.
    if (left <= 0) return this.#closed()
    clearTimeout(this.#expiry)
    this.#expiry = setTimeout(() => this.#closed(), left)
    unref(this.#expiry)
    this.#opened()
  }

  #opened(): void {
    if (this.#open) return
    this.#open = new AbortController()
    if (this.#isShared) this.#onChange(true)
    for (const listener of [...this.#listeners]) listener()
  }

  #closed(): void {
    clearTimeout(this.#expiry)
    if (!this.#open) return
    this.#open.abort()
    this.#open = undefined
    if (this.#isShared) this.#onChange(false)
  }
}
