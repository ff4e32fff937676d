/** The blocks of topics whose transactions a commit changes: `OutputStore.onBlock` adds writes for them. */
import type { Topic } from '@quoin/primitives'
import type { TransactionRecord } from './record.ts'
import type { WorkingSet } from './working-set.ts'

/**
 * Topics and heights, once each, where a transaction of the topic entered or left a block, or was evaluated by the topic
 * in this commit. `evaluated` has the topics by map key of the transaction.
 */
export const changedBlocks = (
  work: WorkingSet,
  evaluated: ReadonlyMap<string, ReadonlySet<Topic>>
): ReadonlyMap<Topic, ReadonlySet<number>> => {
  const blocks = new Map<Topic, Set<number>>()
  for (const [key, { before, after }] of work.records()) {
    for (const topic of changedTopics(before, after, evaluated.get(key))) {
      for (const record of [before, after]) {
        if (!record?.position) continue
        const heights = blocks.get(topic)
        if (heights) heights.add(record.position.height)
        else blocks.set(topic, new Set([record.position.height]))
      }
    }
  }
  return blocks
}

const changedTopics = (
  before: TransactionRecord | undefined,
  after: TransactionRecord | undefined,
  evaluated: ReadonlySet<Topic> = NO_TOPICS
): ReadonlySet<Topic> => {
  if (before === after) return evaluated
  const [past, present] = [before?.topics ?? [], after?.topics ?? []]
  const hasMoved =
    before?.position?.height !== after?.position?.height || before?.position?.index !== after?.position?.index
  if (hasMoved) return new Set([...past, ...present])
  return new Set([
    ...evaluated,
    ...past.filter(topic => !present.includes(topic)),
    ...present.filter(topic => !past.includes(topic))
  ])
}

const NO_TOPICS: ReadonlySet<Topic> = new Set()
