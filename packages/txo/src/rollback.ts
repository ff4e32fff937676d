/** Rollback in a working set: the removal of a transaction and its descendants. */
import { bytesKey } from '@quoin/primitives'
import type { ReadPlan } from '@quoin/store'
import { NO_OUTPUT } from './output-state.ts'
import type { TransactionRecord } from './record.ts'
import { outpointMapKey, type WorkingSet } from './working-set.ts'

/**
 * Rolls back a transaction and its descendants: removes them, and makes the outputs that they spent unspent. The result
 * begins with the transaction itself. `visited` ends cycles. `vouts` is the number of its outputs, for a transaction
 * without a record whose outputs are spent.
 */
export function* rollback(work: WorkingSet, root: string, vouts = 0): ReadPlan<string[]> {
  const visited = new Set<string>()
  let next = [root]
  while (next.length > 0) {
    for (const txid of next) visited.add(txid)
    yield* work.loadTransactions(next)
    const names = next.flatMap(txid => everyOutput(work, txid, txid === root ? vouts : 0))
    yield* work.guardSpends(names)
    const spenders = new Set(names.flatMap(name => work.spend(name).after ?? []))
    next = [...spenders].filter(spender => !visited.has(spender))
  }
  const coins = [...visited].flatMap(txid => spendsOf(work.record(txid).after))
  yield* work.guardSpends(coins)
  yield* work.loadOutputs(coins)
  for (const txid of visited) {
    for (const name of spendsOf(work.record(txid).after)) {
      const slot = work.spend(name)
      if (slot.after === txid) slot.after = undefined
    }
    for (const name of work.outputsOf(txid)) work.output(name).after = NO_OUTPUT
    work.record(txid).after = undefined
  }
  return [...visited]
}

/** Indexed outputs, and outputs that may be spent without being indexed. */
const everyOutput = (work: WorkingSet, txid: string, vouts: number): string[] => {
  const all = Math.max(vouts, work.record(txid).after?.vouts ?? 0)
  const names = new Set(work.outputsOf(txid))
  for (let vout = 0; vout < all; vout++) names.add(outpointMapKey(txid, vout))
  return [...names]
}

/** The map keys of the outputs that a record spends. */
export const spendsOf = (record: TransactionRecord | undefined): string[] =>
  record?.spends.map(({ outpoint }) => bytesKey(outpoint)) ?? []
