/**
 * Entries that a group appends to logs. All writers of a log pass the row of its last position, so it is changed at the
 * very end: one statement adds the number of the entries and answers the last position, one inserts the entries, then
 * the transaction commits.
 *
 * An entry that the log has already violates the primary key. The transaction then runs again, and locks and looks up
 * the entries like other rows (`isCareful`); so does one with other operations on an entry that it appends, or on the last position.
 */
import { bytesKey } from '@quoin/primitives'
import { binaryArray, bytesArray } from './arrays.ts'
import type { Query } from './client.ts'
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
  readonly #table: string
  readonly #isCareful: boolean
  readonly #logs = new Map<string, LogOfGroup>()

  constructor(rows: TableRows<number>, schema: string, isCareful: boolean) {
    this.#rows = rows
    this.#table = `${schema}.sorted_sets`
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

  /** Gives the entries their positions. Nothing but the commit comes after it. */
  async write(query: Query): Promise<void> {
    const logs = [...this.#logs.values()]
      .filter(({ entries }) => entries.size > 0)
      .sort((a, b) => (bytesKey(a.key) < bytesKey(b.key) ? -1 : 1))
    if (logs.length === 0) return
    const lasts = await query(
      `INSERT INTO ${this.#table} AS log (key, member, score)
       SELECT key, ''::bytea, count FROM unnest($1::bytea[], $2::float8[]) AS n (key, count)
       ON CONFLICT (key, member) DO UPDATE SET score = log.score + excluded.score RETURNING key, score`,
      [bytesArray(logs.map(({ key }) => key)), binaryArray('float8', logs, ({ entries }) => entries.size)]
    )
    const rows = lasts.flatMap(([key, last]) => {
      const log = this.#logs.get(bytesKey(key as Uint8Array))!
      const before = (last as number) - log.entries.size
      return [...log.entries.values()].map((entry, i) => ({ key: log.key, entry, position: before + 1 + i }))
    })
    await query(
      `INSERT INTO ${this.#table} (key, member, score)
       SELECT key, member, score FROM unnest($1::bytea[], $2::bytea[], $3::float8[]) AS n (key, member, score)`,
      [
        binaryArray('bytea', rows, ({ key }) => key),
        binaryArray('bytea', rows, ({ entry }) => entry),
        binaryArray('float8', rows, ({ position }) => position)
      ]
    )
  }
}
