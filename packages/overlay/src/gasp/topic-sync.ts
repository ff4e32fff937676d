/**
 * Pulling one topic from one peer. What the peer lists is put into a queue, and progress past it is kept, in one
 * commit; then the queue is worked on: each item is fetched with its graph, submitted as anyone's submission is, with
 * its proofs checked and its scripts run, and only then taken out. So nothing is passed over: what fails is tried again,
 * later and later, and in the end is a dead letter with the reason.
 *
 * A Quoin node lists the transactions that changed the topic, in order; a node of the reference lists the outputs that
 * it has, and then every transaction of a graph is submitted, the oldest first.
 */
import type { BeefTransaction } from '@quoin/chain'
import {
  formatTxid,
  makeOutpoint,
  type Outpoint,
  parseTxid,
  QuoinError,
  reasonOf,
  type Topic,
  type Txid,
  toHex,
  txidOf
} from '@quoin/primitives'
import { type Failure, type Lease, pollQueue, type Queue } from '@quoin/store'
import type { Engine } from '../engine.ts'
import { boundBeef } from '../hosting/index.ts'
import { overlay } from '../keys.ts'
import { type Logger, SILENT } from '../logger.ts'
import { isHostedTopic, isQuoinTopic } from '../types.ts'
import { ATTEMPTS, Early, failureOf } from './failure.ts'
import {
  beefOf,
  type FetchedNode,
  fetchGraph,
  GRAPH_LIMITS,
  type Graph,
  type GraphLimits,
  oldestFirst
} from './graph.ts'
import { isEvaluated, type Kind, Listing } from './listing.ts'
import { type HttpPeerOptions, httpPeer, type Peer } from './peer.ts'
import { count, readState, type State } from './queue-state.ts'

export interface TopicSyncOptions {
  readonly limits?: Partial<GraphLimits>
  /** Rows to ask for at a time, 1,000 unless given. */
  readonly page?: number
  /** Items that may wait in the queue, or lie dead, before no more are listed; 100,000 unless given. */
  readonly backlog?: number
  /** Pages of one run, 1,000 unless given. */
  readonly pages?: number
  /** The clock of the queue, in unix seconds. */
  readonly now?: () => number
  readonly logger?: Logger
}

export interface SyncReport {
  /** Rows that the peer listed. */
  readonly listed: number
  /** Transactions that were submitted. */
  readonly submitted: number
  /** Items that failed; they are tried again, or are dead. */
  readonly failed: number
  /** Whether the peer may have more than was listed. */
  readonly isBehind: boolean
}

const { sync } = overlay.collections
/** Items that are fetched together. */
const AT_ONCE = 16
/** Seconds that they may take. */
const LEASE = 600
/** Failures to reach the peer, one after the other, that end a run. */
const UNREACHED = 3
interface Worked {
  submitted: number
  failed: number
  /** Failures to reach the peer since anything went well. */
  unreached: number
}

export class TopicSync {
  readonly topic: Topic
  readonly peer: Peer
  readonly queue: Queue<Outpoint>
  readonly #engine: Engine
  /** The peer, for the fairness of the interpreter: its host, whatever the topic. */
  readonly #client: string
  readonly #limits: GraphLimits
  readonly #listing: Listing
  readonly #pages: number
  readonly #backlog: number
  readonly #logger: Logger

  constructor(engine: Engine, topic: string, peer: Peer, options: TopicSyncOptions = {}) {
    if (!engine.topics.has(topic)) {
      throw new QuoinError('ERR_TOPIC_UNKNOWN', `no topic is called ${topic}`, { topic })
    }
    this.topic = topic as Topic
    this.peer = peer
    this.#engine = engine
    this.#client = hostOf(peer)
    this.#limits = { ...GRAPH_LIMITS, ...options.limits }
    this.#pages = options.pages ?? 1000
    this.#backlog = options.backlog ?? 100_000
    this.#logger = options.logger ?? SILENT
    this.queue = engine.outputs.store.queueAt(sync, [this.topic, peer.name], {
      attempts: ATTEMPTS,
      backoff: 1,
      backoffLimit: 3600,
      ...(options.now && { now: options.now })
    })
    this.#listing = new Listing(engine.outputs, this.topic, peer, this.queue, options.page ?? 1000)
  }

