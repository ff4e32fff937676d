/**
 * Batches of signatures, verified by a worker thread when there are many, so that the event loop continues on another
 * core. The event loop takes over when the thread has a backlog, or there is no thread.
 */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { type Signature, verifySignature } from './secp256k1.ts'

export interface SignatureCheck {
  readonly signature: Pick<Signature, 'compact' | 'isHigh'>
  readonly digest: Uint8Array
  /** 33 or 65 bytes. */
  readonly key: Uint8Array
}

/** Up to this many are verified sooner than a message to the thread takes. */
const FEW = 3
/** Most signatures queued at the thread: some 30 ms. */
const MANY = 500
/** Signatures that a process verifies before it starts the thread, whose start takes as long. */
const WORTH_A_THREAD = 2000

interface QueuedSignatures {
  readonly checks: readonly SignatureCheck[]
  readonly resolve: (verdicts: readonly boolean[]) => void
}

export interface SignaturesOptions {
  /** Absent on one core. */
  readonly thread?: SignatureThread | undefined
  readonly worthAThread?: number
}

/** Verifies all checks of one event-loop turn together. */
export class Signatures {
  readonly #thread: SignatureThread | undefined
  #waiting: QueuedSignatures[] = []
  /** Signatures left before the thread is started. */
  #left: number

  constructor({ thread, worthAThread = WORTH_A_THREAD }: SignaturesOptions = {}) {
    this.#thread = thread
    this.#left = worthAThread
  }

  /** Verdicts, in order. Callers pass at most a few hundred, since others run in between. */
  check(checks: readonly SignatureCheck[]): Promise<readonly boolean[]> {
    if (checks.length === 0) return Promise.resolve([])
    return new Promise(resolve => {
      this.#waiting.push({ checks, resolve })
      if (this.#waiting.length === 1) setImmediate(() => this.#begin())
    })
  }

  #begin(): void {
    const waiting = this.#waiting
    this.#waiting = []
    const count = waiting.reduce((sum, { checks }) => sum + checks.length, 0)
    this.#left = Math.max(0, this.#left - count)
    // A single caller has no other work for the event loop meanwhile.
    const isWorth = waiting.length > 1 && count > FEW && this.#left === 0
    if (isWorth && this.#thread?.hasTime) void this.#hand(this.#thread, waiting)
    else for (const { checks, resolve } of waiting) resolve(verdictsOf(checks))
  }

  async #hand(thread: SignatureThread, waiting: readonly QueuedSignatures[]): Promise<void> {
    const verdicts = await thread.check(waiting.flatMap(({ checks }) => checks))
    let end = 0
    for (const { checks, resolve } of waiting) {
      end += checks.length
      resolve(verdicts ? verdicts.slice(end - checks.length, end) : verdictsOf(checks))
    }
  }
}

/** @internal Also called by the thread. */
export const verdictsOf = (checks: readonly SignatureCheck[]): boolean[] =>
  checks.map(({ signature, digest, key }) => verifySignature(signature, digest, key))

export interface ChecksMessage {
  readonly id: number
  readonly records: Uint8Array
}
export interface VerdictsMessage {
  readonly id: number
  readonly verdicts: readonly boolean[]
}

/** A flag for high s, the key length, signature, digest and key. */
const RECORD = 2 + 64 + 32 + 65

/** @internal Encodes checks as a message to the thread. */
export const writeChecks = (checks: readonly SignatureCheck[]): Uint8Array => {
  const records = new Uint8Array(checks.length * RECORD)
  let at = 0
  for (const { signature, digest, key } of checks) {
    records[at] = signature.isHigh ? 1 : 0
    records[at + 1] = key.length
    records.set(signature.compact, at + 2)
    records.set(digest, at + 66)
    records.set(key, at + 98)
    at += RECORD
  }
  return records
}

/** @internal Decodes checks, in the thread. */
export const readChecks = (records: Uint8Array): SignatureCheck[] =>
  Array.from({ length: records.length / RECORD }, (_, i) => {
    const at = i * RECORD
    return {
      signature: { isHigh: records[at] === 1, compact: records.subarray(at + 2, at + 66) },
      digest: records.subarray(at + 66, at + 98),
      key: records.subarray(at + 98, at + 98 + records[at + 1]!)
    }
  })

/** A worker does not inherit the loader of TypeScript sources, so it starts one. */
const ENTRY = import.meta.url.endsWith('.ts') ? './signature-thread.source.mjs' : './signature-thread.js'

interface SignatureRequest {
  readonly count: number
  readonly resolve: (verdicts: readonly boolean[] | undefined) => void
}

/** Starts on the first check. */
export class SignatureThread {
  readonly #entry: string
  #worker: Worker | undefined
  #hasFailed = false
  readonly #asked = new Map<number, SignatureRequest>()
  #lastId = 0
  #count = 0

  constructor(entry = new URL(ENTRY, import.meta.url).href) {
    this.#entry = entry
  }

  get hasTime(): boolean {
    return !this.#hasFailed && this.#count < MANY
  }

  /** Undefined when the thread has failed; the caller verifies then. */
  check(checks: readonly SignatureCheck[]): Promise<readonly boolean[] | undefined> {
    this.#worker ??= this.#start()
    const worker = this.#worker
    const records = writeChecks(checks)
    return new Promise(resolve => {
      const id = ++this.#lastId
      this.#asked.set(id, { count: checks.length, resolve })
      this.#count += checks.length
      worker.ref()
      const question: ChecksMessage = { id, records }
      worker.postMessage(question, [records.buffer as ArrayBuffer])
    })
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  #start(): Worker {
    const worker = new Worker(new URL(this.#entry))
    worker.unref()
    worker.on('message', ({ id, verdicts }: VerdictsMessage) => this.#answered(id, verdicts))
    worker.on('error', () => this.#fail())
    worker.on('exit', () => this.#fail())
    return worker
  }

  #answered(id: number, verdicts: readonly boolean[] | undefined): void {
    const asked = this.#asked.get(id)
    if (!asked) return
    this.#asked.delete(id)
    this.#count -= asked.count
    // An idle thread does not keep the process alive.
    if (this.#asked.size === 0) this.#worker?.unref()
    asked.resolve(verdicts)
  }

  /** Not restarted: its cause may persist. */
  #fail(): void {
    this.#hasFailed = true
    for (const id of this.#asked.keys()) this.#answered(id, undefined)
  }
}

let shared: Signatures | undefined

/** Batches of the whole process. */
export const sharedSignatures = (): Signatures => {
  shared ??= new Signatures({ thread: availableParallelism() > 1 ? new SignatureThread() : undefined })
  return shared
}
