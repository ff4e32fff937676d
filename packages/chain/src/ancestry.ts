/**
 * The order of transactions that BEEF asks for: parents before their children. Without recursion, as a chain may be as
 * long as anyone likes.
 */
import type { Txid } from '@quoin/primitives'
import type { Transaction } from './transaction.ts'
import { TxidIndex } from './txid-index.ts'

interface Entry {
  readonly txid: Txid
  readonly transaction: Transaction | undefined
}

/** For each entry the places of its parents that are entries too, by the places of all. */
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

/** Positions such that parents come first and all else stays in order; undefined if some are parents of one another. */
export const parentsFirst = (parents: readonly (readonly number[])[]): number[] | undefined => {
  const order: number[] = []
  /** How many parents of an entry are done, and whether it is done itself. */
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
        // It was begun and is not done: it waits for one of its own descendants.
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

/** The transactions in an order with parents before children. A txid is a hash, so none is its own ancestor. */
export const sortParentsFirst = (transactions: readonly Transaction[]): Transaction[] => {
  const index = new TxidIndex(transactions.map(({ txid }) => txid))
  const entries = transactions.map(transaction => ({ txid: transaction.txid, transaction }))
  return parentsFirst(parentsAmong(entries, index))!.map(position => transactions[position]!)
}

/** Which entries are this one or its ancestors. */
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
