/** Databases of plug-ins (BRC-102 `hydrateWith`): a `Db` of MongoDB, and a Knex with its migrations. One of each kind. */
import { QuoinError } from '@quoin/primitives'
import { importPackage } from '../packages.ts'

const SELECTION_MS = 10_000
/** The name of the database where a URL has none. */
const DATABASE = 'quoin'

export interface Migration {
  readonly name?: string
  readonly up: (knex: unknown) => Promise<unknown>
  readonly down?: (knex: unknown) => Promise<unknown>
}

interface MongoClient {
  connect(): Promise<unknown>
  db(name: string): unknown
  close(): Promise<unknown>
}

/** The part of Knex that is used here. */
export interface Knex {
  raw(query: string): Promise<unknown>
  destroy(): Promise<unknown>
  readonly migrate: { latest(options: object): Promise<[number, readonly unknown[]]> }
}

export interface DatabaseOptions {
  readonly mongo: string | undefined
  readonly knex: Readonly<Record<string, unknown>> | undefined
}

export class Databases {
  readonly #options: DatabaseOptions
  #client: Promise<MongoClient> | undefined
  #knex: Promise<Knex> | undefined

  constructor(options: DatabaseOptions) {
    this.#options = options
  }

  /** A `Db` of MongoDB. */
  async mongo(directory: string): Promise<unknown> {
    const { mongo: url } = this.#options
    if (url === undefined) {
      throw new QuoinError(
        'ERR_PLUGIN',
        'hydrateWith mongo needs a MongoDB server: set `mongo: mongodb://HOST/DATABASE`'
      )
    }
    this.#client ??= connect(url, directory)
    return (await this.#client).db(/^[^/]+\/\/[^/]+\/([^?]+)/.exec(url)?.[1] ?? DATABASE)
  }

  knex(directory: string): Promise<Knex> {
    const { knex: config } = this.#options
    if (config === undefined) {
      throw new QuoinError(
        'ERR_PLUGIN',
        'hydrateWith knex needs a database: set `knex: { connection: { filename: FILE } }` for SQLite, or a client of Knex'
      )
    }
    this.#knex ??= openKnexDatabase(config, directory, 'hydrateWith knex')
    return this.#knex
  }

  async close(): Promise<void> {
    await (await this.#client)?.close()
    await (await this.#knex)?.destroy()
  }
}

const connect = async (url: string, directory: string): Promise<MongoClient> => {
  const { MongoClient: Client } = await importPackage('mongodb', directory, 'hydrateWith mongo')
  try {
    const client = new (Client as new (url: string, options: object) => MongoClient)(url, {
      serverSelectionTimeoutMS: SELECTION_MS
    })
    await client.connect()
    return client
  } catch (error) {
    const { message } = error as Error
    throw new QuoinError(
      'ERR_PLUGIN',
      `cannot connect to ${withoutPassword(url)}: ${withoutPassword(message)}`
    )
  }
}

/** Opens a database of Knex; its packages are those of `directory`, else of Quoin. */
export const openKnexDatabase = async (
  config: Readonly<Record<string, unknown>>,
  directory: string,
  purpose: string
): Promise<Knex> => {
  const client = config['client'] ?? 'better-sqlite3'
  const isSqlite = typeof client === 'string' && /sqlite/.test(client)
  const { default: make } = await importPackage('knex', directory, purpose)
  let knex: Knex | undefined
  try {
    knex = (make as (config: object) => Knex)({
      ...config,
      client,
      ...(isSqlite && { useNullAsDefault: true })
    })
    await knex.raw('select 1')
    return knex
  } catch (error) {
    await knex?.destroy()
    const { message } = error as Error
    const missing = /Cannot find module '([^']+)'|npm install (\S+)/.exec(message)
    const advice = missing ? `: run \`npm install ${missing[1] ?? missing[2]}\` in ${directory}` : ''
    const reason = withoutPassword(message.split('\n', 1)[0]!)
    throw new QuoinError('ERR_PLUGIN', `cannot open the database of Knex (${client}): ${reason}${advice}`)
  }
}

/** Runs migrations that have not run, in a table of their own for each service: two services may use the same names. */
export const runMigrations = async (
  knex: Knex,
  service: string,
  migrations: readonly Migration[]
): Promise<string[]> => {
  const source = {
    getMigrations: async () => migrations,
    getMigrationName: (each: Migration) => each.name ?? `${migrations.indexOf(each)}`,
    getMigration: async (each: Migration) => ({ down: async () => undefined, ...each })
  }
  const tableName = `knex_migrations_${service.replace(/\W/g, '_')}`
  const [, ran] = await knex.migrate.latest({ migrationSource: source, tableName })
  return ran.map(String)
}

const withoutPassword = (text: string): string => text.replace(/\/\/([^/:@\s]*):[^@/\s]*@/g, '//$1:***@')
