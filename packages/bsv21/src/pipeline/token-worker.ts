/**
 * The fourth stage (seed 003, token processing): the outputs in the queue of a token, each by having its transaction
 * judged by the token's topic. The engine makes the order of no account: what is judged before the outputs that it
 * spends is judged again after them. So many are worked on at once, except that one that spends another which is being
 * worked on lets that go first, which saves the second judgement.
 */
import { type Beef, type BeefTransaction, bytesKey } from '@quoin/chain'
import { type Outpoint, type TokenId, type Txid, txidOf } from '@quoin/keyspace'
import type { Engine } from '@quoin/overlay'
import { QuoinError, TickThrottle } from '@quoin/primitives'
import { type Lease, pollQueue, type Queue } from '@quoin/store'
import { claimsOf } from '../rules.ts'
import type { TransactionSource } from '../source/source.ts'
import { topicOf } from '../topic-names.ts'
import { acknowledgeAll, ifLost } from './acknowledge.ts'
import { type Arrivals, type Assembled, beefOf } from './arrivals.ts'
import { fetchInto } from './dispatch.ts'
import { failureOf } from './failure.ts'
import { type Clock, discoveryQueue, queueOfToken } from './queues.ts'
import { Underway } from './underway.ts'

const LEASE_SECONDS = 120
/** Inputs of a refused transaction that are asked for. */
const MAX_FETCHES = 100

interface Worked {
  readonly txid: Txid
  readonly leases: readonly Lease<Outpoint>[]
  /**
   * What the index has now: the transaction and what it rests on; of that, what has tokens is worked on for itself. None
   * when it was handed back.
   */
  readonly taken: readonly BeefTransaction[]
}

export interface TokenWorkerOptions {
  readonly engine: Engine
  readonly arrivals: Arrivals
  readonly now: Clock
  /** For what nobody brought. */
  readonly fetch?: TransactionSource | undefined
}

export class TokenWorker {
  readonly #engine: Engine
  readonly #arrivals: Arrivals
  readonly #throttle = new TickThrottle()
  readonly #now: Clock
  readonly #fetch: TransactionSource | undefined
  readonly #discovered: Queue<Txid>
  /** By token and transaction. */
  readonly #underway = new Underway()

  constructor({ engine, arrivals, now, fetch }: TokenWorkerOptions) {
    this.#now = now
    this.#engine = engine
    this.#arrivals = arrivals
    this.#fetch = fetch
    this.#discovered = discoveryQueue(engine.outputs.store, now)
  }

  /** Works on up to so many outputs that are due; answers how many that were. */
  async work(token: TokenId, limit: number): Promise<number> {
    const { store } = this.#engine.outputs
    const queue = queueOfToken(store, token, this.#now)
    const leases = await pollQueue(queue, limit, LEASE_SECONDS)
    const announced = byTransaction(leases).map(ofOne => ({
      leases: ofOne,
      work: this.#underway.announce(nameOf(token, txidOf(ofOne[0]!.item)))
    }))
    const all = await this.#throttle.map(announced, each =>
      each.work(() => this.#workOn(token, queue, each.leases))
    )
    const worked = all.filter(each => each !== undefined)
    await acknowledgeAll(
      store,
      queue,
      worked.map(each => ({
        leases: each.leases,
        write: batch => {
          for (const { txid } of each.taken) this.#arrivals.removeIn(batch, txid)
        }
      }))
    )
    await this.#lookAgain(
      token,
      worked.filter(({ taken }) => taken.length > 0).map(({ txid }) => txid)
    )
    return leases.length
  }

  /** What is done; undefined when it failed. */
  async #workOn(
    token: TokenId,
    queue: Queue<Outpoint>,
    leases: readonly Lease<Outpoint>[]
  ): Promise<Worked | undefined> {
    const txid = txidOf(leases[0]!.item)
    let assembled: Assembled | undefined
    try {
      assembled = await this.#arrivals.assemble(txid, ({ inputs }) =>
        this.#underway.finished(inputs.map(input => nameOf(token, input.txid)))
      )
      if (assembled.missing) {
        // It was taken back since, or something that it rests on: the stage before knows how to wait for it.
        await this.#discovered.enqueue(txid, this.#now())
        return { txid, leases, taken: [] }
      }
      const { subject, ancestors } = assembled
      await this.#submit(token, txid, beefOf(assembled))
      const plain = ancestors.filter(({ transaction }) => claimsOf(transaction!).size === 0)
      return { txid, leases, taken: [subject, ...plain] }
    } catch (error) {
      const failure = await failureOf(error, assembled, this.#engine)
      for (const lease of leases) await queue.fail(lease, failure).catch(ifLost)
      return undefined
    }
  }

  async #submit(token: TokenId, txid: Txid, beef: Beef): Promise<void> {
    const topic = topicOf(token)
    const steak = await this.#engine.submit({ beef, topics: [topic] }, 'historical-tx')
    const failed = steak[topic]?.error
    if (failed) throw new QuoinError('ERR_TOPIC_FAILED', failed.message, { topic })
    if (steak[topic]!.outputsToAdmit.length === 0) await this.#fetchParents(txid)
  }

  /** What was taken back and came again meanwhile found its item worked on. */
  async #lookAgain(token: TokenId, txids: readonly Txid[]): Promise<void> {
    const judged = await this.#engine.judgementsOf(txids)
    for (const [i, txid] of txids.entries()) {
      if (judged[i]?.[topicOf(token)] || !(await this.#arrivals.has(txid))) continue
      await this.#discovered.enqueue(txid, this.#now())
    }
  }

  #fetchInto(source: TransactionSource, txid: Txid): Promise<boolean> {
    return fetchInto(this.#engine.outputs, this.#arrivals, this.#discovered, source, txid, this.#now())
  }

  /** What is refused may be good with outputs that nobody brought: whatever it spends and is not here is asked for. */
  async #fetchParents(txid: Txid): Promise<void> {
    const source = this.#fetch
    const transaction = source && (await this.#engine.outputs.transactions.get(txid))
    if (!transaction) return
    for (const { txid: parent } of transaction.inputs.slice(0, MAX_FETCHES)) {
      if (await this.#arrivals.has(parent)) continue
      if (!(await this.#fetchInto(source, parent))) continue
      const fetched = await this.#arrivals.load(parent)
      if (fetched && claimsOf(fetched.transaction!).size > 0) continue
      const batch = this.#engine.outputs.store.batch()
      this.#arrivals.removeIn(batch, parent)
      await batch.commit()
    }
  }
}

const nameOf = (token: TokenId, txid: Txid): string => `${token} ${bytesKey(txid)}`

/** In the order in which they were leased. */
const byTransaction = (leases: readonly Lease<Outpoint>[]): Lease<Outpoint>[][] => {
  const found = new Map<string, Lease<Outpoint>[]>()
  for (const lease of leases) {
    const name = bytesKey(txidOf(lease.item))
    const all = found.get(name)
    if (all) all.push(lease)
    else found.set(name, [lease])
  }
  return [...found.values()]
}
