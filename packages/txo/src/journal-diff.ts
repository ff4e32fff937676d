/** The journal entry of a changed transaction, derived from the working set of its commit. */
import { bytesKey, formatOutpoint, formatTxid, type Topic } from '@quoin/primitives'
import { mergedEvents } from './journal-changes.ts'
import type { ChangedOutput, ChangedSpend, JournalEntry } from './journal-entry.ts'
import type { OutputState } from './output-state.ts'
import { scoreOf } from './position.ts'
import type { SpendRecord } from './record.ts'
import { type Slot, txidFromMapKey, voutOfMapKey, type WorkingSet } from './working-set.ts'

export const toJournalEntry = (work: WorkingSet, txid: string): JournalEntry => {
  const { before, after } = work.record(txid)
  const record = (after ?? before)!
  const moved = before !== undefined && after !== undefined && scoreOf(before) !== scoreOf(after)
  const all = work.outputsOf(txid)
  const changed = all.filter(key => moved || isChanged(work.output(key)))
  const spent = record.spends.filter(({ outpoint }) => {
    const slot = work.spend(bytesKey(outpoint))
    return slot && (moved || isChanged(slot))
  })
  const isGone = after === undefined
  const lost = changed.filter(key => isGone || hasLost(work.output(key)))
  const lostSpends = spent.filter(({ outpoint }) => isGone || hasLost(work.output(bytesKey(outpoint))))
  const kept = changed.filter(key => !lost.includes(key))
  return {
    kind: isGone ? 'removed' : moved ? 'moved' : 'saved',
    txid: txidFromMapKey(txid),
    score: scoreOf(record),
    vouts: kept.length > 0 && kept.length === all.length ? 'all' : kept.map(voutOfMapKey),
    hasSpends: !isGone && spent.length > 0,
    ...(lost.length + lostSpends.length > 0 && {
      details: {
        outputs: lost.map(key => lostOutput(work, key)),
        spends: lostSpends.map(each => lostSpend(work, each))
      }
    })
  }
}

const isChanged = ({ before, after }: Slot<unknown>): boolean => before !== after

/** Whether the index no longer has events or topics of the output after the commit. */
const hasLost = ({ before, after }: Slot<OutputState>): boolean =>
  before !== after && before.isSaved && (!after.isSaved || leftTopics(before, after).length > 0)

const leftTopics = (before: OutputState, after: OutputState): Topic[] => {
  const { topics } = after
  return before.topics.filter(topic => !topics.includes(topic))
}

/** The state after the commit, or the last one before it. */
const lastState = ({ before, after }: Slot<OutputState>): OutputState => (after.isSaved ? after : before)

const lostOutput = (work: WorkingSet, key: string): ChangedOutput => {
  const slot = work.output(key)
  const { before, after } = slot
  const left = after.isSaved ? leftTopics(before, after) : []
  const spender = work.isGuarded(key) ? work.spend(key).after : undefined
  return {
    vout: voutOfMapKey(key),
    events: lastState(slot).events,
    topics: lastState(slot).topics,
    ...(left.length > 0 && { left }),
    ...(spender !== undefined && { spender: formatTxid(txidFromMapKey(spender)) })
  }
}

/** With topics before and after: a spend may remove the output from a topic. */
const lostSpend = (work: WorkingSet, { outpoint, events }: SpendRecord): ChangedSpend => {
  const slot = work.output(bytesKey(outpoint))
  return {
    outpoint: formatOutpoint(outpoint),
    events: mergedEvents(lastState(slot).events, events),
    topics: [...new Set([...slot.before.topics, ...slot.after.topics])]
  }
}