  /** One run: lists what is new, then works on all that is due. Throws when the peer cannot be asked. */
  async run(signal?: AbortSignal): Promise<SyncReport> {
    const state = await readState(this.queue)
    await this.#listing.askAgain(state)
    let listed = 0
    let [submitted, failed] = [0, 0]
    for (let page = 0; ; page++) {
      const { rows, isMore, kind } = await this.#listing.next(state, signal)
      listed += rows
      const worked = await this.#work(kind, state, signal)
      submitted += worked.submitted
      failed += worked.failed
      const isBehind = isMore && (page + 1 >= this.#pages || (await this.#isFull()))
      if (!isMore || isBehind) return { listed, submitted, failed, isBehind }
    }
  }

  async #isFull(): Promise<boolean> {
    const { due, leased, waiting, dead } = await this.queue.stats()
    return due + leased + waiting > this.#backlog || dead > this.#backlog
  }

  /** All that is due, some at a time: fetched together, submitted one after the other. */
  async #work(kind: Kind, state: State, signal: AbortSignal | undefined): Promise<Worked> {
    const worked: Worked = { submitted: 0, failed: 0, unreached: 0 }
    for (;;) {
      const leases = await pollQueue(this.queue, AT_ONCE, LEASE)
      if (leases.length === 0) return worked
      const fetching = new Fetching(this.#limits.milliseconds, signal)
      const graphs = leases.map(({ item }) => this.#fetch(item, kind, state, fetching))
      // Each is waited for in its turn; that one has failed before that is not unhandled.
      for (const graph of graphs) graph.catch(() => undefined)
      const left = [...leases]
      try {
        for (const graph of graphs) {
          await this.#workOn(left[0]!, graph, kind, state, worked, signal)
          left.shift()
        }
      } finally {
        // Not touched: for the next run.
        for (const lease of left) await this.queue.renew(lease, 1)
      }
    }
  }

  async #workOn(
    lease: Lease<Outpoint>,
    graph: Promise<Graph>,
    kind: Kind,
    state: State,
    worked: Worked,
    signal: AbortSignal | undefined
  ): Promise<void> {
    try {
      worked.submitted += await this.#take(await graph, kind, state)
      worked.unreached = 0
    } catch (error) {
      signal?.throwIfAborted()
      const failure = failureOf(error, lease.attempts)
      if (failure !== 'gone') {
        worked.failed++
        worked.unreached = failure.errorClass === 'unreached' ? worked.unreached + 1 : 0
        if (worked.unreached >= UNREACHED) throw error
        return this.#fail(lease, failure, state)
      }
    }
    await this.queue.acknowledge(lease)
    await this.#done(lease.item, state)
  }

