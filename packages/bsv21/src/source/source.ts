/**
 * Where transactions come from. A source gives them in deliveries. What is made of a delivery is committed together
 * with how far the source is then (`mark`), so nothing is lost and nothing is done by halves: what was not committed
 * comes again, and what was may come again too. Deliveries are committed in their order, though the next may be asked for
 * before the one before is; none is made ahead of that beyond a bounded number, so a source goes no faster than its
 * transactions are taken.
 *
 * Nothing that a source says is believed: a transaction is verified by whoever takes it.
 */
import type { Beef } from '@quoin/chain'
import type { Txid } from '@quoin/primitives'
import type { Batch, Store } from '@quoin/store'
import type { BlockPosition } from '@quoin/txo'

export interface Source {
  /** For people: a kind and an address. */
  readonly name: string
  readonly status: SourceStatus
  /**
   * From the place that the store has of it, to the end or until the signal aborts. What passes (a connection that is
   * lost, a service that is down) is waited for; what it throws is final.
   */
  deliveries(store: Store, options?: FollowOptions): AsyncGenerator<Delivery, void, undefined>
}

export interface FollowOptions {
  readonly signal?: AbortSignal | undefined
}

export interface Delivery {
  readonly transactions: readonly SourceTransaction[]
  /** From this height on blocks were replaced by others; what those have comes after this. */
  readonly reorgFrom: number | undefined
  /** Notes in a batch how far the source is once this delivery is taken. */
  readonly mark: (batch: Batch) => void
}

export interface SourceTransaction {
  readonly txid: Txid
  /** The transaction with as much of what proves it as the source has; undefined when it has to be fetched by its id. */
  readonly beef: Beef | undefined
  /** Where it is in the chain, as the source has it; undefined when it is not mined, or the source does not say. */
  readonly mined: BlockPosition | undefined
}

export interface SourceStatus {
  readonly state: 'idle' | 'connecting' | 'reading' | 'waiting' | 'ended'
  /** How far it is and how far it goes, in one unit: blocks, bytes, positions. Undefined when not known. */
  readonly at: number | undefined
  readonly end: number | undefined
  /** Transactions given so far. */
  readonly transactions: number
  /** The last thing that went wrong, while it has not gone right since. */
  readonly lastError: string | undefined
}

/** A place that has single transactions by their ids: for what a transaction depends on. */
export interface TransactionSource {
  readonly name: string
  /** With what proves it, as far as that is there; undefined when the place does not have it. */
  transaction(txid: Txid, options?: FollowOptions): Promise<Beef | undefined>
}
