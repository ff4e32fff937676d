/**
 * The overlay engine: topics admit outputs of submitted transactions, and lookups answer questions about them.
 *
 * A submission is one commit over all its topics, and is answered after it (D4). Submissions of one transaction run one
 * after the other, and a repeated one gets the answer that it got before.
 */
import {
  Beef,
  type Bump,
  type Interpreter,
  type ProofSource,
  parseTransaction,
  type RootTracker,
  sharedInterpreter,
  type Transaction
} from '@quoin/chain'
import {
  bytesKey,
  fromHex,
  hasCode,
  KeyedMutex,
  type Outpoint,
  parseOutpoint,
  QuoinError,
  TickThrottle,
  type Topic,
  type Txid,
  traced,
  txidOf,
  voutOf
} from '@quoin/primitives'
import { type IndexDepth, Indexer, type OutputStore, Proofs, TxUpdate } from '@quoin/txo'
import { admitOutputs, previousCoins, readOffChainValues, removeAdmissionsIn } from './admissions.ts'
import { stampBlockIn } from './anchors/admitted.ts'
import { type AnchorOptions, TopicAnchors } from './anchors/topic-anchors.ts'
import { type AnsweredOutput, answerAll } from './answer.ts'
import { type BroadcastRecord, broadcasts } from './broadcast/keys.ts'
import type { DeliveryOptions } from './delivery/lookup-delivery.ts'
import { LookupOutbox } from './delivery/lookup-outbox.ts'
import { Failures } from './failures.ts'
import { type Admissions, admissions, evictions } from './keys.ts'
import { type Logger, SILENT } from './logger.ts'
import { ReevaluationQueue } from './reevaluation.ts'
import type { Steak, TopicAnswer } from './steak.ts'
import { type Broadcast, Submission, type SubmissionContext, spentBy } from './submission.ts'
import { type TopicFamily, Topics } from './topics.ts'
import {
  type AnyLookup,
  type AnyTopic,
  isQuoinLookup,
  type LookupResult,
  type MetaData,
  type Mode
} from './types.ts'

export interface EngineOptions {
  readonly outputs: OutputStore
  /** Confirms the merkle roots of blocks; `scripts only` accepts every proof. */
  readonly tracker: RootTracker | 'scripts only'
  readonly topics?: Readonly<Record<string, AnyTopic>>
  /** Topics that are made at the first request for them. */
  readonly families?: readonly TopicFamily[]
  readonly lookups?: Readonly<Record<string, AnyLookup>>
  /** The outputs of submitted transactions that are indexed beside the admitted ones; none unless given. */
  readonly index?: IndexDepth
  /** Gives unmined transactions to the network: `Broadcaster.offer`, for example. */
  readonly broadcast?: Broadcast
  /** Throws for a transaction that is not admitted from peers and sources without a proof: `Broadcaster.check`. */
  readonly checkUnproved?: (txid: Txid) => Promise<void>
  /** Fetches proofs that replace the ones that a reorg made void. */
  readonly proofs?: ProofSource
  readonly logger?: Logger
  /** Runs scripts of no known form, instead of the interpreter that all engines of the process share. */
  readonly interpreter?: Interpreter
  /** Milliseconds that a topic may take, 10,000 unless given. */
  readonly topicTimeout?: number
  /** Milliseconds that a lookup service may take for one entry of a membership log, 10,000 unless given. */
  readonly lookupTimeout?: number
  /** Milliseconds that a submission waits for the lookup services of its topics, 250 unless given; 0 is not at all. */
  readonly lookupWait?: number
  /**
   * Whether this process delivers to lookup services and works on re-evaluations, as it does unless given; otherwise another
   * process on the store does.
   */
  readonly isWorker?: boolean
  /** The chain whose blocks the topics are anchored to, and the starts of topics; no anchors are served without. */
  readonly anchors?: AnchorOptions
  /** By lookup service: the topics whose entries it gets, and the submissions that wait for it. */
  readonly delivery?: Readonly<Record<string, DeliveryOptions>>
}

export interface SubmissionRequest {
  /** BEEF of version 1 or 2, or atomic; a parsed one is not parsed again. */
  readonly beef: Uint8Array | Beef
  readonly topics: readonly string[]
  readonly offChainValues?: Uint8Array | undefined
  /** The client that submits; clients share the interpreter equally. Submissions without one are one client together. */
  readonly client?: string | undefined
}

