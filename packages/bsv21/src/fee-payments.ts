/**
 * Payments to fee addresses, from a source that lists the transactions of an address. Each is fetched, verified and indexed
 * like any other, so that the balance of the address is right. The progress is a field of `h:prog`.
 */
import type { RootTracker } from '@quoin/chain'
import type { TokenId, Txid } from '@quoin/primitives'
import {
  type BlockPosition,
  Indexer,
  type OutputStore,
  outputs as outputKeys,
  progressFields
} from '@quoin/txo'
import type { FeeAddresses } from './fee-address.ts'
import type { TransactionSource } from './source/source.ts'

/** A source that lists the transactions of an address. */
export interface AddressSource extends TransactionSource {
  addressTransactions(
    address: string,
    from: number
  ): Promise<readonly { readonly txid: Txid; readonly mined: BlockPosition | undefined }[]>
}

export interface FeePaymentsOptions {
  readonly outputs: OutputStore
  readonly tracker: RootTracker
  readonly source: AddressSource
  readonly feeAddresses: FeeAddresses
}

const { progress } = outputKeys.collections
const { owner } = progressFields.collections
/** Transactions fetched in one call: an address with dust payments takes several calls. */
const MAX_FETCHES = 100

export class FeePayments {
  readonly #outputs: OutputStore
  readonly #indexer: Indexer
  readonly #source: AddressSource
  readonly #feeAddresses: FeeAddresses

  constructor({ outputs, tracker, source, feeAddresses }: FeePaymentsOptions) {
    this.#outputs = outputs
    this.#indexer = new Indexer(outputs, tracker)
    this.#source = source
    this.#feeAddresses = feeAddresses
  }

  /** Indexes payments for a token since the last call; returns their number. */
  async sync(token: TokenId): Promise<number> {
    const { store } = this.#outputs
    const address = this.#feeAddresses(token)
    const from = (await store.use(progress).at().get(owner, address)) ?? 0
    const listed = await this.#source.addressTransactions(address, from)
    let [taken, height] = [0, from]
    for (const { txid, mined } of listed) {
      const record = await this.#outputs.record(txid)
      if (!record || (mined && !record.position)) {
        if (taken === MAX_FETCHES) break
        const beef = await this.#source.transaction(txid)
        if (beef) await this.#indexer.index(beef)
        taken++
      }
      // The block is listed again: more transactions of it may follow.
      if (mined) height = Math.max(height, mined.height)
    }
    if (height > from) {
      const batch = store.batch()
      batch.use(progress).at().set(owner, [address], height)
      await batch.commit()
    }
    return taken
  }
}
