/** Reads, each one statement, which sees one state. */
import type { KeyRange } from '@quoin/keyspace'
import { bytesKey } from '@quoin/primitives'
import type {
  FieldPage,
  FieldValue,
  HashEntry,
  KeyValue,
  ListedItem,
  QueueCounts,
  QueueState,
  Reads,
  Rows,
  ScoredMember
} from '../engine.ts'
import { bytesArray } from './arrays.ts'
import type { Query, Row } from './client.ts'
import { PointReads, type Track } from './point-reads.ts'
import { ITEM_COLUMNS, queueItem, recordFrom } from './queue-record.ts'
import { distinctKeys, inRange, limitClause, rowsClause, Values } from './rows.ts'

export class PostgresReads implements Reads {
  readonly #query: Query
  readonly #points: PointReads
  readonly #schema: string

  constructor(query: Query, schema: string, track: Track = read => read()) {
    this.#query = (sql, values) => track(() => query(sql, values))
    this.#points = new PointReads(query, schema, track)
    this.#schema = schema
  }

  async get(key: Uint8Array): Promise<Uint8Array | undefined> {
    const [value] = await this.#points.values([key])
    return value
  }

  mget(keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    return this.#points.values(keys)
  }

  async range(range: KeyRange, limit?: number): Promise<KeyValue[]> {
    const values = new Values()
    const rows = await this.#query(
      `SELECT key, value FROM ${this.#schema}.key_values WHERE ${inRange(values, 'key', range)}
       ORDER BY key ${range.reverse ? 'DESC' : ''} ${limitClause(values, limit)}`,
      values.list
    )
    return rows.map(([key, value]) => ({ key, value }) as KeyValue)
  }

  async hget(key: Uint8Array, field: Uint8Array): Promise<Uint8Array | undefined> {
    const [value] = await this.#points.fields(key, [field])
    return value
  }

  hmget(key: Uint8Array, fields: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    return this.#points.fields(key, fields)
  }

  async hgetall(key: Uint8Array): Promise<FieldValue[]> {
    const [fields] = await this.#points.hashes([key])
    return fields!
  }

  async hscan(key: Uint8Array, cursor: Uint8Array | undefined, count: number): Promise<FieldPage> {
    const values = new Values()
    const own = `key = ${values.add(key, 'bytea')}`
    const after = cursor ? `AND field > ${values.add(cursor, 'bytea')}` : ''
    const wanted = Math.max(1, count)
    const rows = await this.#query(
      `SELECT field, value FROM ${this.#schema}.hash_fields WHERE ${own} ${after}
       ORDER BY field ${limitClause(values, wanted)}`,
      values.list
    )
    const fields = rows.map(fieldValue)
    return { fields, cursor: fields.length < wanted ? undefined : fields.at(-1)!.field }
  }

  mhgetall(keys: readonly Uint8Array[]): Promise<FieldValue[][]> {
    return this.#points.hashes(keys)
  }

  async mhexists(keys: readonly Uint8Array[]): Promise<boolean[]> {
    const rows = await this.#query(
      `SELECT EXISTS (SELECT 1 FROM ${this.#schema}.hash_fields h WHERE h.key = k.key)
       FROM unnest($1::bytea[]) WITH ORDINALITY AS k (key, n) ORDER BY n`,
      [bytesArray(keys)]
    )
    return rows.map(([exists]) => exists as boolean)
  }

  async hrange(range: KeyRange, limit?: number): Promise<HashEntry[]> {
    const values = new Values()
    const keys = distinctKeys(values, `${this.#schema}.hash_fields`, range, limit)
    const rows = await this.#query(
      `${keys} SELECT key, field, value FROM page JOIN ${this.#schema}.hash_fields USING (key)
       ORDER BY key ${range.reverse ? 'DESC' : ''}, field`,
      values.list
    )
    const entries = new Map<string, { key: Uint8Array; fields: FieldValue[] }>()
    for (const [key, ...field] of rows) {
      const name = bytesKey(key as Uint8Array)
      const entry = entries.get(name) ?? { key: key as Uint8Array, fields: [] }
      entries.set(name, entry)
      entry.fields.push(fieldValue(field))
    }
    return [...entries.values()]
  }

  async sismember(key: Uint8Array, member: Uint8Array): Promise<boolean> {
    const rows = await this.#query(
      `SELECT 1 FROM ${this.#schema}.set_members WHERE key = $1::bytea AND member = $2::bytea`,
      [key, member]
    )
    return rows.length > 0
  }

  async smembers(key: Uint8Array): Promise<Uint8Array[]> {
    const rows = await this.#query(
      `SELECT member FROM ${this.#schema}.set_members WHERE key = $1::bytea ORDER BY member`,
      [key]
    )
    return rows.map(([member]) => member as Uint8Array)
  }

  zscore(key: Uint8Array, member: Uint8Array): Promise<number | undefined> {
    return this.#points.score(key, member)
  }

  async zscores(
    keys: readonly Uint8Array[],
    members: readonly Uint8Array[]
  ): Promise<(number | undefined)[][]> {
    const rows = await this.#query(
      `SELECT k.n, m.n, score
       FROM unnest($1::bytea[]) WITH ORDINALITY AS k (key, n)
       CROSS JOIN unnest($2::bytea[]) WITH ORDINALITY AS m (member, n)
       CROSS JOIN LATERAL (SELECT score FROM ${this.#schema}.sorted_sets z
         WHERE z.key = k.key AND z.member = m.member LIMIT 1) AS found`,
      [bytesArray(keys), bytesArray(members)]
    )
    const scores = members.map((): (number | undefined)[] => keys.map(() => undefined))
    for (const [k, m, score] of rows as number[][]) scores[m! - 1]![k! - 1] = score
    return scores
  }

  async zcard(key: Uint8Array): Promise<number> {
    const [row] = await this.#query(
      `SELECT count(*) FROM ${this.#schema}.sorted_sets WHERE key = $1::bytea`,
      [key]
    )
    return row![0] as number
  }

  async zrows(key: Uint8Array, rows: Rows): Promise<ScoredMember[]> {
    const values = new Values()
    const own = values.add(key, 'bytea')
    const found = await this.#query(
      `SELECT member, score FROM ${this.#schema}.sorted_sets
       WHERE key = ${own} ${rowsClause(values, ['score', 'member'], rows)}`,
      values.list
    )
    return found.map(([member, score]) => ({ member, score }) as ScoredMember)
  }

  /** `sum` of SQL does not promise an order, and fails where a sum is infinite. */
  async zsum(key: Uint8Array): Promise<number> {
    const rows = await this.#query(
      `SELECT score FROM ${this.#schema}.sorted_sets WHERE key = $1::bytea ORDER BY score, member`,
      [key]
    )
    return rows.reduce((sum, [score]) => sum + (score as number), 0)
  }

  async zkeys(range: KeyRange, limit?: number): Promise<Uint8Array[]> {
    const values = new Values()
    const keys = distinctKeys(values, `${this.#schema}.sorted_sets`, range, limit)
    const rows = await this.#query(
      `${keys} SELECT key FROM page ORDER BY key ${range.reverse ? 'DESC' : ''}`,
      values.list
    )
    return rows.map(([key]) => key as Uint8Array)
  }

  async qcounts(key: Uint8Array): Promise<QueueCounts> {
    const table = `${this.#schema}.queue_items`
    const rows = await this.#query(
      `SELECT state, count(*),
         (SELECT enqueued FROM ${table} WHERE key = $1::bytea AND state = 'due' ORDER BY at, item LIMIT 1)
       FROM ${table} WHERE key = $1::bytea GROUP BY state`,
      [key]
    )
    const counts = new Map(rows.map(([state, count]) => [state as QueueState, count as number]))
    const of = (state: QueueState): number => counts.get(state) ?? 0
    return {
      due: of('due'),
      leased: of('leased'),
      waiting: of('waiting'),
      dead: of('dead'),
      headEnqueued: (rows[0]?.[2] ?? undefined) as number | undefined
    }
  }

  async qlist(key: Uint8Array, state: QueueState, rows: Rows): Promise<ListedItem[]> {
    const values = new Values()
    const own = values.add(key, 'bytea')
    // The four states are constants of this program.
    const found = await this.#query(
      `SELECT item, ${ITEM_COLUMNS} FROM ${this.#schema}.queue_items
       WHERE key = ${own} AND state = '${state}' ${rowsClause(values, ['at', 'item'], rows)}`,
      values.list
    )
    return found.map(([item, ...record]) => {
      const { at, ...rest } = recordFrom(record)
      return { ...queueItem(item as Uint8Array, { at, ...rest }), at }
    })
  }
}

const fieldValue = ([field, value]: Row): FieldValue => ({ field, value }) as FieldValue
