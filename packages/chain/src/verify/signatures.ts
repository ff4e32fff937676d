/**
 * Signatures of all transactions that are verified at a time. When there are many, a thread checks them while the event
 * loop goes on with other things, so that two cores are better than one. One that has more to do than it can in a while
 * is helped out, and where there is none, everything is checked here.
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

/** Fewer are checked sooner than a thread is told of them. */
const FEW = 3
/** As many as the thread may have to do: some 30 ms. */
const MANY = 500
/** A process that has not checked so many does without the thread: it would take as long to begin. */
const WORTH_A_THREAD = 2000

interface QueuedSignatures {
  readonly checks: readonly SignatureCheck[]
  readonly resolve: (verdicts: readonly boolean[]) => void
}

export interface SignaturesOptions {
  /** None where there is one core. */
  readonly thread?: SignatureThread | undefined
  readonly worthAThread?: number
}

/** Checks what is asked in one turn of the event loop together. */
export class Signatures {
  readonly #thread: SignatureThread | undefined
  #waiting: QueuedSignatures[] = []
  /** Until the thread is worth its while. */
  #left: number

  constructor({ thread, worthAThread = WORTH_A_THREAD }: SignaturesOptions = {}) {
    this.#thread = thread
    this.#left = worthAThread
  }

  /** Which of them hold, in their order. Not more than some hundred, for others have their turn in between. */
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
    // Who is alone has nothing else to do meanwhile.
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

/** @internal Also for the thread. */
export const verdictsOf = (checks: readonly SignatureCheck[]): boolean[] =>
  checks.map(({ signature, digest, key }) => verifySignature(signature, digest, key))

export interface Question {
  readonly id: number
  readonly records: Uint8Array
}
export interface Answer {
  readonly id: number
  readonly verdicts: readonly boolean[]
}

/** Whether s is high, the length of the key; then the signature, the digest and the key. */
const RECORD = 2 + 64 + 32 + 65

/** @internal For a message to the thread. */
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

/** @internal For the thread. */
export const readChecks = (records: Uint8Array): SignatureCheck[] =>
  Array.from({ length: records.length / RECORD }, (_, i) => {
    const at = i * RECORD
    return {
      signature: { isHigh: records[at] === 1, compact: records.subarray(at + 2, at + 66) },
      digest: records.subarray(at + 66, at + 98),
      key: records.subarray(at + 98, at + 98 + records[at + 1]!)
    }
  })

/** A thread does not inherit the loader that runs this module when it is not compiled, so it starts one itself. */
const ENTRY = import.meta.url.endsWith('.ts') ? './signature-thread.source.mjs' : './signature-thread.js'

interface SignatureRequest {
  readonly count: number
  readonly resolve: (verdicts: readonly boolean[] | undefined) => void
}

/** Begins when there is something to check. */
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

  /** Undefined when the thread has failed, and whoever asked has to do it. */
  check(checks: readonly SignatureCheck[]): Promise<readonly boolean[] | undefined> {
    this.#worker ??= this.#start()
    const worker = this.#worker
    const records = writeChecks(checks)
    return new Promise(resolve => {
      const id = ++this.#lastId
      this.#asked.set(id, { count: checks.length, resolve })
      this.#count += checks.length
      worker.ref()
      const question: Question = { id, records }
      worker.postMessage(question, [records.buffer as ArrayBuffer])
    })
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  #start(): Worker {
    const worker = new Worker(new URL(this.#entry))
    worker.unref()
    worker.on('message', ({ id, verdicts }: Answer) => this.#answered(id, verdicts))
    worker.on('error', () => this.#fail())
    worker.on('exit', () => this.#fail())
    return worker
  }

  #answered(id: number, verdicts: readonly boolean[] | undefined): void {
    const asked = this.#asked.get(id)
    if (!asked) return
    this.#asked.delete(id)
    this.#count -= asked.count
    // A process may end while nothing is being checked.
    if (this.#asked.size === 0) this.#worker?.unref()
    asked.resolve(verdicts)
  }

  /** It is not begun again: whatever ended it may be the same the next time. */
  #fail(): void {
    this.#hasFailed = true
    for (const id of this.#asked.keys()) this.#answered(id, undefined)
  }
}

let shared: Signatures | undefined

/** The one that all of a process share. */
export const sharedSignatures = (): Signatures => {
  shared ??= new Signatures({ thread: availableParallelism() > 1 ? new SignatureThread() : undefined })
  return shared
}
