/**
 * What has to be looked at again, so that a topic ends up the same in whatever order transactions came.
 *
 * A transaction that was judged before the one that it spends was judged without its coins: when that one comes, it is
 * judged again, and so are those that spend it in turn. A coin that left a topic because it was spent is there again
 * when the spender is taken back. That there is something to do is committed with its reason, in queues.
 */

import type { Transaction } from '@quoin/chain'
import {
  formatOutpoint,
  formatTxid,
  makeOutpoint,
  type Outpoint,
  parseOutpoint,
  reasonOf,
  SourceHealth,
  type Topic,
  type Txid,
  toHex,
  txidOf,
  voutOf
} from '@quoin/primitives'
import type { Batch, Queue } from '@quoin/store'
import { type OutputStore, TxUpdate } from '@quoin/txo'
import { type Judgements, overlay } from './keys.ts'
import { healthLog, type Logger } from './logger.ts'

const { judgements, evictions, judgeAgain, admitAgain } = overlay.collections
const AT_ONCE = 100
/** Seconds for so many. */
const LEASE = 300
/** Before what failed is tried again. */
const PAUSE_MS = 1000
/** Outputs that are looked at to find out what became of one. */
const WALK = 10_000

export interface Working {
  /** Judges a transaction again where its coins are others than they were; answers whether any were. */
  readonly judge: (txid: Txid) => Promise<boolean>
  /** Puts what is to be said of an output that a topic admits into a change. */
  readonly admit: (change: TxUpdate, transaction: Transaction, topic: Topic, vout: number) => Promise<void>
}

export class SecondThoughts {
  readonly #outputs: OutputStore
  readonly #working: Working
  readonly #logger: Logger
  readonly #health: SourceHealth
  readonly #judge: Queue<Txid>
  readonly #admit: Queue<Outpoint>
  /** Until it is known that there is nothing from before. */
  #isDue = true
  /** When something failed, in unix milliseconds: it is tried again. */
  #failed: number | undefined
  #timer: NodeJS.Timeout | undefined
  /** While there is something to do. */
  #settling: Promise<unknown> | undefined

  constructor(outputs: OutputStore, working: Working, logger: Logger) {
    const options = { attempts: 20, backoff: 1, backoffLimit: 300 }
    this.#outputs = outputs
    this.#working = working
    this.#logger = logger
    this.#health = new SourceHealth({ onChange: healthLog(logger, 'the re-evaluation of transactions', {}) })
    this.#judge = outputs.store.queueAt(judgeAgain, [], options)
    this.#admit = outputs.store.queueAt(admitAgain, [], options)
  }

