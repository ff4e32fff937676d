/** The databases that plug-ins are hydrated with: the MongoDB URL, and Knex on SQLite in a file beside the store. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Config } from './settings.ts'

type KnexConfig = Readonly<Record<string, unknown>>

/** A configuration of Knex for the plug-ins of a node. */
export interface PluginDatabase {
  /** Undefined with a store on a server: each process on it would have a file of its own. */
  readonly knex: KnexConfig | undefined
  close(): Promise<void>
}

/** The setting, or SQLite in a file beside the store. */
export const openPluginDatabase = async (config: DatabaseConfig): Promise<PluginDatabase> => {
  const close = async (): Promise<void> => undefined
  if (config.knex) return { knex: config.knex, close }
  if (config.store !== 'memory:') return { knex: sqlite(sqliteFile(config.store)), close }
  // SQLite in memory would be lost when the process of a plug-in restarts, and each process would have its own.
  const directory = await mkdtemp(join(tmpdir(), 'quoin-plugins-'))
  return {
    knex: sqlite(join(directory, 'plugins.sqlite')),
    close: () => rm(directory, { recursive: true, force: true })
  }
}

type DatabaseConfig = Pick<Config, 'knex' | 'store'>

const sqlite = (filename: string | undefined): KnexConfig | undefined =>
  filename === undefined
    ? undefined
    : { client: 'better-sqlite3', connection: { filename }, useNullAsDefault: true }

/** `lmdb:./data` has `./data.plugins.sqlite`: an upgrade replaces the directory of the store. */
const sqliteFile = (store: string): string | undefined => {
  const [, path] = /^(?:lmdb|level):([^?]+)/.exec(store) ?? []
  return path && `${path.replace(/[/\\]+$/, '')}.plugins.sqlite`
}

const hasKnex = ({ knex, store }: DatabaseConfig): boolean =>
  knex !== undefined || store === 'memory:' || sqliteFile(store) !== undefined

/** A configuration of a file, whose SQLite file is relative to it. */
export const knexRelativeTo = (directory: string, value: unknown): unknown => {
  const { connection } = (value ?? {}) as { connection?: unknown }
  if (typeof connection !== 'object' || connection === null) return value
  const { filename } = connection as { filename?: unknown }
  if (typeof filename !== 'string' || filename.startsWith(':')) return value
  return { ...(value as object), connection: { ...connection, filename: resolve(directory, filename) } }
}

export interface HydrationProblem {
  readonly setting: 'mongo' | 'knex'
  readonly message: string
}

/** Plug-ins whose database the configuration does not name. */
export const hydrationProblems = (
  config: Pick<Config, 'mongo' | 'knex' | 'store'>,
  plugins: readonly {
    readonly module: string
    readonly name?: string | undefined
    readonly hydrateWith?: string | undefined
  }[]
): HydrationProblem[] => {
  const problems: HydrationProblem[] = []
  for (const { module, name, hydrateWith } of plugins) {
    const plugin = name ?? module
    if (hydrateWith === 'mongo' && config.mongo === undefined) {
      const ways = '--mongo, QUOIN_MONGO, or MONGO_URL with a deployment file'
      const message = `mongo is not set, but ${plugin} is hydrated with it; expected mongodb://… (${ways})`
      problems.push({ setting: 'mongo', message })
    }
    if (hydrateWith === 'knex' && !hasKnex(config)) {
      const message =
        `knex is not set, but ${plugin} is hydrated with it; with a store on a server expected a configuration ` +
        'of Knex for a database on a server, for example {"client":"pg","connection":"postgres://…"}'
      problems.push({ setting: 'knex', message })
    }
  }
  return problems
}
