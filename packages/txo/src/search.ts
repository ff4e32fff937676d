/** Searches of outputs by events and topics (seed 001), as searches of the store. */
import type { Outpoint, Topic } from '@quoin/primitives'
import type { Join, StoreReads } from '@quoin/store'
import type { EventTypes } from './events.ts'
import { outputs } from './keys.ts'
import type { LoadOptions } from './load-outputs.ts'

export interface OutputSearch extends LoadOptions {
  /**
   * Texts of events (`own:1A1z…`), of their spent twins (`own:1A1z…:spnd`), or topics (`tp:tm_kv`).
   */
  readonly keys: readonly string[]
  readonly join?: Join
  /** The least score. */
  readonly from?: number
  /** The greatest score. */
  readonly to?: number
  readonly reverse?: boolean
  readonly limit?: number
  /** The cursor of the page before. */
  readonly cursor?: string
  /** Only unspent outputs; pages are full all the same. */
  readonly filterSpent?: boolean
}

export interface FoundOutput {
  readonly outpoint: Outpoint
  readonly score: number
  /** The key of the search that has it. */
  readonly key: string
}

export interface Page<T> {
  readonly rows: readonly T[]
  /** For the next page; undefined on the last. */
  readonly cursor: string | undefined
}

const { topicOutputs, spends } = outputs.collections
const SPENDS = spends.encode()
const TOPIC = 'tp:'
const SPENT = ':spnd'

export const searchOutpoints = async (
  reads: StoreReads,
  events: EventTypes,
  { keys, join, from, to, reverse, limit, cursor, filterSpent }: OutputSearch
): Promise<Page<FoundOutput>> => {
  const page = await reads.search({
    keys: keys.map(key => setKey(events, key)),
    ...(join && { join }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(reverse !== undefined && { reverse }),
    ...(limit !== undefined && { limit }),
    ...(cursor !== undefined && { cursor }),
    ...(filterSpent && { filter: rows => areUnspent(reads, rows) })
  })
  return {
    rows: page.rows.map(({ member, score, from: set }) => ({
      outpoint: member as Outpoint,
      score,
      key: keys[set]!
    })),
    cursor: page.cursor
  }
}

const areUnspent = async (
  reads: StoreReads,
  rows: readonly { readonly member: Uint8Array }[]
): Promise<boolean[]> => {
  const spenders = await reads.hmget(
    SPENDS,
    rows.map(({ member }) => member)
  )
  return spenders.map(spender => spender === undefined)
}

/** The key of the sorted set of an event, a spent twin or a topic. */
const setKey = (events: EventTypes, text: string): Uint8Array => {
  if (text.startsWith(TOPIC)) return topicOutputs.encode(text.slice(TOPIC.length) as Topic)
  const twin = text.endsWith(SPENT) ? text.slice(0, -SPENT.length) : undefined
  return twin !== undefined && events.find(twin)
    ? events.parseQuery(twin).spent
    : events.parseQuery(text).index
}
