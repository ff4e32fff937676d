/**
 * Signatures are most of what a verification costs. Those of one turn of the event loop, from however many
 * transactions, go to a thread together, and the loop goes on with other work; a few alone are checked on the spot,
 * which takes less than the way to a thread and back.
 */
import { availableParallelism } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { packChecks } from './packed-checks.ts'
import { type Check, verifySignature } from './secp256k1.ts'

/** Worth a thread: fewer are checked sooner than a thread wakes, answers, and wakes this one. */
const MANY = 64
/** Signatures in a row before others get their turn: about 5 ms. */
const SLICE = 100

/** A thread does not inherit the loader that runs this module when it is not compiled, so it starts one itself. */
const ENTRY = import.meta.url.endsWith('.ts') ? './signature-thread.source.mjs' : './signature-thread.js'

interface Waiting {
  readonly checks: readonly Check[]
  readonly resolve: (failed: number) => void
}

export class Signatures {
  #worker: Worker | undefined
  #isReady = false
  #waiting: Waiting[] = []
  /** What the thread has, in the order in which it will answer. */
  #sent: Waiting[][] = []

  /** The first that does not hold; -1 when all do. */
  firstFailing(checks: readonly Check[]): Promise<number> {
    if (checks.length === 0) return Promise.resolve(-1)
    return new Promise(resolve => {
      this.#waiting.push({ checks, resolve })
      if (this.#waiting.length === 1) void this.#sendSoon()
    })
  }

  /** Whether the thread has started; without it all is checked on the spot. */
  get isThreaded(): boolean {
    return this.#isReady
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  async #sendSoon(): Promise<void> {
    await setImmediate()
    const group = this.#waiting
    this.#waiting = []
    const checks = group.flatMap(each => each.checks)
    const worker = checks.length < MANY || !isParallel ? undefined : this.#thread()
    if (!worker) {
      await checkHere(group)
      return
    }
    const packed = packChecks(checks)
    this.#sent.push(group)
    worker.ref()
    worker.postMessage(packed, [packed.buffer])
  }

  /** Undefined until it has started. */
  #thread(): Worker | undefined {
    this.#worker ??= this.#start()
    return this.#isReady ? this.#worker : undefined
  }

  #start(): Worker {
    const worker = new Worker(new URL(ENTRY, import.meta.url))
    worker.once('online', () => {
      this.#isReady = true
    })
    worker.on('message', (verdicts: Uint8Array) => this.#answered(worker, verdicts))
    // A thread that cannot start or go on is said by its end; what it had is done without it.
    worker.on('error', () => {})
    worker.on('exit', () => {
      this.#worker = undefined
      this.#isReady = false
      for (const group of this.#sent.splice(0)) void checkHere(group)
    })
    // A process may end while nothing is being checked. Listening to a worker holds it again, so this comes last.
    worker.unref()
    return worker
  }

  #answered(worker: Worker, verdicts: Uint8Array): void {
    const group = this.#sent.shift()!
    if (this.#sent.length === 0) worker.unref()
    let at = 0
    for (const { checks, resolve } of group) {
      resolve(verdicts.subarray(at, at + checks.length).indexOf(0))
      at += checks.length
    }
  }
}

const isParallel = availableParallelism() > 1

const checkHere = async (group: readonly Waiting[]): Promise<void> => {
  let checked = 0
  for (const { checks, resolve } of group) {
    let failed = -1
    for (let i = 0; i < checks.length && failed < 0; i++) {
      if (++checked % SLICE === 0) await setImmediate()
      const { signature, digest, key } = checks[i]!
      if (!verifySignature(signature, digest, key)) failed = i
    }
    resolve(failed)
  }
}

let shared: Signatures | undefined

/** One thread serves the whole process. */
export const sharedSignatures = (): Signatures => {
  shared ??= new Signatures()
  return shared
}
