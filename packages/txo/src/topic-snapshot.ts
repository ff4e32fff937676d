/** The live outputs of a topic and the end of its membership log, as of one commit. */
import { type Outpoint, QuoinError, type Topic } from '@quoin/primitives'
import type { Store } from '@quoin/store'
import type { EventTypes } from './events.ts'
import { MembershipLog } from './membership.ts'
import { searchOutpoints } from './search.ts'

export interface TopicSnapshot {
  /** The last position of the membership log that the outputs reflect. */
  readonly position: number
  /** Unspent members, by score. */
  readonly outpoints: readonly Outpoint[]
}

const PAGE = 1000

/** Refuses a topic with more outputs than `limit`. */
export const topicSnapshot = (
  store: Store,
  events: EventTypes,
  topic: Topic,
  limit: number
): Promise<TopicSnapshot> =>
  store.snapshot(async reads => {
    const position = await new MembershipLog(reads, topic).last()
    const outpoints: Outpoint[] = []
    for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
      const page = await searchOutpoints(reads, events, {
        keys: [`tp:${topic}`],
        filterSpent: true,
        limit: PAGE,
        ...(cursor !== undefined && { cursor })
      })
      for (const { outpoint } of page.rows) outpoints.push(outpoint)
      if (outpoints.length > limit)
        throw new QuoinError('ERR_REQUEST_LIMIT', `${topic} has more than ${limit} live outputs`, {
          topic,
          limit
        })
      cursor = page.cursor
    }
    return { position, outpoints }
  })
