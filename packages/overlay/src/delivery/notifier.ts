/**
 * The calls of a lookup service in the form of `@bsv/overlay`, made from the changes of a membership log.
 *
 * The interface has calls for outputs that were admitted, spent, no longer retained, or evicted. A restored output is
 * admitted again, since services delete an output that is spent. An eviction names no topic, so an output that is still
 * in another topic is admitted there again after it.
 */
import type { Transaction } from '@quoin/chain'
import {
  bytesKey,
  formatTxid,
  makeOutpoint,
  type Outpoint,
  type Topic,
  type Txid,
  txidOf,
  voutOf
} from '@quoin/primitives'
import type { MembershipChange, OutputStore } from '@quoin/txo'
import { boundBeef } from '../hosting/bounded-beef.ts'
import { overlay } from '../keys.ts'
import type { HostedLookup, InBytes, OutputSpent } from '../types.ts'

const { offChainValues } = overlay.collections

/** One call of the service. */
export type ServiceCall = () => Promise<void>

export class Notifier {
  readonly #outputs: OutputStore
  readonly #service: HostedLookup
  /** Whether the changes of a topic are delivered to the service. */
  readonly #isSubscribed: (topic: Topic) => boolean

  constructor(outputs: OutputStore, service: HostedLookup, isSubscribed: (topic: Topic) => boolean) {
    this.#outputs = outputs
    this.#service = service
    this.#isSubscribed = isSubscribed
  }

  /** The calls for a change, in their order. Each is made before the next one is read from the store. */
  async *calls(topic: Topic, change: MembershipChange): AsyncGenerator<ServiceCall, void, undefined> {
    switch (change.kind) {
      case 'admitted':
      case 'restored':
        return yield* this.#admitted(topic, change.outpoint)
      case 'spent':
        return yield* this.#spent(topic, change.outpoint, change.spender)
      case 'removed':
        return yield async () =>
          this.#service.outputNoLongerRetainedInHistory?.(
            formatTxid(txidOf(change.outpoint)),
            voutOf(change.outpoint),
            topic
          )
      case 'evicted':
      case 'retracted':
      case 'refused':
        return yield* this.#evicted(topic, change.outpoint)
      case 'rescored':
      case 'proved':
        // The interface has no call for either.
        return
    }
  }

  async *#admitted(topic: Topic, outpoint: Outpoint): AsyncGenerator<ServiceCall, void, undefined> {
    const txid = txidOf(outpoint)
    const [transaction, values] = await this.#transaction(txid)
    const output = transaction?.outputs[voutOf(outpoint)]
    // Rolled back since; the log has a later entry for it.
    if (!transaction || !output) return
    const common = { outputIndex: voutOf(outpoint), topic, ...(values && { offChainValues: values }) }
    const payload =
      this.#service.admissionMode === 'whole-tx'
        ? ({ mode: 'whole-tx', atomicBEEF: await this.#atomicBeef(txid), ...common } as const)
        : ({
            mode: 'locking-script',
            txid: formatTxid(txid),
            satoshis: output.satoshis,
            lockingScript: output.script,
            ...common
          } as const)
    yield () => this.#service.outputAdmittedByTopic(payload)
  }

  async *#spent(
    topic: Topic,
    outpoint: Outpoint,
    spender: Txid
  ): AsyncGenerator<ServiceCall, void, undefined> {
    if (!this.#service.outputSpent) return
    const payload = await this.#spentPayload(topic, outpoint, spender)
    if (payload) yield async () => this.#service.outputSpent?.(payload)
  }

  async #spentPayload(
    topic: Topic,
    outpoint: Outpoint,
    spender: Txid
  ): Promise<InBytes<OutputSpent> | undefined> {
    const { spendNotificationMode } = this.#service
    const output = { txid: formatTxid(txidOf(outpoint)), outputIndex: voutOf(outpoint), topic }
    const spendingTxid = formatTxid(spender)
    if (spendNotificationMode === 'none') return { mode: 'none', ...output }
    if (spendNotificationMode === 'txid') return { mode: 'txid', spendingTxid, ...output }
    const [transaction, values] = await this.#transaction(spender)
    // Rolled back since; a later entry of the log restores the output.
    if (!transaction) return undefined
    const extra = values && { offChainValues: values }
    if (spendNotificationMode === 'whole-tx') {
      return { mode: 'whole-tx', spendingAtomicBEEF: await this.#atomicBeef(spender), ...output, ...extra }
    }
    const key = bytesKey(outpoint)
    const inputIndex = transaction.inputs.findIndex(
      ({ txid, vout }) => bytesKey(makeOutpoint(txid, vout)) === key
    )
    const input = transaction.inputs[inputIndex]!
    return {
      mode: 'script',
      spendingTxid,
      inputIndex,
      unlockingScript: input.script,
      sequenceNumber: input.sequence,
      ...output,
      ...extra
    }
  }

  async *#evicted(topic: Topic, outpoint: Outpoint): AsyncGenerator<ServiceCall, void, undefined> {
    yield () => this.#service.outputEvicted(formatTxid(txidOf(outpoint)), voutOf(outpoint))
    const known = await this.#outputs.loadOutput(outpoint, { includeTopics: true })
    const others = (known?.topics ?? []).filter(each => each !== topic && this.#isSubscribed(each))
    if (others.length === 0) return
    const [spender] = await this.#outputs.spends([outpoint])
    // Spent, it is not live in the other topics either.
    if (spender) return
    for (const other of others) yield* this.#admitted(other, outpoint)
  }

  async #transaction(txid: Txid): Promise<[Transaction | undefined, Uint8Array | undefined]> {
    const { store, transactions } = this.#outputs
    const [transaction, stored] = await Promise.all([
      transactions.get(txid),
      store.use(offChainValues).get(txid)
    ])
    return [transaction, stored === undefined ? undefined : new Uint8Array(Buffer.from(stored, 'base64'))]
  }

  /** Bounded for services that read it with `@bsv/sdk`. */
  async #atomicBeef(txid: Txid): Promise<Uint8Array> {
    return boundBeef(await this.#outputs.transactions.beef(txid, { atomic: true }), 0)
  }
}
