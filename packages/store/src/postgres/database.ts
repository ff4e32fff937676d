/**
 * The connections to the server, through `pg`: one that commits, some for reads, some for snapshots. A snapshot that
 * reads the store itself would wait for ever on one pool for both.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { hasCode, QuoinError } from '@quoin/primitives'
import type { Pool, PoolClient, PoolConfig } from 'pg'
import { storeError } from './errors.ts'
import type { PostgresUrl } from './url.ts'

export type Row = readonly unknown[]
/** Rows of a statement; statements with values are prepared once for each connection. */
export type Query = (sql: string, values?: readonly unknown[]) => Promise<Row[]>

export interface Waits {
  /** Milliseconds that a call waits for a server that is away, before it fails with ERR_STORE_CONNECTION. */
  readonly timeout: number
  /** Milliseconds in which a connection is made. */
  readonly connectTimeout: number
}

const FIRST_PAUSE_MS = 20
const LONGEST_PAUSE_MS = 500
/** The server cancels a statement first; a server that is gone cannot. */
const GRACE_MS = 5000
/** A process that stops in a transaction loses its locks. */
const IDLE_MS = 30_000

/** One plan for each statement, and none whose cost grows with the table. */
const PLANS: Readonly<Record<string, string>> = {
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  plan_cache_mode: 'force_generic_plan'
}
const PLAN_NAMES = Object.keys(PLANS).join(',')

export class Database {
  readonly waits: Waits
  readonly #pools: Readonly<Record<'commits' | 'reads' | 'snapshots', Pool>>
  /** What begins a transaction that writes. */
  #begin = `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL idle_in_transaction_session_timeout = ${IDLE_MS}`

  private constructor(newPool: (max: number) => Pool, size: number, waits: Waits) {
    this.waits = waits
    this.#pools = { commits: newPool(1), reads: newPool(size), snapshots: newPool(size) }
  }

  static async open(url: PostgresUrl, waits: Waits): Promise<Database> {
    const { default: pg } = await importPg()
    const config: PoolConfig = {
      host: url.host,
      port: url.port,
      ...(url.user === undefined ? {} : { user: url.user }),
      ...(url.password === undefined ? {} : { password: url.password }),
      database: url.database,
      ...(url.tls ? { ssl: url.tls } : {}),
      application_name: 'quoin',
      statement_timeout: url.statementTimeout,
      query_timeout: url.statementTimeout + GRACE_MS,
      connectionTimeoutMillis: waits.connectTimeout,
      keepAlive: true,
      types: { getTypeParser: parserOf as never }
    }
    const newPool = (max: number): Pool => {
      const pool = new pg.Pool({ ...config, max })
      // A connection that is lost while nothing runs on it: the pool makes another one for the next call.
      pool.on('error', () => {})
      return pool
    }
    return new Database(newPool, url.pool, waits)
  }

  /**
   * A commit is on disk before it is acknowledged, even where the server is set otherwise. Statements search indexes,
   * also those that were planned while a table was empty; settings that the server does not have are left out.
   */
  async adjustTransactions(): Promise<void> {
    const rows = await this.read(
      `SELECT name, setting FROM pg_settings WHERE name = ANY ('{synchronous_commit,${PLAN_NAMES}}')`
    )
    for (const [name, setting] of rows as [string, string][]) {
      const wanted = name in PLANS ? PLANS[name] : setting === 'off' ? 'on' : setting
      if (wanted !== setting) this.#begin += `; SET LOCAL ${name} = ${wanted}`
    }
  }