export interface RelayRequest extends Pick<SubmissionRequest, 'beef' | 'client'> {
  readonly token?: string | undefined
}

/** Accepts every proof: for tests on one machine. */
const TRUSTING: RootTracker = {
  isValidRootForHeight: async () => true,
  currentHeight: async () => 0xffffffff
}

/**
 * Topics and lookups over an output store: submissions, lookups, proofs and sync.
 *
 * @example
 * import { DevChain } from '@quoin/dev-chain'
 * import { openStore } from '@quoin/store'
 * import { OutputStore } from '@quoin/txo'
 * const chain = new DevChain()
 * const outputs = new OutputStore(await openStore('memory:'))
 * const tm_all = {
 *   admit: () => ({ outputs: [0] }),
 *   getDocumentation: async () => 'Admits the first output.',
 *   getMetaData: async () => ({ name: 'First', shortDescription: 'Admits the first output.' })
 * }
 * const engine = new Engine({ outputs, tracker: chain, topics: { tm_all } })
 * const { txid } = chain.fund('1HdvFwjcMgRdB8Cwgzcaady1GYd7a9Ffyc', 1000)
 * const steak = await engine.submit({ beef: chain.beef(txid), topics: ['tm_all'] })
 * steak['tm_all']!.outputsToAdmit // [ 0 ]
 * await engine.close()
 */
export class Engine {
  readonly outputs: OutputStore
  readonly proofs: Proofs
  readonly indexer: Indexer
  readonly interpreter: Interpreter
  readonly topics: Topics
  readonly lookups: ReadonlyMap<string, AnyLookup>
  /** Deliveries to lookup services in the form of `@bsv/overlay`. */
  readonly outbox: LookupOutbox
  /** The anchors of topics, if the engine has a chain for them. */
  readonly anchors: TopicAnchors | undefined
  /** The last error of recent submissions. */
  readonly failures = new Failures()
  readonly #context: SubmissionContext
  readonly #reevaluations: ReevaluationQueue
  readonly #isWorker: boolean
  readonly #throttle = new TickThrottle()
  /** By txid. */
  readonly #mutex = new KeyedMutex()

