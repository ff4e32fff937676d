/** Syncs each topic with its peers at an interval, and when they have changes, one peer of a topic at a time. */
import {
  type HealthState,
  type Outpoint,
  QuoinError,
  reasonOf,
  SourceHealth,
  type Task,
  type TaskGate,
  Tasks
} from '@quoin/primitives'
import type { Queue } from '@quoin/store'
import { agrees } from '../anchors/anchor-sync.ts'
import type { AnchorQuestion } from '../anchors/wire.ts'
import type { Engine } from '../engine.ts'
import { healthLog, SILENT } from '../logger.ts'
import { type HttpPeerOptions, httpPeer, type Peer } from './peer.ts'
import { PeerFollower } from './peer-follower.ts'
import { type SyncReport, TopicSync, type TopicSyncOptions } from './topic-sync.ts'
import type { BatchRequest } from './wire.ts'

export interface SyncServiceOptions extends TopicSyncOptions, HttpPeerOptions {
  /** URLs or peers, by topic. */
  readonly peers: Readonly<Record<string, readonly (string | Peer)[]>>
  /** Milliseconds between the end of one round and the next, 60,000 unless given. */
  readonly interval?: number
  /** Whether the changes of peers are followed, so that they are synced at once; true unless given. */
  readonly live?: boolean
  /** The random part of the interval, which keeps nodes out of step; 0.2 unless given. */
  readonly jitter?: number
  /** Milliseconds after which a peer that does not answer is stalled, 10,000 unless given. */
  readonly patience?: number
  /** Open in the one process of those on a store that syncs. */
  readonly gate?: TaskGate | undefined
}

/** The state of the sync of one topic with one peer. */
export interface SyncStatus {
  readonly topic: string
  readonly peer: string
  readonly state: HealthState
  /** When the state began, in unix milliseconds. */
  readonly since: number
  readonly running: boolean
  /** Whether the stream of its changes is open. */
  readonly live: boolean
  /** The start of the last run, and the end of the last successful one, in unix milliseconds. */
  readonly lastRun: number | undefined
  readonly lastSuccess: number | undefined
  readonly lastError: string | undefined
  readonly lastReport: SyncReport | undefined
  /** Whether the anchors of the peer agree, if both nodes have anchors of the topic. */
  readonly agrees: boolean | undefined
  /** Items to fetch, and dead letters. */
  readonly queued: number
  readonly dead: number
  /** Seconds that the oldest item to fetch has waited. */
  readonly lag: number
}

class Pair {
  readonly sync: TopicSync
  readonly health: SourceHealth
  /** Aborted when the peer is no longer one of the topic. */
  readonly removed = new AbortController()
  running = false
  lastRun: number | undefined
  /** Whether the peer has changed since the start of the last run. */
  isChanged = true
  follower: PeerFollower | undefined
  lastReport: SyncReport | undefined

  constructor(engine: Engine, topic: string, peer: Peer, { patience, ...options }: SyncServiceOptions) {
    const { logger = SILENT } = options
    this.health = new SourceHealth({
      onChange: healthLog(logger, 'a peer', { topic, peer: peer.name }),
      ...(patience !== undefined && { patience })
    })
    this.sync = new TopicSync(engine, topic, observed(peer, this.health), options)
  }

  async run(stopped: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([stopped, this.removed.signal])
    this.running = true
    this.isChanged = false
    this.lastRun = Date.now()
    try {
      this.lastReport = await this.sync.run(signal)
      this.health.succeeded()
    } catch (error) {
      // The next round retries. A failure of the store is reported by the store.
      const isStore = error instanceof QuoinError && error.code.startsWith('ERR_STORE_')
      if (!signal.aborted && !isStore) this.health.failed(reasonOf(error))
    } finally {
      this.running = false
    }
  }

  async status(): Promise<SyncStatus> {
    const { due, leased, waiting, dead, age } = await this.sync.queue.stats()
    const { state, since, lastSuccess, lastError } = this.health.current
    return {
      topic: this.sync.topic,
      peer: this.sync.peer.name,
      state,
      since,
      running: this.running,
      live: this.follower?.isOpen ?? false,
      lastRun: this.lastRun,
      lastSuccess,
      lastError,
      lastReport: this.lastReport,
      agrees: this.lastReport?.anchors && agrees(this.lastReport.anchors),
      queued: due + leased + waiting,
      dead,
      lag: age ?? 0
    }
  }
}

/** Topics of one stream: half of the number that a node allows unless its operator says otherwise. */
const STREAM_TOPICS = 50

export class SyncService {
  readonly #engine: Engine
  readonly #options: SyncServiceOptions
  /** The configured peers, and the discovered ones after them. */
  readonly #configured: ReadonlyMap<string, readonly Pair[]>
  #discovered: ReadonlyMap<string, readonly Pair[]> = new Map()
  readonly #interval: number
  readonly #jitter: number
  readonly #gate: TaskGate | undefined
  readonly #live: boolean
  #tasks: Tasks | undefined
  readonly #byTopic = new Map<string, Task>()

