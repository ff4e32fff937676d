/** Rows of a table between places in the order of (number, bytes), and keys in a range, as conditions of SQL. */
import type { KeyRange } from '@quoin/keyspace'
import type { Place, Rows } from '../engine.ts'

/** The values of a statement, in their order. */
export class Values {
  readonly list: unknown[] = []

  /** Adds a value, and returns what stands for it. */
  add(value: Uint8Array | number, type: 'bytea' | 'float8' | 'int8'): string {
    this.list.push(value)
    return `$${this.list.length}::${type}`
  }
}

/** What follows `WHERE key = … ` for the rows asked for, in a table ordered by (score, member). */
export const rowsClause = (
  values: Values,
  [score, member]: readonly [score: string, member: string],
  { min, max, reverse = false, offset = 0, count }: Rows
): string => {
  const direction = reverse ? ' DESC' : ''
  const parts = [
    beyond(values, score, member, '>', min),
    beyond(values, score, member, '<', max),
    `ORDER BY ${score}${direction}, ${member}${direction}`
  ]
  if (count !== undefined && Number.isFinite(count)) parts.push(`LIMIT ${values.add(count, 'int8')}`)
  if (offset > 0) parts.push(`OFFSET ${values.add(offset, 'int8')}`)
  return parts.join(' ')
}

const beyond = (values: Values, score: string, member: string, sign: '<' | '>', place?: Place): string => {
  if (!place) return ''
  const operator = place.exclusive ? sign : `${sign}=`
  const at = values.add(place.score, 'float8')
  if (place.member === undefined) return `AND ${score} ${operator} ${at}`
  return `AND (${score}, ${member}) ${operator} (${at}, ${values.add(place.member, 'bytea')})`
}

/** The condition that a column is in a range of keys. */
export const inRange = (values: Values, column: string, { start, end }: KeyRange): string => {
  const from = `${column} >= ${values.add(start, 'bytea')}`
  return end === null ? from : `${from} AND ${column} < ${values.add(end, 'bytea')}`
}

export const limitClause = (values: Values, limit: number | undefined): string =>
  limit === undefined || !Number.isFinite(limit) ? '' : `LIMIT ${values.add(limit, 'int8')}`

/**
 * The different keys of a table in a range, each found by one look into its index: a key may have millions of rows.
 * https://wiki.postgresql.org/wiki/Loose_indexscan
 */
export const distinctKeys = (values: Values, table: string, range: KeyRange, limit?: number): string => {
  const order = range.reverse ? 'DESC' : 'ASC'
  const within = inRange(values, 'key', range)
  return `WITH RECURSIVE found (key) AS (
      (SELECT key FROM ${table} WHERE ${within} ORDER BY key ${order} LIMIT 1)
      UNION ALL
      SELECT (SELECT key FROM ${table} WHERE ${within} AND key ${range.reverse ? '<' : '>'} found.key
        ORDER BY key ${order} LIMIT 1)
      FROM found WHERE found.key IS NOT NULL),
    page AS (SELECT key FROM found WHERE key IS NOT NULL ${limitClause(values, limit)})`
}
