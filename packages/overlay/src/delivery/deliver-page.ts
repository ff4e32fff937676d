/** Delivery of a page of log entries: different outputs concurrently, the entries of one output in order. */
import type { Topic } from '@quoin/primitives'
import type { MembershipEntry } from '@quoin/txo'
import { outputKeys } from './log-entry.ts'

export interface TopicEntry {
  readonly topic: Topic
  readonly entry: MembershipEntry
}

/** `queued`: failed, or behind a failed entry of its output; `undone`: to be read from the log again. */
export type Outcome = 'delivered' | 'queued' | 'undone'

export interface PageOptions {
  /** Entries that are delivered at the same time. */
  readonly concurrency: number
  /** Whether to begin no more entries. */
  readonly isStopped: () => boolean
  readonly deliver: (entry: TopicEntry, keys: readonly string[]) => Promise<Outcome>
}

/** The outcome of each entry. */
export const deliverPage = async (
  page: readonly TopicEntry[],
  { concurrency, isStopped, deliver }: PageOptions
): Promise<Outcome[]> => {
  const outcomes: Outcome[] = page.map(() => 'undone')
  const running = new Set<Promise<void>>()
  const lastOf = new Map<string, Promise<void>>()
  for (const [i, each] of page.entries()) {
    if (running.size >= concurrency) await Promise.race(running)
    if (isStopped()) break
    const keys = outputKeys(each.entry)
    const earlier = keys.flatMap(key => lastOf.get(key) ?? [])
    const task = Promise.all(earlier)
      .then(() => deliver(each, keys))
      .then(outcome => {
        outcomes[i] = outcome
      })
      .finally(() => running.delete(task))
    running.add(task)
    for (const key of keys) lastOf.set(key, task)
  }
  await Promise.all(running)
  return outcomes
}
