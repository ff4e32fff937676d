/** What is written for an output that a topic admits. */

import type { Transaction } from '@quoin/chain'
import { type Awaitable, andThen, inOrder, makeOutpoint, type Outpoint, type Topic } from '@quoin/primitives'
import type { TxUpdate } from '@quoin/txo'
import { type AnyLookup, type Indexed, isQuoinLookup } from './types.ts'

export interface Admitting {
  readonly lookups: ReadonlyMap<string, AnyLookup>
  readonly transaction: Transaction
  readonly topic: Topic
  readonly vout: number
  /** Outputs that it keeps in the topic. */
  readonly inputs: readonly Outpoint[]
  readonly offChainValues: Uint8Array | undefined
  /** It was a member before, and left with a spender that was rolled back. */
  readonly isRestored?: boolean
}

/** With what lookups of Quoin's own say of it, most of which have nothing to wait for. */
export const admitOutput = (
  change: TxUpdate,
  { lookups, transaction, topic, vout, inputs, offChainValues, isRestored = false }: Admitting
): Awaitable<void> => {
  const output = transaction.outputs[vout]!
  const outpoint = makeOutpoint(transaction.txid, vout)
  change.admit(topic, vout, { inputs, isRestored }).output(vout, { satoshis: output.satoshis })
  const take = (said: Indexed | undefined): void => {
    if (said) change.output(vout, said)
    if (said?.also) change.addWrites(said.also)
  }
  return inOrder(lookups.values(), lookup => {
    if (!isQuoinLookup(lookup) || (lookup.topics && !lookup.topics.includes(topic))) return
    return andThen(lookup.index({ topic, transaction, outpoint, output, offChainValues }), take)
  })
}
