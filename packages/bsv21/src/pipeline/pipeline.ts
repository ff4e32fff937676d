/**
 * The pipeline (seed 003): sources feed `q:bsv21`, the dispatcher passes on to the queues of tokens, and the queues of
 * active tokens are worked on. Everything between the stages is in the store, so any number of processes may run it over
 * one store, and whichever is killed, the others or the next go on.
 */
import type { TokenId } from '@quoin/keyspace'
import { type Engine, healthLog, type Logger } from '@quoin/overlay'
import { SourceHealth } from '@quoin/primitives'
import type { Activation } from '../activation.ts'
import type { FeePayments } from '../fee-payments.ts'
import { bsv21 } from '../keys.ts'
import type { Source, TransactionSource } from '../source/source.ts'
import { Arrivals } from './arrivals.ts'
import { Dispatcher } from './dispatch.ts'
import { reasonOf } from './failure.ts'
import { Feed } from './feed.ts'
import { Progress, type SourceProgress } from './progress.ts'
import { type Clock, queueOfToken, wallClock } from './queues.ts'
import { type ReadyToken, ReadyTokens } from './ready.ts'
import { Signal } from './signal.ts'
import { Straight } from './straight.ts'
import { TokenWorker } from './token-worker.ts'

export interface PipelineOptions {
  readonly engine: Engine
  readonly activation: Activation
  readonly logger: Logger
  readonly sources?: readonly Source[]
  /** For single transactions that no source brought. */
  readonly fetch?: TransactionSource | undefined
  /** Asked for payments before a token that is not active is taken for that. */
  readonly payments?: FeePayments | undefined
  /** Seconds between looks at tokens that are not active, 300 unless given. */
  readonly lifecycleSeconds?: number
  /** Whether other processes work on what this one brings: then all of it goes through the queues. */
  readonly isShared?: boolean
  /** Unix seconds. */
  readonly now?: Clock
}

export interface PipelineStatus {
  readonly sources: readonly SourceProgress[]
  /** Tokens that are worked on, or would be if they were active. */
  readonly ready: number
  readonly idle: number
}

/** Transactions that are dispatched, and outputs of a token that are worked on, in one go. */
const AT_ONCE = 500
/** Goes at a time: while some wait for the disk, others are worked on. */
const GOES = 4
/** Tokens that are worked on at once. */
const TOKENS = 4
/** Before others' work, and what is due later, is looked for. */
const POLL_MS = 1000
/** Before a source that failed is asked again: twice as long each time. */
const RESTART_MS = 1000
const MAX_RESTART_MS = 60_000
/** Transactions of a source, and deliveries, that are taken at a time; a delivery is not split. */
const AHEAD = 2000
const OWN = 'own:'

export class Pipeline {
  readonly feed: Feed
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
  readonly #arrived = new Signal()
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
    const arrivals = new Arrivals(engine.outputs)
    const straight = isShared
      ? undefined
      : new Straight({ engine, activation, arrivals, fetches: fetch !== undefined })
    this.feed = new Feed({ outputs: engine.outputs, arrivals, straight, feeAddresses, now }, () =>
      this.#arrived.set()
    )
    this.#dispatcher = new Dispatcher({ engine, arrivals, now, fetch, feeAddresses })
    this.#worker = new TokenWorker({ engine, arrivals, now, fetch })
    this.#ready = new ReadyTokens(engine.outputs.store)
    activation.onChange(token => void this.#wake(token))
  }

