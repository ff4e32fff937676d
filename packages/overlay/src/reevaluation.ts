/**
 * The re-evaluation queue makes the state of a topic independent of the order in which transactions arrive.
 *
 * A transaction that is evaluated before its parent is evaluated without the parent's coins: once the parent is admitted,
 * it is evaluated again, and then its spenders. A coin that a spender removed from a topic is admitted again when the
 * spender is rolled back. Each item is enqueued in the commit that causes it.
 */
import type { Transaction } from '@quoin/chain'
import {
  bytesKey,
  formatOutpoint,
  formatTxid,
  hasCode,
  makeOutpoint,
  type Outpoint,
  parseOutpoint,
  reasonOf,
  Task,
  type Topic,
  type Txid,
  toHex,
  txidOf,
  voutOf
} from '@quoin/primitives'
import { type Batch, type Lease, type Queue, WORK_LEASE_SECONDS, whileLeased } from '@quoin/store'
import { type OutputStore, TxUpdate } from '@quoin/txo'
import { type Admissions, admissions, evictions, readmissionQueue, reevaluationQueue } from './keys.ts'
import { healthLog, type Logger } from './logger.ts'

const BATCH_SIZE = 100
const POLL_MS = 1000
/** Outputs visited in search of a transaction that removed one. */
const MAX_VISITED = 10_000

export interface ReevaluationSteps {
  /** Evaluates a transaction again if its coins have changed; returns whether they had. */
  readonly reevaluate: (txid: Txid) => Promise<boolean>
  /** Adds an output that a topic admits again to an update. */
  readonly readmit: (update: TxUpdate, transaction: Transaction, topic: Topic, vout: number) => Promise<void>
}

/** Outputs that became coins of a topic, or ceased to be. */
interface ChangedOutputs {
  readonly topic: string
  readonly outpoints: readonly Outpoint[]
}

export class ReevaluationQueue {
  readonly #outputs: OutputStore
  readonly #steps: ReevaluationSteps
  readonly #logger: Logger
  readonly #reevaluations: Queue<Txid>
  readonly #readmissions: Queue<Outpoint>
  /** True until the first pass has checked for items of a previous run, and after each enqueue. */
  #isDue = true
  /** Time of the last failure, in unix milliseconds. */
  #failedAt: number | undefined
  readonly #task: Task

