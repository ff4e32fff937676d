/**
 * The pipeline (seed 003): ingest fills `q:bsv21` from sources, dispatch fills the token queues, and token workers process
 * the queues of active tokens. All state between the stages is in the store: any number of processes can run the pipeline
 * over one store, and a killed process loses nothing.
 */

import { type Engine, healthLog, type Logger } from '@quoin/overlay'
import {
  drain,
  reasonOf,
  type Task,
  type TaskGate,
  type TaskOptions,
  Tasks,
  type TokenId
} from '@quoin/primitives'
import type { LiveChange } from '@quoin/txo'
import type { Activation } from '../activation.ts'
import { type Completeness, completenessOf, countsOf, type PendingCounts } from '../completeness.ts'
import type { FeePayments } from '../fee-payments.ts'
import { bsv21 } from '../keys.ts'
import type { Source, SpendSource, TransactionSource } from '../source/source.ts'
import { Dispatcher } from './dispatcher.ts'
import { FastPath } from './fast-path.ts'
import { Ingest } from './ingest.ts'
import { Progress, type SourceProgress } from './progress.ts'
import { type Clock, discoveryQueue, queueOfToken, wallClock } from './queues.ts'
import { type ReadyToken, ReadyTokens } from './ready-tokens.ts'
import { SpendCheck, type SpendCheckStatus } from './spend-check.ts'
import { StagedTransactions } from './staged-transactions.ts'
import { TokenWorker } from './token-worker.ts'
import { trackStored } from './track-stored.ts'

export interface PipelineOptions {
  readonly engine: Engine
  readonly activation: Activation
  readonly logger: Logger
  readonly sources?: readonly Source[]
  /** Source of missing ancestors. */
  readonly fetch?: TransactionSource | undefined
  /** Payments to fee addresses, synced before each activation check of an idle token. */
  readonly payments?: FeePayments | undefined
  /** Knows the spenders of token outputs, which are asked for in sweeps. */
  readonly spends?: SpendSource | undefined
  /** Outputs a second whose spenders are asked for. */
  readonly spendRate?: number | undefined
  /** Seconds between activation checks of idle tokens, 300 by default. */
  readonly lifecycleSeconds?: number
  /** Whether other processes share the store: then all transactions go through the queues. */
  readonly isShared?: boolean
  /** Open in the one process of those on a store that follows the sources. */
  readonly gate?: TaskGate | undefined
  /** Unix seconds. */
  readonly now?: Clock
}

export interface PipelineStatus {
  readonly sources: readonly SourceProgress[]
  /** Tokens with queue items that are not known to be inactive. */
  readonly ready: number
  /** Inactive tokens with queue items. */
  readonly idle: number
  /** Transactions to dispatch. */
  readonly discovery: PendingCounts
  /** The search for unknown spenders; undefined without a service that knows them. */
  readonly spends: SpendCheckStatus | undefined
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
/** Milliseconds between sweeps for spenders. */
const SWEEP_MS = 60_000
/** Transactions and deliveries of one source in flight; a delivery is not split. */
const MAX_IN_FLIGHT = 2000
/** Idle tokens whose payments one activation check asks the source for; the next check goes on behind them. */
const MAX_PAYMENT_QUERIES = 1000
const OWN = 'own:'
const isOwnerEvent = (event: string): boolean => event.startsWith(OWN)

export class Pipeline {
  readonly ingest: Ingest
  readonly #engine: Engine
  readonly #activation: Activation
  readonly #logger: Logger
  readonly #sources: ReadonlyMap<Source, Progress>
  readonly #payments: FeePayments | undefined
  readonly #now: Clock
  readonly #dispatcher: Dispatcher
  readonly #spendCheck: SpendCheck | undefined
  readonly #worker: TokenWorker
  readonly #ready: ReadyTokens
  readonly #stages = new Tasks()
  readonly #following = new Tasks()
  readonly #dispatchTask: Task
  readonly #tokenTask: Task
  readonly #stopping = new AbortController()
  /** The place among the idle tokens of the first whose payments the next activation check asks for. */
  #firstQuery = 0