  start(): void {
    const loops = [
      this.#forEver('dispatch', this.#arrived, POLL_MS, () => this.#dispatchAll()),
      this.#forEver('tokens', this.#dispatched, POLL_MS, () => this.#workAll()),
      this.#forEver('lifecycle', new Signal(), this.#lifecycleMs, () => this.#wakeAll()),
      ...[...this.#sources].map(([source, progress]) => this.#follow(source, progress)),
      ...(this.#activation.feeAddresses
        ? [this.#forEver('fees', new Signal(), POLL_MS, () => this.#watchPayments())]
        : [])
    ]
    this.#loops = Promise.all(loops)
  }

  /** Ends what is being worked on. */
  async close(): Promise<void> {
    this.#stopping.abort()
    this.#arrived.set()
    this.#dispatched.set()
    await this.#loops
  }

  /** How far the sources are, and how much there is to do. */
  async status(): Promise<PipelineStatus> {
    const { store } = this.#engine.outputs
    const [ready, idle] = await Promise.all([
      store.use(bsv21.collections.ready).at().count(),
      store.use(bsv21.collections.idle).at().count()
    ])
    const sources = [...this.#sources].map(([source, progress]) => progress.of(source.name, source.status))
    return { sources, ready, idle }
  }

  /** Does all that is due now, and what follows from it. */
  async settle(): Promise<void> {
    await this.#wakeAll()
    let done: number
    do {
      // The one makes work for the other.
      const [dispatched, worked] = await Promise.all([this.#dispatchAll(), this.#workAll()])
      done = dispatched + worked
    } while (done > 0)
  }

  #dispatchAll(): Promise<number> {
    return this.#inGoes(async () => {
      const { count, tokens } = await this.#dispatcher.dispatch(AT_ONCE)
      if (tokens.size > 0) this.#dispatched.set()
      return count
    })
  }

  /** Several at a time, as long as there is anything; answers how much that was. */
  async #inGoes(go: () => Promise<number>): Promise<number> {
    let all = 0
    const failed: unknown[] = []
    const goes = new Set<Promise<void>>()
    const begin = (): void => {
      const going = oneAfterAnother()
        .catch(error => void failed.push(error))
        .finally(() => goes.delete(going))
      goes.add(going)
    }
    const oneAfterAnother = async (): Promise<void> => {
      while (!this.#isStopping && failed.length === 0) {
        const count = await go()
        if (count === 0) return
        all += count
        // One that found nothing has ended; by now there may be more.
        if (goes.size < GOES) begin()
      }
    }
    for (let i = 0; i < GOES; i++) begin()
    while (goes.size > 0) await Promise.all(goes)
    if (failed.length > 0) throw failed[0]
    return all
  }

  async #workAll(): Promise<number> {
    let all = 0
    for await (const tokens of this.#ready.ready()) {
      await this.#atOnce(tokens, async ready => {
        all += await this.#workOn(ready)
      })
    }
    return all
  }

  /** A few at a time, until it is to stop. */
  async #atOnce<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
    const left = [...items]
    const worker = async (): Promise<void> => {
      for (let next = left.shift(); next && !this.#isStopping; next = left.shift()) await work(next)
    }
    await Promise.all(Array.from({ length: TOKENS }, worker))
  }

  async #workOn(ready: ReadyToken): Promise<number> {
    const { token } = ready
    let isActive = true
    const all = await this.#inGoes(async () => {
      isActive &&= await this.#activation.isActive(token)
      return isActive ? this.#worker.work(token, AT_ONCE) : 0
    })
    if (!isActive) {
      await this.#ready.park(ready)
      // It may have become active before it was idle.
      if (await this.#activation.isActive(token)) await this.#ready.wake(token)
      return all
    }
    const { due, leased, waiting } = await queueOfToken(this.#engine.outputs.store, token, this.#now).stats()
    if (due + leased + waiting === 0) await this.#ready.done(ready)
    return all
  }

  async #wake(token: TokenId): Promise<void> {
    try {
      if (!(await this.#ready.isIdle(token)) || !(await this.#activation.isActive(token))) return
      await this.#ready.wake(token)
      this.#dispatched.set()
    } catch (error) {
      // The lifecycle looks at it again.
      this.#logger.warn('a token was not woken', { token, reason: reasonOf(error) })
    }
  }

  async #wakeAll(): Promise<number> {
    let woken = 0
    for await (const tokens of this.#ready.idle()) {
      await this.#atOnce(tokens, async ({ token }) => {
        await this.#askForPayments(token)
        if (!(await this.#activation.isActive(token))) return
        await this.#ready.wake(token)
        woken++
      })
    }
    if (woken > 0) this.#dispatched.set()
    // What was woken is worked on by another loop.
    return 0
  }

  async #askForPayments(token: TokenId): Promise<void> {
    try {
      await this.#payments?.sync(token)
    } catch (error) {
      // Asked for again the next time; what is known of the token counts.
      this.#logger.warn('payments could not be asked for', { token, reason: reasonOf(error) })
    }
  }

  /** Wakes tokens as payments for them come in. */
  async #watchPayments(): Promise<number> {
    const { outputs } = this.#engine
    await this.#wakeAll()
    for await (const change of outputs.follow({ signal: this.#stopping.signal })) {
      const owners = [...change.outputs, ...change.spends].flatMap(({ events }) =>
        events.filter(event => event.startsWith(OWN)).map(event => event.slice(OWN.length))
      )
      for (const owner of new Set(owners)) {
        const token = await outputs.store.use(bsv21.collections.fees).get(owner)
        if (token) await this.#wake(token)
      }
    }
    return 0
  }

  /** From where it is to its end; a source that fails is asked again. */
  async #follow(source: Source, progress: Progress): Promise<void> {
    let delay = RESTART_MS
    const health = this.#healthOf('source', source.name)
    const taken = (): void => {
      progress.note(source.status)
      health.succeeded()
      delay = RESTART_MS
    }
    while (!this.#isStopping) {
      try {
        await this.#takeAll(source, taken)
        return
      } catch (error) {
        health.failed(reasonOf(error))
        await pause(delay, this.#stopping.signal)
        delay = Math.min(2 * delay, MAX_RESTART_MS)
      }
    }
  }

  /** Several deliveries at a time; how far the source is advances in their order. */
  async #takeAll(source: Source, taken: () => void): Promise<void> {
    const failed = new AbortController()
    const signal = AbortSignal.any([this.#stopping.signal, failed.signal])
    /** In their order, which is that of their ends. */
    const taking: { readonly weight: number; readonly end: Promise<void> }[] = []
    for await (const delivery of source.deliveries(this.#engine.outputs.store, { signal })) {
      const before = taking.at(-1)?.end
      if (delivery.reorgFrom !== undefined) {
        await before
        await this.#engine.proofs.reconcile(delivery.reorgFrom)
      }
      const end = this.feed.take(delivery, { before, source: source.name }).then(() => {
        taking.shift()
        taken()
      })
      // Those after it fail with it, and the last of them is waited for.
      end.catch(() => failed.abort())
      taking.push({ weight: 1 + delivery.transactions.length, end })
      while (taking.length > 1 && taking.reduce((sum, { weight }) => sum + weight, 0) > AHEAD) {
        await taking[0]!.end
      }
    }
    await taking.at(-1)?.end
  }

  /** Works until there is nothing to do, then waits for a signal, or a while. A failure is logged once, and tried again. */
  async #forEver(name: string, signal: Signal, ms: number, work: () => Promise<number>): Promise<void> {
    const health = this.#healthOf('stage', name)
    while (!this.#isStopping) {
      try {
        while ((await work()) > 0 && !this.#isStopping) {
          // As long as there is anything.
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
