/**
 * The pipeline (seed 003): ingest fills `q:bsv21` from sources, dispatch fills the token queues, and token workers process
 * the queues of active tokens. All state between the stages is in the store: any number of processes can run the pipeline
 * over one store, and a killed process loses nothing.
 */

import { type Engine, healthLog, type Logger } from '@quoin/overlay'
import { SourceHealth, type TokenId } from '@quoin/primitives'
import type { LiveChange } from '@quoin/txo'
import type { Activation } from '../activation.ts'
import type { FeePayments } from '../fee-payments.ts'
import { bsv21 } from '../keys.ts'
import type { Source, TransactionSource } from '../source/source.ts'
import { Dispatcher } from './dispatcher.ts'
import { reasonOf } from './failure.ts'
import { FastPath } from './fast-path.ts'
import { Ingest } from './ingest.ts'
import { Progress, type SourceProgress } from './progress.ts'
import { type Clock, queueOfToken, wallClock } from './queues.ts'
import { type ReadyToken, ReadyTokens } from './ready-tokens.ts'
import { Signal } from './signal.ts'
import { StagedTransactions } from './staged-transactions.ts'
import { TokenWorker } from './token-worker.ts'

export interface PipelineOptions {
  readonly engine: Engine
  readonly activation: Activation
  readonly logger: Logger
  readonly sources?: readonly Source[]
  /** Source of missing ancestors. */
  readonly fetch?: TransactionSource | undefined
  /** Payments to fee addresses, synced before each activation check of an idle token. */
  readonly payments?: FeePayments | undefined
  /** Seconds between activation checks of idle tokens, 300 by default. */
  readonly lifecycleSeconds?: number
  /** Whether other processes share the store: then all transactions go through the queues. */
  readonly isShared?: boolean
  /** Unix seconds. */
  readonly now?: Clock
}

export interface PipelineStatus {
  readonly sources: readonly SourceProgress[]
  /** Tokens with queue items that are not known to be inactive. */
  readonly ready: number
  /** Inactive tokens with queue items. */
  readonly idle: number
}

/** Transactions of one dispatch, and outputs of one token worker run. */
const BATCH_SIZE = 500
/** Concurrent batches of one queue: some wait for the disk while others use the processor. */
const CONCURRENCY = 4
/** Tokens processed concurrently. */
const TOKEN_CONCURRENCY = 4
/** Interval of polls for retries and for items of other processes. */
const POLL_MS = 1000
/** Delay before a failed source restarts, doubled after each failure. */
const RESTART_MS = 1000
const MAX_RESTART_MS = 60_000
/** Transactions and deliveries of one source in flight; a delivery is not split. */
const MAX_IN_FLIGHT = 2000
const OWN = 'own:'
const isOwnerEvent = (event: string): boolean => event.startsWith(OWN)

export class Pipeline {
  readonly ingest: Ingest
  readonly #engine: Engine
  readonly #activation: Activation
  readonly #logger: Logger
  readonly #sources: ReadonlyMap<Source, Progress>
  readonly #payments: FeePayments | undefined
  readonly #lifecycleMs: number
  readonly #now: Clock
  readonly #dispatcher: Dispatcher
  readonly #worker: TokenWorker
  readonly #ready: ReadyTokens
  readonly #queued = new Signal()
  readonly #dispatched = new Signal()
  readonly #stopping = new AbortController()
  #loops: Promise<unknown> = Promise.resolve()

