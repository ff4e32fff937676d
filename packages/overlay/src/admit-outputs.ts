/** The update of outputs that a topic admits, with the events and data of the lookups in Quoin's form. */
import type { Transaction } from '@quoin/chain'
import { makeOutpoint, type Outpoint, type Topic } from '@quoin/primitives'
import type { TxUpdate } from '@quoin/txo'
import { type AnyLookup, isQuoinLookup } from './types.ts'

export interface AdmittedOutputs {
  readonly transaction: Transaction
  readonly topic: Topic
  readonly vouts: readonly number[]
  /** Coins that the outputs keep in the topic. */
  readonly inputs: readonly Outpoint[]
  readonly offChainValues?: Uint8Array | undefined
  /** The outputs were members before, and left with a spender that was rolled back. */
  readonly isRestored?: boolean
}

export const admitOutputs = async (
  update: TxUpdate,
  lookups: ReadonlyMap<string, AnyLookup>,
  { transaction, topic, vouts, inputs, offChainValues, isRestored = false }: AdmittedOutputs
): Promise<void> => {
  const indexing = [...lookups.values()]
    .filter(isQuoinLookup)
    .filter(({ topics }) => !topics || topics.includes(topic))
  for (const vout of vouts) {
    const output = transaction.outputs[vout]!
    const outpoint = makeOutpoint(transaction.txid, vout)
    update.admit(topic, vout, { inputs, isRestored }).output(vout, { satoshis: output.satoshis })
    for (const lookup of indexing) {
      const indexed = await lookup.index({ topic, transaction, outpoint, output, offChainValues })
      if (!indexed) continue
      update.output(vout, indexed)
      if (indexed.extraWrites) update.addWrites(indexed.extraWrites)
    }
  }
}
