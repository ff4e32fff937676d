/**
 * The side of the event loop: hands groups of batches to the writer thread (`thread.ts`) and awaits their outcomes. One
 * thread serves all stores of a process.
 */
import { Worker } from 'node:worker_threads'
import { QuoinError } from '@quoin/primitives'
import type { OperationResult } from '../engine.ts'
import type { GroupResult, Outcome } from './group-writer.ts'
import { newShutdownLatch } from './shutdown-latch.ts'

export type ThreadedKind = 'lmdb' | 'level'

export type WriterRequest = { readonly id: number; readonly store: number } & (
  | { readonly type: 'open'; readonly kind: ThreadedKind; readonly path: string }
  | {
      readonly type: 'write'
      /** The batches, one after the other. */
      readonly batches: Uint8Array
      readonly lengths: Uint32Array
    }
  | { readonly type: 'close' }
)

/** A `QuoinError` as it passes between threads. */
export type ErrorMessage = Pick<QuoinError, 'code' | 'message' | 'details'>

/** Most batches have no answers and are not refused, so only the others are named. */
export interface WriterResponse {
  readonly id: number
  readonly failed?: readonly (readonly [index: number, check: number])[]
  readonly answers?: readonly (readonly [index: number, answers: OperationResult[]])[]
  readonly errors?: readonly (readonly [index: number, error: ErrorMessage])[]
  readonly written?: boolean
  readonly error?: ErrorMessage
}

interface PendingReply {
  readonly resolve: (reply: WriterResponse) => void
  readonly reject: (error: unknown) => void
}

/** A thread does not inherit the loader that runs this module when it is not compiled, so it starts one itself. */
const ENTRY = import.meta.url.endsWith('.ts') ? './thread.source.mjs' : './thread.js'

/** How often a thread that owes a reply is looked at. */
const WATCH_MS = 1000

class Thread {
  static #shared: Thread | undefined
  readonly #worker: Worker
  readonly #pending = new Map<number, PendingReply>()
  #lastId = 0
  /** Why the thread ended. */
  #failure: QuoinError | undefined
  #watch: NodeJS.Timeout | undefined
  /** Its JavaScript ended inside an LMDB transaction: the thread itself waits for its own lock, for ever. */
  #isStuck = false

  static get shared(): Thread {
    Thread.#shared ??= new Thread()
    return Thread.#shared
  }

  constructor() {
    const { shared, end, ended } = newShutdownLatch()
    this.#worker = new Worker(new URL(ENTRY, import.meta.url), {
      workerData: shared,
      // The objects of a group of batches are garbage after its commit, and should not be promoted before.
      resourceLimits: { maxYoungGenerationSizeMb: 192 }
    })
    this.#worker.unref()
    // Ends the thread before the process does: databases do not like to be taken down with it.
    process.once('beforeExit', () => {
      end()
      void this.#worker.terminate()
    })
    process.once('exit', () => {
      // Node would wait for the thread. Every acknowledged commit is synced.
      if (this.#isStuck) process.kill(process.pid, 'SIGKILL')
      end()
    })
    this.#worker.once('message', () => this.#idleTime())
    this.#worker.on('message', (reply: WriterResponse) => {
      const pending = this.#pending.get(reply.id)
      this.#pending.delete(reply.id)
      if (this.#pending.size === 0) this.#rest()
      pending?.resolve(reply)
    })
    this.#worker.on('error', error => this.#fail(error.message))
    this.#worker.on('exit', code => {
      ended()
      this.#fail(`exit code ${code}`)
    })
  }

  get failure(): QuoinError | undefined {
    return this.#failure
  }

  get isStuck(): boolean {
    return this.#isStuck
  }

  /** A process may end while nothing is being written. */
  #rest(): void {
    this.#worker.unref()
    clearInterval(this.#watch)
    this.#watch = undefined
  }

  /**
   * Node emits no event for a stuck thread. Its idle time tells: negative once its event loop is gone,if it was asked
   * for while the loop ran, as at the first message.
   */
  #look(): void {
    if (this.#idleTime() >= 0) return
    this.#isStuck = true
    this.#fail('it was stopped inside a transaction')
  }

  #idleTime(): number {
    return this.#worker.performance.eventLoopUtilization().idle
  }

  get nextId(): number {
    return ++this.#lastId
  }

  ask(request: WriterRequest, transfer: ArrayBuffer[] = []): Promise<WriterResponse> {
    if (this.#failure) return Promise.reject(this.#failure)
    return new Promise((resolve, reject) => {
      this.#pending.set(request.id, { resolve, reject })
      this.#worker.ref()
      this.#watch ??= setInterval(() => this.#look(), WATCH_MS).unref()
      this.#worker.postMessage(request, transfer)
    })
  }

  /**
   * Commits in flight may or may not have been written. The thread is not started again under an open store: it may have
   * ended inside an LMDB transaction.
   */
  #fail(reason: string): void {
    if (Thread.#shared === this) Thread.#shared = undefined
    this.#failure ??= new QuoinError(
      'ERR_STORE_FAILED',
      `the writer thread ended (${reason}), and the store refuses all writes. Restart the process`,
      { reason }
    )
    for (const { reject } of this.#pending.values()) reject(this.#failure)
    this.#pending.clear()
    this.#rest()
  }
}

