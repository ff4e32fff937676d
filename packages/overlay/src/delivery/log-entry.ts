/** The transactions and outputs of a membership log entry. */
import { bytesKey, formatTxid, txidOf } from '@quoin/primitives'
import type { MembershipEntry } from '@quoin/txo'

/** Whether the entry changes an output of one of the transactions, or an output that one of them spends. */
export const isAbout = ({ changes }: MembershipEntry, txids: ReadonlySet<string>): boolean =>
  changes.some(change => {
    if ('txid' in change) return false
    if (txids.has(formatTxid(txidOf(change.outpoint)))) return true
    return change.kind === 'spent' && txids.has(formatTxid(change.spender))
  })

/** The outputs of an entry, as keys of a map. */
export const outputKeys = ({ changes }: MembershipEntry): string[] => [
  ...new Set(changes.flatMap(change => ('outpoint' in change ? bytesKey(change.outpoint) : [])))
]
