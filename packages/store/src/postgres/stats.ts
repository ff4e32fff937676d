/** The size of the store, where its commits are kept, and a warning if the server may lose them. */
import { QuoinError } from '@quoin/primitives'
import type { EngineStats } from '../engine.ts'
import type { Query } from './client.ts'

/** A setting that the server does not have is undefined: databases that speak the protocol of PostgreSQL lack some. */
const SETTINGS = [
  'server_version',
  'fsync',
  'full_page_writes',
  'synchronous_commit',
  'synchronous_standby_names',
  'transaction_read_only'
] as const
type Settings = Readonly<Partial<Record<(typeof SETTINGS)[number], string>>>

const settingsOf = async (query: Query): Promise<Settings> => {
  const rows = await query('SELECT name, setting FROM pg_settings WHERE name = ANY ($1::text[])', [
    [...SETTINGS]
  ])
  return Object.fromEntries(rows as [string, string][])
}

/** Whether a commit waits for a standby. `local` waits for none; `off` is `on` in the transactions of a store. */
const isReplicated = ({ synchronous_standby_names: names, synchronous_commit: wait }: Settings): boolean =>
  Boolean(names) && wait !== 'local'

export const serverStats = async (engine: string, query: Query, schema: string): Promise<EngineStats> => {
  const [size] = await query(
    `SELECT sum(pg_total_relation_size(c.oid))::int8 FROM pg_class c
     JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind = 'r'`,
    [schema]
  )
  const settings = await settingsOf(query)
  const warning = warningOf(settings)
  return {
    engine,
    bytes: size![0] as number,
    details: {
      version: settings.server_version ?? 'unknown',
      schema,
      fsync: settings.fsync ?? 'unknown',
      synchronousStandbys: settings.synchronous_standby_names || 'none',
      durability: isReplicated(settings) ? 'standby' : 'server',
      ...(warning ? { warning } : {})
    }
  }
}

const warningOf = (settings: Settings): string => {
  const warnings: string[] = []
  if (settings.fsync === 'off') warnings.push('fsync is off: a machine that stops may lose the whole store')
  if (settings.full_page_writes === 'off') {
    warnings.push('full_page_writes is off: a machine that stops may leave pages half written')
  }
  if (settings.synchronous_standby_names !== undefined && !isReplicated(settings)) {
    warnings.push('no standby is synchronous: a failover may lose the last commits')
  }
  return warnings.join('; ')
}

/** Rejects with the reason why a commit would fail, or wait for a standby that is away. */
export const probeServer = async (query: Query): Promise<void> => {
  const settings = await settingsOf(query)
  if (settings.transaction_read_only === 'on') {
    throw new QuoinError(
      'ERR_STORE_READ_ONLY',
      'the server takes no writes: it is a standby, or set to read-only; name its primary instead'
    )
  }
  if (!isReplicated(settings)) return
  // A user without pg_read_all_stats sees that there are standbys, and not their states.
  const [row] = await query(
    "SELECT count(*) FROM pg_stat_replication WHERE coalesce(sync_state, '') IN ('', 'sync', 'quorum')"
  )
  if (row![0] === 0) {
    const names = settings.synchronous_standby_names
    throw new QuoinError(
      'ERR_STORE_REPLICAS',
      `commits wait for a synchronous standby (${names}), and none is connected; bring one back`,
      { standbys: names }
    )
  }
}
