/** The membership changes of a commit, derived from its working set: no writer of the index can leave one out. */
import type { Outpoint, Topic } from '@quoin/primitives'
import type { MembershipChange, OutputKind } from './membership.ts'
import { scoreOf } from './position.ts'
import { outpointFromMapKey, txidFromMapKey, txidMapKey, type WorkingSet } from './working-set.ts'

/** Changes of one topic, in the order for readers. */
interface TopicChanges {
  /** Admissions of outputs whose spender is in the index already: before their spends. */
  readonly early: MembershipChange[]
  readonly spends: MembershipChange[]
  readonly leaves: MembershipChange[]
  readonly admissions: MembershipChange[]
  readonly moves: MembershipChange[]
}

/** Changes by topic, from the outputs that a commit touched and the transactions whose proof it replaces. */
export const membershipChanges = (
  work: WorkingSet,
  names: Iterable<string>,
  proved: ReadonlySet<string>
): ReadonlyMap<Topic, readonly MembershipChange[]> => {
  const byTopic = new Map<Topic, TopicChanges>()
  const of = (topic: Topic): TopicChanges => {
    let changes = byTopic.get(topic)
    if (!changes) {
      changes = { early: [], spends: [], leaves: [], admissions: [], moves: [] }
      byTopic.set(topic, changes)
    }
    return changes
  }
  for (const name of names) addOutput(work, name, of)
  for (const [txid, { before, after }] of work.records()) {
    if (!before || !after) continue
    const isRescored = before !== after && scoreOf(before) !== scoreOf(after)
    if (!isRescored && !proved.has(txid)) continue
    for (const topic of after.topics) {
      if (isRescored) of(topic).moves.push({ kind: 'rescored', txid: txidFromMapKey(txid) })
      if (proved.has(txid)) of(topic).moves.push({ kind: 'proved', txid: txidFromMapKey(txid) })
    }
  }
  return new Map(
    [...byTopic].map(([topic, { early, spends, leaves, admissions, moves }]) => [
      topic,
      [...early, ...spends, ...leaves, ...admissions, ...moves]
    ])
  )
}

const addOutput = (work: WorkingSet, name: string, of: (topic: Topic) => TopicChanges): void => {
  const { before, after } = work.output(name)
  if (!before.isSaved && !after.isSaved) return
  const [past, present] = [before.topics, after.topics]
  if (past.length + present.length === 0) return
  const spend = work.spend(name)
  if (before === after && spend.before === spend.after) return
  const outpoint = outpointFromMapKey(name)
  for (const topic of present) {
    if (past.includes(topic)) addSpend(of, topic, outpoint, spend)
    else addAdmission(work, of, topic, name, outpoint, spend.after)
  }
  for (const topic of past) {
    if (present.includes(topic)) continue
    const kind = leaveKind(work, name, topic, after.isSaved)
    if (kind === 'removed') addSpend(of, topic, outpoint, spend)
    of(topic).leaves.push({ kind, outpoint })
  }
}

const addSpend = (
  of: (topic: Topic) => TopicChanges,
  topic: Topic,
  outpoint: Outpoint,
  { before, after }: { readonly before: string | undefined; readonly after: string | undefined }
): void => {
  if (before === after) return
  of(topic).spends.push(
    after === undefined
      ? { kind: 'restored', outpoint, spender: txidFromMapKey(before!) }
      : { kind: 'spent', outpoint, spender: txidFromMapKey(after) }
  )
}

const addAdmission = (
  work: WorkingSet,
  of: (topic: Topic) => TopicChanges,
  topic: Topic,
  name: string,
  outpoint: Outpoint,
  spender: string | undefined
): void => {
  const admission: MembershipChange =
    work.reasonFor(name, topic) === 'restored'
      ? { kind: 'restored', outpoint, spender: undefined }
      : { kind: 'admitted', outpoint }
  const changes = of(topic)
  if (spender === undefined) changes.admissions.push(admission)
  else {
    changes.early.push(admission)
    changes.spends.push({ kind: 'spent', outpoint, spender: txidFromMapKey(spender) })
  }
}

/** The kind of an output's leaving: given by the writer, or derived from the commit. */
const leaveKind = (
  work: WorkingSet,
  name: string,
  topic: Topic,
  isSaved: boolean
): Exclude<OutputKind, 'spent' | 'admitted' | 'restored'> => {
  if (!work.record(txidMapKey(name)).after) return 'retracted'
  const reason = work.reasonFor(name, topic)
  if (reason && reason !== 'restored') return reason
  return isSaved ? 'removed' : 'evicted'
}
