/** The plans of the statements of a transaction. */
import pg from 'pg'
import { afterAll, expect, it } from 'vitest'
import { PLANS } from './database.ts'
import { openPostgres } from './postgres.ts'
import { sharedPostgres } from './server.testing.ts'
import { statementsOf } from './table-rows.ts'

const SCHEMA = `plans_of_rows_${process.pid}`
const SORTED_SETS = {
  name: 'sorted_sets',
  keys: ['key', 'member'],
  columns: [{ name: 'score', type: 'float8' }]
} as const

interface Plan {
  readonly 'Relation Name'?: string
  readonly 'Index Cond'?: string
  readonly 'TID Cond'?: string
  readonly Plans?: readonly Plan[]
}

/** The nodes of a plan that read a table. */
const tableReads = (plan: Plan): Plan[] => [
  ...('Relation Name' in plan && !('Operation' in plan) ? [plan] : []),
  ...(plan.Plans ?? []).flatMap(tableReads)
]

const { url } = await sharedPostgres()
const client = new pg.Client(url)
await client.connect()
afterAll(() => client.end())

it.each(['load', 'delete'] as const)(
  '%s searches the index although the table had one row when it was analyzed',
  async name => {
    const engine = await openPostgres(`${url}?schema=${SCHEMA}`)
    await engine.close()
    await client.query(
      `INSERT INTO ${SCHEMA}.sorted_sets (key, member, score) VALUES ('z', 'm', 1) ON CONFLICT DO NOTHING`
    )
    await client.query(`ANALYZE ${SCHEMA}.sorted_sets`)
    for (const [setting, value] of Object.entries(PLANS)) await client.query(`SET ${setting} = ${value}`)
    await client.query(`PREPARE ${name}_rows AS ${statementsOf(SCHEMA, SORTED_SETS)[name]}`)
    const { rows } = await client.query<{ 'QUERY PLAN': readonly [{ readonly Plan: Plan }] }>(
      `EXPLAIN (FORMAT JSON) EXECUTE ${name}_rows (ARRAY['z'::bytea], ARRAY['m'::bytea])`
    )
    const reads = tableReads(rows[0]!['QUERY PLAN'][0].Plan)
    expect(reads.length).toBeGreaterThan(0)
    for (const read of reads)
      expect(read['Index Cond'] ?? read['TID Cond'], JSON.stringify(read)).toBeDefined()
  }
)
