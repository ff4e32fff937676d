/** One submission on its way: verified, judged by each topic, and committed whole. */

import {
  type Beef,
  type BeefTransaction,
  type Interpreter,
  type RootTracker,
  type Transaction,
  type Verified,
  verifyBeef,
  writeBeef
} from '@quoin/chain'
import {
  formatOutpoint,
  formatTxid,
  hasCode,
  makeOutpoint,
  type Outpoint,
  QuoinError,
  reasonOf,
  type Topic,
  txidOf,
  voutOf
} from '@quoin/primitives'

import {
  type IngestPlan,
  indexTransaction,
  type OutputStore,
  type Proofs,
  planIngest,
  TxUpdate
} from '@quoin/txo'
import { admitOutputs } from './admission.ts'
import { coinInputs, hasNewCoins, previousCoins } from './coins.ts'
import { judge } from './judge.ts'
import { type Judgement, type Judgements, overlay } from './keys.ts'
import { leavingWith } from './removal.ts'
import type { SecondThoughts } from './second-thoughts.ts'
import { standingJudgements } from './standing.ts'
import { answerOf, failureOf, type Steak } from './steak.ts'
import type { Topics } from './topics.ts'
import type { AnyLookup, Mode, PreviousCoin } from './types.ts'
import { evictedOutputs } from './verify.ts'

/** Sends a transaction to the network; throws when that does not take it. */
export type Broadcast = (transaction: Transaction, beef: Uint8Array) => Promise<void>

export interface Submitting {
  readonly outputs: OutputStore
  readonly tracker: RootTracker
  readonly topics: Topics
  readonly lookups: ReadonlyMap<string, AnyLookup>
  readonly secondThoughts: SecondThoughts
  readonly proofs: Proofs
  readonly index: boolean | { readonly tags: readonly string[] }
  readonly broadcast: Broadcast | undefined
  readonly topicTimeout: number
  readonly interpreter: Interpreter
}

export interface Given {
  readonly beef: Beef
  readonly offChainValues: Uint8Array | undefined
  readonly mode: Mode
  readonly client?: string | undefined
}

const NONE: ReadonlySet<number> = new Set()
const { judgements, offChainValues: valuesOf } = overlay.collections
/** Attempts at an evaluation whose coins another commit changes. */
const ATTEMPTS = 5

export class Submission {
  readonly #context: Submitting
  readonly #given: Given

  constructor(context: Submitting, given: Given) {
    this.#context = context
    this.#given = given
  }