  constructor(options: PipelineOptions) {
    const { engine, activation, logger, sources = [], fetch, lifecycleSeconds = 300 } = options
    const { now = wallClock, isShared = false } = options
    this.#now = now
    this.#engine = engine
    this.#activation = activation
    this.#logger = logger
    this.#sources = new Map(sources.map(source => [source, new Progress()]))
    this.#payments = options.payments
    this.#lifecycleMs = lifecycleSeconds * 1000
    const { feeAddresses } = activation
    const staged = new StagedTransactions(engine.outputs)
    const fastPath = isShared
      ? undefined
      : new FastPath({ engine, activation, staged, fetches: fetch !== undefined })
    this.ingest = new Ingest({ outputs: engine.outputs, staged, fastPath, feeAddresses, now }, () =>
      this.#queued.set()
    )
    this.#dispatcher = new Dispatcher({ engine, staged, now, fetch, feeAddresses })
    this.#worker = new TokenWorker({ engine, staged, now, fetch })
    this.#ready = new ReadyTokens(engine.outputs.store)
    activation.onChange(token => void this.#activate(token))
  }

  start(): void {
    const loops = [
      this.#loop('dispatch', this.#queued, POLL_MS, () => this.#dispatchAll()),
      this.#loop('tokens', this.#dispatched, POLL_MS, () => this.#processAll()),
      this.#loop('lifecycle', new Signal(), this.#lifecycleMs, () => this.#activateAll()),
      ...[...this.#sources].map(([source, progress]) => this.#runSource(source, progress)),
      ...(this.#activation.feeAddresses
        ? [this.#loop('fees', new Signal(), POLL_MS, () => this.#watchPayments())]
        : [])
    ]
    this.#loops = Promise.all(loops)
  }

  /** Stops the loops after their current batches. */
  async close(): Promise<void> {
    this.#stopping.abort()
    this.#queued.set()
    this.#dispatched.set()
    await this.#loops
  }

  /** Progress of the sources, and numbers of ready and idle tokens. */
  async status(): Promise<PipelineStatus> {
    const { store } = this.#engine.outputs
    const [ready, idle] = await Promise.all([
      store.use(bsv21.collections.ready).at().count(),
      store.use(bsv21.collections.idle).at().count()
    ])
    const sources = [...this.#sources].map(([source, progress]) => progress.of(source.name, source.status))
    return { sources, ready, idle }
  }

  /** Processes all due items, and the items that follow from them. */
  async settle(): Promise<void> {
    await this.#activateAll()
    let done: number
    do {
      // Each stage enqueues items of the other.
      const [dispatched, processed] = await Promise.all([this.#dispatchAll(), this.#processAll()])
      done = dispatched + processed
    } while (done > 0)
  }

  #dispatchAll(): Promise<number> {
    return this.#runConcurrently(async () => {
      const { count, tokens } = await this.#dispatcher.dispatch(BATCH_SIZE)
      if (tokens.size > 0) this.#dispatched.set()
      return count
    })
  }

  /** Runs batches concurrently until they find no items; returns the number of items. */
  async #runConcurrently(runBatch: () => Promise<number>): Promise<number> {
    let total = 0
    const errors: unknown[] = []
    const workers = new Set<Promise<void>>()
    const startWorker = (): void => {
      const running = runBatches()
        .catch(error => void errors.push(error))
        .finally(() => workers.delete(running))
      workers.add(running)
    }
    const runBatches = async (): Promise<void> => {
      while (!this.#isStopping && errors.length === 0) {
        const count = await runBatch()
        if (count === 0) return
        total += count
        // Replaces a worker that ended on an empty batch, before these items were enqueued.
        if (workers.size < CONCURRENCY) startWorker()
      }
    }
    for (let i = 0; i < CONCURRENCY; i++) startWorker()
    while (workers.size > 0) await Promise.all(workers)
    if (errors.length > 0) throw errors[0]
    return total
  }

  async #processAll(): Promise<number> {
    let total = 0
    for await (const tokens of this.#ready.ready()) {
      await this.#forEachToken(tokens, async ready => {
        total += await this.#processToken(ready)
      })
    }
    return total
  }

  /** Runs `work` on `TOKEN_CONCURRENCY` items at a time, until shutdown. */
  async #forEachToken<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
    const left = [...items]
    const worker = async (): Promise<void> => {
      for (let next = left.shift(); next && !this.#isStopping; next = left.shift()) await work(next)
    }
    await Promise.all(Array.from({ length: TOKEN_CONCURRENCY }, worker))
  }

  async #processToken(ready: ReadyToken): Promise<number> {
    const { token } = ready
    let isActive = true
    const total = await this.#runConcurrently(async () => {
      isActive &&= await this.#activation.isActive(token)
      return isActive ? this.#worker.work(token, BATCH_SIZE) : 0
    })
    if (!isActive) {
      await this.#ready.markIdle(ready)
      // An activation before the commit found no idle token to wake.
      if (await this.#activation.isActive(token)) await this.#ready.markReady(token)
      return total
    }
    const { due, leased, waiting } = await queueOfToken(this.#engine.outputs.store, token, this.#now).stats()
    if (due + leased + waiting === 0) await this.#ready.remove(ready)
    return total
  }

  /** Moves an idle token to the ready set if it is active. */
  async #activate(token: TokenId): Promise<void> {
    try {
      if (!(await this.#ready.isIdle(token)) || !(await this.#activation.isActive(token))) return
      await this.#ready.markReady(token)
      this.#dispatched.set()
    } catch (error) {
      // The lifecycle loop checks the token again.
      this.#logger.warn('activating a token failed', { token, reason: reasonOf(error) })
    }
  }

  async #activateAll(): Promise<number> {
    let activated = 0
    for await (const tokens of this.#ready.idle()) {
      await this.#forEachToken(tokens, async ({ token }) => {
        await this.#syncPayments(token)
        if (!(await this.#activation.isActive(token))) return
        await this.#ready.markReady(token)
        activated++
      })
    }
    if (activated > 0) this.#dispatched.set()
    // No work for the calling loop: the loop of the token workers processes the tokens.
    return 0
  }

  async #syncPayments(token: TokenId): Promise<void> {
    try {
      await this.#payments?.sync(token)
    } catch (error) {
      // The next lifecycle run syncs again; until then the indexed payments count.
      this.#logger.warn('syncing the fee payments of a token failed', { token, reason: reasonOf(error) })
    }
  }

  /** Activates tokens when payments to their fee addresses are indexed. */
  async #watchPayments(): Promise<number> {
    const { outputs } = this.#engine
    await this.#activateAll()
    const matches = ({ outputs: made, spends }: LiveChange): boolean =>
      [...made, ...spends].some(({ events }) => events.some(isOwnerEvent))
    for await (const change of outputs.follow({ matches, signal: this.#stopping.signal })) {
      const owners = [...change.outputs, ...change.spends].flatMap(({ events }) =>
        events.filter(isOwnerEvent).map(event => event.slice(OWN.length))
      )
      for (const owner of new Set(owners)) {
        const token = await outputs.store.use(bsv21.collections.fees).get(owner)
        if (token) await this.#activate(token)
      }
    }
    return 0
  }

  /** Ingests a source to its end; restarts it after a failure. */
  async #runSource(source: Source, progress: Progress): Promise<void> {
    let delay = RESTART_MS
    const health = this.#healthOf('source', source.name)
    const onCommit = (): void => {
      progress.note(source.status)
      health.succeeded()
      delay = RESTART_MS
    }
    while (!this.#isStopping) {
      try {
        await this.#ingestAll(source, onCommit)
        return
      } catch (error) {
        health.failed(reasonOf(error))
        await pause(delay, this.#stopping.signal)
        delay = Math.min(2 * delay, MAX_RESTART_MS)
      }
    }
  }

  /** Ingests several deliveries concurrently, and commits them in order. */
  async #ingestAll(source: Source, onCommit: () => void): Promise<void> {
    const failed = new AbortController()
    const signal = AbortSignal.any([this.#stopping.signal, failed.signal])
    /** Deliveries in flight, oldest first. */
    const inFlight: { readonly weight: number; readonly end: Promise<void> }[] = []
    for await (const delivery of source.deliveries(this.#engine.outputs.store, { signal })) {
      const before = inFlight.at(-1)?.end
      if (delivery.reorgFrom !== undefined) {
        await before
        await this.#engine.proofs.reconcile(delivery.reorgFrom)
      }
      const end = this.ingest.ingest(delivery, { before, source: source.name }).then(() => {
        inFlight.shift()
        onCommit()
      })
      // Each delivery awaits its predecessor, so the failure also rejects the last one, which is awaited below.
      end.catch(() => failed.abort())
      inFlight.push({ weight: 1 + delivery.transactions.length, end })
      while (inFlight.length > 1 && inFlight.reduce((sum, { weight }) => sum + weight, 0) > MAX_IN_FLIGHT) {
        await inFlight[0]!.end
      }
    }
    await inFlight.at(-1)?.end
  }

  /** Repeats `work` until it finds none, then waits for a signal or `ms`. Failures are logged on change and retried. */
  async #loop(name: string, signal: Signal, ms: number, work: () => Promise<number>): Promise<void> {
    const health = this.#healthOf('stage', name)
    while (!this.#isStopping) {
      try {
        while ((await work()) > 0 && !this.#isStopping) {
          // Until no items are left.
        }
        health.succeeded()
      } catch (error) {
        health.failed(reasonOf(error))
      }
      if (!this.#isStopping) await signal.wait(ms, this.#stopping.signal)
    }
  }

  #healthOf(part: 'source' | 'stage', name: string): SourceHealth {
    return new SourceHealth({
      onChange: healthLog(this.#logger, `the token pipeline’s ${part}`, { [part]: name })
    })
  }

  get #isStopping(): boolean {
    return this.#stopping.signal.aborted
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> => new Signal().wait(ms, signal)
