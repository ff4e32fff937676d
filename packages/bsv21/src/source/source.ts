/**
 * Sources of transactions. A source yields deliveries. One commit stores the effects of a delivery and the progress of the
 * source (`mark`): a delivery that was not committed is delivered again, and a committed one may be. Deliveries are
 * committed in order. A bounded number is in flight, so that a source does not outrun the ingest.
 *
 * Sources are untrusted: every transaction is verified.
 */
import type { Beef } from '@quoin/chain'
import type { Outpoint, Txid } from '@quoin/primitives'
import type { Batch, Store, StoreReads } from '@quoin/store'
import type { BlockPosition } from '@quoin/txo'

export interface Source {
  /** Kind and address, as text. */
  readonly name: string
  readonly status: SourceStatus
  /** The progress that is saved in the store, by whichever process follows the source; undefined before the first. */
  saved?(reads: StoreReads): Promise<number | undefined>
  /**
   * Delivers from the saved progress, to the end or until the signal aborts. Transient failures, such as a lost connection,
   * are retried; thrown errors are final.
   */
  deliveries(store: Store, options?: FollowOptions): AsyncGenerator<Delivery, void, undefined>
}

export interface FollowOptions {
  readonly signal?: AbortSignal | undefined
}

export interface Delivery {
  readonly transactions: readonly SourceTransaction[]
  /** The first height that a reorg replaced; the new blocks follow. */
  readonly reorgFrom: number | undefined
  /** Saves the progress of the source after this delivery. */
  readonly mark: (batch: Batch) => void
}

export interface SourceTransaction {
  readonly txid: Txid
  /** The transaction with as much ancestry as the source has; undefined when it has to be fetched by its txid. */
  readonly beef: Beef | undefined
  /** Position in the chain according to the source; undefined when unmined or unknown. */
  readonly mined: BlockPosition | undefined
}

export interface SourceStatus {
  readonly state: 'idle' | 'connecting' | 'reading' | 'waiting' | 'ended'
  /** Progress and end in one unit: blocks, bytes or positions. Undefined when unknown. */
  readonly at: number | undefined
  readonly end: number | undefined
  /** Number of delivered transactions. */
  readonly transactions: number
  /** The last error; undefined after a success. */
  readonly lastError: string | undefined
}

/** The status of a source before its first delivery. */
export const IDLE_STATUS: SourceStatus = {
  state: 'idle',
  at: undefined,
  end: undefined,
  transactions: 0,
  lastError: undefined
}

/** A service that knows the spenders of outputs, and has them. */
export interface SpendSource extends TransactionSource {
  /** Undefined for an output that it does not know as spent. */
  spender(outpoint: Outpoint, options?: FollowOptions): Promise<Txid | undefined>
}

/** A source of single transactions by txid, for missing ancestors. */
export interface TransactionSource {
  readonly name: string
  /** The transaction with available ancestry; undefined when the source does not have it. */
  transaction(txid: Txid, options?: FollowOptions): Promise<Beef | undefined>
}
