/** One submission on its way: verified, judged by each topic, and committed whole. */
import {
  type Beef,
  type BeefTransaction,
  type RootTracker,
  type Transaction,
  type Verified,
  verifyBeef,
  writeBeef
} from '../chain/index.ts'
import {
  formatOutpoint,
  formatTxid,
  makeOutpoint,
  type Outpoint,
  QuoinError,
  type Topic,
  txidOf,
  voutOf
} from '../keyspace/index.ts'
import { Change, type Intake, indexTransaction, type OutputStore, takeIn } from '../txo/index.ts'
import { judge } from './judge.ts'
import { type Judgement, type Judgements, overlay } from './keys.ts'
import type { Notices } from './notices.ts'
import { leavingWith } from './removal.ts'
import { answerOf, failureOf, type Steak } from './steak.ts'
import { type AnyLookup, type AnyTopic, isQuoinLookup, type Mode, type PreviousCoin } from './types.ts'

/** Sends a transaction to the network; throws when that does not take it. */
export type Broadcast = (transaction: Transaction, beef: Uint8Array) => Promise<void>

export interface Submitting {
  readonly outputs: OutputStore
  readonly tracker: RootTracker
  readonly topics: ReadonlyMap<string, AnyTopic>
  readonly lookups: ReadonlyMap<string, AnyLookup>
  readonly notices: Notices
  readonly index: boolean | { readonly tags: readonly string[] }
  readonly broadcast: Broadcast | undefined
  readonly topicTimeout: number
}

export interface Given {
  readonly beef: Beef
  readonly bytes: Uint8Array
  readonly offChainValues: Uint8Array | undefined
  readonly mode: Mode
}

const { judgements } = overlay.collections
/** What it rests on may be taken back while it is looked at. */
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
        const isLate = error instanceof QuoinError && error.code === 'ERR_TX_UNKNOWN'
        if (!isLate || attempt === ATTEMPTS) throw error
      }
    }
  }

  async #judge(topics: readonly string[]): Promise<Steak> {
    const { outputs } = this.#context
    const { beef } = this.#given
    const before = (await outputs.store.use(judgements).get(beef.subject)) ?? {}
    const open = topics.filter(topic => !Object.hasOwn(before, topic))
    if (open.length === 0) return steakOf(topics, before, new Map())
    const verified = await this.#verified()
    const subject = beef.find(beef.subject)?.transaction ?? (await outputs.transactions.get(beef.subject))
    if (!subject) throw new QuoinError('ERR_TX_UNKNOWN', 'the transaction itself is not given')
    const coins = await this.#previousCoins(subject, open)
    const { judged, failed } = await this.#askAll(subject, open, coins)
    if (Object.keys(judged).length > 0) await this.#commit(subject, verified, before, judged)
    return steakOf(topics, { ...before, ...judged }, failed)
  }

  #verified(): Promise<Verified> | Verified {
    const { beef, mode } = this.#given
    const { outputs, tracker } = this.#context
    return mode === 'historical-tx-no-spv'
      ? onTrust(beef)
      : verifyBeef(beef, { tracker, known: outputs.transactions.known })
  }

  /** By topic, the inputs that spend outputs which it has. */
  async #previousCoins(
    subject: Transaction,
    topics: readonly string[]
  ): Promise<ReadonlyMap<string, readonly PreviousCoin[]>> {
    const outpoints = subject.inputs.map(({ txid, vout }) => makeOutpoint(txid, vout))
    const loaded = await this.#context.outputs.loadOutputs(outpoints, {
      includeTopics: true,
      includeOutput: true
    })
    return new Map(
      topics.map(topic => [
        topic,
        loaded.flatMap((each, input) =>
          each?.topics?.includes(topic as Topic) && each.output
            ? [{ input, outpoint: each.outpoint, output: each.output }]
            : []
        )
      ])
    )
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
  async #beefFor(subject: Transaction, coins: readonly PreviousCoin[]): Promise<Uint8Array> {
    const { beef, bytes } = this.#given
    if (coins.length === 0 || !beef.find(subject.txid)?.bump) return bytes
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
    const { outputs, broadcast, notices } = this.#context
    const { mode, bytes, offChainValues } = this.#given
    const intake = await takeIn(outputs, subject, verified, { verified: mode !== 'historical-tx-no-spv' })
    if (broadcast && mode === 'current-tx' && !intake.position) await broadcast(subject, bytes)
    const change = this.#changeOf(subject, intake)
    const leaving: Change[] = []
    const all: Record<string, Judgement> = { ...before }
    for (const [topic, judgement] of Object.entries(judged)) {
      const removed = await this.#admit(change, subject, topic as Topic, judgement)
      for (const outpoint of removed) {
        leaving.push(new Change(txidOf(outpoint)).expel(topic as Topic, voutOf(outpoint)))
      }
      all[topic] =
        removed.length > 0
          ? { ...judgement, forgotten: removed.map(outpoint => formatOutpoint(outpoint)) }
          : judgement
    }
    intake.complete(change)
    change.also(batch => {
      batch.use(judgements).at(subject.txid).set(all)
      notices.enqueueIn(batch, subject.txid, offChainValues)
    })
    await outputs.commit(...intake.changes, change, ...leaving)
    await notices.deliver(subject.txid)
  }

  /** All its outputs and what they mean, or as much as the overlay itself needs. */
  #changeOf(subject: Transaction, { position, source }: Intake): Change {
    const { index } = this.#context
    if (index) {
      const tags = index === true ? undefined : index.tags
      return indexTransaction(subject, { position, tags, sources: source })
    }
    const change = new Change(subject.txid, { position, vouts: subject.outputs.length })
    if (subject.isCoinbase) return change
    for (const { txid, vout } of subject.inputs) change.spend(makeOutpoint(txid, vout))
    return change
  }

  /** Puts what a topic said into the change; answers the outputs that leave it. */
  async #admit(
    change: Change,
    transaction: Transaction,
    topic: Topic,
    judgement: Judgement
  ): Promise<Outpoint[]> {
    const { outputs, lookups } = this.#context
    const outpointOf = (input: number): Outpoint => {
      const { txid, vout } = transaction.inputs[input]!
      return makeOutpoint(txid, vout)
    }
    change.apply(topic)
    const inputs = judgement.previousCoins.map(outpointOf)
    for (const vout of judgement.outputsToAdmit) {
      const output = transaction.outputs[vout]!
      const outpoint = makeOutpoint(transaction.txid, vout)
      change.admit(topic, vout, { inputs }).output(vout, { satoshis: output.satoshis })
      for (const lookup of lookups.values()) {
        if (!isQuoinLookup(lookup) || (lookup.topics && !lookup.topics.includes(topic))) continue
        const said = await lookup.index({
          topic,
          transaction,
          outpoint,
          output,
          offChainValues: this.#given.offChainValues
        })
        if (said) change.output(vout, said)
      }
    }
    return leavingWith(outputs, topic, judgement.coinsRemoved.map(outpointOf))
  }
}

const steakOf = (
  topics: readonly string[],
  judged: Judgements,
  failed: ReadonlyMap<string, unknown>
): Steak =>
  Object.fromEntries(
    topics.map(topic => [topic, failed.has(topic) ? failureOf(failed.get(topic)) : answerOf(judged[topic]!)])
  )

/** What a BEEF says, with nothing checked but its form. */
const onTrust = ({ transactions }: Beef): Verified => ({
  transactions: transactions.flatMap(({ transaction }) => transaction ?? []),
  proofs: transactions.flatMap(({ txid, bump }) => (bump ? [{ txid, bump }] : []))
})
