/** What is written for an output that a topic admits. */

import type { Transaction } from '@quoin/chain'
import { makeOutpoint, type Outpoint, type Topic } from '@quoin/primitives'
import type { TxUpdate } from '@quoin/txo'
import { type AnyLookup, isQuoinLookup } from './types.ts'

export interface Admitting {
  readonly lookups: ReadonlyMap<string, AnyLookup>
  readonly transaction: Transaction
  readonly topic: Topic
  readonly vouts: readonly number[]
  /** Outputs that they keep in the topic. */
  readonly inputs: readonly Outpoint[]
  readonly offChainValues: Uint8Array | undefined
  /** They were members before, and left with a spender that was rolled back. */
  readonly isRestored?: boolean
}

/** With what lookups of Quoin's own say of each output. */
export const admitOutputs = async (
  change: TxUpdate,
  { lookups, transaction, topic, vouts, inputs, offChainValues, isRestored = false }: Admitting
): Promise<void> => {
  const indexing = [...lookups.values()]
    .filter(isQuoinLookup)
    .filter(({ topics }) => !topics || topics.includes(topic))
  for (const vout of vouts) {
    const output = transaction.outputs[vout]!
    const outpoint = makeOutpoint(transaction.txid, vout)
    change.admit(topic, vout, { inputs, isRestored }).output(vout, { satoshis: output.satoshis })
    for (const lookup of indexing) {
      const indexed = await lookup.index({ topic, transaction, outpoint, output, offChainValues })
      if (indexed) change.output(vout, indexed)
      if (indexed?.also) change.addWrites(indexed.also)
    }
  }
}
