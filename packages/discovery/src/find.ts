/** Search of live advertisements. Of several for one host, URI and name the newest visible one counts. */
import { type Outpoint, QuoinError } from '@quoin/primitives'
import type { OutputStore } from '@quoin/txo'
import { isAdvertisableName, type Protocol } from './advertisement.ts'
import { eventOf, recordOf } from './keys.ts'
import { type DiscoveryQuery, MAX_RESULTS } from './query.ts'
import { areVisible, type FoundRow } from './visible.ts'

const PAGE = 1000
/** Advertisements read for one answer. */
const MAX_READ = 10_000

export const findAdvertisements = async (
  outputs: OutputStore,
  protocol: Protocol,
  query: DiscoveryQuery
): Promise<Outpoint[]> => {
  const search = searchOf(protocol, query)
  if (search.keys.length === 0) return []
  const required = requiredEvents(protocol, query)
  const found = new Map<string, Outpoint>()
  let read = 0
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
    const page = await outputs.search({
      ...search,
      filterSpent: true,
      reverse: true,
      limit: PAGE,
      ...(cursor !== undefined && { cursor })
    })
    const outpoints = page.rows.map(({ outpoint }) => outpoint)
    const loaded = await outputs.loadOutputs(outpoints, { includeEvents: true })
    const rows = outpoints.flatMap((outpoint, i): FoundRow[] => {
      const events = loaded[i]?.events ?? []
      return required.every(each => events.includes(each)) ? [{ outpoint, events }] : []
    })
    const visible = await areVisible(outputs.store, rows, { includeDown: query.identityKey !== undefined })
    for (const [i, { outpoint, events }] of rows.entries()) {
      const record = recordOf(events)
      if (record !== undefined && visible[i] && !found.has(record)) found.set(record, outpoint)
    }
    read += outpoints.length
    if (read >= MAX_READ && page.cursor !== undefined) throw tooMany(`more than ${MAX_READ}`)
    cursor = page.cursor
  }
  return pageOf([...found.values()], query)
}

const pageOf = (newestFirst: readonly Outpoint[], { limit, skip, sortOrder }: DiscoveryQuery): Outpoint[] => {
  const all = sortOrder === 'desc' ? newestFirst : newestFirst.toReversed()
  const page = all.slice(skip, limit === 0 ? undefined : skip + limit)
  if (page.length > MAX_RESULTS) throw tooMany(`${page.length}`)
  return page
}

const tooMany = (count: string): QuoinError =>
  new QuoinError(
    'ERR_REQUEST',
    `the query selects ${count} advertisements, and an answer has at most ${MAX_RESULTS}: give selectors, or limit and skip`,
    { where: 'query', path: '/limit' }
  )

/** The sorted sets of the most specific selector. */
const searchOf = (protocol: Protocol, { names, domain, identityKey }: DiscoveryQuery) => {
  if (names) {
    // Other names cannot be advertised.
    return {
      keys: names.filter(isAdvertisableName).map(name => eventOf.name(protocol, name)),
      join: 'union' as const
    }
  }
  if (identityKey !== undefined) return { keys: [eventOf.host(protocol, identityKey)] }
  if (domain !== undefined) return { keys: [eventOf.domain(protocol, domain)] }
  return { keys: [`tp:tm_${protocol.toLowerCase()}`] }
}

const requiredEvents = (protocol: Protocol, { domain, identityKey }: DiscoveryQuery): string[] => [
  ...(domain === undefined ? [] : [eventOf.domain(protocol, domain)]),
  ...(identityKey === undefined ? [] : [eventOf.host(protocol, identityKey)])
]
