/**
 * Deferred appends. A batch inserts its entries into a table that its writers share without a lock, in the order of a
 * sequence: a batch that depends on another draws its numbers after the other has committed. Afterwards a transaction on
 * a connection of its own takes what was committed, and gives positions under the lock of the log's last position. So
 * commits wait neither for that row nor for the lock of NOTIFY, which PostgreSQL holds until a commit is durable.
 */
import { Backoff, hasCode, type QuoinError, sleep } from '@quoin/primitives'
import type { DeferredAppends } from '../engine.ts'
import { binaryArray, bytesArray } from './arrays.ts'
import type { Query } from './client.ts'
import type { Database } from './database.ts'
import { isConflict, storeError } from './errors.ts'
import { Notifications } from './notifications.ts'

/** Entries that one transaction gives positions, of each log. */
const TAKEN = 5000
const RETRY = { first: 50, limit: 5000 }

export interface DeferredAppendsOptions {
  readonly database: Database
  readonly schema: string
  readonly onFailure: (error: QuoinError) => void
}

/** Part of a batch: entries that have their positions later. */
export class DeferredEntries {
  readonly #sql: string
  readonly #entries: (readonly [key: Uint8Array, entry: Uint8Array])[] = []

  constructor(schema: string) {
    this.#sql = `INSERT INTO ${schema}.deferred_appends (key, entry)
      SELECT key, entry FROM unnest($1::bytea[], $2::bytea[]) WITH ORDINALITY AS n (key, entry, i) ORDER BY i`
  }

  get size(): number {
    return this.#entries.length
  }

  push(key: Uint8Array, entry: Uint8Array): void {
    this.#entries.push([key, entry])
  }

  clear(): void {
    this.#entries.length = 0
  }

  async write(query: Query): Promise<void> {
    if (this.#entries.length === 0) return
    const column = (i: 0 | 1) => bytesArray(this.#entries.map(row => row[i]))
    await query(this.#sql, [column(0), column(1)])
  }
}

export class PostgresDeferredAppends implements DeferredAppends {
  readonly #options: DeferredAppendsOptions
  readonly #sql: ReturnType<typeof statementsOf>
  readonly #notifications: Notifications
  readonly #backoff = new Backoff(RETRY)
  readonly #closing = new AbortController()
  #isWoken = false
  #running: Promise<void> | undefined

  constructor(options: DeferredAppendsOptions) {
    this.#options = options
    this.#sql = statementsOf(options.schema)
    this.#notifications = new Notifications({
      database: options.database,
      channel: options.schema,
      // A process that was killed left them.
      onPoll: async query => {
        if ((await query(this.#sql.any)).length > 0) this.wake()
      }
    })
  }

  /** Gives positions to the entries that are committed. */
  wake(): void {
    this.#isWoken = true
    this.#running ??= this.#run()
  }

  async settled(): Promise<void> {
    this.wake()
    await this.#running
  }

  watch(key: Uint8Array, listener: () => void): () => void {
    return this.#notifications.watch(key, listener)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#running
    await this.#notifications.close()
  }

  async #run(): Promise<void> {
    while (this.#isWoken) {
      this.#isWoken = false
      try {
        const keys = await this.#options.database.patiently(() => this.#givePositions())
        this.#backoff.reset()
        if (keys.length > 0) await this.#notifications.publish(keys)
      } catch (caught) {
        const error = storeError(caught)
        // A process that only reads leaves them to the ones that write.
        if (hasCode(error, 'ERR_STORE_READ_ONLY')) break
        if (!isConflict(error)) this.#options.onFailure(error)
        if (this.#closing.signal.aborted) break
        this.#isWoken = true
        await sleep(this.#backoff.next(), { signal: this.#closing.signal, ref: false })
      }
    }
    this.#running = undefined
  }

  /** The logs that have more entries. */
  #givePositions(): Promise<Uint8Array[]> {
    return this.#options.database.transaction(async query => {
      const rows = await query(this.#sql.keys)
      const keys = rows.map(([key]) => key as Uint8Array)
      for (const key of keys) await this.#givePositionsOf(key, query)
      return { result: keys, hasChanges: keys.length > 0 }
    }, 'appends')
  }

  async #givePositionsOf(key: Uint8Array, query: Query): Promise<void> {
    const [last] = (await query(this.#sql.lockLast, [key])) as [[number]]
    const rows = (await query(this.#sql.place, [key, last[0]])) as [Uint8Array, number][]
    const end = last[0] + rows.length
    // An entry that the log has stays where it is, and the entries after it move up.
    if (rows.some(([, position]) => position > end)) {
      const entries = rows.sort(([, left], [, right]) => left - right).map(([entry]) => entry)
      const positions = binaryArray(
        'float8',
        entries.map((_, i) => last[0] + 1 + i),
        itself
      )
      await query(this.#sql.move, [key, bytesArray(entries), positions])
    }
    await query(this.#sql.move, [key, bytesArray([LAST]), binaryArray('float8', [end], itself)])
    const [more] = await query(this.#sql.more, [key])
    if (more) this.#isWoken = true
  }
}

const statementsOf = (schema: string) => {
  const deferred = `${schema}.deferred_appends`
  const sets = `${schema}.sorted_sets`
  return {
    any: `SELECT 1 FROM ${deferred} LIMIT 1`,
    keys: `SELECT DISTINCT key FROM ${deferred} ORDER BY key`,
    more: `SELECT 1 FROM ${deferred} WHERE key = $1::bytea LIMIT 1`,
    // Each statement finds rows by the primary key, whatever the statistics say.
    lockLast: `INSERT INTO ${sets} AS log (key, member, score) VALUES ($1::bytea, '', 0)
      ON CONFLICT (key, member) DO UPDATE SET score = log.score RETURNING score`,
    place: `WITH taken AS (
        DELETE FROM ${deferred} WHERE key = $1::bytea AND arrival IN (
          SELECT arrival FROM ${deferred} WHERE key = $1::bytea ORDER BY arrival LIMIT ${TAKEN})
        RETURNING arrival, entry)
      INSERT INTO ${sets} (key, member, score)
      SELECT $1::bytea, entry, $2::float8 + row_number() OVER (ORDER BY min(arrival)) FROM taken GROUP BY entry
      ON CONFLICT (key, member) DO NOTHING RETURNING member, score`,
    move: `INSERT INTO ${sets} (key, member, score)
      SELECT $1::bytea, member, score FROM unnest($2::bytea[], $3::float8[]) AS n (member, score)
      ON CONFLICT (key, member) DO UPDATE SET score = excluded.score`
  }
}

/** The member of a log whose score is the last position given. */
const LAST: Uint8Array = new Uint8Array()
const itself = (position: number): number => position
