/** The change of a transaction derived from the working set of its commit: what a read after the commit would give. */
import { bytesKey, formatOutpoint, formatTxid } from '@quoin/primitives'
import { type CommittedChange, mergedEvents, overlaid } from './journal-changes.ts'
import { type ChangedOutput, type ChangedSpend, type JournalEntry, MAX_VOUTS } from './journal-entry.ts'
import type { SpendRecord } from './record.ts'
import { outpointMapKey, txidFromMapKey, voutOfMapKey, type WorkingSet } from './working-set.ts'

/** Undefined where the working set lacks a row of the change: an entry that names all outputs, a spend of an earlier commit. */
export const committedChange = (
  work: WorkingSet,
  txid: string,
  { kind, score, vouts, hasSpends, details }: JournalEntry
): CommittedChange | undefined => {
  if (vouts !== 'all' && vouts.length > MAX_VOUTS) return undefined
  const keys = vouts === 'all' ? work.outputsOf(txid) : vouts.map(vout => outpointMapKey(txid, vout))
  const spends = hasSpends ? (work.record(txid).after?.spends ?? []) : []
  const isLoaded =
    keys.every(key => work.isGuarded(key)) &&
    spends.every(({ outpoint }) => work.isGuarded(bytesKey(outpoint)))
  if (!isLoaded) return undefined
  const own = keys.filter(key => work.output(key).after.isSaved).map(key => ownOutput(work, key))
  const spent = spends.map(each => spentOutput(work, each))
  return {
    kind,
    txid: formatTxid(txidFromMapKey(txid)),
    score,
    outputs: overlaid(own, details?.outputs, ({ vout }) => vout).sort((a, b) => a.vout - b.vout),
    spends: overlaid(spent, details?.spends, ({ outpoint }) => outpoint)
  }
}

const ownOutput = (work: WorkingSet, key: string): ChangedOutput => {
  const { events, topics } = work.output(key).after
  const spender = work.spend(key).after
  return {
    vout: voutOfMapKey(key),
    events,
    topics,
    ...(spender !== undefined && { spender: formatTxid(txidFromMapKey(spender)) })
  }
}

const spentOutput = (work: WorkingSet, { outpoint, events }: SpendRecord): ChangedSpend => {
  const { after } = work.output(bytesKey(outpoint))
  return {
    outpoint: formatOutpoint(outpoint),
    events: mergedEvents(after.events, events),
    topics: after.topics
  }
}
