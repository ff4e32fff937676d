/**
 * Topological order of transactions: parents before children, as BEEF asks. Iterative, since the length of a chain is
 * unbounded.
 */
import type { Txid } from '@quoin/primitives'
import type { Transaction } from './transaction.ts'
import { TxidIndex } from './txid-index.ts'

interface Entry {
  readonly txid: Txid
  readonly transaction: Transaction | undefined
}

/** Indexes of each entry's parents among the entries. */
export const parentsAmong = (entries: readonly Entry[], places: TxidIndex): readonly (readonly number[])[] =>
  entries.map(({ transaction }) => {
    const parents: number[] = []
    if (transaction === undefined) return parents
    let last: number | undefined
    for (const txid of transaction.spentTxids()) {
      const place = places.of(txid)
      if (place !== undefined && place !== last) parents.push(place)
      last = place
    }
    return parents
  })

/** Indexes with parents first, else in the given order; undefined for a cycle. */
export const parentsFirst = (parents: readonly (readonly number[])[]): number[] | undefined => {
  const order: number[] = []
  /** Number of parents visited, for each entry; non-zero means begun. */
  const seen = new Uint32Array(parents.length)
  const done = new Uint8Array(parents.length)
  const stack: number[] = []
  for (let first = 0; first < parents.length; first++) {
    if (!done[first]) stack.push(first)
    while (stack.length > 0) {
      const place = stack.at(-1)!
      const of = parents[place]!
      if (seen[place]! < of.length) {
        const parent = of[seen[place]!++]!
        if (done[parent]) continue
        // A begun but unfinished parent waits for its own descendant: a cycle.
        if (seen[parent]! > 0) return undefined
        stack.push(parent)
      } else {
        stack.pop()
        done[place] = 1
        order.push(place)
      }
    }
  }
  return order
}

/** Transactions, parents before children. No cycle is possible, since a txid is a hash. */
export const sortParentsFirst = (transactions: readonly Transaction[]): Transaction[] => {
  const index = new TxidIndex(transactions.map(({ txid }) => txid))
  const entries = transactions.map(transaction => ({ txid: transaction.txid, transaction }))
  return parentsFirst(parentsAmong(entries, index))!.map(position => transactions[position]!)
}

/** Flags the entry at `place` and its ancestors. */
export const ancestryOf = (place: number, parents: readonly (readonly number[])[]): Uint8Array => {
  const found = new Uint8Array(parents.length)
  const stack = [place]
  found[place] = 1
  while (stack.length > 0) {
    for (const parent of parents[stack.pop()!]!) {
      if (found[parent]) continue
      found[parent] = 1
      stack.push(parent)
    }
  }
  return found
}
