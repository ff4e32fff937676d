/** The unmined ancestors of a transaction that no processor is known to have. */
import { sortParentsFirst, type Transaction } from '@quoin/chain'
import { bytesKey, QuoinError, type Txid } from '@quoin/primitives'
import type { BroadcastRecords } from './broadcast-records.ts'

interface FoundTransaction {
  readonly transaction: Transaction | undefined
  readonly isProved: boolean
}

/** Transactions in the order of their txids. */
export type TransactionLookup = (txids: readonly Txid[]) => Promise<readonly FoundTransaction[]>

/** Transactions of one walk. */
const MAX_ANCESTORS = 10_000

/** Parents before children. The walk ends at proofs and at transactions that the network has. */
export const unsentAncestors = async (
  transaction: Transaction,
  find: TransactionLookup,
  records: BroadcastRecords
): Promise<Transaction[]> => {
  const visited = new Set([bytesKey(transaction.txid)])
  const unsent: Transaction[] = []
  let next = distinct(transaction.spentTxids(), visited)
  while (next.length > 0) {
    if (visited.size > MAX_ANCESTORS) {
      throw new QuoinError('ERR_BEEF_LIMIT', `more than ${MAX_ANCESTORS} unmined ancestors`)
    }
    const [found, known] = await Promise.all([find(next), records.getMany(next)])
    const parents: Txid[] = []
    for (const [i, { transaction: each, isProved }] of found.entries()) {
      const status = known[i]?.status
      if (!each || isProved || status === 'sent' || status === 'seen' || status === 'mined') continue
      unsent.push(each)
      parents.push(...each.spentTxids())
    }
    next = distinct(parents, visited)
  }
  return sortParentsFirst(unsent)
}

/** The spent transactions, by the `bytesKey` of their txids. */
export const parentsOf = async (
  transaction: Transaction,
  find: TransactionLookup
): Promise<ReadonlyMap<string, Transaction>> => {
  const found = await find(distinct(transaction.spentTxids(), new Set()))
  return new Map(
    found.flatMap(({ transaction: parent }) => (parent ? [[bytesKey(parent.txid), parent] as const] : []))
  )
}

/** The txids that were not visited, which are from then on. */
const distinct = (txids: readonly Txid[], visited: Set<string>): Txid[] =>
  txids.filter(txid => {
    const key = bytesKey(txid)
    if (visited.has(key)) return false
    visited.add(key)
    return true
  })