  constructor(outputs: OutputStore, steps: ReevaluationSteps, logger: Logger) {
    const options = { attempts: 20, backoff: 1, backoffLimit: 300 }
    this.#outputs = outputs
    this.#steps = steps
    this.#logger = logger
    this.#reevaluations = outputs.store.queueAt(reevaluationQueue, [], options)
    this.#readmissions = outputs.store.queueAt(readmissionQueue, [], options)
    this.#task = new Task({
      name: 're-evaluation',
      interval: POLL_MS,
      onHealthChange: healthLog(logger, 'the re-evaluation of transactions', {}),
      work: () => this.#work()
    })
  }

  /**
   * Part of the commit of admissions. Enqueues the spenders of outputs that became coins or ceased to be coins, and the
   * outputs that the transaction removed before and does not remove any more.
   */
  enqueueSpendersIn(
    batch: Batch,
    txid: Txid,
    before: Admissions,
    admitted: Admissions
  ): Promise<void> | undefined {
    const changes: ChangedOutputs[] = []
    for (const [topic, { outputsToAdmit, forgotten = [] }] of Object.entries(admitted)) {
      const old = before[topic]
      const restored = (old?.forgotten ?? []).filter(outpoint => !forgotten.includes(outpoint))
      this.#enqueueReadmissionsIn(batch, restored)
      const oldOutputs = old?.outputsToAdmit ?? []
      const changed = [
        ...outputsToAdmit.filter(vout => !oldOutputs.includes(vout)),
        ...oldOutputs.filter(vout => !outputsToAdmit.includes(vout))
      ]
      if (changed.length > 0)
        changes.push({ topic, outpoints: changed.map(vout => makeOutpoint(txid, vout)) })
    }
    return changes.length > 0 ? this.#enqueueSpendersOf(batch, changes) : undefined
  }

  async #enqueueSpendersOf(batch: Batch, changes: readonly ChangedOutputs[]): Promise<void> {
    const spenders = await this.#outputs.spends(changes.flatMap(({ outpoints }) => outpoints))
    const topics = changes.flatMap(({ topic, outpoints }) => outpoints.map(() => topic))
    for (const [i, spender] of spenders.entries()) {
      if (!spender || !(await this.#admissionsOf(spender))[topics[i]!]) continue
      this.#reevaluations.enqueueIn(batch, spender, 0)
      this.#isDue = true
    }
  }

  /** Part of the commit that rolls back a transaction: the outputs that it removed are admitted again. */
  async enqueueRemovedIn(batch: Batch, txid: Txid): Promise<void> {
    for (const { forgotten = [] } of Object.values(await this.#admissionsOf(txid))) {
      this.#enqueueReadmissionsIn(batch, forgotten)
    }
  }

  #enqueueReadmissionsIn(batch: Batch, outpoints: readonly string[]): void {
    for (const outpoint of outpoints) {
      this.#readmissions.enqueueIn(batch, parseOutpoint(outpoint), 0)
      this.#isDue = true
    }
  }

  start(): void {
    this.#task.start()
  }

  async close(): Promise<void> {
    await this.settle()
    await this.#task.stop()
  }

  /** Works on all due items. Failed items are retried by later passes. */
  settle(): Promise<boolean> | undefined {
    const isRetryDue = this.#failedAt !== undefined && Date.now() > this.#failedAt + POLL_MS
    return this.#isDue || isRetryDue || this.#task.isRunning ? this.#task.runOnce() : undefined
  }

  /** A pass finds also items that another process enqueued or leased, and items of commits that landed after the last pass. */
  async #work(): Promise<void> {
    this.#failedAt = undefined
    try {
      for (const queue of this.#isDue ? [] : [this.#readmissions, this.#reevaluations]) {
        const { due, leased, waiting } = await queue.stats()
        if (due + leased + waiting > 0) this.#isDue = true
      }
      await this.#run()
    } catch (error) {
      this.#isDue = true
      this.#failedAt = Date.now()
      throw error
    }
  }

  async #run(): Promise<void> {
    while (this.#isDue) {
      this.#isDue = false
      await this.#serve(this.#readmissions, lease => this.#workOnReadmission(lease), formatOutpoint)
      await this.#serve(this.#reevaluations, lease => this.#workOnReevaluation(lease), formatTxid)
    }
  }

  async #serve<T>(
    queue: Queue<T>,
    work: (lease: Lease<T>) => Promise<void>,
    format: (item: T) => string
  ): Promise<void> {
    for (;;) {
      // A poll by a read would miss the items of a commit in flight; the commit of a lease follows it.
      const leases = await queue.lease(BATCH_SIZE, WORK_LEASE_SECONDS)
      if (leases.length === 0) return
      await whileLeased(queue, leases, async () => {
        for (const lease of leases) await this.#serveOne(queue, lease, work, format)
      })
    }
  }

  async #serveOne<T>(
    queue: Queue<T>,
    lease: Lease<T>,
    work: (lease: Lease<T>) => Promise<void>,
    format: (item: T) => string
  ): Promise<void> {
    try {
      await work(lease)
    } catch (error) {
      // Another process has the item.
      if (hasCode(error, 'ERR_STORE_LEASE_LOST')) return
      const reason = reasonOf(error)
      this.#logger.warn('re-evaluation failed', { item: format(lease.item), reason })
      this.#failedAt = Date.now()
      await queue.fail(lease, { outcome: 'retry', reason })
    }
  }

  /**
   * Repeats until the coins stay the same. An item in progress is not enqueued again, so it is acknowledged on the condition
   * that the transactions that it spends have not changed since the last evaluation.
   */
  async #workOnReevaluation(lease: Lease<Txid>): Promise<void> {
    const { store, transactions } = this.#outputs
    const inputs = (await transactions.get(lease.item))?.inputs ?? []
    const parents = new Map(inputs.map(({ txid }) => [bytesKey(txid), txid]))
    for (;;) {
      const expectUnchanged = await this.#outputs.recordsUnchanged([...parents.values()])
      if (await this.#steps.reevaluate(lease.item)) continue
      const batch = store.batch()
      expectUnchanged(batch)
      this.#reevaluations.acknowledgeIn(batch, lease)
      try {
        await batch.commit()
        return
      } catch (error) {
        if (!hasCode(error, 'ERR_STORE_PRECONDITION')) throw error
      }
    }
  }

  /** Looks again after the acknowledgement: a rollback during the work could not enqueue the item. */
  async #workOnReadmission(lease: Lease<Outpoint>): Promise<void> {
    await this.#readmit(lease.item)
    await this.#readmissions.acknowledge(lease)
    await this.#readmit(lease.item)
  }

  /** Admits an output to each topic that admitted it before and in which no descendant removes it any more. */
  async #readmit(outpoint: Outpoint): Promise<void> {
    const { store, transactions } = this.#outputs
    const [txid, vout] = [txidOf(outpoint), voutOf(outpoint)]
    const transaction = await transactions.get(txid)
    if (!transaction || (await store.use(evictions).get(txid, vout)) !== undefined) return
    for (const [name, { outputsToAdmit }] of Object.entries(await this.#admissionsOf(txid))) {
      const topic = name as Topic
      if (!outputsToAdmit.includes(vout) || (await this.#outputs.isInTopic(topic, outpoint))) continue
      if (await this.#isRemoved(topic, outpoint)) continue
      const update = new TxUpdate(txid).dependOn(txid)
      await this.#steps.readmit(update, transaction, topic, vout)
      await this.#outputs.commit(update)
    }
  }

  /** Whether a descendant of an output has removed it from the topic. */
  async #isRemoved(topic: Topic, outpoint: Outpoint): Promise<boolean> {
    const removed = formatOutpoint(outpoint)
    const visited = new Set<string>()
    let next = [outpoint]
    while (next.length > 0 && visited.size < MAX_VISITED) {
      const spenders = new Map<string, Txid>()
      for (const spender of await this.#outputs.spends(next)) {
        if (spender) spenders.set(toHex(spender), spender)
      }
      next = []
      for (const [key, spender] of spenders) {
        if (visited.has(key)) continue
        visited.add(key)
        const admission = (await this.#admissionsOf(spender))[topic]
        if (admission?.forgotten?.includes(removed)) return true
        for (const vout of admission?.outputsToAdmit ?? []) next.push(makeOutpoint(spender, vout))
      }
    }
    return false
  }

  async #admissionsOf(txid: Txid): Promise<Admissions> {
    return (await this.#outputs.store.use(admissions).get(txid)) ?? {}
  }
}
