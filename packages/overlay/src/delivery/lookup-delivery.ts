/**
 * Delivery of membership logs to one lookup service: a cursor for each topic, moved when the entries before it are
 * delivered or in the queue of failed entries. Entries of different outputs are delivered at the same time, entries of
 * one output in their order, each at least once. Of the processes on a store one delivers, by a lease.
 */

import { hasCode, reasonOf, SourceHealth, type Topic, withTimeout } from '@quoin/primitives'
import { LEASE_ATTEMPTS, ProcessLease } from '@quoin/store'
import { type MembershipEntry, type OutputStore, topicsWithMembership } from '@quoin/txo'
import { overlay } from '../keys.ts'
import { healthLog, type Logger } from '../logger.ts'
import type { HostedLookup, LookupService } from '../types.ts'
import { byteLookup } from './byte-lookup.ts'
import { Circuit } from './circuit.ts'
import { deliverPage, type Outcome, type TopicEntry } from './deliver-page.ts'
import { FailedEntries, type RetryOptions } from './failed-entries.ts'
import { LogCursors } from './log-cursors.ts'
import { isAbout } from './log-entry.ts'
import { migrateNotifications } from './migrate-notifications.ts'
import { Notifier, type ServiceCall } from './notifier.ts'
import { Waiters } from './waiters.ts'

/** Log entries of one read. */
const PAGE = 200
/** Attempts of one entry while the circuit is tripped, before the next entry is attempted. */
const ATTEMPTS = 3
const PAUSE_MS = 1000
const DEFAULT_CONCURRENCY = 8
/** Milliseconds that a closing node waits for calls in progress. */
const CLOSING_MS = 2000
/** Seconds that a failed entry is leased beyond the deadline of a call. */
const RETRY_LEASE = 60
/** Of the process that delivers. */
const LEASE = { item: 'deliverer', seconds: 10, renewMs: 3000 }

export interface DeliveryOptions {
  /** The topics whose changes are delivered to the service; all unless given. */
  readonly topics?: readonly string[] | undefined
  /** The topics whose submissions wait for the service; the subscribed topics unless given. */
  readonly home?: readonly string[] | undefined
  /** Calls at a time, 8 unless given. */
  readonly concurrency?: number | undefined
  /** The delay before a failed entry is retried: 1 s, doubled up to 300 s, unless given. */
  readonly retry?: RetryOptions | undefined
}

/** The state of a delivery, for operators. */
export interface DeliveryState {
  /** `current`: every entry is delivered; `behind`: entries are pending; `failing`: calls pause after failures. */
  readonly status: 'current' | 'behind' | 'failing'
  /** Entries of membership logs after the cursors. */
  readonly lag: number
  /** Failed entries that are retried. */
  readonly retrying: number
  /** Dead letters; the queue `notify:{service}` has their reasons. */
  readonly dead: number
  /** Unix milliseconds. */
  readonly lastSuccess: number | undefined
  readonly lastError: string | undefined
  readonly lastErrorAt: number | undefined
}

export class LookupDelivery {
  readonly name: string
  readonly #outputs: OutputStore
  readonly #options: DeliveryOptions
  readonly #timeout: number
  readonly #isWorker: boolean
  readonly #isHosted: boolean
  readonly #notifier: Notifier
  readonly #logger: Logger
  readonly #health: SourceHealth
  readonly #circuit = new Circuit()
  readonly #lease: ProcessLease
  readonly #cursors: LogCursors
  readonly #failed: FailedEntries
  /** Topics that may have entries after their cursors, in the order in which they are read. */
  readonly #pending = new Set<Topic>()
  /** Counts the calls of `wake`. */
  #wakes = 0
  /** Numbers of the last requested and the last completed discovery of logs. */
  #discovery = { wanted: 1, done: 0 }
  /** Whether cursors and failed entries are in memory, read under the lease. */
  #isLoaded = false
  /** Whether the notification queue of version 0.1 is migrated. */
  #isMigrated = false
  /** Attempts of an entry while the circuit is tripped. */
  #attempts = 0
  #running: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  /** While true, a run begins with the timer or by an operator. */
  #isPaused = false
  readonly #waiters = new Waiters()
  /** A submission waited for the whole bound: no submission waits until the delivery is current. */
  #isSlow = false
  #isClosed = false

