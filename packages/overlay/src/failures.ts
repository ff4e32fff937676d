/**
 * The last failure of each transaction by topic, for `quoin why`. Failures are kept in memory, and the oldest are dropped:
 * invalid submissions could fill the store.
 */
import { bytesKey, type Txid } from '@quoin/primitives'
import { failureOf } from './steak.ts'

export interface Failure {
  readonly code: string
  readonly message: string
  /** Unix seconds. */
  readonly at: number
}

const MAX_TRANSACTIONS = 10_000

export class Failures {
  readonly #byTxid = new Map<string, Map<string, Failure>>()

  add(txid: Txid, topics: readonly string[], error: unknown): void {
    const { code, message } = failureOf(error).error!
    this.#put(txid, topics, { code, message, at: Date.now() / 1000 })
  }

  /** Records a topic's error, or clears it. */
  set(
    txid: Txid,
    topic: string,
    error: { readonly code: string; readonly message: string } | undefined
  ): void {
    if (error) this.#put(txid, [topic], { ...error, at: Date.now() / 1000 })
    else this.#byTxid.get(bytesKey(txid))?.delete(topic)
  }

  of(txid: Txid): ReadonlyMap<string, Failure> {
    return this.#byTxid.get(bytesKey(txid)) ?? new Map()
  }

  #put(txid: Txid, topics: readonly string[], failure: Failure): void {
    const key = bytesKey(txid)
    const all = this.#byTxid.get(key) ?? new Map<string, Failure>()
    for (const topic of topics) all.set(topic, failure)
    this.#byTxid.delete(key)
    this.#byTxid.set(key, all)
    if (this.#byTxid.size > MAX_TRANSACTIONS) this.#byTxid.delete(this.#byTxid.keys().next().value!)
  }
}
