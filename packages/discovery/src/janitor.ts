/**
 * The janitor: checks the health of the hosts that live advertisements name, and records it. It makes connections to
 * addresses that strangers chose, with `publicFetch`.
 */
import type { Store } from '@quoin/store'
import type { OutputStore } from '@quoin/txo'
import { PROTOCOLS, readAdvertisement } from './advertisement.ts'
import { banList } from './bans.ts'
import { afterCheck, checkHost, DOWN_AFTER, isDue } from './host-health.ts'
import { discoveryKeys, type HostRecord, hostFields, siteDigest } from './keys.ts'
import { canonicalUri, siteOf } from './uri.ts'

export interface JanitorOptions {
  readonly fetch: typeof fetch
  /** Seconds between checks of one host. */
  readonly interval: number
  /** The URI of this node, which is not asked. */
  readonly own?: string | undefined
  /** Milliseconds of one check. */
  readonly timeout?: number
  /** Unix seconds. */
  readonly now?: () => number
  readonly onChange?: (host: HostRecord) => void
}

export interface JanitorReport {
  readonly hosts: number
  readonly checked: number
  readonly down: number
  /** Whether the failures were not recorded, since no host answered. */
  readonly isOffline: boolean
}

const { hosts } = discoveryKeys.collections
const { record } = hostFields.collections
const PAGE = 1000
/** Hosts of one round, the ones with the oldest checks first. */
const MAX_HOSTS = 1000
const CONCURRENCY = 8
/** Hosts that answered before: when so many and all of them fail in one round, it is this node that is offline. */
const WITNESSES = 3

/** The health of hosts that were checked. */
export const hostRecords = async ({ store }: OutputStore): Promise<HostRecord[]> =>
  (await store.use(hosts).at().all()).entries(record).map(({ value }) => value)

/** One round: checks the hosts that are due. */
export const checkHosts = async (
  outputs: OutputStore,
  { interval, own, now = () => Date.now() / 1000, onChange = () => undefined, ...check }: JanitorOptions,
  signal?: AbortSignal
): Promise<JanitorReport> => {
  const uris = await advertisedSites(outputs)
  if (own !== undefined) uris.delete(siteOf(own) ?? own)
  const known = new Map((await hostRecords(outputs)).map(each => [each.site, each]))
  const due = [...uris]
    .filter(([site]) => isDue(known.get(site), interval, now()))
    .sort(([a], [b]) => (known.get(a)?.checkedAt ?? 0) - (known.get(b)?.checkedAt ?? 0))
    .slice(0, MAX_HOSTS)
  const results: HostRecord[] = []
  const waiting = [...due]
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next && !signal?.aborted; next = waiting.shift()) {
      const [site, uri] = next
      const reason = await checkHost(uri, { ...check, ...(signal && { signal }) })
      results.push(afterCheck(site, known.get(site), reason, Math.floor(now())))
    }
  }
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, due.length) }, worker))
  signal?.throwIfAborted()
  const witnesses = results.filter(({ site }) => known.get(site)?.failures === 0)
  const isOffline = witnesses.length >= WITNESSES && results.every(({ failures }) => failures > 0)
  const gone = [...known.keys()].filter(site => !uris.has(site))
  if (!isOffline) {
    await save(outputs.store, results, gone)
    for (const each of results) if (isChange(known.get(each.site), each)) onChange(each)
  }
  const current = new Map([...known, ...(isOffline ? [] : results).map(each => [each.site, each] as const)])
  for (const site of gone) current.delete(site)
  const down = [...current.values()].filter(({ failures }) => failures >= DOWN_AFTER).length
  return { hosts: uris.size, checked: results.length, down, isOffline }
}

const isChange = (before: HostRecord | undefined, { failures }: HostRecord): boolean =>
  failures >= DOWN_AFTER !== (before?.failures ?? 0) >= DOWN_AFTER

const save = async (store: Store, results: readonly HostRecord[], gone: readonly string[]): Promise<void> => {
  if (results.length + gone.length === 0) return
  const batch = store.batch()
  const fields = batch.use(hosts).at()
  for (const each of results) fields.set(record, [siteDigest(each.site)], each)
  for (const site of gone) fields.delete(record, siteDigest(site))
  await batch.commit()
}

/** The sites of live advertisements under `https:`, with their URIs; not the banned ones. */
const advertisedSites = async (outputs: OutputStore): Promise<Map<string, string>> => {
  const banned = new Set((await banList(outputs.store)).map(({ value }) => value))
  const found = new Map<string, string>()
  for (const protocol of PROTOCOLS) {
    const keys = [`tp:tm_${protocol.toLowerCase()}`]
    for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
      const page = await outputs.search({
        keys,
        filterSpent: true,
        limit: PAGE,
        ...(cursor !== undefined && { cursor })
      })
      cursor = page.cursor
      const loaded = await outputs.loadOutputs(
        page.rows.map(({ outpoint }) => outpoint),
        { includeOutput: true }
      )
      for (const each of loaded) {
        const uri =
          each?.output && canonicalUri(readAdvertisement(each.output.script, protocol)?.domain ?? '')
        const site = uri && siteOf(uri)
        if (site && uri.startsWith('https://') && !banned.has(site)) found.set(site, uri)
      }
    }
  }
  return found
}
