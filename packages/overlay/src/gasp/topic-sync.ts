/**
 * The sync of one topic from one peer. The transactions of a page that the peer lists are fetched in batches and submitted,
 * verified like any other transaction (`batch-admission.ts`). One commit then enqueues the rows that failed and saves the
 * progress past the page, so no row is lost. A queued item is fetched with its graph, retried with backoff, and becomes a
 * dead letter with the reason in the end.
 *
 * A Quoin node lists the transactions that changed the topic, in order. A node of `@bsv/overlay` lists its outputs, and
 * serves no batches: then all rows are queued, and every transaction of a graph is submitted, the oldest first.
 */
import { randomInt } from 'node:crypto'
import type { BeefTransaction } from '@quoin/chain'
import {
  formatTxid,
  hasCode,
  makeOutpoint,
  type Outpoint,
  parseTxid,
  QuoinError,
  reasonOf,
  type Topic,
  toHex,
  txidOf
} from '@quoin/primitives'
import {
  type Failure,
  type Lease,
  pollQueue,
  type Queue,
  WORK_LEASE_SECONDS,
  whileLeased
} from '@quoin/store'
import { outputs as outputKeys } from '@quoin/txo'
import { type AnchorReport, AnchorSync, isComplete } from '../anchors/anchor-sync.ts'
import type { ProvedTransaction } from '../anchors/fetch.ts'
import type { Engine } from '../engine.ts'
import { boundBeef } from '../hosting/index.ts'
import { overlay } from '../keys.ts'
import { type Logger, SILENT } from '../logger.ts'
import { isHostedTopic, isQuoinTopic } from '../types.ts'
import { BatchAdmission, isOfTransaction } from './batch-admission.ts'
import { ATTEMPTS, failureOf, PendingParentError } from './failure.ts'
import {
  beefOf,
  type FetchedNode,
  fetchGraph,
  GRAPH_LIMITS,
  type Graph,
  type GraphLimits,
  missingParents,
  oldestFirst
} from './graph.ts'
import { type HttpPeerOptions, httpPeer, type Peer } from './peer.ts'
import { isEvaluated, type ListingKind, PeerPages } from './peer-pages.ts'
import { countItem, readQueueState, type SyncQueueState } from './sync-queue-state.ts'

export interface TopicSyncOptions {
  readonly limits?: Partial<GraphLimits>
  /** Rows of one request, 1,000 unless given. */
  readonly page?: number
  /** Live items, or dead letters, at which a run stops listing; 100,000 unless given. */
  readonly backlog?: number
  /** Pages of one run, 1,000 unless given. */
  readonly pages?: number
  /** The clock of the queue, in unix seconds. */
  readonly now?: () => number
  readonly logger?: Logger
  /**
   * The part of the unproved transactions that is verified, from 0 to 1; all unless given. Proofs are always checked. A
   * transaction that was not verified is recorded as unverified: a later one that spends it is verified with it.
   */
  readonly sample?: number
  /** Whether the peer is listed before anchors are compared, as it is for an empty topic; not unless given. */
  readonly bulk?: boolean
  /** Called after each page. */
  readonly onProgress?: (progress: SyncProgress) => void
}

/** The progress of a run. */
export interface SyncProgress {
  readonly submitted: number
  /** The position in the log of the peer, and its end. */
  readonly position: number
  readonly last: number
}

export interface SyncReport {
  /** Rows that the peer listed. */
  readonly listed: number
  /** Transactions that were submitted. */
  readonly submitted: number
  /** Items that failed: they are retried, or are dead letters. */
  readonly failed: number
  /** Whether the peer may have more than was listed. */
  readonly isBehind: boolean
  /** The comparison of anchors, if both nodes have anchors of the topic. */
  readonly anchors?: AnchorReport | undefined
}

const { sync } = overlay.collections
const { topicTransactions } = outputKeys.collections
/** Items that are fetched together, under one deadline. */
const BATCH_SIZE = 16
/** Consecutive failures to reach the peer that end a run. */
const MAX_UNREACHED = 3

interface WorkResult {
  /** Acknowledgements of the batch in progress. */
  acknowledging: Promise<void>[]
  failed: number
  /** Consecutive failures to reach the peer. */
  unreached: number
}