  async #done(item: Outpoint, { pending }: State): Promise<void> {
    count(pending, item, -1)
    await this.queue.wake(txidOf(item))
  }

  async #fail(lease: Lease<Outpoint>, failure: Failure, state: State): Promise<void> {
    const { item, attempts } = lease
    // That the peer is away is its health, and logged once (`service.ts`).
    if (failure.errorClass !== 'unreached') {
      this.#logger.warn('sync failed', {
        topic: this.topic,
        peer: this.peer.name,
        txid: formatTxid(txidOf(item)),
        attempts,
        outcome: failure.outcome,
        reason: failure.reason
      })
    }
    await this.queue.fail(lease, failure)
    if (failure.outcome === 'dead' || (failure.outcome === 'retry' && attempts >= ATTEMPTS)) {
      state.dead.add(toHex(item))
      await this.#done(item, state)
    }
  }

  /** Empty when there is nothing to do. */
  async #fetch(
    item: Outpoint,
    kind: Kind,
    { pending }: State,
    { fetched, signal, limit }: Fetching
  ): Promise<Graph> {
    if (await isEvaluated(this.#engine.outputs, this.topic, txidOf(item))) return []
    const { transactions } = this.#engine.outputs
    try {
      return await fetchGraph(item, {
        peer: this.peer,
        limits: this.#limits,
        fetched,
        signal,
        isKnown: async txid => {
          const [isVerified] = await transactions.areVerified([txid])
          return (
            isVerified === true &&
            (kind === 'applied' || (await isEvaluated(this.#engine.outputs, this.topic, txid)))
          )
        },
        // Of a Quoin node the history comes by itself; what else the topic needs does not.
        needs: async node => {
          const needed = await this.#needs(node)
          if (kind !== 'applied') return needed
          return needed.filter(outpoint => !pending.has(formatTxid(txidOf(outpoint))))
        }
      })
    } catch (error) {
      if (!limit.aborted || error instanceof QuoinError) throw error
      const reason = `the graph took more than ${this.#limits.milliseconds} ms to fetch`
      throw new QuoinError('ERR_SYNC_UNAVAILABLE', reason, { cause: error })
    }
  }

  /** What the topic says that it needs; a topic that fails at that is asked to judge without. */
  async #needs(node: FetchedNode): Promise<readonly Outpoint[]> {
    const topic = this.#engine.topics.get(this.topic)!
    try {
      if (isQuoinTopic(topic)) {
        const candidate = { transaction: node.transaction, previousCoins: [], offChainValues: undefined }
        return (await topic.needs?.({ ...candidate, mode: 'historical-tx' })) ?? []
      }
      const beef = boundBeef(beefOf(node, [node], []))
      const naming = isHostedTopic(topic)
        ? topic.identifyNeededInputs?.(beef)
        : topic.identifyNeededInputs?.(Array.from(beef))
      const needed = (await naming) ?? []
      return needed.map(({ txid, outputIndex }) => makeOutpoint(parseTxid(txid), outputIndex))
    } catch (error) {
      this.#logger.warn('topic failed to name what it needs', {
        topic: this.topic,
        txid: formatTxid(node.txid),
        reason: reasonOf(error)
      })
      return []
    }
  }

  /** Submits what was fetched, the oldest first; answers how many transactions that were. */
  async #take(graph: Graph, kind: Kind, state: State): Promise<number> {
    const [root] = graph
    if (!root) return 0
    this.#checkOrder(root, state)
    const others = await this.#stored(graph)
    // What an unproved one spends is in its BEEF; beside one that is proved there is what the topic needs.
    const nodes = kind === 'applied' && !root.bump ? [root] : oldestFirst(graph)
    for (const node of nodes) {
      const beef = beefOf(node, graph, others)
      const submission = { beef, topics: [this.topic], client: this.#client }
      const steak = await this.#engine.submit(submission, 'historical-tx')
      const error = steak[this.topic]?.error
      if (error) throw new QuoinError('ERR_TOPIC_FAILED', error.message, { topic: this.topic })
    }
    return nodes.length
  }

  /** What it spends and is in the queue as well comes before it, or its coins would not be seen. */
  #checkOrder({ txid, transaction }: FetchedNode, { pending }: State): void {
    const own = formatTxid(txid)
    for (const input of transaction.inputs) {
      const name = formatTxid(input.txid)
      if (name !== own && pending.has(name)) throw new Early(input.txid)
    }
  }

  /** A topic in the foreign form is shown everything back to proofs, what is known here included. */
  async #stored(graph: Graph): Promise<readonly BeefTransaction[]> {
    if (isQuoinTopic(this.#engine.topics.get(this.topic)!)) return []
    const names = new Set(graph.map(({ txid }) => formatTxid(txid)))
    const missing = new Map<string, Txid>()
    for (const { transaction, bump } of graph) {
      for (const { txid } of bump ? [] : transaction.inputs) {
        if (!names.has(formatTxid(txid))) missing.set(formatTxid(txid), txid)
      }
    }
    return this.#engine.outputs.transactions.ancestry([...missing.values()])
  }
}

const hostOf = ({ name }: Peer): string => (URL.canParse(name) ? new URL(name).host : name)

/** Pulls a topic from a peer once. */
export const syncTopic = (
  engine: Engine,
  topic: string,
  peer: string | Peer,
  options: TopicSyncOptions & HttpPeerOptions & { readonly signal?: AbortSignal } = {}
): Promise<SyncReport> =>
  new TopicSync(engine, topic, typeof peer === 'string' ? httpPeer(peer, options) : peer, options).run(
    options.signal
  )

/** Items that are fetched together: what one has asked for the others need not, and all have to be in time. */
class Fetching {
  readonly fetched = new Map<string, Promise<FetchedNode>>()
  readonly limit: AbortSignal
  readonly signal: AbortSignal

  constructor(milliseconds: number, signal: AbortSignal | undefined) {
    this.limit = AbortSignal.timeout(milliseconds)
    this.signal = signal ? AbortSignal.any([signal, this.limit]) : this.limit
  }
}
