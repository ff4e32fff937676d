/**
 * The connections to the server, through `pg`: one that commits, one for deferred appends, some for reads and snapshots. A snapshot that
 * reads the store itself would wait for ever on one pool for both.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { QuoinError } from '@quoin/primitives'
import type { Pool, PoolClient, PoolConfig } from 'pg'
import { commit, type Query, queryOn, type Statement } from './client.ts'
import { type ServerOptions, Servers } from './servers.ts'
import { parserOf } from './types.ts'
import type { PostgresHost, PostgresUrl } from './url.ts'

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
const BEGIN = `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL idle_in_transaction_session_timeout = ${IDLE_MS}`

/** One plan for each statement, and none whose cost grows with the table. */
export const PLANS: Readonly<Record<string, string>> = {
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  plan_cache_mode: 'force_generic_plan',
  // Compiles statements whose cost is thought to be high, as that of a scan that is off.
  jit: 'off'
}
const PLAN_NAMES = Object.keys(PLANS).join(',')

/** The outcome of the statements of a transaction. */
export interface Changes<T> {
  readonly result: T
  readonly hasChanges: boolean
  /** Runs before the commit, and is sent with it. */
  readonly last?: Statement | undefined
}

export interface Listening {
  readonly query: Query
  close(): void
}

export class Database {
  readonly waits: Waits
  readonly #servers: Servers
  /** The statements that begin a transaction that writes, on each connection. */
  readonly #begins = new WeakMap<PoolClient, string>()

  private constructor(servers: ServerOptions, waits: Waits) {
    this.waits = waits
    this.#servers = new Servers(servers)
  }

  static async open(url: PostgresUrl, waits: Waits): Promise<Database> {
    const { default: pg } = await importPg()
    const config: PoolConfig = {
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
    const newPools = (host: PostgresHost) => {
      const newPool = (max: number): Pool => new pg.Pool({ ...config, ...host, max })
      return {
        commits: newPool(1),
        appends: newPool(1),
        reads: newPool(url.pool),
        snapshots: newPool(url.pool)
      }
    }
    const newClient = (host: PostgresHost) => new pg.Client({ ...config, ...host })
    return new Database({ hosts: url.hosts, target: url.target, newPools, newClient }, waits)
  }

  /** Asks outside of any transaction, and again where the connection was lost. */
  readonly read: Query = (sql, values) =>
    this.patiently(() => this.#servers.using('reads', client => queryOn(client)(sql, values)))

  /** Runs statements in one transaction. */
  transaction<T>(
    run: (query: Query) => Promise<Changes<T>>,
    purpose: 'commits' | 'appends' = 'commits'
  ): Promise<T> {
    return this.#servers.using(purpose, async client => {
      const query = queryOn(client)
      const begin = this.#begins.get(client) ?? (await this.#beginOf(client, query))
      const [, outcome] = await Promise.all([query(begin), run(query)])
      if (outcome.hasChanges) await commit(client, outcome.last)
      else await query('ROLLBACK')
      return outcome.result
    })
  }

  /**
   * A commit is on disk before it is acknowledged, even where the server is set otherwise. Statements search indexes,
   * also those that were planned while a table was empty; settings that the server does not have are left out.
   */
  async #beginOf(client: PoolClient, query: Query): Promise<string> {
    const rows = await query(
      `SELECT name, setting FROM pg_settings WHERE name = ANY ('{synchronous_commit,${PLAN_NAMES}}')`
    )
    let begin = BEGIN
    for (const [name, setting] of rows as [string, string][]) {
      const wanted = name in PLANS ? PLANS[name] : setting === 'off' ? 'on' : setting
      if (wanted !== setting) begin += `; SET LOCAL ${name} = ${wanted}`
    }
    this.#begins.set(client, begin)
    return begin
  }

  /** Statements that all see one state. */
  snapshot<T>(run: (query: Query) => Promise<T>): Promise<T> {
    let hasBegun = false
    const snapshot = () =>
      this.#servers.using('snapshots', async client => {
        const query = queryOn(client)
        await query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
        hasBegun = true
        const result = await run(query)
        await query('COMMIT')
        return result
      })
    return this.patiently(snapshot, () => !hasBegun)
  }

  /** Sends notifications, which a server that stops may lose. */
  async notify(channel: string, payloads: readonly string[]): Promise<void> {
    await this.#servers.using('appends', async client => {
      const query = queryOn(client)
      await query('BEGIN; SET LOCAL synchronous_commit = off')
      await query(`SELECT pg_notify('${channel}', payload) FROM unnest($1::text[]) AS n (payload)`, [
        payloads
      ])
      await query('COMMIT')
    })
  }

  /** Listens on a connection of its own, until it is closed or lost. */
  async listen(
    channel: string,
    onPayload: (payload: string) => void,
    onLost: () => void
  ): Promise<Listening> {
    const client = await this.#servers.open()
    client.on('notification', ({ payload = '' }) => onPayload(payload))
    client.on('end', onLost)
    const query = queryOn(client)
    const close = (): void => {
      client.off('end', onLost)
      void client.end()
    }
    try {
      await query(`LISTEN ${channel}`)
      return { query, close }
    } catch (error) {
      close()
      throw error
    }
  }

  /** Repeats a call that does not get through to the server, until it was away for too long. */
  async patiently<T>(call: () => Promise<T>, mayRepeat = () => true): Promise<T> {
    const deadline = performance.now() + this.waits.timeout
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      try {
        return await call()
      } catch (error) {
        const canWait = this.#servers.isLost(error) && outcomeOf(error) === undefined && mayRepeat()
        if (!canWait || performance.now() + pause > deadline) throw error
        await sleep(pause)
      }
    }
  }

  async close(): Promise<void> {
    await this.#servers.close()
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

/** Whether a commit that failed may have been done. */
const outcomeOf = (error: unknown): unknown =>
  error instanceof QuoinError ? error.details['outcome'] : undefined