  /**
   * Part of the commit of judgements: who spends outputs that are coins now and were not, or the other way round, has
   * to be judged again, and what left a topic before and does not now comes back.
   */
  async judgedIn(batch: Batch, txid: Txid, before: Judgements, judged: Judgements): Promise<void> {
    for (const [topic, { outputsToAdmit, forgotten = [] }] of Object.entries(judged)) {
      const old = before[topic]
      this.#comeBackIn(
        batch,
        (old?.forgotten ?? []).filter(outpoint => !forgotten.includes(outpoint))
      )
      const turned = [
        ...outputsToAdmit.filter(vout => !old?.outputsToAdmit.includes(vout)),
        ...(old?.outputsToAdmit ?? []).filter(vout => !outputsToAdmit.includes(vout))
      ]
      if (turned.length === 0) continue
      const spenders = await this.#outputs.spends(turned.map(vout => makeOutpoint(txid, vout)))
      const known = spenders.filter(spender => spender !== null)
      if (known.length > 0) await this.#turnIn(batch, topic, known)
    }
  }

  /** Those who spend are judged again, where the topic has judged them. */
  async #turnIn(batch: Batch, topic: string, spenders: readonly Txid[]): Promise<void> {
    for (const spender of spenders) {
      if (!(await this.#judgementsOf(spender))[topic]) continue
      this.#judge.enqueueIn(batch, spender, 0)
      this.#isDue = true
    }
  }

  /** Part of the commit that takes back a transaction. */
  async takenBackIn(batch: Batch, txid: Txid): Promise<void> {
    for (const { forgotten = [] } of Object.values(await this.#judgementsOf(txid))) {
      this.#comeBackIn(batch, forgotten)
    }
  }

  #comeBackIn(batch: Batch, outpoints: readonly string[]): void {
    for (const outpoint of outpoints) {
      this.#admit.enqueueIn(batch, parseOutpoint(outpoint), 0)
      this.#isDue = true
    }
  }

  /** Begins with what is there from before. */
  start(): void {
    this.#timer ??= setInterval(() => void this.#poll(), PAUSE_MS).unref()
    void this.settle()
  }

  /** Items that another process has queued or leased, or a commit that was under way when the queues were empty. */
  async #poll(): Promise<void> {
    try {
      for (const queue of [this.#admit, this.#judge]) {
        const { due, leased, waiting } = await queue.stats()
        if (due + leased + waiting > 0) this.#isDue = true
      }
    } catch (error) {
      this.#health.failed(reasonOf(error))
    }
    await this.settle()
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.settle()
  }

  /** Does what there is to do, if anything. What it cannot do now it does another time. */
  async settle(): Promise<void> {
    const isLater = this.#failed !== undefined && Date.now() > this.#failed + PAUSE_MS
    if (this.#isDue || isLater) {
      this.#isDue = true
      this.#failed = undefined
      const settling = (this.#settling ?? Promise.resolve())
        .then(() => this.#settle())
        .then(
          () => this.#health.succeeded(),
          error => {
            this.#failed = Date.now()
            this.#health.failed(reasonOf(error))
          }
        )
        .finally(() => {
          if (this.#settling === settling) this.#settling = undefined
        })
      this.#settling = settling
    }
    if (this.#settling) await this.#settling
  }

  #fail(item: string, error: unknown): string {
    const reason = reasonOf(error)
    this.#logger.warn('could not be looked at again', { item, reason })
    this.#failed = Date.now()
    return reason
  }

  async #settle(): Promise<void> {
    while (this.#isDue) {
      this.#isDue = false
      await this.#serve(this.#admit, outpoint => this.#admitAgain(outpoint), formatOutpoint)
      await this.#serve(
        this.#judge,
        async txid => {
          while (await this.#working.judge(txid)) {
            // Once more: what it spends may have changed since, and one that is worked on is not queued again.
          }
        },
        formatTxid
      )
    }
  }

  async #serve<T>(
    queue: Queue<T>,
    work: (item: T) => Promise<void>,
    format: (item: T) => string
  ): Promise<void> {
    for (;;) {
      // Not polled by a read: a commit that is under way may have the items, and a lease comes after it.
      const leases = await queue.lease(AT_ONCE, LEASE)
      if (leases.length === 0) return
      for (const lease of leases) {
        try {
          await work(lease.item)
          await queue.acknowledge(lease)
        } catch (error) {
          await queue.fail(lease, { outcome: 'retry', reason: this.#fail(format(lease.item), error) })
        }
      }
    }
  }

  /** Where a topic admitted an output, and nothing takes it out of the topic any more. */
  async #admitAgain(outpoint: Outpoint): Promise<void> {
    const { store, transactions } = this.#outputs
    const [txid, vout] = [txidOf(outpoint), voutOf(outpoint)]
    const transaction = await transactions.get(txid)
    if (!transaction || (await store.use(evictions).get(txid, vout)) !== undefined) return
    for (const [name, { outputsToAdmit }] of Object.entries(await this.#judgementsOf(txid))) {
      const topic = name as Topic
      if (!outputsToAdmit.includes(vout) || (await this.#outputs.isInTopic(topic, outpoint))) continue
      if (await this.#isForgotten(topic, outpoint)) continue
      const change = new TxUpdate(txid).dependOn(txid)
      await this.#working.admit(change, transaction, topic, vout)
      await this.#outputs.commit(change)
    }
  }

  /** Whether a transaction that rests on an output has made the topic forget it. */
  async #isForgotten(topic: Topic, outpoint: Outpoint): Promise<boolean> {
    const name = formatOutpoint(outpoint)
    const seen = new Set<string>()
    let next = [outpoint]
    while (next.length > 0 && seen.size < WALK) {
      const spenders = new Map<string, Txid>()
      for (const spender of await this.#outputs.spends(next))
        if (spender) spenders.set(toHex(spender), spender)
      next = []
      for (const [key, spender] of spenders) {
        if (seen.has(key)) continue
        seen.add(key)
        const judgement = (await this.#judgementsOf(spender))[topic]
        if (judgement?.forgotten?.includes(name)) return true
        for (const vout of judgement?.outputsToAdmit ?? []) next.push(makeOutpoint(spender, vout))
      }
    }
    return false
  }

  async #judgementsOf(txid: Txid): Promise<Judgements> {
    return (await this.#outputs.store.use(judgements).get(txid)) ?? {}
  }
}
