/**
 * Delivery of membership logs to one lookup service: a cursor for each topic, moved when the entries before it were
 * taken or put into the queue of failed entries. Entries of different outputs are delivered at the same time, entries of
 * one output in their order, each at least once. Of the processes on a store one delivers, by a lease.
 */

import { hasCode, reasonOf, SourceHealth, type Topic, withTimeout } from '@quoin/primitives'
import { type MembershipEntry, type OutputStore, topicsWithMembership } from '@quoin/txo'
import { healthLog, type Logger } from '../logger.ts'
import type { HostedLookup, LookupService } from '../types.ts'
import { byteLookup } from './byte-lookup.ts'
import { Circuit } from './circuit.ts'
import { DelivererLease } from './deliverer-lease.ts'
import { isAbout } from './entry.ts'
import { FailedEntries, type RetryOptions } from './failed-entries.ts'
import { LogCursors } from './log-cursors.ts'
import { Notifier, type ServiceCall } from './notifier.ts'
import { deliverPage, type Outcome, type TopicEntry } from './page.ts'
import { adoptPendingNotices } from './pending-notices.ts'
import { Waiters } from './waiters.ts'

/** Entries that are read together. */
const PAGE = 200
/** Trials of one entry while the circuit is tripped, before the next one is tried. */
const TRIALS = 3
const PAUSE_MS = 1000
const DEFAULT_CONCURRENCY = 8
/** Milliseconds that a closing node waits for calls under way. */
const CLOSING_MS = 2000
/** Seconds that a failed entry is leased beyond the deadline of a call. */
const RETRY_LEASE = 60

export interface DeliveryOptions {
  /** The topics that the service is told of; all unless given. */
  readonly topics?: readonly string[] | undefined
  /** The topics whose submissions wait for the service; those it is told of unless given. */
  readonly home?: readonly string[] | undefined
  /** Calls at a time, 8 unless given. */
  readonly concurrency?: number | undefined
  /** When a failed entry is tried again: after 1 s, up to 300 s, unless given. */
  readonly retry?: RetryOptions | undefined
}

/** The delivery to one service, for its operator. */
export interface DeliveryState {
  /** `current`: told of everything; `behind`: deliveries are under way; `failing`: calls pause after failures. */
  readonly status: 'current' | 'behind' | 'failing'
  /** Entries of membership logs that the service has yet to be told of. */
  readonly lag: number
  /** Entries that failed and are tried again. */
  readonly retrying: number
  /** Entries that were given up; the dead letters of the queue `notify:{service}` have the reasons. */
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
  readonly #isHosted: boolean
  readonly #notifier: Notifier
  readonly #logger: Logger
  readonly #health: SourceHealth
  readonly #circuit = new Circuit()
  readonly #lease: DelivererLease
  readonly #cursors: LogCursors
  readonly #failed: FailedEntries
  /** Topics that may have entries after their cursor, the one that waits longest first. */
  readonly #pending = new Set<Topic>()
  /** Counts the calls of `wake`. */
  #wakes = 0
  /** Requests to look at every log, and those that were served. */
  #discovery = { wanted: 1, done: 0 }
  /** Whether cursors and failed entries were read under the lease. */
  #isLoaded = false
  /** Whether pending notices of version 0.1 were looked for. */
  #hasAdopted = false
  /** Trials of an entry while the circuit is tripped. */
  #trials = 0
  #running: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  /** Until the timer, only an operator begins a run. */
  #isPaused = false
  readonly #waiters = new Waiters()
  /** A submission waited in vain: others do not wait until the service has caught up. */
  #isSlow = false
  #isClosed = false

