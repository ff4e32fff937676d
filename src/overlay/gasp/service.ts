/** Sync by itself: every topic from each of its peers, again and again, one peer of a topic at a time. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Outpoint } from '../../keyspace/index.ts'
import type { Queue } from '../../store/index.ts'
import type { Engine } from '../engine.ts'
import { type HttpPeerOptions, httpPeer, type Peer } from './peer.ts'
import { type SyncReport, TopicSync, type TopicSyncOptions } from './topic-sync.ts'

export interface SyncServiceOptions extends TopicSyncOptions, HttpPeerOptions {
  /** By topic: addresses, or peers. */
  readonly peers: Readonly<Record<string, readonly (string | Peer)[]>>
  /** Milliseconds between the end of one round and the next, 60,000 unless given. */
  readonly interval?: number
  /** How much that varies, as a part of it, so that nodes do not ask in step; 0.2 unless given. */
  readonly jitter?: number
}

/** How it stands with one topic and one peer. */
export interface SyncStatus {
  readonly topic: string
  readonly peer: string
  readonly running: boolean
  /** When it was last tried, and when that went well, in unix milliseconds. */
  readonly lastRun: number | undefined
  readonly lastSuccess: number | undefined
  readonly lastError: string | undefined
  readonly lastReport: SyncReport | undefined
  /** Items to fetch: waiting or to be tried again, and given up. */
  readonly queued: number
  readonly dead: number
  /** Seconds that the oldest item to fetch has waited. */
  readonly lag: number
}

class Pair {
  readonly sync: TopicSync
  running = false
  lastRun: number | undefined
  lastSuccess: number | undefined
  lastError: string | undefined
  lastReport: SyncReport | undefined

  constructor(sync: TopicSync) {
    this.sync = sync
  }

  async run(signal: AbortSignal): Promise<void> {
    this.running = true
    this.lastRun = Date.now()
    try {
      this.lastReport = await this.sync.run(signal)
      this.lastSuccess = Date.now()
      this.lastError = undefined
    } catch (error) {
      // It is told by `status`, and tried again in the next round.
      if (!signal.aborted) this.lastError = error instanceof Error ? error.message : String(error)
    } finally {
      this.running = false
    }
  }

  async status(): Promise<SyncStatus> {
    const { due, leased, waiting, dead, age } = await this.sync.queue.stats()
    return {
      topic: this.sync.topic,
      peer: this.sync.peer.name,
      running: this.running,
      lastRun: this.lastRun,
      lastSuccess: this.lastSuccess,
      lastError: this.lastError,
      lastReport: this.lastReport,
      queued: due + leased + waiting,
      dead,
      lag: age ?? 0
    }
  }
}

export class SyncService {
  readonly #topics: readonly (readonly Pair[])[]
  readonly #interval: number
  readonly #jitter: number
  #stopping: AbortController | undefined
  #loops: Promise<unknown> = Promise.resolve()

  constructor(engine: Engine, { peers, interval = 60_000, jitter = 0.2, ...options }: SyncServiceOptions) {
    this.#interval = interval
    this.#jitter = jitter
    this.#topics = Object.entries(peers).map(([topic, all]) =>
      all.map(peer => {
        const other = typeof peer === 'string' ? httpPeer(peer, options) : peer
        return new Pair(new TopicSync(engine, topic, other, options))
      })
    )
  }

  start(): void {
    if (this.#stopping) return
    const stopping = new AbortController()
    this.#stopping = stopping
    this.#loops = Promise.all(this.#topics.map(pairs => this.#loop(pairs, stopping.signal)))
  }

  /** Ends what is under way; what was not finished is in the queues. */
  async stop(): Promise<void> {
    this.#stopping?.abort()
    this.#stopping = undefined
    await this.#loops
  }

  /** What is to be fetched, by topic and peer. */
  get queues(): readonly {
    readonly topic: string
    readonly peer: string
    readonly queue: Queue<Outpoint>
  }[] {
    return this.#topics
      .flat()
      .map(({ sync }) => ({ topic: sync.topic, peer: sync.peer.name, queue: sync.queue }))
  }

  status(): Promise<SyncStatus[]> {
    return Promise.all(this.#topics.flat().map(pair => pair.status()))
  }

  async #loop(pairs: readonly Pair[], signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      for (const pair of pairs) if (!signal.aborted) await pair.run(signal)
      const pause = this.#interval * (1 + this.#jitter * (2 * Math.random() - 1))
      // To be woken up is what stopping is.
      await sleep(pause, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }
}
