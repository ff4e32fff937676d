/**
 * One submission of a transaction to topics: its BEEF is verified, each topic evaluates the transaction, and the admissions
 * are committed with everything else that follows from them.
 */
import { Beef, type Transaction } from '@quoin/chain'
import {
  formatOutpoint,
  formatTxid,
  makeOutpoint,
  type Outpoint,
  QuoinError,
  reasonOf,
  type Topic,
  type Txid,
  txidOf,
  voutOf
} from '@quoin/primitives'
import type { Batch } from '@quoin/store'
import { type Indexer, type IngestPlan, type OutputStore, retryStale, TxUpdate } from '@quoin/txo'
import {
  admitOutputs,
  coinInputs,
  confirmedAdmissions,
  evictedOutputs,
  hasNewCoins,
  previousCoins,
  saveOffChainValuesIn
} from './admissions.ts'
import { evaluate } from './evaluate.ts'
import { type Admission, type Admissions, admissions } from './keys.ts'
import type { ReevaluationQueue } from './reevaluation.ts'
import { answerOf, failureOf, type Steak } from './steak.ts'
import { cascadeRemoval } from './topic-history.ts'
import type { Topics } from './topics.ts'
import type { AnyLookup, Mode, PreviousCoin } from './types.ts'

/**
 * Gives a transaction to the network before it is committed; throws when the network refuses it. The result writes its part
 * of the commit. `token` is the SHA-256 of the token that the submitter asks for statuses by, in hex.
 */
export type Broadcast = (
  transaction: Transaction,
  beef: Beef,
  token?: string | undefined
) => Promise<((batch: Batch) => void | Promise<void>) | undefined | void>

export interface SubmissionContext {
  readonly outputs: OutputStore
  readonly indexer: Indexer
  readonly topics: Topics
  readonly lookups: ReadonlyMap<string, AnyLookup>
  readonly reevaluations: ReevaluationQueue
  readonly broadcast: Broadcast | undefined
  readonly checkUnproved: ((txid: Txid) => Promise<void>) | undefined
  readonly topicTimeout: number
}

export interface SubmissionInput {
  readonly beef: Beef
  readonly offChainValues: Uint8Array | undefined
  readonly mode: Mode
  readonly client?: string | undefined
  readonly token?: string | undefined
}

interface Evaluations {
  readonly admitted: Admissions
  /** Errors by topic. */
  readonly failed: ReadonlyMap<string, unknown>
}

/** Outputs that a topic admitted before and that have left it since, by topic. */
type DepartedOutputs = ReadonlyMap<string, readonly number[]>

const NO_FAILURES: ReadonlyMap<string, unknown> = new Map()
const NO_OUTPUTS: ReadonlySet<number> = new Set()

export class Submission {
  readonly #context: SubmissionContext
  readonly #input: SubmissionInput
  /** Attempts that other commits make stale share it: the network is told once. */
  #broadcasting: ReturnType<Broadcast> | undefined

  constructor(context: SubmissionContext, input: SubmissionInput) {
    this.#context = context
    this.#input = input
  }

  /** Returns the admission of each topic, or the error of the topic. A topic that has evaluated the subject is not asked. */
  submit(topics: readonly string[]): Promise<Steak> {
    return retryStale(async () => {
      const { outputs } = this.#context
      const { subject } = this.#input.beef
      const stored = await confirmedAdmissions(outputs, subject)
      const open = topics.filter(topic => !Object.hasOwn(stored, topic))
      const evicted = open.length < topics.length ? await evictedOutputs(outputs.store, subject) : NO_OUTPUTS
      if (open.length === 0) {
        await outputs.store.replicated()
        return steakOf(topics, stored, NO_FAILURES, evicted)
      }
      const { admitted, failed } = await this.#admit(await this.#plan(), open, stored)
      return steakOf(topics, { ...stored, ...admitted }, failed, evicted)
    })
  }

  /** Evaluates the subject again in topics whose coins have changed; returns whether there were any. */
  async reevaluate(): Promise<boolean> {
    const { outputs, topics } = this.#context
    const { subject } = this.#input.beef
    const stored = await confirmedAdmissions(outputs, subject)
    const transaction = await outputs.transactions.get(subject)
    if (!transaction) return false
    const names = Object.keys(stored).filter(topic => topics.has(topic))
    const coins = await coinInputs(outputs, transaction, names)
    const open = names.filter(topic => !hasSameCoins(stored[topic]!, coins.get(topic)!))
    if (open.length === 0) return false
    const { failed } = await this.#admit(await this.#plan(), open, stored)
    for (const error of failed.values()) throw error
    return true
  }

