/**
 * The overlay engine: takes transactions for topics, and answers questions about what they admitted.
 *
 * A submission is one commit over all its topics, and is answered after it (D4). The same transaction submitted at the
 * same time is worked on once, and submitted again gets the answer that it got before.
 */
import {
  Beef,
  type Bump,
  bytesKey,
  type Interpreter,
  type ProofSource,
  type RootTracker,
  sharedInterpreter,
  type Transaction
} from '@quoin/chain'
import {
  makeOutpoint,
  type Outpoint,
  parseOutpoint,
  QuoinError,
  TickThrottle,
  type Topic,
  type Txid,
  txidOf,
  voutOf
} from '@quoin/primitives'
import type { Batch } from '@quoin/store'
import { type OutputStore, Proofs, TxUpdate } from '@quoin/txo'
import { admitOutputs } from './admission.ts'
import { type AnsweredOutput, answerAll } from './answer.ts'
import type { DeliveryOptions } from './delivery/lookup-delivery.ts'
import { LookupOutbox } from './delivery/lookup-outbox.ts'
import { Failures } from './failures.ts'
import { overlay } from './keys.ts'
import { type Logger, SILENT } from './logger.ts'
import { SecondThoughts } from './second-thoughts.ts'
import type { Steak, TopicAnswer } from './steak.ts'
import { type Broadcast, Submission, type Submitting } from './submission.ts'
import { type TopicFamily, Topics } from './topics.ts'
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
  /** Topics that are made when somebody asks for them. */
  readonly families?: readonly TopicFamily[]
  readonly lookups?: Readonly<Record<string, AnyLookup>>
  /** Whether whatever is submitted is indexed too, with all its outputs: with these parsers, or all. */
  readonly index?: boolean | { readonly tags: readonly string[] }
  /** Sends transactions that are not mined to the network, before they are committed. */
  readonly broadcast?: Broadcast
  /** Where proofs come from when a reorg makes others void. */
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
  /** By the name of a lookup service: which topics it is told of, and which submissions wait for it. */
  readonly delivery?: Readonly<Record<string, DeliveryOptions>>
}

export interface Submitted {
  /** BEEF of version 1 or 2, or atomic; read, if it was already. */
  readonly beef: Uint8Array | Beef
  readonly topics: readonly string[]
  readonly offChainValues?: Uint8Array | undefined
  /** The client that submits; clients share the interpreter equally. Submissions without one are one client together. */
  readonly client?: string | undefined
}

