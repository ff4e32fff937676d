/** How a reorg mines transactions again: each one block later than before and in the other order, parents first. */

import type { Transaction } from '@quoin/chain'
import { parentsAmong, parentsFirst, TxidIndex } from '@quoin/chain'
import { bytesKey } from '@quoin/primitives'

/**
 * The transactions of each new block, of which there is one more than of the removed. What is included comes into the
 * first, unless it descends from something that comes later.
 */
export const scheduled = (
  included: readonly Transaction[],
  removed: readonly (readonly Transaction[])[]
): Transaction[][] => {
  const wanted = new Map<string, { readonly transaction: Transaction; readonly block: number }>()
  const put = (transaction: Transaction, block: number): void => {
    const key = bytesKey(transaction.txid)
    if (!wanted.has(key)) wanted.set(key, { transaction, block })
  }
  for (const transaction of included) put(transaction, 0)
  for (const [i, transactions] of removed.entries()) {
    for (const transaction of [...transactions].reverse()) put(transaction, i + 1)
  }
  const entries = Array.from(wanted.values(), ({ transaction }) => ({ txid: transaction.txid, transaction }))
  const blocks = Array.from(wanted.values(), ({ block }) => block)
  const parents = parentsAmong(entries, new TxidIndex(entries.map(({ txid }) => txid)))
  const schedule = Array.from({ length: removed.length + 1 }, (): Transaction[] => [])
  // No transaction descends from itself: a txid is a hash of its inputs.
  for (const place of parentsFirst(parents)!) {
    blocks[place] = Math.max(blocks[place]!, ...parents[place]!.map(parent => blocks[parent]!))
    schedule[blocks[place]!]!.push(entries[place]!.transaction)
  }
  return schedule
}