  constructor(
    name: string,
    service: LookupService | HostedLookup,
    outputs: OutputStore,
    options: DeliveryOptions & {
      readonly timeout: number
      readonly logger: Logger
      /** Whether this process delivers. */
      readonly isWorker: boolean
    }
  ) {
    this.name = name
    this.#outputs = outputs
    this.#options = options
    this.#timeout = options.timeout
    this.#isWorker = options.isWorker
    this.#isHosted = 'takesBytes' in service
    this.#logger = options.logger
    this.#notifier = new Notifier(outputs, byteLookup(service), topic => this.#isSubscribed(topic))
    this.#health = new SourceHealth({ onChange: healthLog(options.logger, `the lookup service ${name}`, {}) })
    const lease = outputs.store.queueAt(overlay.collections.deliverer, [name], { attempts: LEASE_ATTEMPTS })
    this.#lease = new ProcessLease(lease, {
      ...LEASE,
      onAcquired: () => {
        this.#isLoaded = false
      },
      onWarning: (event, reason) => options.logger.warn(event, { service: name, reason })
    })
    this.#cursors = new LogCursors(outputs, name)
    this.#failed = new FailedEntries(outputs, name, options.retry)
  }

  /** Membership of topics changed. */
  wake(topics: Iterable<Topic>): void {
    this.#wakes++
    for (const topic of topics) if (this.#isSubscribed(topic)) this.#pending.add(topic)
    if (this.#pending.size > 0) this.#run()
  }

  /** Reads the end of every log: at the start, and after commits of other processes. */
  rediscover(): void {
    this.#discovery.wanted++
    this.#run()
  }

  /**
   * Resolves when the present entries of topics are delivered. Resolves at once where submissions do not wait for the
   * service: the topics are not its home, it fails, it was too slow before, or another process has the lease.
   */
  async caughtUp(topics: readonly Topic[]): Promise<void> {
    if (this.#isSlow || this.#lease.isElsewhere || this.#circuit.isTripped || this.#isClosed) return
    const { home } = this.#options
    const targets = new Map<Topic, number>()
    for (const topic of topics) {
      if (!this.#isSubscribed(topic) || (home && !home.includes(topic))) continue
      const last = await this.#outputs.membership(topic).last()
      if (last > this.#cursors.of(topic)) targets.set(topic, last)
    }
    if (targets.size === 0) return
    const done = this.#waiters.until(targets)
    this.#waiters.moved(topic => this.#cursors.of(topic))
    this.#run()
    return done
  }

  /** Releases the waiting submissions; no other waits until the delivery is current. */
  stopWaiting(): void {
    if (this.#waiters.size === 0) return
    this.#isSlow = true
    this.#waiters.release()
  }

  async state(): Promise<DeliveryState> {
    // Read before the queue: an entry that becomes a failed one between the reads is counted twice, not missed.
    const lag = await this.#lag()
    const { due, leased, waiting, dead } = await this.#failed.stats()
    const { lastSuccess, lastError, lastErrorAt } = this.#health.current
    const retrying = Math.max(due + leased + waiting, this.#failed.size - dead)
    return {
      status: this.#circuit.isTripped ? 'failing' : lag + retrying > 0 ? 'behind' : 'current',
      lag,
      retrying,
      dead,
      lastSuccess,
      lastError,
      lastErrorAt
    }
  }

  /** Sets the cursors back, so that a service can rebuild its database. */
  async replay(from: { readonly topic?: Topic; readonly after?: number } = {}): Promise<void> {
    const { topic, after = 0 } = from
    await this.#cursors.setBack(topic === undefined ? await this.#allTopics() : [topic], after)
    this.#forget()
    this.#run(true)
  }

  /** Dead letters. */
  dead(): Promise<string[]> {
    return this.#failed.dead()
  }

  /** Makes a dead letter due again. */
  async revive(item: string): Promise<void> {
    await this.#failed.revive(item)
    this.#forget()
    this.#run(true)
  }

  /** Deletes an entry; later entries of its outputs become due. */
  async discard(item: string): Promise<void> {
    await this.#failed.discard(item)
    this.#forget()
    this.#run(true)
  }

  /** Why entries about a transaction are not delivered; undefined when they are. Reads 1,000 entries of each log. */
  async undelivered(
    txid: string,
    topics: readonly Topic[]
  ): Promise<{ reason: string | undefined } | undefined> {
    const txids = new Set([txid])
    const failure = await this.#failed.reasonFor(entry => isAbout(entry, txids))
    if (failure !== undefined) return { reason: failure }
    const reason = this.#circuit.isTripped ? this.#health.current.lastError : undefined
    for (const topic of topics) {
      if (!this.#isSubscribed(topic)) continue
      const after = await this.#cursorOf(topic)
      const { entries } = await this.#outputs.membership(topic).read({ after, limit: 1000 })
      if (entries.some(entry => isAbout(entry, txids))) return { reason }
    }
    return undefined
  }

  /** Reads the cursors again after a replay of another process. */
  async pollReplays(): Promise<void> {
    if (await this.#cursors.areStale()) this.#forget()
    if (!this.#isLoaded) this.#run()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#waiters.release()
    const run = this.#running?.then(() => true) ?? true
    const isDone = run === true || (await withTimeout(run, CLOSING_MS, () => false))
    // A call in progress may take effect yet: the lease ends by itself then, and no other process calls before.
    if (isDone) await this.#lease.release()
    else this.#lease.abandon()
  }

  get #concurrency(): number {
    return this.#options.concurrency ?? DEFAULT_CONCURRENCY
  }

  #isSubscribed(topic: string): boolean {
    return this.#options.topics?.includes(topic) ?? true
  }

  /** Begins a run unless one is in progress. A pause ends with its timer or by an operator (`isForced`). */
  #run(isForced = false): void {
    if (!this.#isWorker || this.#running || this.#isClosed || (this.#isPaused && !isForced)) return
    clearTimeout(this.#timer)
    this.#isPaused = false
    this.#running = this.#lease
      .during(() => this.#work())
      .catch(error => {
        // The store failed: cursors stay, and delivered entries may be delivered again.
        this.#health.failed(reasonOf(error))
        this.#forget()
        this.#isPaused = true
        return PAUSE_MS
      })
      .then(next => {
        this.#running = undefined
        if (this.#isClosed) return
        if (this.#isPaused) this.#waiters.release()
        else if (this.#pending.size > 0 || this.#isRediscovering) return this.#run()
        if (next !== undefined) this.#timer = setTimeout(() => this.#run(true), next).unref()
      })
  }

  /** Delivers until no entry is pending; returns the milliseconds until the next run. */
  async #work(): Promise<number | undefined> {
    while (!this.#isClosed) {
      if (this.#circuit.pause > 0) return this.#pause(this.#circuit.pause)
      if (this.#isRediscovering || !this.#cursors.areKnown) await this.#discover()
      const retryIn = this.#isLoaded && this.#failed.size === 0 ? undefined : await this.#failed.pause()
      const hasRetries = retryIn === 0
      if (this.#pending.size === 0 && !hasRetries) {
        this.#isSlow = false
        this.#waiters.release()
        return retryIn
      }
      if (!(await this.#lease.hold())) return this.#pause(PAUSE_MS)
      if (!this.#isLoaded) await this.#load()
      if (hasRetries) await this.#retry()
      const page = await this.#page()
      if (page.length > 0) await this.#deliverPage(page)
    }
    return undefined
  }

  /** Repeated failures of one entry do not trip the circuit: the entry may be the cause. */
  async #retry(): Promise<void> {
    const callService = async (topic: Topic, entry: MembershipEntry): Promise<string | undefined> => {
      const reason = await this.#callService(topic, entry)
      if (reason === undefined) this.#succeeded()
      return reason
    }
    const limit = this.#circuit.isTripped ? 1 : this.#concurrency
    await this.#failed.retry(callService, limit, this.#timeout / 1000 + RETRY_LEASE)
  }

  #succeeded(): void {
    this.#attempts = 0
    this.#circuit.succeeded()
    this.#health.succeeded()
  }

  #pause(milliseconds: number): number {
    this.#isPaused = true
    return milliseconds
  }

  /** Reads the cursors and the failed entries, which another process may have changed before this one had the lease. */
  async #load(): Promise<void> {
    const cursors = await this.#cursors.read()
    const { epoch } = this.#cursors
    await this.#failed.load(cursors)
    this.#isLoaded = epoch === this.#cursors.epoch
  }

  /** Reads the cursors and the ends of the logs. */
  async #discover(): Promise<void> {
    const { wanted } = this.#discovery
    if (!this.#isMigrated) await migrateNotifications(this.#outputs, this.name)
    this.#isMigrated = true
    if (!this.#cursors.areKnown) await this.#cursors.read()
    for await (const topic of topicsWithMembership(this.#outputs.store)) {
      if (!this.#isSubscribed(topic) || this.#pending.has(topic)) continue
      const last = await this.#outputs.membership(topic).last()
      if (last > this.#cursors.of(topic)) this.#pending.add(topic)
    }
    this.#discovery.done = wanted
  }

  get #isRediscovering(): boolean {
    return this.#discovery.done < this.#discovery.wanted
  }

  /** The next entries, topic by topic; one entry while the circuit is tripped. */
  async #page(): Promise<TopicEntry[]> {
    const limit = this.#circuit.isTripped ? 1 : PAGE
    const page: TopicEntry[] = []
    for (const topic of [...this.#pending]) {
      if (page.length >= limit) break
      // A replay set the cursors back.
      if (!this.#cursors.areKnown) return []
      const after = this.#cursors.of(topic)
      const wakes = this.#wakes
      const { entries } = await this.#outputs.membership(topic).read({ after, limit: limit - page.length })
      // At the end of the log, unless an entry was appended since it was read.
      if (entries.length > 0 || wakes === this.#wakes) this.#pending.delete(topic)
      if (entries.length > 0) this.#pending.add(topic)
      for (const entry of entries) page.push({ topic, entry })
    }
    return page
  }

  async #deliverPage(page: readonly TopicEntry[]): Promise<void> {
    const { epoch } = this.#cursors
    const isProbe = this.#circuit.isTripped
    const outcomes = await deliverPage(page, {
      concurrency: this.#concurrency,
      isStopped: () => this.#isClosed || (this.#circuit.isTripped && !isProbe),
      deliver: ({ topic, entry }, keys) => this.#deliver(topic, entry, keys)
    })
    // A replay set the cursors back.
    if (epoch !== this.#cursors.epoch) return this.#forget()
    await this.#advance(page, outcomes)
  }

  async #deliver(topic: Topic, entry: MembershipEntry, keys: readonly string[]): Promise<Outcome> {
    if (this.#failed.blocks(keys)) {
      this.#failed.hold(topic, entry, keys, 'an earlier entry of the output failed')
      return 'queued'
    }
    if (this.#isClosed || this.#circuit.pause > 0) return 'undone'
    const reason = await this.#callService(topic, entry)
    if (reason === undefined) {
      this.#succeeded()
      return 'delivered'
    }
    this.#circuit.failed()
    this.#health.failed(reason)
    // The entry may be the cause: after some attempts the next entry decides.
    if (this.#circuit.isTripped && ++this.#attempts < ATTEMPTS) return 'undone'
    this.#attempts = 0
    this.#failed.hold(topic, entry, keys, reason)
    return 'queued'
  }

  /** Makes the calls of an entry, each within the deadline; returns the reason of a failure. */
  async #callService(topic: Topic, entry: MembershipEntry): Promise<string | undefined> {
    try {
      for (const change of entry.changes)
        for await (const call of this.#notifier.calls(topic, change)) await this.#callInTime(call)
      return undefined
    } catch (error) {
      const reason = reasonOf(error)
      const { position } = entry
      this.#logger.warn('a lookup service failed', { service: this.name, topic, position, reason })
      return reason
    }
  }

  /**
   * The deadline is that of the call alone, without the reads of the store before it. A call to a process ends with the
   * process, whose host has the deadline: were it abandoned here, it could take effect after later calls of its output.
   */
  #callInTime(call: ServiceCall): Promise<void> {
    if (this.#isClosed) return Promise.reject(new Error('the node closes'))
    if (this.#isHosted) return call()
    return withTimeout(call(), this.#timeout, () => {
      throw new Error(`no answer within ${this.#timeout} ms`)
    })
  }

  /** Moves the cursors over delivered and failed entries, and queues the failed ones, in one commit. */
  async #advance(page: readonly TopicEntry[], outcomes: readonly Outcome[]): Promise<void> {
    const reached = new Map<Topic, number>()
    const stopped = new Set<Topic>()
    const batch = this.#outputs.store.batch()
    if (!this.#lease.heldIn(batch)) return this.#forget()
    for (const [i, { topic, entry }] of page.entries()) {
      if (outcomes[i] === 'undone') stopped.add(topic)
      if (!stopped.has(topic)) {
        reached.set(topic, entry.position)
        if (outcomes[i] === 'queued') this.#failed.enqueueIn(batch, topic, entry)
      } else if (outcomes[i] === 'queued') {
        // Read from the log again, after the undone entry.
        this.#failed.release(topic, entry)
      }
    }
    if (reached.size === 0) return
    this.#cursors.moveIn(batch, reached)
    const committing = batch.commit()
    this.#cursors.moved(reached)
    this.#waiters.moved(topic => this.#cursors.of(topic))
    try {
      await committing
    } catch (error) {
      // Another process delivers, or a replay set the cursors back.
      if (hasCode(error, 'ERR_STORE_LEASE_LOST')) this.#lease.lost()
      else if (!hasCode(error, 'ERR_STORE_PRECONDITION')) throw error
      this.#forget()
    }
  }

  async #cursorOf(topic: Topic): Promise<number> {
    return this.#cursors.areKnown ? this.#cursors.of(topic) : ((await this.#cursors.stored()).get(topic) ?? 0)
  }

  async #lag(): Promise<number> {
    let lag = 0
    for (const topic of this.#isRediscovering ? await this.#allTopics() : [...this.#pending]) {
      if (!this.#isSubscribed(topic)) continue
      lag += Math.max(0, (await this.#outputs.membership(topic).last()) - (await this.#cursorOf(topic)))
    }
    return lag
  }

  async #allTopics(): Promise<Topic[]> {
    const topics: Topic[] = []
    for await (const topic of topicsWithMembership(this.#outputs.store)) topics.push(topic)
    return topics
  }

  /** Drops the state in memory; the next run reads it from the store. */
  #forget(): void {
    this.#cursors.forget()
    this.#failed.clear()
    this.#isLoaded = false
    this.#discovery.wanted++
  }
}
