/**
 * The side of the event loop: hands groups of batches to the thread that writes (`thread.ts`) and waits for what
 * became of them. One thread serves all stores of a process.
 */
import { Worker } from 'node:worker_threads'
import { type ErrorCode, QuoinError } from '../../keyspace/index.ts'
import type { Answer } from '../engine.ts'
import { newEnding } from './ending.ts'
import type { Outcome } from './writer.ts'

export type ThreadedKind = 'lmdb' | 'level'

export type Request = { readonly id: number; readonly store: number } & (
  | { readonly type: 'open'; readonly kind: ThreadedKind; readonly path: string }
  | {
      readonly type: 'write'
      /** The batches, one after the other. */
      readonly batches: Uint8Array
      readonly lengths: Uint32Array
      readonly durable: boolean
    }
  | { readonly type: 'close' }
)

/** Most batches have no answers and are not refused, so only the others are named. */
export interface Reply {
  readonly id: number
  readonly failed?: readonly (readonly [index: number, check: number])[]
  readonly answers?: readonly (readonly [index: number, answers: Answer[]])[]
  readonly error?: {
    readonly code: ErrorCode
    readonly message: string
    readonly details: Record<string, unknown>
  }
}

interface Pending {
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: unknown) => void
}

/** A thread does not inherit the loader that runs this module when it is not compiled, so it starts one itself. */
const ENTRY = import.meta.url.endsWith('.ts') ? './thread.source.mjs' : './thread.js'

class Thread {
  static #shared: Thread | undefined
  readonly #worker: Worker
  readonly #pending = new Map<number, Pending>()
  #lastId = 0

  static get shared(): Thread {
    Thread.#shared ??= new Thread()
    return Thread.#shared
  }

  constructor() {
    const { shared, end } = newEnding()
    this.#worker = new Worker(new URL(ENTRY, import.meta.url), {
      workerData: shared,
      // What a group of batches makes is garbage when it is committed, and should not be copied before.
      resourceLimits: { maxYoungGenerationSizeMb: 192 }
    })
    this.#worker.unref()
    // Ends the thread before the process does: databases do not like to be taken down with it.
    process.once('beforeExit', () => {
      end()
      void this.#worker.terminate()
    })
    process.once('exit', end)
    this.#worker.on('message', (reply: Reply) => {
      const pending = this.#pending.get(reply.id)
      this.#pending.delete(reply.id)
      // A process may end while nothing is being written.
      if (this.#pending.size === 0) this.#worker.unref()
      pending?.resolve(reply)
    })
    this.#worker.on('error', error => this.#fail(error))
    this.#worker.on('exit', () => this.#fail(new Error('the thread ended')))
  }

  get nextId(): number {
    return ++this.#lastId
  }

  ask(request: Request, transfer: ArrayBuffer[] = []): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.#pending.set(request.id, { resolve, reject })
      this.#worker.ref()
      this.#worker.postMessage(request, transfer)
    })
  }

  #fail(error: Error): void {
    if (Thread.#shared === this) Thread.#shared = undefined
    for (const { reject } of this.#pending.values()) {
      reject(new QuoinError('ERR_STORE_ENGINE', `the thread that writes has failed: ${error.message}`))
    }
    this.#pending.clear()
  }
}

let lastStore = 0

export class WriterThread {
  readonly #thread = Thread.shared
  readonly #store = ++lastStore

  static async start(kind: ThreadedKind, path: string): Promise<WriterThread> {
    const writer = new WriterThread()
    await writer.#ask({ type: 'open', kind, path })
    return writer
  }

  async write(batches: readonly Uint8Array[], durable = true): Promise<Outcome[]> {
    const whole = new Uint8Array(batches.reduce((sum, { length }) => sum + length, 0))
    const lengths = new Uint32Array(batches.length)
    let at = 0
    batches.forEach((batch, i) => {
      whole.set(batch, at)
      lengths[i] = batch.length
      at += batch.length
    })
    const request = { type: 'write', batches: whole, lengths, durable } as const
    const reply = await this.#ask(request, [whole.buffer, lengths.buffer])
    const outcomes: Outcome[] = batches.map(() => ({ answers: [] }))
    for (const [i, answers] of reply.answers ?? []) outcomes[i] = { answers }
    for (const [i, failed] of reply.failed ?? []) outcomes[i] = { failed }
    return outcomes
  }

  async close(): Promise<void> {
    await this.#ask({ type: 'close' })
  }

  async #ask(
    request: Request extends infer R ? (R extends unknown ? Omit<R, 'id' | 'store'> : never) : never,
    transfer?: ArrayBuffer[]
  ): Promise<Reply> {
    const reply = await this.#thread.ask(
      { ...request, id: this.#thread.nextId, store: this.#store } as Request,
      transfer
    )
    if (reply.error) throw new QuoinError(reply.error.code, reply.error.message, reply.error.details)
    return reply
  }
}
