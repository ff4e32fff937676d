/**
 * Finding live entries: a query becomes a search of the sorted sets that its selectors name, ordered by score and
 * outpoint. Every node has the same order once entries are mined.
 */
import type { Outpoint } from '@quoin/primitives'
import type { FoundRow } from '@quoin/store'
import type { OutputStore, Page } from '@quoin/txo'
import { entryEventOf, eventOf } from './keys.ts'
import type { KvQuery } from './query.ts'

export interface FoundEntry {
  readonly outpoint: Outpoint
  readonly score: number
}

/**
 * Rows scanned for one page, over all sets. Two large selectors with a small intersection may give a short page; its
 * cursor continues the scan.
 */
const MAX_SCANNED_ROWS = 500_000

export const findEntries = async (outputs: OutputStore, query: KvQuery): Promise<Page<FoundEntry>> => {
  const { limit, skip, sortOrder, cursor } = query
  const sets = eventsForAnyTag(query).length + tagEvents(query).length
  const page = await outputs.store.search({
    ...(await searchOf(outputs, query)),
    reverse: sortOrder === 'desc',
    limit: skip + limit,
    effort: Math.floor(MAX_SCANNED_ROWS / sets),
    ...(cursor !== undefined && { cursor })
  })
  return {
    rows: page.rows.slice(skip).map(({ member, score }) => ({ outpoint: member as Outpoint, score })),
    cursor: page.cursor
  }
}

type Sets = readonly Uint8Array[]

const searchOf = async (outputs: OutputStore, query: KvQuery) => {
  const setsOf = (texts: readonly string[]): Sets => texts.map(text => outputs.events.parse(text).index)
  const [fixed, tags] = [setsOf(eventsForAnyTag(query)), setsOf(tagEvents(query))]
  const isAny = query.tagQueryMode === 'any' && tags.length > 1
  if (!isAny) return { keys: [...fixed, ...tags], join: 'intersect' as const }
  if (fixed.length === 0) return { keys: tags, join: 'union' as const }
  const sizes = async (sets: Sets): Promise<number[]> =>
    Promise.all(sets.map(set => outputs.store.zcard(set)))
  const fixedRows = Math.min(...(await sizes(fixed)))
  const tagRows = (await sizes(tags)).reduce((sum, each) => sum + each, 0)
  return fixedRows <= tagRows
    ? { keys: fixed, join: 'intersect' as const, filter: inSets(outputs, tags, has => has.includes(true)) }
    : { keys: tags, join: 'union' as const, filter: inSets(outputs, fixed, has => !has.includes(false)) }
}

const inSets =
  ({ store }: OutputStore, sets: Sets, keep: (has: readonly boolean[]) => boolean) =>
  (rows: readonly FoundRow[]): Promise<boolean[]> =>
    Promise.all(
      rows.map(async ({ member }) =>
        keep(await Promise.all(sets.map(async set => (await store.zscore(set, member)) !== undefined)))
      )
    )

/** Whether a query selects an entry, as a predicate on the events of the entry. */
export const selects = (query: KvQuery): ((events: readonly string[]) => boolean) => {
  const [fixed, tags] = [eventsForAnyTag(query), tagEvents(query)]
  return events => {
    const has = (text: string): boolean => events.includes(text)
    if (!fixed.every(has)) return false
    return query.tagQueryMode === 'any' && tags.length > 0 ? tags.some(has) : tags.every(has)
  }
}

/** Events of which every matching entry has one at least; undefined for a query without selectors. */
export const anyEventOf = (query: KvQuery): string[] | undefined => {
  const [[fixed], tags] = [eventsForAnyTag(query), tagEvents(query)]
  if (fixed !== undefined) return [fixed]
  return query.tagQueryMode === 'any' ? nonEmpty(tags) : nonEmpty(tags.slice(0, 1))
}

const nonEmpty = (texts: string[]): string[] | undefined => (texts.length > 0 ? texts : undefined)

/** Events of every matching entry, from the selectors other than tags. */
const eventsForAnyTag = ({ key, controller, protocolID, tags }: KvQuery): string[] => {
  if (key !== undefined && controller !== undefined) {
    return [protocolID ? eventOf.entry({ key, controller, protocolID }) : eventOf.held(controller, key)]
  }
  return [
    ...(key === undefined ? [] : [eventOf.key(key)]),
    // The events of tags include the controller.
    ...(controller === undefined || tags.length > 0 ? [] : [eventOf.controller(controller)]),
    ...(protocolID ? [eventOf.protocol(protocolID)] : [])
  ]
}

const tagEvents = ({ controller, tags }: KvQuery): string[] =>
  tags.map(tag => (controller === undefined ? eventOf.tag(tag) : eventOf.tagged(controller, tag)))

/** Number of live tokens of the tuple of each entry: several are ambiguous (§3.4). */
export const liveTokens = async (outputs: OutputStore, outpoints: readonly Outpoint[]): Promise<number[]> => {
  const loaded = await outputs.loadOutputs(outpoints, { includeEvents: true })
  return Promise.all(loaded.map(each => countLiveTokens(outputs, each?.events ?? [])))
}

/** Number of live tokens of the tuple that the events of an entry name. */
export const countLiveTokens = async (
  { store, events }: OutputStore,
  entryEvents: readonly string[]
): Promise<number> => {
  const entry = entryEventOf(entryEvents)
  return entry === undefined ? 0 : store.zcard(events.parse(entry).index)
}
