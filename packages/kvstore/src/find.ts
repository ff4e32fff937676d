/**
 * Finding live entries: a query becomes a search of the sorted sets that its selectors name, in the order of score and
 * outpoint, which is that of every node once entries are mined.
 */
import type { Outpoint } from '@quoin/keyspace'
import type { FoundRow } from '@quoin/store'
import type { OutputStore, Page } from '@quoin/txo'
import { entryEventOf, eventOf } from './keys.ts'
import type { KvQuery } from './query.ts'

export interface FoundEntry {
  readonly outpoint: Outpoint
  readonly score: number
}

/**
 * Rows to look at for one page, in all sets together. Where two selectors have much and hardly anything in common, a page
 * may be short, and its cursor leads on.
 */
const EFFORT = 500_000

export const findEntries = async (outputs: OutputStore, query: KvQuery): Promise<Page<FoundEntry>> => {
  const { limit, skip, sortOrder, cursor } = query
  const sets = fixedBy(query).length + taggedBy(query).length
  const page = await outputs.store.search({
    ...(await searchOf(outputs, query)),
    reverse: sortOrder === 'desc',
    limit: skip + limit,
    effort: Math.floor(EFFORT / sets),
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
  const [fixed, tags] = [setsOf(fixedBy(query)), setsOf(taggedBy(query))]
  const isAny = query.tagQueryMode === 'any' && tags.length > 1
  if (!isAny) return { keys: [...fixed, ...tags], join: 'intersect' as const }
  if (fixed.length === 0) return { keys: tags, join: 'union' as const }
  const sizes = async (sets: Sets): Promise<number[]> =>
    Promise.all(sets.map(set => outputs.store.zcard(set)))
  const least = Math.min(...(await sizes(fixed)))
  const most = (await sizes(tags)).reduce((sum, each) => sum + each, 0)
  return least <= most
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

/** Whether an entry with these events is one that a query asks for. */
export const selects = (query: KvQuery): ((events: readonly string[]) => boolean) => {
  const [fixed, tags] = [fixedBy(query), taggedBy(query)]
  return events => {
    const has = (text: string): boolean => events.includes(text)
    if (!fixed.every(has)) return false
    return query.tagQueryMode === 'any' && tags.length > 0 ? tags.some(has) : tags.every(has)
  }
}

/** Sets that an entry has to be in whatever its tags are. */
const fixedBy = ({ key, controller, protocolID, tags }: KvQuery): string[] => {
  if (key !== undefined && controller !== undefined) {
    return [protocolID ? eventOf.entry({ key, controller, protocolID }) : eventOf.held(controller, key)]
  }
  return [
    ...(key === undefined ? [] : [eventOf.key(key)]),
    // With tags, the sets of these are of the controller already.
    ...(controller === undefined || tags.length > 0 ? [] : [eventOf.controller(controller)]),
    ...(protocolID ? [eventOf.protocol(protocolID)] : [])
  ]
}

const taggedBy = ({ controller, tags }: KvQuery): string[] =>
  tags.map(tag => (controller === undefined ? eventOf.tag(tag) : eventOf.tagged(controller, tag)))

/** For each entry how many live ones its tuple has: more than one are ambiguous (§3.4). */
export const liveTokens = async (outputs: OutputStore, outpoints: readonly Outpoint[]): Promise<number[]> => {
  const loaded = await outputs.loadOutputs(outpoints, { includeEvents: true })
  return Promise.all(loaded.map(each => liveUnder(outputs, each?.events ?? [])))
}

/** The same, of the entry with these events. */
export const liveUnder = async (
  { store, events }: OutputStore,
  found: readonly string[]
): Promise<number> => {
  const entry = entryEventOf(found)
  return entry === undefined ? 0 : store.zcard(events.parse(entry).index)
}
