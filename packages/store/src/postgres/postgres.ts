/** The engine on PostgreSQL: structures as rows of tables, and transactions of the server. */
import { QuoinError } from '@quoin/primitives'
import type { Engine, EngineStats, LastWrite, Manifest, OperationResult, Reads } from '../engine.ts'
import type { Query } from './client.ts'
import { Commits } from './commits.ts'
import { Database } from './database.ts'
import { PostgresDeferredAppends } from './deferred-appends.ts'
import { PostgresReads } from './reads.ts'
import { openSchema } from './schema.ts'
import { probeServer, serverStats } from './stats.ts'
import { parsePostgresUrl } from './url.ts'

export interface PostgresOptions {
  /** Milliseconds that a call waits for a server that is away, before it fails with ERR_STORE_CONNECTION. */
  readonly timeout?: number
  /** Milliseconds in which a connection is made; `connect_timeout` of the URL unless given. */
  readonly connectTimeout?: number
}

/** Opens the store at a URL: `postgres://user@localhost:5432/quoin`. */
export const openPostgres = async (text: string, options: PostgresOptions = {}): Promise<Engine> => {
  const url = parsePostgresUrl(text)
  const { timeout = 10_000, connectTimeout = url.connectTimeout ?? 5000 } = options
  const database = await Database.open(url, { timeout, connectTimeout: Math.min(connectTimeout, timeout) })
  try {
    await openSchema(database.read, url.schema)
    return new PostgresEngine(database, url.schema)
  } catch (error) {
    await database.close()
    throw error
  }
}

class PostgresEngine implements Engine {
  readonly name = 'postgres'
  readonly manifest: Manifest = {
    syncReads: false,
    snapshots: 'held',
    filters: false,
    leaseClock: false,
    backups: false,
    replication: false,
    deferral: true
  }
  readonly reads: Reads
  readonly syncReads = undefined
  readonly #database: Database
  readonly #schema: string
  readonly #commits: Commits
  readonly deferred: PostgresDeferredAppends
  /** Reads and snapshots under way: `close` waits for them. */
  readonly #reading = new Set<Promise<unknown>>()
  #closing: Promise<void> | undefined
  lastWrite: LastWrite | undefined

  constructor(database: Database, schema: string) {
    this.#database = database
    this.#schema = schema
    this.deferred = new PostgresDeferredAppends({
      database,
      schema,
      onFailure: error => {
        this.lastWrite = { at: Date.now(), error }
      }
    })
    this.#commits = new Commits(database, schema, () => this.deferred.wake())
    // Of a process that was killed.
    this.deferred.wake()
    this.reads = new PostgresReads(database.read, schema, this.#track)
  }

  async now(): Promise<number> {
    const [row] = await this.#read('SELECT CAST(extract(epoch FROM clock_timestamp()) AS float8)')
    return row![0] as number
  }

  async commit(batch: Uint8Array): Promise<OperationResult[]> {
    this.#refuseClosed()
    return this.#recorded(this.#commits.commit(batch))
  }

  async commitMany(batches: readonly Uint8Array[]): Promise<void> {
    this.#refuseClosed()
    const commits = batches.map(batch => this.#commits.commit(batch))
    await this.#recorded(Promise.allSettled(commits).then(() => Promise.all(commits)))
  }

  async #recorded<T>(commit: Promise<T>): Promise<T> {
    try {
      const result = await commit
      this.lastWrite = { at: Date.now() }
      return result
    } catch (error) {
      if (error instanceof QuoinError && !REFUSALS.has(error.code)) this.lastWrite = { at: Date.now(), error }
      throw error
    }
  }

  async probe(): Promise<void> {
    await probeServer(this.#read)
  }

  async snapshot<T>(read: (reads: Reads) => Promise<T>): Promise<T> {
    return this.#track(() => this.#database.snapshot(query => read(new PostgresReads(query, this.#schema))))
  }

  async backup(_directory: string): Promise<void> {
    throw new QuoinError(
      'ERR_STORE_OPTION',
      'a PostgreSQL store is backed up by PostgreSQL itself: pg_dump, or pg_basebackup and the archived WAL'
    )
  }

  async stats(): Promise<EngineStats> {
    return serverStats(this.name, this.#read, this.#schema)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await this.#commits.settled()
    await this.deferred.close()
    while (this.#reading.size > 0) await Promise.allSettled(this.#reading)
    await this.#database.close()
  }

  readonly #read: Query = (sql, values) => this.#track(() => this.#database.read(sql, values))

  readonly #track = async <T>(read: () => Promise<T>): Promise<T> => {
    this.#refuseClosed()
    const reading = read()
    this.#reading.add(reading)
    try {
      return await reading
    } finally {
      this.#reading.delete(reading)
    }
  }

  #refuseClosed(): void {
    if (this.#closing) throw new QuoinError('ERR_STORE_CLOSED', 'the store is closed')
  }
}

/** A condition that failed: the server works. */
const REFUSALS: ReadonlySet<string> = new Set(['ERR_STORE_PRECONDITION', 'ERR_STORE_LEASE_LOST'])
