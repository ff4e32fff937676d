/** Submits transactions to the network after those of their ancestors that it may lack. */
import type { Beef, Transaction } from '@quoin/chain'
import { bytesKey, KeyedMutex } from '@quoin/primitives'
import type { OutputStore } from '@quoin/txo'
import type { BroadcastRecords } from './broadcast-records.ts'
import type { Network, ProcessorAnswer } from './network.ts'
import type { Outbox } from './outbox.ts'
import type { TransactionProcessor } from './processor.ts'
import { submitted } from './transitions.ts'
import { parentsOf, type TransactionLookup, unsentAncestors } from './unsent-ancestors.ts'

export interface Sent {
  readonly transaction: Transaction
  readonly answer: ProcessorAnswer
}

export const isAccepted = ({ verdict }: ProcessorAnswer): boolean => verdict === 'sent' || verdict === 'seen'

export class Sender {
  /** By txid: what this process submits, it submits once. */
  readonly mutex = new KeyedMutex()
  readonly #outputs: OutputStore
  readonly #network: Network
  readonly #records: BroadcastRecords
  readonly #outbox: Outbox

  constructor(outputs: OutputStore, network: Network, records: BroadcastRecords, outbox: Outbox) {
    this.#outputs = outputs
    this.#network = network
    this.#records = records
    this.#outbox = outbox
  }

  /** The last one is the transaction itself, or an ancestor that was not accepted. */
  async send(
    transaction: Transaction,
    find: TransactionLookup,
    signal: AbortSignal,
    among?: readonly TransactionProcessor[]
  ): Promise<Sent[]> {
    const sent: Sent[] = []
    for (const ancestor of await unsentAncestors(transaction, find, this.#records)) {
      const work = () => this.#sendAncestor(ancestor, find, signal)
      const answer = await this.mutex.run(bytesKey(ancestor.txid), work)
      if (!answer) continue
      sent.push({ transaction: ancestor, answer })
      if (!isAccepted(answer)) return sent
    }
    return [...sent, { transaction, answer: await this.#submit(transaction, find, signal, among) }]
  }

  /** Undefined where the network has got it meanwhile. The status of a stored ancestor is tracked from then on. */
  async #sendAncestor(
    ancestor: Transaction,
    find: TransactionLookup,
    signal: AbortSignal
  ): Promise<ProcessorAnswer | undefined> {
    const { txid } = ancestor
    const status = (await this.#records.get(txid))?.status
    if (status === 'sent' || status === 'seen' || status === 'mined') return undefined
    const answer = await this.#submit(ancestor, find, signal)
    if (isAccepted(answer) && (await this.#outputs.transactions.get(txid))) {
      await this.#records.change(txid, submitted(answer), batch => this.#outbox.trackIn(batch, txid))
    }
    return answer
  }

  async #submit(
    transaction: Transaction,
    find: TransactionLookup,
    signal: AbortSignal,
    among?: readonly TransactionProcessor[]
  ): Promise<ProcessorAnswer> {
    const parents = await parentsOf(transaction, find)
    return this.#network.submit(transaction, txid => parents.get(bytesKey(txid)), signal, among)
  }

  /** Transactions of the index. */
  readonly stored: TransactionLookup = async txids => {
    const { transactions } = this.#outputs
    const [found, proofs] = await Promise.all([transactions.getMany(txids), transactions.proofs(txids)])
    return txids.map((_, i) => ({ transaction: found[i], isProved: proofs[i] !== undefined }))
  }

  /** Transactions of a BEEF or of the index. */
  within(beef: Beef): TransactionLookup {
    return async txids => {
      const stored = await this.stored(txids)
      return txids.map((txid, i) => {
        const entry = beef.find(txid)
        return {
          transaction: entry?.transaction ?? stored[i]!.transaction,
          isProved: entry?.bump !== undefined || stored[i]!.isProved
        }
      })
    }
  }
}