  constructor(options: EngineOptions) {
    const { outputs, topics = {}, lookups = {}, logger = SILENT, index = false, isWorker = true } = options
    const tracker = options.tracker === 'scripts only' ? TRUSTING : options.tracker
    this.outputs = outputs
    this.#isWorker = isWorker
    this.interpreter = options.interpreter ?? sharedInterpreter()
    this.proofs = new Proofs(outputs, tracker, options.proofs)
    this.indexer = new Indexer(outputs, tracker, {
      index,
      interpreter: this.interpreter,
      proofs: this.proofs
    })
    this.topics = new Topics(topics, options.families ?? [])
    this.lookups = new Map(Object.entries(lookups))
    this.outbox = new LookupOutbox(outputs, this.lookups, {
      logger,
      delivery: options.delivery,
      timeout: options.lookupTimeout ?? 10_000,
      wait: options.lookupWait ?? 250,
      isWorker
    })
    this.#reevaluations = new ReevaluationQueue(
      outputs,
      {
        reevaluate: txid => this.#mutex.run(bytesKey(txid), () => this.#reevaluate(txid)),
        readmit: (update, transaction, topic, vout) => this.#readmit(update, transaction, topic, vout)
      },
      logger
    )
    this.#context = {
      outputs,
      indexer: this.indexer,
      topics: this.topics,
      lookups: this.lookups,
      reevaluations: this.#reevaluations,
      broadcast: options.broadcast,
      checkUnproved: options.checkUnproved,
      topicTimeout: options.topicTimeout ?? 10_000
    }
    if (options.anchors) {
      const { blocks, start, starts = {} } = options.anchors
      this.anchors = new TopicAnchors(outputs.store, blocks, topic =>
        Object.hasOwn(starts, topic) ? starts[topic] : (this.topics.startOf(topic) ?? start)
      )
    }
    outputs.onBlock(stampBlockIn)
    outputs.onForget((batch, txid) => this.#reevaluations.enqueueRemovedIn(batch, txid))
    outputs.onForget((batch, txid) => removeAdmissionsIn(outputs.store, batch, txid))
  }

  /** Resumes deliveries and re-evaluations that a previous process left. */
  start(): void {
    if (!this.#isWorker) return
    this.outbox.start()
    this.#reevaluations.start()
  }

  /** Waits for submissions, re-evaluations and deliveries in progress. */
  async close(): Promise<void> {
    await this.#mutex.idle()
    if (this.#isWorker) await this.#reevaluations.close()
    await this.outbox.close()
  }

  /**
   * Submits the subject of a BEEF to topics. The answer has the admission of each topic, or its error. Throws when the
   * transaction is malformed or invalid, or in conflict with another, or when a topic is unknown.
   */
  submit(request: SubmissionRequest, mode: Mode = 'current-tx'): Promise<Steak> {
    const attributes = () => ({ topics: request.topics.join(','), mode })
    return traced('submission', attributes, () => this.#submit(request, mode))
  }

  async #submit(request: SubmissionRequest, mode: Mode): Promise<Steak> {
    await this.#throttle.next()
    const { offChainValues, client } = request
    const topics = [...new Set(request.topics)]
    for (const topic of topics) {
      const opening = this.topics.open(topic)
      if (opening) await opening
    }
    const beef = Beef.from(request.beef)
    const { subject } = beef
    try {
      const submission = new Submission(this.#context, { beef, offChainValues, mode, client })
      const steak = await this.#mutex.run(bytesKey(subject), () => submission.submit(topics))
      const settling = this.#isWorker && this.#reevaluations.settle()
      if (settling) await settling
      const delivering = this.outbox.settled(topics.filter(topic => hasChanges(steak[topic])) as Topic[])
      if (delivering) await delivering
      for (const topic of topics) this.failures.set(subject, topic, steak[topic]?.error)
      return steak
    } catch (error) {
      this.failures.add(subject, topics, error)
      throw error
    }
  }

  /**
   * Indexes the subject of a BEEF and gives it to the network, without topics. Throws as `submit` does. `token` is the SHA-256
   * of the token that its statuses are asked for by, in hex.
   */
  async relay({ beef: given, client, token }: RelayRequest): Promise<Txid> {
    await this.#throttle.next()
    const beef = Beef.from(given)
    const submission = new Submission(this.#context, {
      beef,
      offChainValues: undefined,
      mode: 'current-tx',
      client,
      token
    })
    await this.#mutex.run(bytesKey(beef.subject), () => submission.relay())
    return beef.subject
  }

  /** Submits a transaction that a source or a peer supplied. Throws when a topic fails, so that the caller retries. */
  async admit(
    request: SubmissionRequest,
    mode: Exclude<Mode, 'current-tx'> = 'historical-tx'
  ): Promise<Steak> {
    const steak = await this.submit(request, mode)
    for (const [topic, { error }] of Object.entries(steak)) {
      if (error) throw new QuoinError('ERR_TOPIC_FAILED', error.message, { topic })
    }
    return steak
  }

  /** Runs due re-evaluations: after each submission, and every second once started. */
  async settle(): Promise<void> {
    if (this.#isWorker) await this.#reevaluations.settle()
  }

  async #reevaluate(txid: Txid): Promise<boolean> {
    const { transactions, store } = this.outputs
    if (!(await this.admissions(txid))) return false
    const [isVerified] = await transactions.areVerified([txid])
    const submission = new Submission(this.#context, {
      beef: Beef.of(await transactions.ancestry([txid])),
      offChainValues: await readOffChainValues(store, txid),
      // A transaction that was accepted without verification stays unverified.
      mode: isVerified ? 'historical-tx' : 'historical-tx-no-spv'
    })
    return submission.reevaluate()
  }

  async #readmit(update: TxUpdate, transaction: Transaction, topic: Topic, vout: number): Promise<void> {
    const { coinsToRetain = [] } = (await this.admissions(transaction.txid))?.[topic] ?? {}
    const inputs = spentBy(transaction, coinsToRetain)
    const coins = await previousCoins(this.outputs, transaction, [topic])
    await admitOutputs(update, this.lookups, {
      transaction,
      topic,
      vouts: [vout],
      inputs,
      previousCoins: coins.get(topic)!,
      isRestored: true
    })
  }

  /** Answers a question: outputs with their proofs. */
  async lookup(service: string, query: unknown): Promise<AnsweredOutput[]> {
    const lookup = this.lookups.get(service)
    if (!lookup)
      throw new QuoinError('ERR_LOOKUP_UNKNOWN', `no lookup service is called ${service}`, { service })
    const results: readonly LookupResult[] = isQuoinLookup(lookup)
      ? await lookup.lookup(query)
      : (await lookup.lookup({ service, query })).map(each => ({
          outpoint: parseOutpoint(`${each.txid}.${each.outputIndex}`),
          ...(each.history !== undefined && { history: each.history }),
          ...(each.context && { context: Uint8Array.from(each.context) })
        }))
    return answerAll(this.outputs, results)
  }

  /**
   * Saves the proof of a stored transaction: it is checked, and the transaction moves to its position in the chain. One that was
   * rolled back because the network refused it is admitted again.
   */
  async handleNewMerkleProof(txid: Txid, bump: Bump): Promise<void> {
    try {
      await this.proofs.save(txid, bump)
    } catch (error) {
      const kept = hasCode(error, 'ERR_TX_UNKNOWN') ? await this.#keptOf(txid) : undefined
      if (!kept) throw error
      const beef = Beef.of([{ txid, transaction: parseTransaction(fromHex(kept.raw)), bump }])
      const topics = kept.topics.filter(topic => this.topics.has(topic))
      if (topics.length > 0) await this.admit({ beef, topics })
      else await this.indexer.index(beef)
    }
  }

  async #keptOf(txid: Txid): Promise<BroadcastRecord['kept']> {
    const record = await this.outputs.store.use(broadcasts.collections.record).get(txid)
    return record?.status === 'rejected' ? record.kept : undefined
  }

  /** Removes an output from all topics and from the index, for the operator. Returns whether it was known. */
  async evict(outpoint: Outpoint): Promise<boolean> {
    const [known] = await this.outputs.loadOutputs([outpoint], { includeTopics: true })
    if (!known) return false
    const [txid, vout, topics] = [txidOf(outpoint), voutOf(outpoint), known.topics ?? []]
    const update = new TxUpdate(txid).erase(vout)
    for (const topic of topics) update.removeFromTopic(topic, vout, 'evicted')
    update.addWrites(batch =>
      batch
        .use(evictions)
        .at(txid, vout)
        .set(Date.now() / 1000)
    )
    await this.outputs.commit(update)
    const delivering = this.outbox.settled(topics)
    if (delivering) await delivering
    return true
  }

  /** The admissions of a transaction by topic; undefined when no topic has evaluated it. */
  admissions(txid: Txid): Promise<Admissions | undefined> {
    return this.outputs.store.use(admissions).get(txid)
  }

  /** The admissions of each transaction, in order. */
  admissionsOf(txids: readonly Txid[]): Promise<(Admissions | undefined)[]> {
    return this.outputs.store.use(admissions).getMany(txids.map(txid => [txid]))
  }

  /** Lookup services with a pending delivery of a transaction, with the reason if one failed. */
  async undelivered(txid: Txid): Promise<{ service: string; reason: string | undefined }[]> {
    const topics = Object.keys((await this.admissions(txid)) ?? {})
    return this.outbox.undelivered(txid, topics as Topic[])
  }

  topicMetaData(): Promise<Record<string, MetaData>> {
    return metaDataOf(this.topics)
  }

  lookupMetaData(): Promise<Record<string, MetaData>> {
    return metaDataOf(this.lookups)
  }
}

/** Whether the membership of the topic changed. */
const hasChanges = (answer: TopicAnswer | undefined): boolean =>
  answer !== undefined &&
  answer.outputsToAdmit.length + answer.coinsToRetain.length + answer.coinsRemoved.length > 0

const metaDataOf = async (
  plugins: Iterable<[string, AnyTopic | AnyLookup]>
): Promise<Record<string, MetaData>> =>
  Object.fromEntries(
    await Promise.all([...plugins].map(async ([name, each]) => [name, await each.getMetaData()]))
  )