  constructor(options: PipelineOptions) {
    const { engine, activation, logger, sources = [], fetch, lifecycleSeconds = 300 } = options
    const { now = wallClock, isShared = false } = options
    this.#now = now
    this.#engine = engine
    this.#activation = activation
    this.#logger = logger
    this.#sources = new Map(sources.map(source => [source, new Progress()]))
    this.#payments = options.payments
    const { feeAddresses } = activation
    const staged = new StagedTransactions(engine.outputs)
    const fastPath = isShared
      ? undefined
      : new FastPath({ engine, activation, staged, fetches: fetch !== undefined })
    this.ingest = new Ingest({ outputs: engine.outputs, staged, fastPath, feeAddresses, now }, () =>
      this.#dispatchTask.wake()
    )
    this.#dispatcher = new Dispatcher({ engine, activation, staged, now, fetch })
    this.#worker = new TokenWorker({ engine, staged, now, fetch })
    this.#ready = new ReadyTokens(engine.outputs.store)
    engine.outputs.onStored(trackStored(discoveryQueue(engine.outputs.store, now), staged, now))
    activation.onChange(token => void this.#activate(token))
    this.#dispatchTask = this.#addStage('dispatch', {
      interval: POLL_MS,
      concurrency: CONCURRENCY,
      work: () => this.#dispatchBatch()
    })
    this.#tokenTask = this.#addStage('tokens', { interval: POLL_MS, work: () => this.#processAll() })
    this.#addStage('lifecycle', { interval: lifecycleSeconds * 1000, work: () => this.#activateAll() })
    if (feeAddresses) {
      this.#addStage('fees', { interval: POLL_MS, work: signal => this.#watchPayments(signal) })
    }
    const { spends, spendRate: rate } = options
    this.#spendCheck =
      spends &&
      new SpendCheck({ outputs: engine.outputs, activation, ingest: this.ingest, source: spends, rate })
    if (this.#spendCheck) this.#addSpendCheck(this.#spendCheck, options.gate)
    for (const [source, progress] of this.#sources) this.#addSource(source, progress, options.gate)
  }

  #addStage(stage: string, options: Omit<TaskOptions, 'name'>): Task {
    return this.#stages.add({
      name: stage,
      onHealthChange: healthLog(this.#logger, 'the token pipeline’s stage', { stage }),
      ...options
    })
  }

