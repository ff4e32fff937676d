/** Filters the advertisements of an answer: banned hosts and advertisements, and hosts that are down, are left out. */
import { bytesKey, type Outpoint } from '@quoin/primitives'
import type { StoreReads } from '@quoin/store'
import { DOWN_AFTER } from './host-health.ts'
import { banFields, discoveryKeys, hostFields, siteIn } from './keys.ts'

export interface FoundRow {
  readonly outpoint: Outpoint
  readonly events: readonly string[]
}

export interface VisibilityOptions {
  /** Hosts that are down, as their owners see them. */
  readonly includeDown?: boolean
}

const { bans, hosts } = discoveryKeys.collections
const { site, advertisement } = banFields.collections
const { record } = hostFields.collections

/** Whether each of the rows is in answers. */
export const areVisible = async (
  reads: StoreReads,
  rows: readonly FoundRow[],
  { includeDown = false }: VisibilityOptions = {}
): Promise<boolean[]> => {
  const sites = rows.map(({ events }) => siteIn(events))
  const distinct = new Map(sites.flatMap(each => (each ? [[bytesKey(each), each] as const] : [])))
  const names = [...distinct.keys()]
  const keys = [...distinct.values()].map((each): [Uint8Array] => [each])
  const [bannedSites, bannedAds, records] = await Promise.all([
    reads.use(bans).at().getMany(site, keys),
    reads
      .use(bans)
      .at()
      .getMany(
        advertisement,
        rows.map(({ outpoint }): [Outpoint] => [outpoint])
      ),
    includeDown ? [] : reads.use(hosts).at().getMany(record, keys)
  ])
  const hidden = new Set(
    names.filter((_, i) => bannedSites[i] !== undefined || (records[i]?.failures ?? 0) >= DOWN_AFTER)
  )
  return rows.map((_, i) => {
    const at = sites[i]
    return bannedAds[i] === undefined && !(at && hidden.has(bytesKey(at)))
  })
}
