/**
 * The calls of a lookup service in the form of `@bsv/overlay`, made from the changes of a membership log.
 *
 * Its interface speaks of outputs that were admitted, spent, no longer retained, or evicted. A restored output is
 * admitted again, since services delete an output that is spent. An eviction names no topic, so an output that another
 * topic still has is admitted there again after it.
 */
import type { Transaction } from '@quoin/chain'
import { bytesKey } from '@quoin/chain'
import {
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
import type { HostedLookup } from '../types.ts'

const { offChainValues } = overlay.collections

export class Notifier {
  readonly #outputs: OutputStore
  readonly #service: HostedLookup
  /** Whether the service is told of a topic. */
  readonly #isSubscribed: (topic: Topic) => boolean

  constructor(outputs: OutputStore, service: HostedLookup, isSubscribed: (topic: Topic) => boolean) {
    this.#outputs = outputs
    this.#service = service
    this.#isSubscribed = isSubscribed
  }

  async notify(topic: Topic, change: MembershipChange): Promise<void> {
    switch (change.kind) {
      case 'admitted':
      case 'restored':
        return this.#admitted(topic, change.outpoint)
      case 'spent':
        return this.#spent(topic, change.outpoint, change.spender)
      case 'removed':
        return this.#service.outputNoLongerRetainedInHistory?.(
          formatTxid(txidOf(change.outpoint)),
          voutOf(change.outpoint),
          topic
        )
      case 'evicted':
      case 'retracted':
      case 'refused':
        return this.#evicted(topic, change.outpoint)
      case 'rescored':
      case 'proved':
        // The interface has no call for either.
        return
    }
  }

  async #admitted(topic: Topic, outpoint: Outpoint): Promise<void> {
    const txid = txidOf(outpoint)
    const [transaction, values] = await this.#transaction(txid)
    const output = transaction?.outputs[voutOf(outpoint)]
    // Rolled back since: a later entry of the log says so.
    if (!transaction || !output) return
    const { admissionMode } = this.#service
    const about = { outputIndex: voutOf(outpoint), topic, ...(values && { offChainValues: values }) }
    await this.#service.outputAdmittedByTopic(
      admissionMode === 'whole-tx'
        ? { mode: 'whole-tx', atomicBEEF: await this.#atomicBeef(txid), ...about }
        : {
            mode: 'locking-script',
            txid: formatTxid(txid),
            satoshis: output.satoshis,
            lockingScript: output.script,
            ...about
          }
    )
  }

  async #spent(topic: Topic, outpoint: Outpoint, spender: Txid): Promise<void> {
    const { outputSpent, spendNotificationMode } = this.#service
    if (!outputSpent) return
    const spent = { txid: formatTxid(txidOf(outpoint)), outputIndex: voutOf(outpoint), topic }
    const spendingTxid = formatTxid(spender)
    if (spendNotificationMode === 'none') return this.#service.outputSpent?.({ mode: 'none', ...spent })
    if (spendNotificationMode === 'txid')
      return this.#service.outputSpent?.({ mode: 'txid', spendingTxid, ...spent })
    const [transaction, values] = await this.#transaction(spender)
    // Rolled back since: a later entry of the log restores the output.
    if (!transaction) return
    const extra = values && { offChainValues: values }
    if (spendNotificationMode === 'whole-tx') {
      const spendingAtomicBEEF = await this.#atomicBeef(spender)
      return this.#service.outputSpent?.({ mode: 'whole-tx', spendingAtomicBEEF, ...spent, ...extra })
    }
    const name = bytesKey(outpoint)
    const inputIndex = transaction.inputs.findIndex(
      ({ txid, vout }) => bytesKey(makeOutpoint(txid, vout)) === name
    )
    const input = transaction.inputs[inputIndex]!
    return this.#service.outputSpent?.({
      mode: 'script',
      spendingTxid,
      inputIndex,
      unlockingScript: input.script,
      sequenceNumber: input.sequence,
      ...spent,
      ...extra
    })
  }

  async #evicted(topic: Topic, outpoint: Outpoint): Promise<void> {
    await this.#service.outputEvicted(formatTxid(txidOf(outpoint)), voutOf(outpoint))
    const known = await this.#outputs.loadOutput(outpoint, { includeTopics: true })
    const others = (known?.topics ?? []).filter(each => each !== topic && this.#isSubscribed(each))
    if (others.length === 0) return
    const [spender] = await this.#outputs.spends([outpoint])
    // Spent, it is no longer live in those topics either.
    if (spender) return
    for (const other of others) await this.#admitted(other, outpoint)
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
