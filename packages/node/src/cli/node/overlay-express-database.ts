/**
 * The database of an overlay-express (KnexStorage of `@bsv/overlay`), read and never written: transactions by the topics
 * that they were submitted to, in that order, and the outputs that are live in each topic.
 */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { openKnexDatabase } from '@quoin/overlay'
import { QuoinError, reasonOf } from '@quoin/primitives'

export interface AppliedRow {
  readonly id: number
  readonly txid: string
  readonly topic: string
  /** Null where the transaction has no output left: overlay-express deletes it then. */
  readonly beef: Uint8Array | null
}

export interface LiveRow {
  readonly id: number
  readonly txid: string
  readonly outputIndex: number
  readonly topic: string
}

/** The part of the query builder of Knex that is used here. */
interface Query<T> extends PromiseLike<T[]> {
  where(column: string, operator: string, value: unknown): Query<T>
  andWhere(column: string, value: unknown): Query<T>
  whereNull(column: string): Query<T>
  leftJoin(table: string, left: string, right: string): Query<T>
  orderBy(column: string, order: 'asc'): Query<T>
  limit(rows: number): Query<T>
  select<R>(...columns: readonly string[]): Query<R>
}
type Builder = (table: string) => Query<never>

const PAGE = 256

export class OverlayExpressDatabase {
  readonly #knex: Awaited<ReturnType<typeof openKnexDatabase>>
  readonly #table: Builder

  /** Opens a SQLite file, a URL of MySQL or PostgreSQL, or a configuration of Knex in JSON. */
  static async open(from: string): Promise<OverlayExpressDatabase> {
    const database = new OverlayExpressDatabase(
      await openKnexDatabase(knexConfig(from), process.cwd(), 'quoin import overlay-express')
    )
    try {
      await database.applied(0)
      await database.live(0)
    } catch (error) {
      await database.close()
      throw new QuoinError(
        'ERR_FILE',
        `${withoutSecret(from)} is no database of overlay-express, with the tables applied_transactions, transactions and outputs: ${reasonOf(error)}`,
        { cause: error }
      )
    }
    return database
  }

  private constructor(knex: Awaited<ReturnType<typeof openKnexDatabase>>) {
    this.#knex = knex
    this.#table = knex as unknown as Builder
  }

  /** A page of applied transactions after an id, as they were submitted. */
  async applied(after: number): Promise<AppliedRow[]> {
    return this.#table('applied_transactions')
      .leftJoin('transactions', 'applied_transactions.txid', 'transactions.txid')
      .where('applied_transactions.id', '>', after)
      .orderBy('applied_transactions.id', 'asc')
      .limit(PAGE)
      .select<AppliedRow>(
        'applied_transactions.id',
        'applied_transactions.txid',
        'applied_transactions.topic',
        'transactions.beef'
      )
  }

  /** The topics of applied transactions whose BEEF is not kept, by txid. */
  async withoutBeef(): Promise<Map<string, string[]>> {
    const rows = await this.#table('applied_transactions')
      .leftJoin('transactions', 'applied_transactions.txid', 'transactions.txid')
      .whereNull('transactions.beef')
      .select<Pick<AppliedRow, 'txid' | 'topic'>>('applied_transactions.txid', 'applied_transactions.topic')
    const topics = new Map<string, string[]>()
    for (const { txid, topic } of rows) topics.set(txid, [...(topics.get(txid) ?? []), topic])
    return topics
  }

  /** A page of unspent outputs after an id. */
  async live(after: number): Promise<LiveRow[]> {
    return this.#table('outputs')
      .where('id', '>', after)
      .andWhere('spent', false)
      .orderBy('id', 'asc')
      .limit(PAGE)
      .select<LiveRow>('id', 'txid', 'outputIndex', 'topic')
  }

  async close(): Promise<void> {
    await this.#knex.destroy()
  }
}

const CLIENTS: Readonly<Record<string, string>> = {
  mysql: 'mysql2',
  mysql2: 'mysql2',
  postgres: 'pg',
  postgresql: 'pg'
}

const knexConfig = (from: string): Readonly<Record<string, unknown>> => {
  const [, scheme] = /^(\w+):\/\//.exec(from) ?? []
  const client = scheme === undefined ? undefined : CLIENTS[scheme]
  if (client) return { client, connection: from.replace(/^mysql2:/, 'mysql:') }
  if (from.trimStart().startsWith('{')) {
    try {
      return JSON.parse(from) as Readonly<Record<string, unknown>>
    } catch (error) {
      throw new QuoinError('ERR_USAGE', `--from is no JSON: ${reasonOf(error)}`, { cause: error })
    }
  }
  // A file that does not exist would be made.
  if (scheme === undefined && existsSync(from)) {
    return { client: 'better-sqlite3', connection: { filename: resolve(from), options: { readonly: true } } }
  }
  throw new QuoinError(
    'ERR_USAGE',
    `--from is the path of a SQLite file, mysql://…, postgres://… or a configuration of Knex in JSON, not ${withoutSecret(from)}`
  )
}

const withoutSecret = (from: string): string => from.replace(/\/\/([^/:@\s]*):[^@/\s]*@/g, '//$1:(hidden)@')
