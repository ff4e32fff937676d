/**
 * The bootstrap of a store from a peer: the transactions of its topics are listed and fetched in batches, verified on
 * arrival, and submitted to the topics of this node, which alone decide on admissions. Progress is saved with every page, so
 * a bootstrap that was cut goes on there, and the sync with the peer continues where the bootstrap ended.
 */
import { DISCOVERY, PeerSource } from '@quoin/bsv21'
import { httpPeer, type Peer, type SyncProgress, TopicSync } from '@quoin/overlay'
import {
  Backoff,
  formatOutpoint,
  isRemote,
  isRetryable,
  type Outpoint,
  QuoinError,
  sleep
} from '@quoin/primitives'
import type { Queue } from '@quoin/store'
import { changePlace } from '@quoin/txo'
import type { OpenNode } from './node.ts'

export interface BootstrapOptions {
  /** The address of the peer. */
  readonly from: string
  /** The topics to take; all that this node and the peer have unless given. */
  readonly topics?: readonly string[] | undefined
  /** The part of the unproved transactions that is verified, from 0 to 1; all unless given. */
  readonly sample?: number | undefined
  readonly signal: AbortSignal
  /** Entries of the peer's log of a topic, done and in total. */
  readonly onProgress: (topic: string, done: number, total: number) => void
  /** Called before an attempt is repeated. */
  readonly onWarning: (error: QuoinError) => void
}

export interface TopicBootstrap {
  readonly topic: string
  /** Transactions; of tokens, each as often as topics list it. */
  readonly submitted: number
  /** Transactions in the queue, which the sync with the peer attempts again, and dead letters. */
  readonly queued: number
  readonly dead: number
  /** Some of them with their reasons. */
  readonly failures: readonly BootstrapFailure[]
}

interface BootstrapFailure {
  readonly outpoint: string
  readonly reason: string
}

/** Milliseconds of one answer: 8 MiB at 70 kB a second. */
const TIMEOUT_MS = 120_000
/** Failures in a row to reach the peer that end the bootstrap: about four minutes. */
const MAX_FAILURES = 12
const BACKOFF = { first: 500, limit: 30_000 }
/** Failures of a topic that are listed. */
const MAX_LISTED = 20

/** Bootstraps topic after topic. Throws when the peer has none of them, or cannot be reached for long. */
export const bootstrap = async (node: OpenNode, options: BootstrapOptions): Promise<TopicBootstrap[]> => {
  const peer = httpPeer(options.from, { timeout: TIMEOUT_MS, attempts: 1 })
  // Tokens have a topic each, and go through the token pipeline.
  const own = [...node.engine.topics.keys()].filter(topic => !(node.tokens && topic === DISCOVERY))
  const done: TopicBootstrap[] = []
  for (const topic of options.topics ?? own) {
    const result = await bootstrapTopic(node, peer, topic, options)
    if (result) done.push(result)
    else if (options.topics) throw unknownTopic(peer, topic)
  }
  if (!options.topics && node.tokens) {
    const tokens = await bootstrapTokens(node, options)
    if (tokens !== undefined) done.push(tokens)
  }
  if (done.length > 0) return done
  throw new QuoinError(
    'ERR_SYNC_PEER',
    `${peer.name} has none of the topics of this node: ${own.join(', ')}`,
    {
      peer: peer.name,
      topics: own
    }
  )
}

/** Undefined when the peer does not have the topic. */
const bootstrapTopic = async (
  { engine }: OpenNode,
  peer: Peer,
  topic: string,
  options: BootstrapOptions
): Promise<TopicBootstrap | undefined> => {
  const { sample, signal } = options
  const attempts = new Attempts(options)
  let submitted = 0
  /** Of the run, at its last report. */
  let reported = 0
  const sync = new TopicSync(engine, topic, peer, {
    ...(sample !== undefined && { sample }),
    bulk: true,
    onProgress: ({ submitted: ofRun, position, last }: SyncProgress) => {
      attempts.succeeded()
      submitted += ofRun - reported
      reported = ofRun
      options.onProgress(topic, changePlace(position).position, changePlace(last).position)
    }
  })
  try {
    for (let isBehind = true; isBehind; ) {
      const report = await attempts.repeat(() => {
        reported = 0
        return sync.run(signal)
      })
      isBehind = report.isBehind
      if (isBehind && report.submitted === 0) throw tooManyFailures(peer, topic)
    }
  } catch (error) {
    if (error instanceof QuoinError && error.details['unknownTopic'] === true) return undefined
    throw error
  }
  const { due, leased, waiting, dead } = await sync.queue.stats()
  const failures = await failuresOf(sync.queue)
  return { topic, submitted, queued: due + leased + waiting, dead, failures }
}

/** The transactions of all tokens; undefined when the peer is no Quoin node, or has no tokens. */
const bootstrapTokens = async (
  { tokens }: OpenNode,
  options: BootstrapOptions
): Promise<TopicBootstrap | undefined> => {
  const { from, signal } = options
  const source = new PeerSource(from)
  const attempts = new Attempts(options)
  let submitted = 0
  try {
    await attempts.repeat(() =>
      tokens!.pipeline.ingestSource(
        { name: source.name, deliveries: store => source.listed(store, { signal }) },
        signal,
        count => {
          attempts.succeeded()
          submitted += count
          options.onProgress(DISCOVERY, submitted, submitted)
        }
      )
    )
  } catch (error) {
    if (isRemote(error) && error.details['code'] === NOT_FOUND) return undefined
    throw error
  }
  await tokens!.pipeline.settle()
  return { topic: DISCOVERY, submitted, queued: 0, dead: 0, failures: [] }
}

const NOT_FOUND = 404

/** Attempts at reaching the peer. */
class Attempts {
  readonly #backoff = new Backoff(BACKOFF)
  readonly #options: BootstrapOptions

  constructor(options: BootstrapOptions) {
    this.#options = options
  }

  succeeded(): void {
    this.#backoff.reset()
  }

  async repeat<T>(work: () => Promise<T>): Promise<T> {
    const { signal, onWarning } = this.#options
    for (;;) {
      try {
        return await work()
      } catch (error) {
        signal.throwIfAborted()
        if (!isRemote(error) || !isRetryable(error) || error.details['code'] === NOT_FOUND) throw error
        const delay = this.#backoff.next()
        if (this.#backoff.failures >= MAX_FAILURES) throw error
        onWarning(error)
        await sleep(delay, { signal })
      }
    }
  }
}

const failuresOf = async (queue: Queue<Outpoint>): Promise<BootstrapFailure[]> => {
  const failures: BootstrapFailure[] = []
  for (const state of ['due', 'waiting', 'dead'] as const) {
    const { items } = await queue.list(state, { limit: MAX_LISTED })
    for (const { item, reason } of items) {
      failures.push({ outpoint: formatOutpoint(item), reason: reason ?? 'not attempted yet' })
    }
  }
  return failures.slice(0, MAX_LISTED)
}

const unknownTopic = ({ name }: Peer, topic: string): QuoinError =>
  new QuoinError('ERR_SYNC_PEER', `${name} does not have the topic ${topic}`, { peer: name, topic })

const tooManyFailures = ({ name }: Peer, topic: string): QuoinError =>
  new QuoinError(
    'ERR_SYNC_PEER',
    `too many transactions of ${topic} from ${name} failed: check the chain of this node, or use another peer`,
    { peer: name, topic }
  )