  async judge(topics: readonly string[]): Promise<Steak> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#judge(topics)
      } catch (error) {
        const isStale = hasCode(error, 'ERR_STALE_READ')
        if (!isStale || attempt === ATTEMPTS) throw error
      }
    }
  }

  async #judge(topics: readonly string[]): Promise<Steak> {
    const { outputs } = this.#context
    const { beef } = this.#given
    const before = await outputs.store.run(standingJudgements(outputs, beef.subject))
    const open = topics.filter(topic => !Object.hasOwn(before, topic))
    const evicted = open.length < topics.length ? await evictedOutputs(outputs.store, beef.subject) : NONE
    if (open.length === 0) {
      await outputs.store.replicated()
      return steakOf(topics, before, new Map(), evicted)
    }
    const verified = await this.#verified()
    const subject = beef.find(beef.subject)?.transaction ?? (await outputs.transactions.get(beef.subject))
    if (!subject) throw new QuoinError('ERR_TX_UNKNOWN', 'the transaction itself is not given')
    const { judged, failed } = await this.#ask(subject, open, verified, before)
    return steakOf(topics, { ...before, ...judged }, failed, evicted)
  }

  /** Judges anew where the coins that it spends are others than they were; answers whether any were. */
  async judgeAgain(): Promise<boolean> {
    const { outputs, topics } = this.#context
    const { subject } = this.#given.beef
    const [before, transaction] = await Promise.all([
      outputs.store.run(standingJudgements(outputs, subject)),
      outputs.transactions.get(subject)
    ])
    if (!transaction) return false
    const names = Object.keys(before).filter(topic => topics.has(topic))
    const coins = await coinInputs(outputs, transaction, names)
    const open = names.filter(topic => !sameCoins(before[topic]!, coins.get(topic)!))
    if (open.length === 0) return false
    const { failed } = await this.#ask(transaction, open, await this.#verified(), before)
    for (const error of failed.values()) throw error
    return true
  }

  async #ask(
    subject: Transaction,
    open: readonly string[],
    verified: Verified,
    before: Judgements
  ): Promise<{ judged: Judgements; failed: ReadonlyMap<string, unknown> }> {
    const coins = await previousCoins(this.#context.outputs, subject, open)
    const { judged, failed } = await this.#askAll(subject, open, coins)
    if (Object.keys(judged).length > 0) await this.#commit(subject, verified, before, judged)
    return { judged, failed }
  }

  #verified(): Promise<Verified> | Verified {
    const { beef, mode, client } = this.#given
    const { outputs, tracker, interpreter } = this.#context
    return mode === 'historical-tx-no-spv'
      ? onTrust(beef)
      : verifyBeef(beef, { tracker, known: outputs.known, interpreter, client })
  }

  async #askAll(
    transaction: Transaction,
    topics: readonly string[],
    coins: ReadonlyMap<string, readonly PreviousCoin[]>
  ): Promise<{ judged: Judgements; failed: ReadonlyMap<string, unknown> }> {
    const { offChainValues, mode } = this.#given
    const outcomes = await Promise.allSettled(
      topics.map(async topic => {
        const previousCoins = coins.get(topic)!
        return judge(topic, this.#context.topics.get(topic)!, {
          transaction,
          previousCoins,
          offChainValues,
          mode,
          beef: () => this.#beefFor(transaction, previousCoins),
          timeout: this.#context.topicTimeout
        })
      })
    )
    const judged: Record<string, Judgement> = {}
    const failed = new Map<string, unknown>()
    for (const [i, outcome] of outcomes.entries()) {
      if (outcome.status === 'fulfilled') judged[topics[i]!] = outcome.value
      else failed.set(topics[i]!, outcome.reason)
    }
    return { judged, failed }
  }

  /** With the transactions of the previous coins, which a BEEF with a proof of the subject leaves out. */
  async #beefFor(subject: Transaction, coins: readonly PreviousCoin[]): Promise<Uint8Array | Beef> {
    const { beef } = this.#given
    if (coins.length === 0 || !beef.find(subject.txid)?.bump) return beef
    const { transactions } = this.#context.outputs
    const parents = new Map<string, BeefTransaction>()
    for (const each of await transactions.ancestry(coins.map(({ outpoint }) => txidOf(outpoint)))) {
      parents.set(formatTxid(each.txid), each)
    }
    return writeBeef({
      version: 1,
      transactions: [...parents.values(), { txid: subject.txid, transaction: subject, bump: undefined }]
    })
  }

  async #commit(
    subject: Transaction,
    verified: Verified,
    before: Judgements,
    judged: Judgements
  ): Promise<void> {
    const { outputs, broadcast, secondThoughts, proofs } = this.#context
    const { beef, mode, offChainValues } = this.#given
    const intake = planIngest(outputs, subject, verified, { verified: mode !== 'historical-tx-no-spv' })
    if (broadcast && mode === 'current-tx' && !intake.position) {
      await broadcast(subject, beef.bytes).catch(notTaken)
    }
    const change = await this.#updateOf(subject, intake)
    const leaving: TxUpdate[] = []
    const told: Record<string, Judgement> = {}
    const left = new Map<string, readonly number[]>()
    for (const [topic, judgement] of Object.entries(judged)) {
      const gone = before[topic] ? await this.#gone(subject, topic as Topic, before[topic]) : []
      left.set(topic, gone)
      change.markApplied(topic as Topic)
      await admitOutputs(change, {
        lookups: this.#context.lookups,
        transaction: subject,
        topic: topic as Topic,
        vouts: judgement.outputsToAdmit.filter(vout => !gone.includes(vout)),
        // Its history is what the topic keeps of what it consumes.
        inputs: spentBy(subject, judgement.coinsToRetain),
        offChainValues
      })
      const spent = spentBy(subject, judgement.coinsRemoved)
      const removed = spent.length > 0 ? await leavingWith(outputs, topic as Topic, spent) : []
      for (const vout of before[topic]?.outputsToAdmit ?? []) {
        if (judgement.outputsToAdmit.includes(vout)) continue
        change.removeFromTopic(topic as Topic, vout, 'refused')
      }
      for (const outpoint of removed) {
        leaving.push(new TxUpdate(txidOf(outpoint)).removeFromTopic(topic as Topic, voutOf(outpoint)))
      }
      told[topic] =
        removed.length > 0
          ? { ...judgement, forgotten: removed.map(outpoint => formatOutpoint(outpoint)) }
          : judgement
    }
    intake.complete(change)
    // What it spends may have been judged meanwhile; the commit holds only if what is read here stays so.
    change.addWrites(async batch => {
      if (Object.keys(before).length > 0) await this.#checkGone(subject, before, left)
      if (await outputs.store.run(hasNewCoins(outputs, subject, coinsOf(judged)))) throw staleRead(subject)
      batch
        .use(judgements)
        .at(subject.txid)
        .set({ ...before, ...told })
      if (offChainValues) {
        batch.use(valuesOf).at(subject.txid).set(Buffer.from(offChainValues).toString('base64'))
      }
      await secondThoughts.judgedIn(batch, subject.txid, before, told)
    })
    await outputs.commit(...intake.changes, change, ...leaving)
    if (mode !== 'historical-tx-no-spv') {
      for (const { txid, bump } of verified.proofs) await proofs.recheck(txid, bump)
    }
  }

  /** Outputs that a topic admitted before and that have left it since: judged again, they do not come back. */
  async #gone({ txid }: Transaction, topic: Topic, before: Judgement): Promise<number[]> {
    const vouts = before.outputsToAdmit
    const isIn = await Promise.all(
      vouts.map(vout => this.#context.outputs.isInTopic(topic, makeOutpoint(txid, vout)))
    )
    return vouts.filter((_, i) => !isIn[i])
  }

  async #checkGone(
    subject: Transaction,
    before: Judgements,
    left: ReadonlyMap<string, readonly number[]>
  ): Promise<void> {
    for (const [topic, gone] of left) {
      const judged = before[topic]
      if (judged && (await this.#gone(subject, topic as Topic, judged)).length !== gone.length)
        throw staleRead(subject)
    }
  }

  /** All its outputs and what they mean, or as much as the overlay itself needs. */
  async #updateOf(subject: Transaction, { position, sources }: IngestPlan): Promise<TxUpdate> {
    const { index } = this.#context
    if (index) {
      const tags = index === true ? undefined : index.tags
      return indexTransaction(subject, { position, tags, sources: await sources() })
    }
    const change = new TxUpdate(subject.txid, { position, vouts: subject.outputs.length })
    if (subject.isCoinbase) return change
    for (const { txid, vout } of subject.inputs) change.spend(makeOutpoint(txid, vout))
    return change
  }
}

