/**
 * Entries of membership logs that a lookup service failed to take: retried with backoff, dead letters after some
 * attempts. An output's later entries wait for its earlier ones, so that the calls of each output keep their order;
 * entries of other outputs do not wait.
 */
import type { Topic } from '@quoin/primitives'
import type { Batch, Lease, Queue, QueueStats } from '@quoin/store'
import type { MembershipEntry, OutputStore } from '@quoin/txo'
import { overlay } from '../keys.ts'
import { outputKeys } from './log-entry.ts'

const STATES = ['due', 'leased', 'waiting', 'dead'] as const
const PAGE = 1000
/** Milliseconds between attempts to lease entries that are leased or waiting. */
const LOOK_MS = 1000

/** Makes the calls of an entry; returns the reason of a failure. */
export type CallService = (topic: Topic, entry: MembershipEntry) => Promise<string | undefined>

/** Seconds before the second attempt, doubled for each one after it, and the most of them. */
export interface RetryOptions {
  readonly backoff: number
  readonly limit: number
}

const RETRY: RetryOptions = { backoff: 1, limit: 300 }

export class FailedEntries {
  readonly #outputs: OutputStore
  readonly #queue: Queue<string>
  readonly #keys = new Map<string, readonly string[]>()
  /** By output, its entries in the order in which they failed. */
  readonly #byOutput = new Map<string, Set<string>>()
  readonly #reasons = new Map<string, string>()
  /** When leased and waiting entries are leased again, by the clock of the process. */
  #nextLook = 0
  /** The end of the pause after a lease without items: the clock of the store may be behind. */
  #emptyUntil = 0

  constructor(outputs: OutputStore, service: string, { backoff, limit }: RetryOptions = RETRY) {
    this.#outputs = outputs
    const options = { attempts: 20, backoff, backoffLimit: limit }
    this.#queue = outputs.store.queueAt(overlay.collections.failedDeliveries, [service], options)
  }

  get size(): number {
    return this.#keys.size
  }

  stats(): Promise<QueueStats> {
    return this.#queue.stats()
  }

