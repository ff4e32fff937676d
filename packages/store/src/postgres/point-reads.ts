/**
 * Point reads, gathered: the reads that begin while a statement runs go out together in the next one. A statement of
 * many rows costs the server and the client a tenth of as many statements.
 *
 * The lateral subqueries are fences: whatever the statistics of a table say, its index is searched once for each key. A
 * plan that was made while the table was empty would scan it whole.
 */
import type { FieldValue } from '../engine.ts'
import { bytesArray } from './arrays.ts'
import type { Query, Row } from './client.ts'

/** Runs a read of the store; refuses it when the store is closed. */
export type Track = <T>(read: () => Promise<T>) => Promise<T>

/** Keys of one statement. One caller may ask for more. */
const FULL = 1000
/** Statements at once; the second and later ones are full. */
const STATEMENTS = 4

/** The columns of the primary keys of the rows that are asked for. */
type Keys = readonly (readonly Uint8Array[])[]

interface Waiting<Answer> {
  readonly keys: Keys
  readonly resolve: (answers: Answer[]) => void
  readonly reject: (error: unknown) => void
}

export class PointReads {
  readonly #values: Gathering<Uint8Array | undefined>
  readonly #fields: Gathering<Uint8Array | undefined>
  readonly #hashes: Gathering<FieldValue[]>
  readonly #scores: Gathering<number | undefined>
  readonly #track: Track

  constructor(query: Query, schema: string, track: Track) {
    this.#track = track
    const single = (table: string, columns: readonly string[], value: string): string => {
      const arrays = columns.map((_, i) => `$${i + 1}::bytea[]`).join(', ')
      const match = columns.map(column => `t.${column} = k.${column}`).join(' AND ')
      return `SELECT n, ${value} FROM unnest(${arrays}) WITH ORDINALITY AS k (${columns.join(', ')}, n)
        CROSS JOIN LATERAL (SELECT ${value} FROM ${schema}.${table} t WHERE ${match} LIMIT 1) AS found`
    }
    this.#values = new Gathering(query, single('key_values', ['key'], 'value'), placed<Uint8Array>)
    this.#fields = new Gathering(query, single('hash_fields', ['key', 'field'], 'value'), placed<Uint8Array>)
    this.#scores = new Gathering(query, single('sorted_sets', ['key', 'member'], 'score'), placed<number>)
    this.#hashes = new Gathering(
      query,
      `SELECT n, field, value FROM unnest($1::bytea[]) WITH ORDINALITY AS k (key, n)
       CROSS JOIN LATERAL (SELECT field, value FROM ${schema}.hash_fields t WHERE t.key = k.key OFFSET 0) AS found
       ORDER BY n, field`,
      hashesFrom
    )
  }

  values(keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    return this.#track(() => this.#values.read([keys]))
  }

  fields(key: Uint8Array, fields: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    return this.#track(() => this.#fields.read([fields.map(() => key), fields]))
  }

  hashes(keys: readonly Uint8Array[]): Promise<FieldValue[][]> {
    return this.#track(() => this.#hashes.read([keys]))
  }

  async score(key: Uint8Array, member: Uint8Array): Promise<number | undefined> {
    const [score] = await this.#track(() => this.#scores.read([[key], [member]]))
    return score
  }
}

/** Reads of one kind. */
class Gathering<Answer> {
  readonly #query: Query
  readonly #sql: string
  readonly #answersFrom: (rows: readonly Row[], count: number) => Answer[]
  readonly #waiting: Waiting<Answer>[] = []
  /** Keys that wait. */
  #keys = 0
  #running = 0
  #isScheduled = false

  constructor(query: Query, sql: string, answersFrom: (rows: readonly Row[], count: number) => Answer[]) {
    this.#query = query
    this.#sql = sql
    this.#answersFrom = answersFrom
  }

  read(keys: Keys): Promise<Answer[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ keys, resolve, reject })
      this.#keys += keys[0]!.length
      this.#schedule()
    })
  }

  /** After the callbacks of this turn of the event loop, which may read too. */
  #schedule(): void {
    if (this.#isScheduled || !this.#canSend) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      while (this.#canSend) void this.#send()
    })
  }

  get #canSend(): boolean {
    return (
      this.#waiting.length > 0 && (this.#running === 0 || (this.#running < STATEMENTS && this.#keys >= FULL))
    )
  }

  async #send(): Promise<void> {
    const group = this.#nextGroup()
    this.#running++
    try {
      const columns = group[0]!.keys.map((_, column) => group.flatMap(({ keys }) => keys[column]!))
      const rows = await this.#query(
        this.#sql,
        columns.map(column => bytesArray(column))
      )
      const answers = this.#answersFrom(rows, columns[0]!.length)
      let at = 0
      for (const { keys, resolve } of group) {
        resolve(answers.slice(at, at + keys[0]!.length))
        at += keys[0]!.length
      }
    } catch (error) {
      for (const { reject } of group) reject(error)
    } finally {
      this.#running--
      this.#schedule()
    }
  }

  #nextGroup(): Waiting<Answer>[] {
    let keys = 0
    let length = 0
    while (length < this.#waiting.length && keys < FULL) keys += this.#waiting[length++]!.keys[0]!.length
    this.#keys -= keys
    return this.#waiting.splice(0, length)
  }
}

/** Rows begin with the number of their key. */
const placed = <Value>(rows: readonly Row[], count: number): (Value | undefined)[] => {
  const answers: (Value | undefined)[] = new Array(count).fill(undefined)
  for (const [n, value] of rows) answers[(n as number) - 1] = value as Value
  return answers
}

const hashesFrom = (rows: readonly Row[], count: number): FieldValue[][] => {
  const hashes = Array.from({ length: count }, (): FieldValue[] => [])
  for (const [n, field, value] of rows) hashes[(n as number) - 1]!.push({ field, value } as FieldValue)
  return hashes
}