  constructor(
    name: string,
    service: LookupService | HostedLookup,
    outputs: OutputStore,
    options: DeliveryOptions & { readonly timeout: number; readonly logger: Logger }
  ) {
    this.name = name
    this.#outputs = outputs
    this.#options = options
    this.#timeout = options.timeout
    this.#isHosted = 'takesBytes' in service
    this.#logger = options.logger
    this.#notifier = new Notifier(outputs, byteLookup(service), topic => this.#isSubscribed(topic))
    this.#health = new SourceHealth({ onChange: healthLog(options.logger, `the lookup service ${name}`, {}) })
    this.#lease = new DelivererLease(outputs, name, options.logger, () => {
      this.#isLoaded = false
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

  /** Looks at every log again: at the start, and when another process may have committed. */
  rediscover(): void {
    this.#discovery.wanted++
    this.#run()
  }

  /**
   * Resolves when the service was told of all that topics have now. At once where a submission to the topics does not
   * wait for it: they are not its own, it fails, it was too slow before, or another process delivers to it.
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

  /** Those who wait go on, and nobody waits until the service has caught up. */
  stopWaiting(): void {
    if (this.#waiters.size === 0) return
    this.#isSlow = true
    this.#waiters.release()
  }

  async state(): Promise<DeliveryState> {
    // First: an entry that leaves the log meanwhile is counted among the failed ones.
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

  /** Begins again after a position of each topic's log, so that a service can rebuild its database. */
  async replay(from: { readonly topic?: Topic; readonly after?: number } = {}): Promise<void> {
    const { topic, after = 0 } = from
    await this.#cursors.setBack(topic === undefined ? await this.#allTopics() : [topic], after)
    this.#forget()
    this.#run(true)
  }

  /** Entries that were given up. */
  dead(): Promise<string[]> {
    return this.#failed.dead()
  }

  /** Tries an entry that was given up again. */
  async revive(item: string): Promise<void> {
    await this.#failed.revive(item)
    this.#forget()
    this.#run(true)
  }

  /** Gives up an entry for good; entries of its outputs that wait for it go on. */
  async discard(item: string): Promise<void> {
    await this.#failed.discard(item)
    this.#forget()
    this.#run(true)
  }

  /** Why a transaction's entries are not delivered yet; undefined when they are. Entries far behind are not looked at. */
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

  /** Looks whether another process began a replay. */
  async pollReplays(): Promise<void> {
    if (await this.#cursors.areStale()) this.#forget()
    if (!this.#isLoaded) this.#run()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#waiters.release()
    if (this.#running) await withTimeout(this.#running, CLOSING_MS, () => undefined)
    await this.#lease.release()
  }

  get #concurrency(): number {
    return this.#options.concurrency ?? DEFAULT_CONCURRENCY
  }

  #isSubscribed(topic: string): boolean {
    return this.#options.topics?.includes(topic) ?? true
  }

  /** Ends a pause only when an operator asked, or the pause is over. */
  #run(isAsked = false): void {
    if (this.#running || this.#isClosed || (this.#isPaused && !isAsked)) return
    clearTimeout(this.#timer)
    this.#isPaused = false
    this.#running = this.#lease
      .during(() => this.#work())
      .catch(error => {
        // The store: cursors stay where they are, and delivered entries may be delivered again.
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

  /** Delivers until there is nothing more; answers after how many milliseconds to look again. */
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

  /** A failed entry alone may be at fault: its failures do not count against the service. */
  async #retry(): Promise<void> {
    const tell = async (topic: Topic, entry: MembershipEntry): Promise<string | undefined> => {
      const reason = await this.#tell(topic, entry)
      if (reason === undefined) this.#succeeded()
      return reason
    }
    const limit = this.#circuit.isTripped ? 1 : this.#concurrency
    await this.#failed.retry(tell, limit, this.#timeout / 1000 + RETRY_LEASE)
  }

  #succeeded(): void {
    this.#trials = 0
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
    if (!this.#hasAdopted) await adoptPendingNotices(this.#outputs, this.name)
    this.#hasAdopted = true
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

  /** The next entries of the topics in turn. A tripped circuit tries one. */
  async #page(): Promise<TopicEntry[]> {
    const limit = this.#circuit.isTripped ? 1 : PAGE
    const page: TopicEntry[] = []
    for (const topic of [...this.#pending]) {
      if (page.length >= limit) break
      // A replay set the cursors back meanwhile.
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
    const isTrial = this.#circuit.isTripped
    const outcomes = await deliverPage(page, {
      concurrency: this.#concurrency,
      isStopped: () => this.#isClosed || (this.#circuit.isTripped && !isTrial),
      deliver: ({ topic, entry }, keys) => this.#deliver(topic, entry, keys)
    })
    // A replay set the cursors back meanwhile.
    if (epoch !== this.#cursors.epoch) return this.#forget()
    await this.#advance(page, outcomes)
  }

  async #deliver(topic: Topic, entry: MembershipEntry, keys: readonly string[]): Promise<Outcome> {
    if (this.#failed.blocks(keys)) {
      this.#failed.hold(topic, entry, keys, 'an earlier entry of the output failed')
      return 'queued'
    }
    if (this.#circuit.pause > 0) return 'undone'
    const reason = await this.#tell(topic, entry)
    if (reason === undefined) {
      this.#succeeded()
      return 'delivered'
    }
    this.#circuit.failed()
    this.#health.failed(reason)
    // One entry alone may be at fault: after some trials the next one shows whether the service is.
    if (this.#circuit.isTripped && ++this.#trials < TRIALS) return 'undone'
    this.#trials = 0
    this.#failed.hold(topic, entry, keys, reason)
    return 'queued'
  }

  /** Makes the calls of an entry, each within the deadline; answers why one failed. */
  async #tell(topic: Topic, entry: MembershipEntry): Promise<string | undefined> {
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
    if (this.#isHosted) return call()
    return withTimeout(call(), this.#timeout, () => {
      throw new Error(`no answer within ${this.#timeout} ms`)
    })
  }

  /** Moves the cursors over the entries that are settled, and queues those that failed, in one commit. */
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
        // It comes again from the log, after the entry that was not done.
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

  /** The state in memory is read from the store again. */
  #forget(): void {
    this.#cursors.forget()
    this.#failed.clear()
    this.#isLoaded = false
    this.#discovery.wanted++
  }
}