let lastStore = 0

/** Stores whose LMDB transaction nobody in this process can end. */
const stuckPaths = new Set<string>()

export class WriterThread {
  readonly #thread = Thread.shared
  readonly #store = ++lastStore
  readonly #path: string

  static async start(kind: ThreadedKind, path: string): Promise<WriterThread> {
    if (stuckPaths.has(path)) {
      throw new QuoinError(
        'ERR_STORE_FAILED',
        `the writer thread of the store in ${path} was stopped inside a transaction. Restart the process`,
        { path }
      )
    }
    const writer = new WriterThread(path)
    await writer.#ask({ type: 'open', kind, path })
    return writer
  }

  private constructor(path: string) {
    this.#path = path
  }

  /** Whether handles of the store cannot be closed: LMDB would wait for the transaction. */
  get isStuck(): boolean {
    return this.#thread.isStuck
  }

  /** Throws when the thread has ended. */
  assertRunning(): void {
    if (this.#thread.failure) throw this.#thread.failure
  }

  async write(batches: readonly Uint8Array[]): Promise<GroupResult> {
    const whole = new Uint8Array(batches.reduce((sum, { length }) => sum + length, 0))
    const lengths = new Uint32Array(batches.length)
    let at = 0
    batches.forEach((batch, i) => {
      whole.set(batch, at)
      lengths[i] = batch.length
      at += batch.length
    })
    const request = { type: 'write', batches: whole, lengths } as const
    const reply = await this.#ask(request, [whole.buffer, lengths.buffer])
    const outcomes: Outcome[] = batches.map(() => ({ answers: [] }))
    for (const [i, answers] of reply.answers ?? []) outcomes[i] = { answers }
    for (const [i, failed] of reply.failed ?? []) outcomes[i] = { failed }
    for (const [i, error] of reply.errors ?? []) outcomes[i] = { error: fromErrorMessage(error) }
    return { outcomes, written: reply.written ?? false }
  }

  /** A thread that ended has given its handles back, unless it is stuck. */
  async close(): Promise<void> {
    if (this.isStuck) stuckPaths.add(this.#path)
    if (!this.#thread.failure) await this.#ask({ type: 'close' })
  }

  async #ask(
    request: WriterRequest extends infer R ? (R extends unknown ? Omit<R, 'id' | 'store'> : never) : never,
    transfer?: ArrayBuffer[]
  ): Promise<WriterResponse> {
    const reply = await this.#thread.ask(
      { ...request, id: this.#thread.nextId, store: this.#store } as WriterRequest,
      transfer
    )
    if (reply.error) throw fromErrorMessage(reply.error)
    return reply
  }
}

const fromErrorMessage = ({ code, message, details }: ErrorMessage): QuoinError =>
  new QuoinError(code, message, details)
