/**
 * The outbox of lookup services in the form of `@bsv/overlay`: each has its own delivery, with a cursor on the membership
 * log of every topic, so that none waits for another. A submission waits for the services of its topics
 * for a bounded time.
 */
import { formatTxid, QuoinError, Task, type Topic, type Txid, withTimeout } from '@quoin/primitives'
import type { OutputStore } from '@quoin/txo'
import type { Logger } from '../logger.ts'
import { type AnyLookup, isQuoinLookup } from '../types.ts'
import { type DeliveryOptions, type DeliveryState, LookupDelivery } from './lookup-delivery.ts'

export interface OutboxOptions {
  readonly logger: Logger
  /** By the name of the service. */
  readonly delivery?: Readonly<Record<string, DeliveryOptions>> | undefined
  /** Milliseconds that a service may take for one entry. */
  readonly timeout: number
  /** Milliseconds that a submission waits for the services of its topics. */
  readonly wait: number
  /** Whether this process delivers; otherwise another process on the store does. */
  readonly isWorker: boolean
}

export interface NamedDeliveryState extends DeliveryState {
  readonly service: string
}

/** Milliseconds between reads of the store for commits and replays of other processes. */
const POLL_MS = 1000

export class LookupOutbox {
  readonly #outputs: OutputStore
  readonly #wait: number
  readonly #isWorker: boolean
  readonly #deliveries = new Map<string, LookupDelivery>()
  /** A failed read is reported by the part `store` of the node. */
  readonly #task = new Task({ name: 'outbox', interval: POLL_MS, isDelayed: true, work: () => this.#poll() })
  /** The end of the journal, and the number of entries that this process appended, at the last poll. */
  #journal = { last: 0, own: 0 }

  constructor(outputs: OutputStore, lookups: ReadonlyMap<string, AnyLookup>, options: OutboxOptions) {
    this.#outputs = outputs
    this.#wait = options.wait
    this.#isWorker = options.isWorker
    const { timeout, logger, isWorker, delivery = {} } = options
    for (const [name, service] of lookups) {
      if (isQuoinLookup(service)) continue
      this.#deliveries.set(
        name,
        new LookupDelivery(name, service, outputs, { ...delivery[name], timeout, logger, isWorker })
      )
    }
    if (this.#deliveries.size === 0 || !isWorker) return
    outputs.onMembership(topics => {
      for (const each of this.#deliveries.values()) each.wake(topics)
    })
  }

  /** Begins the delivery of entries from before this process, and of entries of other processes. */
  start(): void {
    if (this.#deliveries.size === 0 || !this.#isWorker) return
    for (const each of this.#deliveries.values()) each.rediscover()
    this.#task.start()
  }

  async close(): Promise<void> {
    await this.#task.stop()
    await Promise.all(Array.from(this.#deliveries.values(), each => each.close()))
  }

  /** Resolves when the services of these topics have the entries of their logs, or the time is over. */
  settled(topics: readonly Topic[]): Promise<void> | undefined {
    const isWaiting = this.#isWorker && this.#wait > 0 && topics.length > 0
    if (this.#deliveries.size === 0 || !isWaiting) return undefined
    return this.#settled(topics)
  }

  async #settled(topics: readonly Topic[]): Promise<void> {
    const deliveries = [...this.#deliveries.values()]
    await withTimeout(Promise.all(deliveries.map(each => each.caughtUp(topics))), this.#wait, () => {
      for (const each of deliveries) each.stopWaiting()
    })
  }

  get services(): Iterable<string> {
    return this.#deliveries.keys()
  }

  states(): Promise<NamedDeliveryState[]> {
    return Promise.all(
      Array.from(this.#deliveries, async ([service, each]) => ({ service, ...(await each.state()) }))
    )
  }

  /** Refuses with `ERR_LOOKUP_UNKNOWN` a service without deliveries. */
  delivery(service: string): LookupDelivery {
    const found = this.#deliveries.get(service)
    if (found) return found
    const known = [...this.#deliveries.keys()]
    const hint =
      known.length > 0
        ? `expected ${known.join(', ')}`
        : 'every lookup service is written in the commits of the node'
    throw new QuoinError('ERR_LOOKUP_UNKNOWN', `no lookup service ${service} has deliveries: ${hint}`, {
      service
    })
  }

  /** Services with undelivered entries about a transaction, and the reason where a delivery failed. */
  async undelivered(
    txid: Txid,
    topics: readonly Topic[]
  ): Promise<{ service: string; reason: string | undefined }[]> {
    const found: { service: string; reason: string | undefined }[] = []
    for (const [service, delivery] of this.#deliveries) {
      const undelivered = await delivery.undelivered(formatTxid(txid), topics)
      if (undelivered) found.push({ service, ...undelivered })
    }
    return found
  }

  async #poll(): Promise<void> {
    const { journal } = this.#outputs
    const [last, own] = [await journal.last(), journal.appended]
    const others = last - this.#journal.last - (own - this.#journal.own)
    this.#journal = { last, own }
    for (const each of this.#deliveries.values()) {
      if (others > 0) each.rediscover()
      await each.pollReplays()
    }
  }
}