/** What inputs of a transaction spend. */
const spentBy = ({ inputs }: Transaction, those: readonly number[]): Outpoint[] =>
  those.map(input => makeOutpoint(inputs[input]!.txid, inputs[input]!.vout))

const staleRead = ({ txid }: Transaction): QuoinError =>
  new QuoinError('ERR_STALE_READ', 'coins that the transaction was evaluated by changed; try again', {
    txid: formatTxid(txid)
  })

const coinsOf = (judged: Judgements): ReadonlyMap<string, readonly number[]> =>
  new Map(Object.entries(judged).map(([topic, { previousCoins: coins }]) => [topic, coins]))

const sameCoins = ({ previousCoins: judged }: Judgement, coins: readonly number[]): boolean =>
  judged.length === coins.length && coins.every((input, i) => input === judged[i])

const steakOf = (
  topics: readonly string[],
  judged: Judgements,
  failed: ReadonlyMap<string, unknown>,
  evicted: ReadonlySet<number>
): Steak =>
  Object.fromEntries(
    topics.map(topic => [
      topic,
      failed.has(topic) ? failureOf(failed.get(topic)) : answerOf(judged[topic]!, evicted)
    ])
  )

/** What a BEEF says, with nothing checked but its form. */
const onTrust = ({ transactions }: Beef): Verified => ({
  transactions: transactions.flatMap(({ transaction }) => transaction ?? []),
  proofs: transactions.flatMap(({ txid, bump }) => (bump ? [{ txid, bump }] : []))
})

/** Whoever sends to a network throws what it likes. */
const notTaken = (error: unknown): never => {
  if (error instanceof QuoinError) throw error
  throw new QuoinError('ERR_BROADCAST', reasonOf(error), { cause: error })
}