  constructor(engine: Engine, options: SyncServiceOptions) {
    const { peers, interval = 60_000, jitter = 0.2, live = true } = options
    this.#engine = engine
    this.#options = options
    this.#interval = interval
    this.#jitter = jitter
    this.#gate = options.gate
    this.#live = live
    this.#configured = new Map(
      Object.entries(peers).map(([topic, all]) => [topic, all.map(peer => this.#pair(topic, peer))])
    )
  }

  #pair(topic: string, peer: string | Peer): Pair {
    const other = typeof peer === 'string' ? httpPeer(peer, this.#options) : peer
    return new Pair(this.#engine, topic, other, this.#options)
  }

  /** All pairs, by topic. */
  #pairsOf(topic: string): readonly Pair[] {
    return [...(this.#configured.get(topic) ?? []), ...(this.#discovered.get(topic) ?? [])]
  }

  get #pairs(): readonly Pair[] {
    return [...this.#configured.values(), ...this.#discovered.values()].flat()
  }

  start(): void {
    if (this.#tasks) return
    const tasks = new Tasks()
    this.#tasks = tasks
    for (const topic of new Set([...this.#configured.keys(), ...this.#discovered.keys()]))
      this.#addTask(topic)
    for (const follower of this.#live ? this.#followers(this.#byTopic) : []) tasks.add(follower.task)
    tasks.start()
  }

  #addTask(topic: string): Task {
    const task = this.#tasks!.add({
      name: `sync ${topic}`,
      interval: this.#interval,
      jitter: this.#jitter,
      gate: this.#gate,
      work: async signal => {
        for (const pair of this.#pairsOf(topic)) {
          if (!signal.aborted && !pair.removed.signal.aborted && this.#isDue(pair)) await pair.run(signal)
        }
      }
    })
    this.#byTopic.set(topic, task)
    return task
  }

  /**
   * Replaces the discovered peers of topics, which are synced with at the interval. Peers that stay keep their state; a
   * configured peer is not added again.
   */
  setDiscovered(peers: Readonly<Record<string, readonly Peer[]>>): void {
    const before = this.#discovered
    this.#discovered = new Map(
      Object.entries(peers).map(([topic, all]) => {
        const known = before.get(topic) ?? []
        const others = all.filter(
          ({ name }) => !this.#configured.get(topic)?.some(({ sync }) => sync.peer.name === name)
        )
        return [
          topic,
          others.map(
            peer => known.find(({ sync }) => sync.peer.name === peer.name) ?? this.#pair(topic, peer)
          )
        ]
      })
    )
    const current = new Set(this.#pairs)
    for (const pair of [...before.values()].flat()) if (!current.has(pair)) pair.removed.abort()
    if (!this.#tasks) return
    for (const topic of this.#discovered.keys()) {
      const task = this.#byTopic.get(topic)
      if (task) task.wake()
      else this.#addTask(topic).start()
    }
  }

  /** A pass that a change of one peer caused leaves out the others until their interval is over. */
  #isDue({ isChanged, lastRun }: Pair): boolean {
    return isChanged || Date.now() - (lastRun ?? 0) >= this.#interval * (1 - this.#jitter)
  }

  /** A follower for each peer, with the topics that are synced with it; several if there are more topics than a stream has. */
  #followers(tasks: ReadonlyMap<string, Task>): readonly PeerFollower[] {
    const byPeer = new Map<string, Pair[]>()
    for (const pair of [...this.#configured.values()].flat()) {
      const { name, changes } = pair.sync.peer
      if (changes) byPeer.set(name, [...(byPeer.get(name) ?? []), pair])
    }
    return [...byPeer.values()].flatMap(pairs => {
      const streams = Math.ceil(pairs.length / STREAM_TOPICS)
      return Array.from({ length: streams }, (_, i) =>
        this.#follower(pairs.slice(i * STREAM_TOPICS, (i + 1) * STREAM_TOPICS), tasks)
      )
    })
  }

  #follower(pairs: readonly Pair[], tasks: ReadonlyMap<string, Task>): PeerFollower {
    const follower = new PeerFollower({
      peer: pairs[0]!.sync.peer,
      topics: pairs.map(({ sync }) => sync.topic),
      gate: this.#gate,
      onChange: topics => {
        for (const pair of pairs) {
          if (!topics.includes(pair.sync.topic)) continue
          pair.isChanged = true
          tasks.get(pair.sync.topic)!.wake()
        }
      }
    })
    for (const pair of pairs) pair.follower = follower
    return follower
  }

  /** Stops the syncs in progress; outpoints that were not fetched stay in the queues. */
  async stop(): Promise<void> {
    const tasks = this.#tasks
    this.#tasks = undefined
    await tasks?.stop()
  }

  /** The items to fetch, by topic and peer. */
  get queues(): readonly {
    readonly topic: string
    readonly peer: string
    readonly queue: Queue<Outpoint>
  }[] {
    return this.#pairs.map(({ sync }) => ({ topic: sync.topic, peer: sync.peer.name, queue: sync.queue }))
  }

  /** The health of each peer. */
  get sources(): readonly { readonly topic: string; readonly peer: string; readonly health: SourceHealth }[] {
    return this.#pairs.map(({ sync, health }) => ({ topic: sync.topic, peer: sync.peer.name, health }))
  }

  status(): Promise<SyncStatus[]> {
    return Promise.all(this.#pairs.map(pair => pair.status()))
  }
}

/** A peer whose answers are recorded in a health. */
const observed = (peer: Peer, health: SourceHealth): Peer => ({
  name: peer.name,
  syncResponse: (topic, request, signal) => health.ask(() => peer.syncResponse(topic, request, signal)),
  node: (request, signal) => health.ask(() => peer.node(request, signal)),
  ...(peer.transactions && {
    transactions: (topic: string, request: BatchRequest, signal?: AbortSignal) =>
      health.ask(() => peer.transactions!(topic, request, signal))
  }),
  ...(peer.anchors && {
    anchors: (question: AnchorQuestion, topic: string, request: object, signal?: AbortSignal) =>
      health.ask(() => peer.anchors!(question, topic, request, signal))
  }),
  ...(peer.changes && {
    changes: (topics: readonly string[], signal: AbortSignal) => peer.changes!(topics, signal)
  })
})
