/**
 * The overlay engine: takes transactions for topics, and answers questions about what they admitted.
 *
 * A submission is one commit over all its topics, and is answered after it (D4). The same transaction submitted at the
 * same time is worked on once, and submitted again gets the answer that it got before.
 */
import { Beef, type Bump, type ProofSource, type RootTracker } from '../chain/index.ts'
import {
  formatTxid,
  type Outpoint,
  parseOutpoint,
  QuoinError,
  type Txid,
  txidOf,
  voutOf
} from '../keyspace/index.ts'
import { Change, type OutputStore, Proofs } from '../txo/index.ts'
import { type AnsweredOutput, answer } from './answer.ts'
import { overlay } from './keys.ts'
import { type Logger, SILENT } from './logger.ts'
import { Notices } from './notices.ts'
import type { Steak } from './steak.ts'
import { type Broadcast, Submission } from './submission.ts'
import {
  type AnyLookup,
  type AnyTopic,
  type Found,
  isQuoinLookup,
  type MetaData,
  type Mode
} from './types.ts'

export interface EngineOptions {
  readonly outputs: OutputStore
  /** What says which blocks there are; `scripts only` takes proofs on trust. */
  readonly tracker: RootTracker | 'scripts only'
  readonly topics?: Readonly<Record<string, AnyTopic>>
  readonly lookups?: Readonly<Record<string, AnyLookup>>
  /** Whether whatever is submitted is indexed too, with all its outputs: with these parsers, or all. */
  readonly index?: boolean | { readonly tags: readonly string[] }
  /** Sends transactions that are not mined to the network, before they are committed. */
  readonly broadcast?: Broadcast
  /** Where proofs come from when a reorg makes others void. */
  readonly proofs?: ProofSource
  readonly logger?: Logger
  /** Milliseconds that a topic may take, 10,000 unless given. */
  readonly topicTimeout?: number
}

export interface Submitted {
  /** BEEF of version 1 or 2, or atomic. */
  readonly beef: Uint8Array
  readonly topics: readonly string[]
  readonly offChainValues?: Uint8Array | undefined
}

/** Proofs are believed: for tests on one machine. */
const TRUSTING: RootTracker = {
  isValidRootForHeight: async () => true,
  currentHeight: async () => 0xffffffff
}

export class Engine {
  readonly outputs: OutputStore
  readonly proofs: Proofs
  readonly topics: ReadonlyMap<string, AnyTopic>
  readonly lookups: ReadonlyMap<string, AnyLookup>
  readonly #options: EngineOptions
  readonly #tracker: RootTracker
  readonly #notices: Notices
  /** The last submission of each transaction that is being worked on. */
  readonly #running = new Map<string, Promise<unknown>>()

  constructor(options: EngineOptions) {
    const { outputs, tracker, topics = {}, lookups = {}, logger = SILENT } = options
    this.#options = options
    this.outputs = outputs
    this.#tracker = tracker === 'scripts only' ? TRUSTING : tracker
    this.proofs = new Proofs(outputs, this.#tracker, options.proofs)
    this.topics = new Map(Object.entries(topics))
    this.lookups = new Map(Object.entries(lookups))
    this.#notices = new Notices(outputs, this.lookups, logger)
    outputs.onForget((batch, txid) => this.#notices.forgetIn(batch, txid))
  }

  /** Begins telling services what they have yet to be told, from before this process was started too. */
  start(): void {
    this.#notices.start()
  }

  /** Ends what is being worked on. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#running.values())
    await this.#notices.close()
  }

  /**
   * Submits the subject of a BEEF to topics. The answer has what each topic did; when a topic failed, why. Throws when
   * the transaction itself is not to be had: malformed, invalid, in conflict with another, or a topic is not known.
   */
  async submit(submitted: Submitted, mode: Mode = 'current-tx'): Promise<Steak> {
    const topics = [...new Set(submitted.topics)]
    for (const topic of topics) this.#topic(topic)
    const beef = Beef.parse(submitted.beef)
    return this.#inTurn(beef.subject, async () => {
      const submission = new Submission(
        {
          outputs: this.outputs,
          tracker: this.#tracker,
          topics: this.topics,
          lookups: this.lookups,
          notices: this.#notices,
          index: this.#options.index ?? false,
          broadcast: this.#options.broadcast,
          topicTimeout: this.#options.topicTimeout ?? 10_000
        },
        { beef, bytes: submitted.beef, offChainValues: submitted.offChainValues, mode }
      )
      return submission.judge(topics)
    })
  }

  /** One after the other for one transaction. */
  async #inTurn<T>(txid: Txid, work: () => Promise<T>): Promise<T> {
    const name = formatTxid(txid)
    const before = this.#running.get(name)
    const run = (async () => {
      // Whoever submitted it is told; this one begins from what there is.
      await before?.catch(() => undefined)
      return work()
    })()
    this.#running.set(name, run)
    try {
      return await run
    } finally {
      if (this.#running.get(name) === run) this.#running.delete(name)
    }
  }

  /** Answers a question: outputs with what proves them. */
  async lookup(service: string, query: unknown): Promise<AnsweredOutput[]> {
    const lookup = this.lookups.get(service)
    if (!lookup)
      throw new QuoinError('ERR_LOOKUP_UNKNOWN', `no lookup service is called ${service}`, { service })
    const found: readonly Found[] = isQuoinLookup(lookup)
      ? await lookup.lookup(query)
      : (await lookup.lookup({ service, query })).map(each => ({
          outpoint: parseOutpoint(`${each.txid}.${each.outputIndex}`),
          ...(each.history !== undefined && { history: each.history }),
          ...(each.context && { context: Uint8Array.from(each.context) })
        }))
    const answered = await Promise.all(found.map(each => answer(this.outputs, each)))
    return answered.filter(each => each !== undefined)
  }

  /** A proof of a transaction that is stored: checked, and everything of it moves to its place in the chain. */
  handleNewMerkleProof(txid: Txid, bump: Bump): Promise<void> {
    return this.proofs.save(txid, bump)
  }

  /** Takes an output out of every topic and out of what is known of it, as an operator may have to. */
  async evict(outpoint: Outpoint): Promise<boolean> {
    const [known] = await this.outputs.loadOutputs([outpoint], { includeTopics: true })
    if (!known) return false
    const vout = voutOf(outpoint)
    const change = new Change(txidOf(outpoint)).erase(vout)
    for (const topic of known.topics ?? []) change.expel(topic, vout)
    await this.outputs.commit(change)
    await this.#notices.evicted(outpoint)
    return true
  }

  /** What the topics did with a transaction; undefined when none has seen it. */
  judgements(txid: Txid) {
    return this.outputs.store.use(overlay.collections.judgements).get(txid)
  }

  #topic(name: string): AnyTopic {
    const topic = this.topics.get(name)
    if (topic) return topic
    throw new QuoinError('ERR_TOPIC_UNKNOWN', `no topic is called ${name}`, { topic: name })
  }

  topicMetaData(): Promise<Record<string, MetaData>> {
    return metaData(this.topics)
  }

  lookupMetaData(): Promise<Record<string, MetaData>> {
    return metaData(this.lookups)
  }
}

const metaData = async (
  plugins: ReadonlyMap<string, AnyTopic | AnyLookup>
): Promise<Record<string, MetaData>> =>
  Object.fromEntries(
    await Promise.all([...plugins].map(async ([name, each]) => [name, await each.getMetaData()]))
  )
