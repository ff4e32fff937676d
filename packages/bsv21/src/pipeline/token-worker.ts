/**
 * The token stage (seed 003): submits the transactions of a token queue to the topic of the token. The engine accepts any
 * order, because it re-evaluates transactions after their parents. A transaction still awaits its in-flight parents, which
 * saves the re-evaluation.
 */
import type { Beef, BeefTransaction } from '@quoin/chain'
import type { Engine } from '@quoin/overlay'
import { bytesKey, type Outpoint, TickThrottle, type TokenId, type Txid, txidOf } from '@quoin/primitives'
import { type Lease, pollQueue, type Queue, WORK_LEASE_SECONDS, whileLeased } from '@quoin/store'
import { tokenOutputs } from '../rules.ts'
import type { TransactionSource } from '../source/source.ts'
import { topicOf } from '../topic-names.ts'
import { acknowledgeAll, ignoreLostLease } from './acknowledge.ts'
import { fetchInto } from './dispatcher.ts'
import { failureOf } from './failure.ts'
import { InFlight } from './in-flight.ts'
import { type Clock, discoveryQueue, queueOfToken } from './queues.ts'
import { type AncestryResult, beefOf, type StagedTransactions } from './staged-transactions.ts'

/** Parents fetched for one refused transaction. */
const MAX_FETCHES = 100

interface TokenWorkResult {
  readonly txid: Txid
  readonly leases: readonly Lease<Outpoint>[]
  /**
   * Transactions to remove from the staging area: the subject and its ancestors without tokens. Empty when the subject
   * went back to dispatch.
   */
  readonly indexed: readonly BeefTransaction[]
}

export interface TokenWorkerOptions {
  readonly engine: Engine
  readonly staged: StagedTransactions
  readonly now: Clock
  /** Source of missing parents. */
  readonly fetch?: TransactionSource | undefined
}

export class TokenWorker {
  readonly #engine: Engine
  readonly #staged: StagedTransactions
  readonly #throttle = new TickThrottle()
  readonly #now: Clock
  readonly #fetch: TransactionSource | undefined
  readonly #dispatchQueue: Queue<Txid>
  /** By token and txid. */
  readonly #inFlight = new InFlight()

  constructor({ engine, staged, now, fetch }: TokenWorkerOptions) {
    this.#now = now
    this.#engine = engine
    this.#staged = staged
    this.#fetch = fetch
    this.#dispatchQueue = discoveryQueue(engine.outputs.store, now)
  }

  /** Processes up to `limit` due outputs; returns their number. */
  async work(token: TokenId, limit: number): Promise<number> {
    const queue = queueOfToken(this.#engine.outputs.store, token, this.#now)
    const leases = await pollQueue(queue, limit, WORK_LEASE_SECONDS)
    await whileLeased(queue, leases, () => this.#workOn(token, queue, leases))
    return leases.length
  }

  async #workOn(token: TokenId, queue: Queue<Outpoint>, leases: readonly Lease<Outpoint>[]): Promise<void> {
    const { store } = this.#engine.outputs
    const tracked = byTransaction(leases).map(ofOne => ({
      leases: ofOne,
      run: this.#inFlight.track(keyOf(token, txidOf(ofOne[0]!.item)))
    }))
    const all = await this.#throttle.map(tracked, each =>
      each.run(() => this.#workOnTransaction(token, queue, each.leases))
    )
    const results = all.filter(each => each !== undefined)
    await acknowledgeAll(
      store,
      queue,
      results.map(each => ({
        leases: each.leases,
        write: batch => {
          for (const { txid } of each.indexed) this.#staged.removeIn(batch, txid)
        }
      }))
    )
    await this.#requeueRolledBack(
      token,
      results.filter(({ indexed }) => indexed.length > 0).map(({ txid }) => txid)
    )
  }

  /** Undefined when the transaction failed. */
  async #workOnTransaction(
    token: TokenId,
    queue: Queue<Outpoint>,
    leases: readonly Lease<Outpoint>[]
  ): Promise<TokenWorkResult | undefined> {
    const txid = txidOf(leases[0]!.item)
    let ancestry: AncestryResult | undefined
    try {
      ancestry = await this.#staged.assemble(txid, ({ inputs }) =>
        this.#inFlight.settled(inputs.map(input => keyOf(token, input.txid)))
      )
      if (ancestry.missing) {
        // Rolled back since dispatch, or an ancestor was: dispatch waits for the ancestors.
        await this.#dispatchQueue.enqueue(txid, this.#now())
        return { txid, leases, indexed: [] }
      }
      const { subject, ancestors } = ancestry
      await this.#submit(token, txid, beefOf(ancestry))
      const plain = ancestors.filter(({ transaction }) => tokenOutputs(transaction!).size === 0)
      return { txid, leases, indexed: [subject, ...plain] }
    } catch (error) {
      const failure = await failureOf(error, ancestry, this.#engine)
      for (const lease of leases) await queue.fail(lease, failure).catch(ignoreLostLease)
      return undefined
    }
  }

  async #submit(token: TokenId, txid: Txid, beef: Beef): Promise<void> {
    const topic = topicOf(token)
    const steak = await this.#engine.admit({ beef, topics: [topic] })
    if (steak[topic]!.outputsToAdmit.length === 0) await this.#fetchParents(txid)
  }

  /** Re-enqueues transactions that were rolled back and staged again during their lease, when `enqueue` had no effect. */
  async #requeueRolledBack(token: TokenId, txids: readonly Txid[]): Promise<void> {
    const admissions = await this.#engine.admissionsOf(txids)
    for (const [i, txid] of txids.entries()) {
      if (admissions[i]?.[topicOf(token)] || !(await this.#staged.has(txid))) continue
      await this.#dispatchQueue.enqueue(txid, this.#now())
    }
  }

  #fetchInto(source: TransactionSource, txid: Txid): Promise<boolean> {
    return fetchInto(this.#engine.outputs, this.#staged, this.#dispatchQueue, source, txid, this.#now())
  }

  /** Fetches the unknown parents of a refused transaction: their token outputs can make it valid. */
  async #fetchParents(txid: Txid): Promise<void> {
    const source = this.#fetch
    const transaction = source && (await this.#engine.outputs.transactions.get(txid))
    if (!transaction) return
    for (const { txid: parent } of transaction.inputs.slice(0, MAX_FETCHES)) {
      if (await this.#staged.has(parent)) continue
      if (!(await this.#fetchInto(source, parent))) continue
      const fetched = await this.#staged.load(parent)
      if (fetched && tokenOutputs(fetched.transaction!).size > 0) continue
      const batch = this.#engine.outputs.store.batch()
      this.#staged.removeIn(batch, parent)
      await batch.commit()
    }
  }
}

const keyOf = (token: TokenId, txid: Txid): string => `${token} ${bytesKey(txid)}`

/** Groups leases by transaction, in lease order. */
const byTransaction = (leases: readonly Lease<Outpoint>[]): Lease<Outpoint>[][] => {
  const found = new Map<string, Lease<Outpoint>[]>()
  for (const lease of leases) {
    const key = bytesKey(txidOf(lease.item))
    const group = found.get(key)
    if (group) group.push(lease)
    else found.set(key, [lease])
  }
  return [...found.values()]
}