  /** Milliseconds until an entry can be tried again; undefined without one. */
  async pause(): Promise<number | undefined> {
    const { due, leased, waiting } = await this.#queue.stats()
    if (due > 0) {
      const [first] = (await this.#queue.list('due', { limit: 1 })).items
      const untilDue = first ? first.at * 1000 - Date.now() : 0
      return Math.max(0, untilDue, this.#emptyUntil - performance.now())
    }
    if (leased + waiting === 0) return undefined
    // A lease of a process that ended may have expired.
    const now = performance.now()
    if (now >= this.#nextLook) {
      this.#nextLook = now + LOOK_MS
      return 0
    }
    return this.#nextLook - now
  }

  /**
   * Reads the queue, by the process that delivers. Entries after the cursor of their topic come from the log again, since
   * a replay set the cursor back, and are dropped. Entries that wait for another one are due again: in the order of this
   * process another may be first.
   */
  async load(cursors: ReadonlyMap<Topic, number>): Promise<void> {
    this.clear()
    const found: { item: string; enqueued: number }[] = []
    for (const state of STATES) for await (const each of this.#items(state)) found.push(each)
    found.sort((a, b) => a.enqueued - b.enqueued || parseItem(a.item).position - parseItem(b.item).position)
    for (const { item } of found) {
      const { topic, position } = parseItem(item)
      if (position > (cursors.get(topic) ?? 0)) {
        await this.#queue.remove(item)
        continue
      }
      const entry = await this.#entryOf(item)
      if (entry) this.#add(item, outputKeys(entry))
    }
    for (let i = 0; i < found.length; i += PAGE) {
      const batch = this.#outputs.store.batch()
      for (const { item } of found.slice(i, i + PAGE)) this.#queue.wakeIn(batch, encoder.encode(item))
      await batch.commit()
    }
  }

  /** Drops the state in memory; `load` reads the queue again. */
  clear(): void {
    this.#keys.clear()
    this.#byOutput.clear()
    this.#reasons.clear()
  }

  /** Whether one of the outputs has a failed entry. */
  blocks(keys: readonly string[]): boolean {
    return keys.some(key => this.#byOutput.has(key))
  }

  /** Blocks the outputs of an entry until it is delivered; `enqueueIn` puts the entry into the queue. */
  hold(topic: Topic, { position }: MembershipEntry, keys: readonly string[], reason: string): void {
    const item = itemOf(topic, position)
    this.#add(item, keys)
    this.#reasons.set(item, reason)
  }

  enqueueIn(batch: Batch, topic: Topic, { position }: MembershipEntry): void {
    this.#queue.enqueueIn(batch, itemOf(topic, position), 0)
  }

  /** Unblocks the outputs of an entry that is delivered, or read from the log again. */
  release(topic: Topic, { position }: MembershipEntry): void {
    this.#remove(itemOf(topic, position))
  }

  /** Retries up to `limit` due entries concurrently, each after the earlier failed entries of its outputs. */
  async retry(callService: CallService, limit: number, forSeconds: number): Promise<void> {
    const leases = await this.#queue.lease(limit, forSeconds)
    if (leases.length === 0) this.#emptyUntil = performance.now() + LOOK_MS
    const predecessors = leases.map(({ item }) => this.#predecessor(item))
    await Promise.all(
      leases.map((lease, i) => {
        const predecessor = predecessors[i]
        return predecessor === undefined ? this.#retryOne(callService, lease) : this.#wait(lease, predecessor)
      })
    )
  }

  async #retryOne(callService: CallService, lease: Lease<string>): Promise<void> {
    const { item } = lease
    const entry = await this.#entryOf(item)
    const reason = entry && (await callService(parseItem(item).topic, entry))
    if (reason !== undefined) {
      await this.#queue.fail(lease, { outcome: 'retry', errorClass: 'service', reason })
      return
    }
    const batch = this.#outputs.store.batch()
    this.#queue.acknowledgeIn(batch, lease)
    this.#queue.wakeIn(batch, encoder.encode(item))
    await batch.commit()
    this.#remove(item)
  }

  #wait(lease: Lease<string>, predecessor: string): Promise<unknown> {
    const reason = `waits for ${predecessor}`
    return this.#queue.fail(lease, { outcome: 'wait', dependency: encoder.encode(predecessor), reason })
  }

  /** Dead letters. */
  async dead(): Promise<string[]> {
    const dead: string[] = []
    for await (const { item } of this.#items('dead')) dead.push(item)
    return dead
  }

  /** Makes a dead letter due again. */
  revive(item: string): Promise<void> {
    return this.#queue.revive(item)
  }

  /** Deletes an entry; later entries of its outputs become due. */
  async discard(item: string): Promise<void> {
    await this.#queue.remove(item)
    await this.#queue.wake(encoder.encode(item))
  }

  /** The reason of the first failed entry for which a condition holds; undefined without one. */
  async reasonFor(isMatch: (entry: MembershipEntry) => boolean): Promise<string | undefined> {
    for (const state of STATES) {
      const { items } = await this.#queue.list(state, { limit: PAGE })
      for (const { item, reason } of items) {
        if (await this.#isMatch(item, isMatch)) return reason || this.#reasonOf(item)
      }
    }
    // The commit that enqueues them may be in progress.
    for (const item of [...this.#keys.keys()].slice(-PAGE)) {
      if (await this.#isMatch(item, isMatch)) return this.#reasonOf(item)
    }
    return undefined
  }

  #reasonOf(item: string): string {
    return this.#reasons.get(item) ?? 'the service failed'
  }

  async #isMatch(item: string, isMatch: (entry: MembershipEntry) => boolean): Promise<boolean> {
    const entry = await this.#entryOf(item)
    return entry !== undefined && isMatch(entry)
  }

  #add(item: string, keys: readonly string[]): void {
    if (this.#keys.has(item)) return
    this.#keys.set(item, keys)
    for (const key of keys) {
      const entries = this.#byOutput.get(key) ?? new Set()
      this.#byOutput.set(key, entries.add(item))
    }
  }

  #remove(item: string): void {
    for (const key of this.#keys.get(item) ?? []) {
      const entries = this.#byOutput.get(key)!
      entries.delete(item)
      if (entries.size === 0) this.#byOutput.delete(key)
    }
    this.#keys.delete(item)
    this.#reasons.delete(item)
  }

  #predecessor(item: string): string | undefined {
    for (const key of this.#keys.get(item) ?? []) {
      const [first] = this.#byOutput.get(key)!
      if (first !== item) return first
    }
    return undefined
  }

  async *#items(state: (typeof STATES)[number]): AsyncGenerator<{ item: string; enqueued: number }> {
    let cursor: string | undefined
    do {
      const page = await this.#queue.list(state, { limit: PAGE, ...(cursor !== undefined && { cursor }) })
      cursor = page.cursor
      yield* page.items
    } while (cursor !== undefined)
  }

  async #entryOf(item: string): Promise<MembershipEntry | undefined> {
    const { topic, position } = parseItem(item)
    const { entries } = await this.#outputs.membership(topic).read({ after: position - 1, limit: 1 })
    return entries[0]?.position === position ? entries[0] : undefined
  }
}

const encoder = new TextEncoder()

const itemOf = (topic: Topic, position: number): string => `${topic}@${position}`
const parseItem = (item: string): { readonly topic: Topic; readonly position: number } => {
  const at = item.lastIndexOf('@')
  return { topic: item.slice(0, at) as Topic, position: Number(item.slice(at + 1)) }
}
