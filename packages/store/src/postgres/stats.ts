/** The size of the store, and a warning if the server may lose commits. */
import type { EngineStats } from '../engine.ts'
import type { Query } from './client.ts'

/** A setting that the server does not have is `unknown`: databases that speak the protocol of PostgreSQL lack some. */
const SETTINGS = ['server_version', 'fsync', 'full_page_writes', 'synchronous_standby_names'] as const
type Setting = (typeof SETTINGS)[number]

export const serverStats = async (engine: string, query: Query, schema: string): Promise<EngineStats> => {
  const [size] = await query(
    `SELECT sum(pg_total_relation_size(c.oid))::int8 FROM pg_class c
     JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind = 'r'`,
    [schema]
  )
  const rows = await query('SELECT name, setting FROM pg_settings WHERE name = ANY ($1::text[])', [
    [...SETTINGS]
  ])
  const settings = new Map(rows as [Setting, string][])
  const of = (name: Setting): string => settings.get(name) ?? 'unknown'
  const standbys = of('synchronous_standby_names')
  const warning = warningOf(settings)
  return {
    engine,
    bytes: size![0] as number,
    details: {
      version: of('server_version'),
      schema,
      fsync: of('fsync'),
      synchronousStandbys: standbys || 'none',
      ...(warning ? { warning } : {})
    }
  }
}

const warningOf = (settings: ReadonlyMap<Setting, string>): string => {
  const warnings: string[] = []
  if (settings.get('fsync') === 'off')
    warnings.push('fsync is off: a machine that stops may lose the whole store')
  if (settings.get('full_page_writes') === 'off') {
    warnings.push('full_page_writes is off: a machine that stops may leave pages half written')
  }
  if (settings.get('synchronous_standby_names') === '') {
    warnings.push('no standby is synchronous: a failover may lose the last commits')
  }
  return warnings.join('; ')
}