/** Proofs are believed: for tests on one machine. */
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
  readonly topics: Topics
  readonly lookups: ReadonlyMap<string, AnyLookup>
  readonly interpreter: Interpreter
  readonly #options: EngineOptions
  readonly #tracker: RootTracker
  /** What lookup services in the form of `@bsv/overlay` are told, and how far. */
  readonly outbox: LookupOutbox
  readonly #secondThoughts: SecondThoughts
  /** Why submissions failed, as far as that is remembered. */
  readonly failures = new Failures()
  readonly #throttle = new TickThrottle()
  /** The last submission of each transaction that is being worked on. */
  readonly #running = new Map<string, Promise<unknown>>()

  constructor(options: EngineOptions) {
    const { outputs, tracker, topics = {}, lookups = {}, logger = SILENT } = options
    this.#options = options
    this.outputs = outputs
    this.interpreter = options.interpreter ?? sharedInterpreter()
    this.#tracker = tracker === 'scripts only' ? TRUSTING : tracker
    this.proofs = new Proofs(outputs, this.#tracker, options.proofs)
    this.topics = new Topics(topics, options.families ?? [])
    this.lookups = new Map(Object.entries(lookups))
    this.outbox = new LookupOutbox(outputs, this.lookups, {
      logger,
      delivery: options.delivery,
      timeout: options.lookupTimeout ?? 10_000,
      wait: options.lookupWait ?? 250
    })
    this.#secondThoughts = new SecondThoughts(
      outputs,
      {
        judge: txid => this.#inTurn(txid, () => this.#judgeAgain(txid)),
        admit: (change, transaction, topic, vout) => this.#admitAgain(change, transaction, topic, vout)
      },
      logger
    )
    outputs.onForget((batch, txid) => this.#secondThoughts.takenBackIn(batch, txid))
    outputs.onForget((batch, txid) => removeJudgementsIn(outputs, batch, txid))
  }

  /** Begins deliveries and re-evaluations from before this process. */
  start(): void {
    this.outbox.start()
    this.#secondThoughts.start()
  }

  /** Ends what is being worked on. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#running.values())
    await this.#secondThoughts.close()
    await this.outbox.close()
  }

  /**
   * Submits the subject of a BEEF to topics. The answer has what each topic did; when a topic failed, why. Throws when
   * the transaction itself is not to be had: malformed, invalid, in conflict with another, or a topic is not known.
   */
  async submit(submitted: Submitted, mode: Mode = 'current-tx'): Promise<Steak> {
    await this.#throttle.next()
    const topics = [...new Set(submitted.topics)]
    for (const topic of topics) {
      const opening = this.topics.open(topic)
      if (opening) await opening
    }
    const beef = submitted.beef instanceof Beef ? submitted.beef : Beef.parse(submitted.beef)
    const working = this.#inTurn(beef.subject, async () => {
      const given = { beef, offChainValues: submitted.offChainValues, mode, client: submitted.client }
      return new Submission(this.#submitting(), given).judge(topics)
    })
    try {
      const steak = await working
      await this.settle()
      const delivering = this.outbox.settled(topics.filter(topic => changes(steak[topic])) as Topic[])
      if (delivering) await delivering
      for (const topic of topics) this.failures.set(beef.subject, topic, steak[topic]?.error)
      return steak
    } catch (error) {
      this.failures.add(beef.subject, topics, error)
      throw error
    }
  }

  /**
   * Looks again at what has to be, because something came late or was taken back: done after each submission, and every
   * second once started.
   */
  settle(): Promise<void> {
    return this.#secondThoughts.settle()
  }

  #submitting(): Submitting {
    return {
      outputs: this.outputs,
      tracker: this.#tracker,
      topics: this.topics,
      lookups: this.lookups,
      secondThoughts: this.#secondThoughts,
      proofs: this.proofs,
      index: this.#options.index ?? false,
      broadcast: this.#options.broadcast,
      topicTimeout: this.#options.topicTimeout ?? 10_000,
      interpreter: this.interpreter
    }
  }

  async #judgeAgain(txid: Txid): Promise<boolean> {
    const { transactions, store } = this.outputs
    if (!(await this.judgements(txid))) return false
    const bytes = await transactions.beef(txid)
    const values = await store.use(overlay.collections.offChainValues).get(txid)
    const [isVerified] = await transactions.areVerified([txid])
    const given = {
      beef: Beef.parse(bytes),
      offChainValues: values === undefined ? undefined : new Uint8Array(Buffer.from(values, 'base64')),
      // What was taken on trust is not verified now.
      mode: isVerified ? 'historical-tx' : 'historical-tx-no-spv'
    } as const
    return new Submission(this.#submitting(), given).judgeAgain()
  }

  async #admitAgain(change: TxUpdate, transaction: Transaction, topic: Topic, vout: number): Promise<void> {
    const judged = (await this.judgements(transaction.txid))?.[topic]
    const inputs = (judged?.coinsToRetain ?? []).map(input => {
      const spent = transaction.inputs[input]!
      return makeOutpoint(spent.txid, spent.vout)
    })
    const { lookups } = this
    await admitOutputs(change, {
      lookups,
      transaction,
      topic,
      vouts: [vout],
      inputs,
      offChainValues: undefined,
      isRestored: true
    })
  }

  /** One after the other for one transaction. */
  async #inTurn<T>(txid: Txid, work: () => Promise<T>): Promise<T> {
    const name = bytesKey(txid)
    const before = this.#running.get(name)
    // If that fails, whoever submitted it is told; this one begins from what there is.
    const run = before ? before.then(work, work) : work()
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
    return answerAll(this.outputs, found)
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
    const change = new TxUpdate(txidOf(outpoint)).erase(vout)
    for (const topic of known.topics ?? []) change.removeFromTopic(topic, vout, 'evicted')
    const { evictions } = overlay.collections
    change.addWrites(batch =>
      batch
        .use(evictions)
        .at(txidOf(outpoint), vout)
        .set(Date.now() / 1000)
    )
    await this.outputs.commit(change)
    const delivering = this.outbox.settled(known.topics ?? [])
    if (delivering) await delivering
    return true
  }

  /** What the topics did with a transaction; undefined when none has seen it. */
  judgements(txid: Txid) {
    return this.outputs.store.use(overlay.collections.judgements).get(txid)
  }

  /** The same of many, in the order asked. */
  judgementsOf(txids: readonly Txid[]) {
    return this.outputs.store.use(overlay.collections.judgements).getMany(txids.map(txid => [txid]))
  }

  /** Lookup services that have yet to be told of a transaction, with the reason if one failed. */
  async undelivered(txid: Txid): Promise<{ service: string; reason: string | undefined }[]> {
    const judged = (await this.judgements(txid)) ?? {}
    return this.outbox.undelivered(txid, Object.keys(judged) as Topic[])
  }

  topicMetaData(): Promise<Record<string, MetaData>> {
    return metaData(this.topics)
  }

  lookupMetaData(): Promise<Record<string, MetaData>> {
    return metaData(this.lookups)
  }
}

/** Whether an answer says that the membership of the topic changed. */
const changes = (answer: TopicAnswer | undefined): boolean =>
  answer !== undefined &&
  answer.outputsToAdmit.length + answer.coinsToRetain.length + answer.coinsRemoved.length > 0

/** Part of the commit that rolls back a transaction. */
const removeJudgementsIn = async ({ store }: OutputStore, batch: Batch, txid: Txid): Promise<void> => {
  const { judgements, offChainValues, evictions } = overlay.collections
  const judged = await store.use(judgements).get(txid)
  if (!judged) return
  batch.use(judgements).at(txid).delete()
  batch.use(offChainValues).at(txid).delete()
  const vouts = new Set(Object.values(judged).flatMap(({ outputsToAdmit }) => outputsToAdmit))
  for (const vout of vouts) batch.use(evictions).at(txid, vout).delete()
}

const metaData = async (
  plugins: Iterable<[string, AnyTopic | AnyLookup]>
): Promise<Record<string, MetaData>> =>
  Object.fromEntries(
    await Promise.all([...plugins].map(async ([name, each]) => [name, await each.getMetaData()]))
  )