  /** Sweeps the unspent outputs, in the process that follows the sources. */
  #addSpendCheck(check: SpendCheck, gate: TaskGate | undefined): void {
    this.#following.add({
      name: 'spends',
      gate,
      interval: SWEEP_MS,
      backoff: { first: RESTART_MS, limit: MAX_RESTART_MS, jitter: 0 },
      onHealthChange: healthLog(this.#logger, 'the search for spenders of tokens', {}),
      work: async signal => {
        await check.sweep(signal)
      }
    })
  }

  /** Ingests a source to its end; restarts it after a failure. */
  #addSource(source: Source, progress: Progress, gate: TaskGate | undefined): void {
    const { name } = source
    const task = this.#following.add({
      name,
      gate,
      backoff: { first: RESTART_MS, limit: MAX_RESTART_MS, jitter: 0 },
      onHealthChange: healthLog(this.#logger, 'the token pipeline’s source', { source: name }),
      work: signal =>
        this.#ingestAll(source, signal, () => {
          progress.note(source.status)
          task.stepSucceeded()
        })
    })
  }

  /** Starts the stages and the sources, or one of the two where another process on the store has the other. */
  start({
    stages = true,
    sources = true
  }: {
    readonly stages?: boolean
    readonly sources?: boolean
  } = {}): void {
    if (stages) this.#stages.start()
    if (sources) this.#following.start()
  }

  /** Stops the tasks after their current batches. */
  async close(): Promise<void> {
    this.#stopping.abort()
    await Promise.all([this.#stages.stop(), this.#following.stop()])
  }

  /** Ingests the deliveries of a source that ends, for a command; a failure of the source is thrown. */
  ingestSource(
    source: Pick<Source, 'name' | 'deliveries'>,
    signal: AbortSignal,
    onCommit: (transactions: number) => void
  ): Promise<void> {
    return this.#ingestAll(source, signal, onCommit)
  }

  /** Progress of the sources, transactions to dispatch, and numbers of ready and idle tokens. */
  async status(): Promise<PipelineStatus> {
    const { store } = this.#engine.outputs
    const [ready, idle, discovery] = await Promise.all([
      store.use(bsv21.collections.ready).at().count(),
      store.use(bsv21.collections.idle).at().count(),
      discoveryQueue(store, this.#now).stats()
    ])
    const sources = [...this.#sources].map(([source, progress]) => progress.of(source.name, source.status))
    return { sources, ready, idle, discovery: countsOf(discovery), spends: this.#spendCheck?.status }
  }

  /** The completeness of a token's state; of the state of all tokens without one. */
  completeness(token?: TokenId): Promise<Completeness> {
    return completenessOf(this.#engine.outputs.store, [...this.#sources.keys()], token)
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
    return this.#drain(() => this.#dispatchBatch())
  }

  async #dispatchBatch(): Promise<number> {
    const { count, tokens } = await this.#dispatcher.dispatch(BATCH_SIZE)
    if (tokens.size > 0) this.#tokenTask.wake()
    return count
  }

  /** Runs batches concurrently until they find no items, or until shutdown; returns the number of items. */
  #drain(runBatch: () => Promise<number>): Promise<number> {
    return drain(runBatch, { concurrency: CONCURRENCY, signal: this.#stopping.signal })
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
    const left = items.values()
    const step = async (): Promise<number> => {
      const { value, done } = left.next()
      if (done) return 0
      await work(value)
      return 1
    }
    await drain(step, { concurrency: TOKEN_CONCURRENCY, signal: this.#stopping.signal })
  }

  async #processToken(ready: ReadyToken): Promise<number> {
    const { token } = ready
    let isActive = true
    const total = await this.#drain(async () => {
      isActive &&= await this.#activation.isActive(token)
      return isActive ? this.#worker.work(token, BATCH_SIZE) : 0
    })
    if (!isActive) {
      // Its queue has transactions that were dispatched while the token was active.
      if (!(await this.#ready.isIdle(token))) await this.#dispatcher.redispatch(token)
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
      this.#tokenTask.wake()
    } catch (error) {
      // The lifecycle task checks the token again.
      this.#logger.warn('activating a token failed', { token, reason: reasonOf(error) })
    }
  }

  async #activateAll(): Promise<void> {
    let [activated, visited] = [0, 0]
    const first = this.#firstQuery
    const end = first + MAX_PAYMENT_QUERIES
    for await (const tokens of this.#ready.idle()) {
      await this.#forEachToken(tokens, async ({ token }) => {
        const place = visited++
        if (place >= first && place < end) await this.#syncPayments(token)
        if (!(await this.#activation.isActive(token))) return
        await this.#ready.markReady(token)
        activated++
      })
    }
    this.#firstQuery = visited > end ? end : 0
    if (activated > 0) this.#tokenTask.wake()
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
  async #watchPayments(signal: AbortSignal): Promise<void> {
    const { outputs } = this.#engine
    await this.#activateAll()
    const matches = ({ outputs: made, spends }: LiveChange): boolean =>
      [...made, ...spends].some(({ events }) => events.some(isOwnerEvent))
    for await (const change of outputs.follow({ matches, signal })) {
      const owners = [...change.outputs, ...change.spends].flatMap(({ events }) =>
        events.filter(isOwnerEvent).map(event => event.slice(OWN.length))
      )
      for (const owner of new Set(owners)) {
        const token = await outputs.store.use(bsv21.collections.fees).get(owner)
        if (token) await this.#activate(token)
      }
    }
  }

  /** Ingests several deliveries concurrently, and commits them in order. */
  async #ingestAll(
    source: Pick<Source, 'name' | 'deliveries'>,
    stopping: AbortSignal,
    onCommit: (transactions: number) => void
  ): Promise<void> {
    const failed = new AbortController()
    const signal = AbortSignal.any([stopping, failed.signal])
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
        onCommit(delivery.transactions.length)
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
}
