/** A transaction processor: a service that submits transactions to the nodes of the network, and tells what becomes of them. */
import type { Transaction } from '@quoin/chain'
import type { Health, Txid } from '@quoin/primitives'
import type { NetworkAnswer } from './network-answer.ts'

export interface ProcessorRequest {
  readonly signal?: AbortSignal | undefined
}

export interface TransactionProcessor {
  readonly name: string
  readonly health: Health
  /** Throws `ERR_BROADCAST_UNAVAILABLE` without an answer about this transaction. */
  submit(
    transaction: Transaction,
    sourceOf: (txid: Txid) => Transaction | undefined,
    request?: ProcessorRequest
  ): Promise<NetworkAnswer>
  /** Undefined for an unknown transaction. Throws `ERR_BROADCAST_UNAVAILABLE` without an answer about it. */
  status(txid: Txid, request?: ProcessorRequest): Promise<NetworkAnswer | undefined>
  /** The mining policy as the processor states it. */
  policy(request?: ProcessorRequest): Promise<unknown>
}