  /** Indexes the subject and gives it to the network, without topics. */
  relay(): Promise<void> {
    return retryStale(async () => {
      const plan = await this.#plan()
      const writes = await this.#broadcast(plan)
      const update = await this.#context.indexer.update(plan)
      if (writes) update.addWrites(writes)
      await this.#context.indexer.commit(plan, update)
    })
  }

  /** The writes of a broadcast. A transaction of a peer or a source is not broadcast. */
  async #broadcast({ subject, position }: IngestPlan): ReturnType<Broadcast> {
    const { broadcast, checkUnproved } = this.#context
    if (position) return undefined
    if (this.#input.mode !== 'current-tx') {
      await checkUnproved?.(subject.txid)
      return undefined
    }
    if (!broadcast) return undefined
    this.#broadcasting ??= broadcast(subject, this.#input.beef, this.#input.token).catch(throwBroadcastError)
    return this.#broadcasting
  }

  get #isTrusted(): boolean {
    return this.#input.mode === 'historical-tx-no-spv'
  }

  #plan(): Promise<IngestPlan> {
    const { beef, client } = this.#input
    return this.#context.indexer.plan({ beef, client, isTrusted: this.#isTrusted })
  }

  /** Evaluates the subject in topics, and commits the admissions. */
  async #admit(plan: IngestPlan, topics: readonly string[], stored: Admissions): Promise<Evaluations> {
    const coins = await previousCoins(this.#context.outputs, plan.subject, topics)
    const evaluations = await this.#evaluate(plan.subject, topics, coins)
    if (Object.keys(evaluations.admitted).length > 0) {
      await this.#commit(plan, stored, evaluations.admitted, coins)
    }
    return evaluations
  }

  async #evaluate(
    transaction: Transaction,
    topics: readonly string[],
    coins: ReadonlyMap<string, readonly PreviousCoin[]>
  ): Promise<Evaluations> {
    const { offChainValues, mode } = this.#input
    const { topicTimeout: timeout } = this.#context
    const results = await Promise.allSettled(
      topics.map(name => {
        const previousCoins = coins.get(name)!
        const beef = () => this.#beefWith(transaction, previousCoins)
        const input = { transaction, previousCoins, offChainValues, mode, beef, timeout }
        return evaluate(name, this.#context.topics.get(name)!, input)
      })
    )
    const admitted: Record<string, Admission> = {}
    const failed = new Map<string, unknown>()
    for (const [i, result] of results.entries()) {
      if (result.status === 'fulfilled') admitted[topics[i]!] = result.value
      else failed.set(topics[i]!, result.reason)
    }
    return { admitted, failed }
  }

  /** The BEEF with the transactions of the previous coins, which a BEEF with a proof of the subject leaves out. */
  async #beefWith(subject: Transaction, coins: readonly PreviousCoin[]): Promise<Beef> {
    const { beef } = this.#input
    if (coins.length === 0 || !beef.find(subject.txid)?.bump) return beef
    const { transactions } = this.#context.outputs
    const parents = await transactions.ancestry(coins.map(({ outpoint }) => txidOf(outpoint)))
    return Beef.of([...parents, { txid: subject.txid, transaction: subject, bump: undefined }])
  }

  async #commit(
    plan: IngestPlan,
    stored: Admissions,
    admitted: Admissions,
    coins: ReadonlyMap<string, readonly PreviousCoin[]>
  ): Promise<void> {
    const { outputs, indexer, lookups, reevaluations } = this.#context
    const { offChainValues } = this.#input
    const { subject } = plan
    const broadcastWrites = concernsTopics(admitted) ? await this.#broadcast(plan) : undefined
    const update = await indexer.update(plan)
    if (broadcastWrites) update.addWrites(broadcastWrites)
    const removals: TxUpdate[] = []
    const next: Record<string, Admission> = {}
    const departed = new Map<string, readonly number[]>()
    for (const [name, admission] of Object.entries(admitted)) {
      const topic = name as Topic
      const before = stored[topic]
      const gone = before ? await this.#departedOutputs(subject.txid, topic, before) : []
      departed.set(topic, gone)
      await admitOutputs(update.markApplied(topic), lookups, {
        transaction: subject,
        topic,
        vouts: admission.outputsToAdmit.filter(vout => !gone.includes(vout)),
        // The history of an output is the retained coins of its transaction.
        inputs: spentBy(subject, admission.coinsToRetain),
        previousCoins: coins.get(name) ?? [],
        offChainValues
      })
      for (const vout of before?.outputsToAdmit ?? []) {
        if (!admission.outputsToAdmit.includes(vout)) update.removeFromTopic(topic, vout, 'refused')
      }
      const leaving = spentBy(subject, admission.coinsRemoved)
      const removed = leaving.length > 0 ? await cascadeRemoval(outputs, topic, leaving) : []
      for (const outpoint of removed) {
        removals.push(new TxUpdate(txidOf(outpoint)).removeFromTopic(topic, voutOf(outpoint)))
      }
      next[topic] =
        removed.length > 0
          ? { ...admission, forgotten: removed.map(outpoint => formatOutpoint(outpoint)) }
          : admission
    }
    update.addWrites(async batch => {
      await this.#assertFresh(subject, stored, next, departed)
      batch
        .use(admissions)
        .at(subject.txid)
        .set({ ...stored, ...next })
      if (offChainValues) saveOffChainValuesIn(batch, subject.txid, offChainValues)
      const enqueueing = reevaluations.enqueueSpendersIn(batch, subject.txid, stored, next)
      if (enqueueing) await enqueueing
    })
    await indexer.commit(plan, update, removals)
  }

  /** The commit holds only if these reads stay true: another commit may have changed the coins since the evaluation. */
  async #assertFresh(
    subject: Transaction,
    stored: Admissions,
    next: Admissions,
    departed: DepartedOutputs
  ): Promise<void> {
    const { outputs } = this.#context
    const coins = new Map(Object.entries(next).map(([topic, { previousCoins }]) => [topic, previousCoins]))
    let isStale = await outputs.store.run(hasNewCoins(outputs, subject, coins))
    for (const [topic, vouts] of departed) {
      const before = stored[topic]
      if (!before || isStale) continue
      isStale = (await this.#departedOutputs(subject.txid, topic as Topic, before)).length !== vouts.length
    }
    if (!isStale) return
    throw new QuoinError('ERR_STALE_READ', 'coins that the transaction was evaluated by changed; try again', {
      txid: formatTxid(subject.txid)
    })
  }

  /** Outputs that the topic admitted and no longer has. A re-evaluation does not admit them again. */
  async #departedOutputs(txid: Txid, topic: Topic, { outputsToAdmit }: Admission): Promise<number[]> {
    const departed: number[] = []
    for (const vout of outputsToAdmit) {
      if (!(await this.#context.outputs.isInTopic(topic, makeOutpoint(txid, vout)))) departed.push(vout)
    }
    return departed
  }
}

/** The outpoints that inputs of a transaction spend. */
export const spentBy = ({ inputs }: Transaction, indexes: readonly number[]): Outpoint[] =>
  indexes.map(index => makeOutpoint(inputs[index]!.txid, inputs[index]!.vout))

const hasSameCoins = ({ previousCoins }: Admission, coins: readonly number[]): boolean =>
  previousCoins.length === coins.length && coins.every((input, i) => input === previousCoins[i])

const steakOf = (
  topics: readonly string[],
  admitted: Admissions,
  failed: ReadonlyMap<string, unknown>,
  evicted: ReadonlySet<number>
): Steak =>
  Object.fromEntries(
    topics.map(topic => [
      topic,
      failed.has(topic) ? failureOf(failed.get(topic)) : answerOf(admitted[topic]!, evicted)
    ])
  )

/** Whether a topic admits an output or had a coin among the inputs; the network is not for transactions of no topic. */
const concernsTopics = (admitted: Admissions): boolean =>
  Object.values(admitted).some(
    ({ outputsToAdmit, previousCoins }) => outputsToAdmit.length + previousCoins.length > 0
  )

/** A broadcaster may throw a value of any type. */
const throwBroadcastError = (error: unknown): never => {
  if (error instanceof QuoinError) throw error
  throw new QuoinError('ERR_BROADCAST', reasonOf(error), { cause: error })
}
