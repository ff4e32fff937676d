/**
 * Entries that a group appends to logs. All writers of a log pass the row of its last position. A group locks it in its last
 * statement, which is sent together with the commit: between them the server waits for nothing but its disk.
 *
 * An entry that the log has already violates the primary key. The transaction then runs again, and locks and looks up
 * the entries like other rows (`isCareful`); so does one with other operations on an entry that it appends, or on the last
 * position.
 */
import { bytesKey } from '@quoin/primitives'
import { binaryArray, bytesArray } from './arrays.ts'
import type { Statement } from './client.ts'
import { type Cell, put, type TableRows } from './table-rows.ts'

const EMPTY: Uint8Array = new Uint8Array()
/** The member of a log whose score is the last position given. */
const LAST = EMPTY

interface LogOfGroup {
  readonly key: Uint8Array
  /** Entries that the batches name, whether or not their conditions hold. */
  readonly named: Uint8Array[]
  /** Whether rows of it are locked and loaded like those of sorted sets. */
  isOrdinary: boolean
  readonly entries: Map<string, Uint8Array>
}

export class LogAppends {
  readonly #rows: TableRows<number>
  readonly #sql: string
  readonly #isCareful: boolean
  readonly #logs = new Map<string, LogOfGroup>()

  constructor(rows: TableRows<number>, schema: string, isCareful: boolean) {
    this.#rows = rows
    const table = `${schema}.sorted_sets`
    this.#sql = `WITH lasts AS (
        INSERT INTO ${table} AS log (key, member, score)
        SELECT key, ''::bytea, count FROM unnest($1::bytea[], $2::float8[]) AS n (key, count)
        ON CONFLICT (key, member) DO UPDATE SET score = log.score + excluded.score RETURNING key, score),
      positions AS (SELECT array_agg(score ORDER BY key) AS last FROM lasts)
      INSERT INTO ${table} (key, member, score)
      SELECT key, entry, last[log] - before
      FROM unnest($3::bytea[], $4::bytea[], $5::int4[], $6::float8[]) AS n (key, entry, log, before), positions`
    this.#isCareful = isCareful
  }

  /** Announces an entry, and returns the step that appends it. */
  append(key: Uint8Array, entry: Uint8Array): () => void {
    const name = bytesKey(key)
    let log = this.#logs.get(name)
    if (!log) {
      log = { key, named: [], isOrdinary: false, entries: new Map() }
      this.#logs.set(name, log)
    }
    log.named.push(entry)
    const known = log
    return () => {
      if (known.isOrdinary) this.#appendCell(key, entry)
      else known.entries.set(bytesKey(entry), entry)
    }
  }

  /** When all batches are announced: names the rows of logs whose entries have other operations too. */
  nameRows(): void {
    for (const log of this.#logs.values()) {
      const { key, named } = log
      const isNamed = (member: Uint8Array): boolean => this.#rows.has(key, member)
      log.isOrdinary = this.#isCareful || isNamed(LAST) || named.some(isNamed)
      if (!log.isOrdinary) continue
      this.#rows.readCell(log.key, LAST)
      for (const entry of log.named) this.#rows.readCell(log.key, entry)
    }
  }

  #appendCell(key: Uint8Array, entry: Uint8Array): void {
    const cell: Cell<number> = this.#rows.cell(key, entry)
    if (cell.value !== undefined) return
    const last = this.#rows.cell(key, LAST)
    const position = (last.value ?? 0) + 1
    put(last, position)
    put(cell, position)
  }

  /** Forgets the entries so far. */
  clear(): void {
    for (const { entries } of this.#logs.values()) entries.clear()
  }

  get hasEntries(): boolean {
    for (const { entries } of this.#logs.values()) if (entries.size > 0) return true
    return false
  }

  /**
   * Gives the entries their positions: adds their numbers to the last positions, in the order of the keys, and inserts each
   * entry at its distance before the last position of its log.
   */
  get statement(): Statement | undefined {
    const logs = [...this.#logs.values()]
      .filter(({ entries }) => entries.size > 0)
      .sort((a, b) => (bytesKey(a.key) < bytesKey(b.key) ? -1 : 1))
    if (logs.length === 0) return undefined
    const rows = logs.flatMap(({ key, entries }, i) =>
      [...entries.values()].map((entry, at) => ({ key, entry, log: i + 1, before: entries.size - 1 - at }))
    )
    return {
      sql: this.#sql,
      values: [
        bytesArray(logs.map(({ key }) => key)),
        binaryArray('float8', logs, ({ entries }) => entries.size),
        binaryArray('bytea', rows, ({ key }) => key),
        binaryArray('bytea', rows, ({ entry }) => entry),
        binaryArray('int4', rows, ({ log }) => log),
        binaryArray('float8', rows, ({ before }) => before)
      ]
    }
  }
}
