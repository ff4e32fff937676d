/**
 * The publications of JungleBus on the channels of a subscription: transactions, and control messages on a channel of their
 * own. Codes and counts are those of its documentation.
 */
import { QuoinError } from '@quoin/primitives'
import { FieldReader } from './protobuf.ts'

/** A transaction as it was sent, unchecked. */
export interface SentTransaction {
  /** The txid in display order. */
  readonly id: string
  readonly height: number
  readonly index: number
  /** Empty for a transaction too large to be sent, which is fetched by its txid. */
  readonly raw: Uint8Array
  /** A TSC proof; empty for an unmined transaction. */
  readonly proof: Uint8Array
}

export interface Control {
  readonly code: number
  readonly message: string
  readonly block: number
  /** Number of transactions sent for the block. */
  readonly transactions: number
}

/** The codes with an effect; others are informational. */
export const CONTROL = { error: 101, blockDone: 200, reorg: 300, failure: 999 }

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

export const readSentTransaction = (bytes: Uint8Array): SentTransaction => {
  const sent: Mutable<SentTransaction> = {
    id: '',
    height: 0,
    index: 0,
    raw: new Uint8Array(),
    proof: new Uint8Array()
  }
  const reader = new FieldReader(bytes)
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) sent.id = reader.text()
    else if (field === 3) sent.height = reader.u32()
    else if (field === 4) sent.index = reader.u53()
    else if (field === 6) sent.raw = reader.bytes()
    else if (field === 7) sent.proof = reader.bytes()
    else reader.skip()
  }
  if (!/^[0-9a-f]{64}$/.test(sent.id)) {
    throw new QuoinError('ERR_SOURCE_FORMAT', 'a transaction without a txid', { id: sent.id.slice(0, 100) })
  }
  return sent
}

export const readControl = (bytes: Uint8Array): Control => {
  const control: Mutable<Control> = { code: 0, message: '', block: 0, transactions: 0 }
  const reader = new FieldReader(bytes)
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) control.code = reader.u32()
    else if (field === 3) control.message = reader.text()
    else if (field === 4) control.block = reader.u32()
    else if (field === 5) control.transactions = reader.u53()
    else reader.skip()
  }
  return control
}