export class TopicSync {
  readonly topic: Topic
  readonly peer: Peer
  readonly queue: Queue<Outpoint>
  readonly #engine: Engine
  /** The host of the peer: its topics share one client of the interpreter. */
  readonly #client: string
  readonly #limits: GraphLimits
  readonly #rows: PeerPages
  readonly #batches: BatchAdmission
  readonly #anchors: AnchorSync
  readonly #isBulk: boolean
  /** Transactions that anchors left for the queue, in their order. */
  #left = 0
  readonly #onProgress: ((progress: SyncProgress) => void) | undefined
  /** Transactions of the run. */
  #submitted = 0
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
    this.#isBulk = options.bulk ?? false
    const { sample } = options
    this.#onProgress = options.onProgress
    this.#batches = new BatchAdmission({
      engine,
      topic,
      peer,
      client: this.#client,
      needs: node => this.#needs(node),
      isSampled: sample === undefined ? undefined : () => randomInt(2 ** 32) < sample * 2 ** 32,
      onAdmitted: () => void this.#submitted++
    })
    this.#anchors = new AnchorSync({ engine, topic: this.topic, peer })
    this.#rows = new PeerPages({
      outputs: engine.outputs,
      topic: this.topic,
      peer,
      queue: this.queue,
      page: options.page ?? 1000,
      admit: (rows, pending, signal) => this.#batches.admit(rows, pending, signal)
    })
  }

  /** One run: lists new rows, and works on due items. Throws when the peer cannot be reached. */
  async run(signal?: AbortSignal): Promise<SyncReport> {
    const state = await readQueueState(this.queue)
    await this.#rows.enqueueRolledBack(state)
    let [listed, failed] = [0, 0]
    this.#submitted = 0
    // A listing brings a whole history in fewer requests than a repair; anchors then prove that it did.
    const isListedFirst = this.#isBulk || (await this.#isEmpty())
    let anchors = await this.#compareAnchors(state, !isListedFirst, signal)
    const anchored = anchors && isComplete(anchors) ? { from: anchors.start, to: anchors.height } : undefined
    for (let page = 0; ; page++) {
      const { rows, isMore, kind, position, last } = await this.#rows.next(state, signal, anchored)
      listed += rows
      failed += await this.#work(kind, state, signal)
      this.#onProgress?.({ submitted: this.#submitted, position, last })
      const isBehind = isMore && (page + 1 >= this.#pages || (await this.#isFull()))
      if (!isMore || isBehind) {
        if (!isBehind && isListedFirst && !(anchors && isComplete(anchors))) {
          anchors = await this.#compareAnchors(state, true, signal)
          failed += await this.#work(kind, state, signal)
        }
        return { listed, submitted: this.#submitted, failed, isBehind, ...(anchors && { anchors }) }
      }
    }
  }

  /** Fetches what the anchors show to be missing. A peer whose anchors are malformed is still listed. */
  async #compareAnchors(
    state: SyncQueueState,
    isRepairing: boolean,
    signal: AbortSignal | undefined
  ): Promise<AnchorReport | undefined> {
    try {
      const admit = isRepairing ? (each: ProvedTransaction) => this.#admitProved(each, state) : undefined
      return await this.#anchors.run(admit, signal)
    } catch (error) {
      if (!hasCode(error, 'ERR_SYNC_PEER') || error.details['unknownTopic'] === true) throw error
      this.#logger.warn('cannot compare anchors', {
        topic: this.topic,
        peer: this.peer.name,
        reason: error.message
      })
      return undefined
    }
  }

  /** Submits a transaction that the peer admitted, or saves its proof if the topic has evaluated it. */
  async #admitProved(proved: ProvedTransaction, state: SyncQueueState): Promise<void> {
    const { txid } = proved
    if (await isEvaluated(this.#engine.outputs, this.topic, txid)) await this.#saveProof(proved)
    else if (!(await this.#batches.admitProved(proved))) {
      await this.#rows.enqueue(txid, this.#left++, state)
    }
  }

  /** A proof that the headers do not confirm is not saved: the anchors stay different. */
  async #saveProof({ txid, bump }: ProvedTransaction): Promise<void> {
    try {
      await this.#engine.handleNewMerkleProof(txid, bump)
    } catch (error) {
      if (!isOfTransaction(error)) throw error
      this.#logger.warn('cannot save a proof', {
        topic: this.topic,
        peer: this.peer.name,
        txid: formatTxid(txid),
        reason: reasonOf(error)
      })
    }
  }

  async #isEmpty(): Promise<boolean> {
    const transactions = this.#engine.outputs.store.use(topicTransactions).at(this.topic)
    return (await transactions.count()) === 0
  }

  async #isFull(): Promise<boolean> {
    const { due, leased, waiting, dead } = await this.queue.stats()
    return due + leased + waiting > this.#backlog || dead > this.#backlog
  }

  /** Fetches due items in batches, and submits the items of a batch one after the other; answers how many failed. */
  async #work(kind: ListingKind, state: SyncQueueState, signal: AbortSignal | undefined): Promise<number> {
    const worked: WorkResult = { failed: 0, unreached: 0, acknowledging: [] }
    for (;;) {
      const leases = await pollQueue(this.queue, BATCH_SIZE, WORK_LEASE_SECONDS)
      if (leases.length === 0) return worked.failed
      const left = [...leases]
      try {
        await whileLeased(this.queue, leases, () => this.#workOnAll(left, kind, state, worked, signal))
      } finally {
        // Items that were not reached are due in the next run.
        for (const lease of left) await this.queue.renew(lease, 1)
      }
    }
  }

  /** Takes the leases of items that are done from the list. */
  async #workOnAll(
    left: Lease<Outpoint>[],
    kind: ListingKind,
    state: SyncQueueState,
    worked: WorkResult,
    signal: AbortSignal | undefined
  ): Promise<void> {
    const fetching = new FetchBatch(this.#limits.milliseconds, signal)
    const graphs = left.map(({ item }) => this.#fetch(item, kind, state, fetching))
    // A graph that fails before its turn to be awaited is not an unhandled rejection.
    for (const graph of graphs) graph.catch(() => undefined)
    try {
      for (const graph of graphs) {
        await this.#workOn(left[0]!, graph, kind, state, worked, signal)
        left.shift()
      }
    } finally {
      await Promise.all(worked.acknowledging.splice(0))
    }
  }

  async #workOn(
    lease: Lease<Outpoint>,
    graph: Promise<Graph>,
    kind: ListingKind,
    state: SyncQueueState,
    worked: WorkResult,
    signal: AbortSignal | undefined
  ): Promise<void> {
    try {
      this.#submitted += await this.#submit(await graph, kind, state)
      worked.unreached = 0
    } catch (error) {
      signal?.throwIfAborted()
      const failure = failureOf(error, lease.attempts)
      if (failure !== 'gone') {
        worked.failed++
        worked.unreached = failure.errorClass === 'unreached' ? worked.unreached + 1 : 0
        if (worked.unreached >= MAX_UNREACHED) throw error
        return this.#fail(lease, failure, state)
      }
    }
    countItem(state.pending, lease.item, -1)
    const acknowledging = this.#acknowledge(lease)
    // One that fails before the batch is done is not an unhandled rejection.
    acknowledging.catch(() => undefined)
    worked.acknowledging.push(acknowledging)
  }

  /** One commit, which the submission of the next item shares. */
  async #acknowledge(lease: Lease<Outpoint>): Promise<void> {
    const batch = this.#engine.outputs.store.batch()
    this.queue.acknowledgeIn(batch, lease)
    this.queue.wakeIn(batch, txidOf(lease.item))
    await batch.commit()
  }

  async #fail(lease: Lease<Outpoint>, failure: Failure, state: SyncQueueState): Promise<void> {
    const { item, attempts } = lease
    // An unreachable peer is logged once, by its health (`service.ts`).
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
      countItem(state.pending, item, -1)
      await this.queue.wake(txidOf(item))
    }
  }

  /** Empty when the topic has evaluated the transaction. */
  async #fetch(
    item: Outpoint,
    kind: ListingKind,
    { pending }: SyncQueueState,
    { fetched, signal, limit }: FetchBatch
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
        // A Quoin node lists the history of an output too: inputs that are queued need no fetch.
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

  /** The outputs that the topic names. A topic that fails to name them evaluates the transaction without. */
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
      this.#logger.warn('topic failed to name needed inputs', {
        topic: this.topic,
        txid: formatTxid(node.txid),
        reason: reasonOf(error)
      })
      return []
    }
  }

  /** Submits the transactions of a graph, the oldest first; returns their number. */
  async #submit(graph: Graph, kind: ListingKind, state: SyncQueueState): Promise<number> {
    const [root] = graph
    if (!root) return 0
    this.#checkOrder(root, state)
    const others = await this.#stored(graph)
    // The BEEF of an unmined transaction has its parents; a mined one comes with the inputs that the topic needs.
    const nodes = kind === 'applied' && !root.bump ? [root] : oldestFirst(graph)
    for (const node of nodes) {
      const beef = beefOf(node, graph, others)
      await this.#engine.admit({ beef, topics: [this.topic], client: this.#client })
    }
    return nodes.length
  }

  /** A parent that is in the queue is submitted first: the transaction is evaluated with its coins. */
  #checkOrder({ txid, transaction }: FetchedNode, { pending }: SyncQueueState): void {
    const own = formatTxid(txid)
    for (const input of transaction.inputs) {
      const parent = formatTxid(input.txid)
      if (parent !== own && pending.has(parent)) throw new PendingParentError(input.txid)
    }
  }

  /** Stored ancestors, for a topic in the form of `@bsv/overlay`: it gets the whole ancestry back to proofs. */
  async #stored(graph: Graph): Promise<readonly BeefTransaction[]> {
    if (isQuoinTopic(this.#engine.topics.get(this.topic)!)) return []
    return this.#engine.outputs.transactions.ancestry(missingParents(graph))
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

/** Items that are fetched together: they share fetched nodes and a deadline. */
class FetchBatch {
  readonly fetched = new Map<string, Promise<FetchedNode>>()
  readonly limit: AbortSignal
  readonly signal: AbortSignal

  constructor(milliseconds: number, signal: AbortSignal | undefined) {
    this.limit = AbortSignal.timeout(milliseconds)
    this.signal = signal ? AbortSignal.any([signal, this.limit]) : this.limit
  }
}