  /** Asks outside of any transaction, and again where the connection was lost. */
  readonly read: Query = (sql, values) =>
    this.patiently(async () => {
      const client = await connected(this.#pools.reads)
      return using(client, async () => queryOn(client)(sql, values))
    })

  /** Runs statements in one transaction; `run` says whether it has changed rows. */
  async transaction<T>(run: (query: Query) => Promise<{ result: T; hasChanges: boolean }>): Promise<T> {
    const client = await connected(this.#pools.commits)
    return using(client, async () => {
      const query = queryOn(client)
      const [, outcome] = await Promise.all([query(this.#begin), run(query)])
      if (outcome.hasChanges) await commit(client)
      else await query('ROLLBACK')
      return outcome.result
    })
  }

  /** Statements that all see one state. */
  async snapshot<T>(run: (query: Query) => Promise<T>): Promise<T> {
    const client = await this.patiently(() => connected(this.#pools.snapshots))
    return using(client, async () => {
      const query = queryOn(client)
      await query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
      const result = await run(query)
      await query('COMMIT')
      return result
    })
  }

  /** Repeats a call that does not get through to the server, until it was away for too long. */
  async patiently<T>(call: () => Promise<T>): Promise<T> {
    const deadline = performance.now() + this.waits.timeout
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      try {
        return await call()
      } catch (error) {
        const canWait = hasCode(error, 'ERR_STORE_CONNECTION') && error.details['outcome'] === undefined
        if (!canWait || performance.now() + pause > deadline) throw error
        await sleep(pause)
      }
    }
  }

  async close(): Promise<void> {
    await Promise.all(Object.values(this.#pools).map(pool => pool.end()))
  }
}

/** An optional dependency: stores on other engines do without. */
const importPg = async (): Promise<typeof import('pg')> => {
  try {
    return await import('pg')
  } catch (error) {
    throw new QuoinError('ERR_STORE_URL', 'a PostgreSQL store needs the package pg: npm install pg', {
      cause: error
    })
  }
}

const connected = async (pool: Pool): Promise<PoolClient> => {
  try {
    return await pool.connect()
  } catch (error) {
    throw storeError(error)
  }
}

/** Gives a connection back after `run`: as new when it succeeded, and closed when it failed. */
const using = async <T>(client: PoolClient, run: () => Promise<T>): Promise<T> => {
  let isSound = false
  client.on('error', failsNextQuery)
  try {
    const result = await run()
    isSound = true
    return result
  } finally {
    client.off('error', failsNextQuery)
    client.release(!isSound)
  }
}

/** A connection that is lost between two queries: the second one is rejected with the reason. */
const failsNextQuery = (): void => {}

const names = new Map<string, string>()
/** Prepared statements are named by their text. */
const nameOf = (sql: string): string => {
  let name = names.get(sql)
  if (name === undefined) {
    name = `quoin_${names.size}`
    names.set(sql, name)
  }
  return name
}

/** Statements on one connection, one after the other. */
const queryOn = (client: PoolClient): Query => {
  let last: Promise<unknown> = Promise.resolve()
  return (sql, values) => {
    const prepared = values ? { name: nameOf(sql), values: values as unknown[] } : {}
    const send = () => client.query<unknown[]>({ text: sql, rowMode: 'array', ...prepared })
    const reply = last.then(send, send).then(
      ({ rows }) => rows,
      error => {
        throw storeError(error)
      }
    )
    last = reply
    return reply
  }
}

/**
 * A commit that lost its reply may have been done. One that stopped waiting for a synchronous standby is done on this
 * server, and PostgreSQL says so in a warning only.
 */
const commit = async (client: PoolClient): Promise<void> => {
  let warning: string | undefined
  const onNotice = (notice: { severity?: string | undefined; message?: string | undefined }): void => {
    if (notice.severity === 'WARNING') warning = notice.message
  }
  client.on('notice', onNotice)
  try {
    await client.query('COMMIT')
  } catch (error) {
    throw storeError(error, { outcome: 'unknown' })
  } finally {
    client.off('notice', onNotice)
  }
  if (warning !== undefined) {
    throw new QuoinError(
      'ERR_STORE_REPLICAS',
      `the batch is on the primary, and perhaps on no standby: ${warning}`,
      { outcome: 'applied' }
    )
  }
}

/** By the numbers of types in pg_type.dat: bytea, bool, the numbers. Other values stay text. */
const parserOf = (oid: number): ((text: string) => unknown) => {
  switch (oid) {
    case 17:
      return bytesFrom
    case 16:
      return text => text === 't'
    case 20:
    case 21:
    case 23:
    case 700:
    case 701:
      return Number
    default:
      return text => text
  }
}

/** `\x0a1b`; bytes of their own, not of the memory that small buffers share. */
const bytesFrom = (text: string): Uint8Array => new Uint8Array(Buffer.from(text.slice(2), 'hex'))
