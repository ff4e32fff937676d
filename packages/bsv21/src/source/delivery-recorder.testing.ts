/** Somebody who takes deliveries, and keeps what a node would keep: the transactions, and how far the source is. */

import { formatTxid, QuoinError } from '@quoin/primitives'
import { openStore, type Store } from '@quoin/store'
import type { Delivery, Source, SourceTransaction } from './source.ts'

export class DeliveryRecorder {
  readonly store: Store
  readonly staged: SourceTransaction[] = []
  readonly deliveries: Delivery[] = []
  /** Called when a delivery is there and not taken yet. */
  before: (delivery: Delivery, taken: number) => Promise<void> | void = () => undefined
  readonly #ending = new AbortController()
  #running: Promise<void> = Promise.resolve()

  private constructor(store: Store) {
    this.store = store
  }

  static async open(url = 'memory:'): Promise<DeliveryRecorder> {
    return new DeliveryRecorder(await openStore(url))
  }

  /** Somebody else, over what this one has stored. */
  next(): DeliveryRecorder {
    return new DeliveryRecorder(this.store)
  }

  get txids(): string[] {
    return this.staged.map(({ txid }) => formatTxid(txid))
  }

  follow(source: Source): void {
    this.#running = this.#take(source)
    this.#running.catch(() => undefined)
  }

  /** Stops, as a node does that is shut down; throws what the source threw. */
  async stop(): Promise<void> {
    this.#ending.abort()
    await this.#running
  }

  /** Resolves when the source has ended. */
  async done(): Promise<void> {
    await this.#running
  }

  /** Waits until something holds. */
  async until(holds: () => boolean, about = String(holds)): Promise<void> {
    const deadline = performance.now() + 15_000
    while (!holds()) {
      if (performance.now() > deadline) throw new QuoinError('ERR_INTERNAL', `never came: ${about}`)
      await new Promise(resolve => setTimeout(resolve, 2))
    }
  }

  async #take(source: Source): Promise<void> {
    for await (const delivery of source.deliveries(this.store, { signal: this.#ending.signal })) {
      await this.before(delivery, this.deliveries.length)
      const batch = this.store.batch()
      delivery.mark(batch)
      await batch.commit()
      this.deliveries.push(delivery)
      this.staged.push(...delivery.transactions)
    }
  }
}
