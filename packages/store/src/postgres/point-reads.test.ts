/** Point reads that begin together, and the plans of statements. */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { expect, it } from 'vitest'
import {
  appendDeferred,
  bytes,
  fieldAbsent,
  fieldIs,
  hdel,
  hset,
  set,
  zadd,
  zrem
} from '../../../store-contract/src/steps.ts'
import { Subject } from '../../../store-contract/src/subject.ts'
import { PointReads } from './point-reads.ts'
import { openPostgres } from './postgres.ts'
import { sharedPostgres } from './server.testing.ts'

it('reads that begin together are one statement of each kind, and each has its own answer', async () => {
  const { url } = await sharedPostgres()
  const schema = `points_${process.pid}`
  const engine = await openPostgres(`${url}?schema=${schema}`)
  const pool = new pg.Pool({ connectionString: url, types: { getTypeParser: () => (text: string) => text } })
  try {
    const store = new Subject(engine)
    const names = Array.from({ length: 50 }, (_, i) => `name ${i}`)
    await store.commit(
      ...names.flatMap((name, i) => [set(name, `${i}`), hset('h', name, `${i}`), zadd('z', name, i)])
    )
    const statements: string[] = []
    const reads = new PointReads(
      async (sql, values) => {
        statements.push(/FROM \S+\.(\w+)/.exec(sql)![1]!)
        const { rows } = await pool.query({ text: sql, values: values as unknown[], rowMode: 'array' })
        return rows as unknown[][]
      },
      schema,
      read => read()
    )
    const answers = await Promise.all(
      names.map(async (name, i) => {
        const [values, fields, hashes, score] = await Promise.all([
          reads.values([bytes(name), bytes('absent')]),
          reads.fields(bytes('h'), [bytes('absent'), bytes(name)]),
          reads.hashes(i % 2 ? [bytes('absent')] : [bytes('absent'), bytes('h')]),
          reads.score(bytes('z'), bytes(name))
        ])
        return { values, fields, hashes: hashes.map(({ length }) => length), score }
      })
    )
    expect(answers).toEqual(
      names.map((_, i) => ({
        values: [`\\x${Buffer.from(`${i}`).toString('hex')}`, undefined],
        fields: [undefined, `\\x${Buffer.from(`${i}`).toString('hex')}`],
        hashes: i % 2 ? [0] : [0, 50],
        score: `${i}`
      }))
    )
    expect(statements.toSorted()).toEqual(['hash_fields', 'hash_fields', 'key_values', 'sorted_sets'])
  } finally {
    await pool.end()
    await engine.close()
  }
})

it('no statement reads more rows than it names, although all were planned while the tables were empty', async () => {
  const { url } = await sharedPostgres()
  const schema = `plans_${process.pid}`
  const engine = await openPostgres(`${url}?schema=${schema}`)
  const store = new Subject(engine)
  const rounds = async (from: number): Promise<void> => {
    for (let i = from; i < from + ROUNDS; i++) {
      const names = Array.from({ length: NAMES }, (_, n) => `${i} ${n}`)
      await store.commit(
        ...names.map(name => appendDeferred('log', name)),
        ...names.flatMap(name => [
          fieldAbsent('h', name),
          hset('h', name, ''),
          zadd('z', name, 1),
          set(name, ''),
          appendDeferred('l', name)
        ])
      )
      await store.commit(...names.flatMap(name => [fieldIs('h', name, ''), hdel('h', name), zrem('z', name)]))
      await Promise.all(
        names.flatMap(name => [
          store.get(name),
          store.hget('h', name),
          store.zscore('z', name),
          store.hgetall(name)
        ])
      )
    }
  }
  // PostgreSQL keeps a plan from its sixth execution on.
  await rounds(0)
  await store.commit(
    ...Array.from({ length: 5000 }, (_, i) => [hset('h', `${i}`, ''), zadd('z', `${i}`, 1)]).flat()
  )
  await rounds(ROUNDS)
  await engine.close()
  const read = await rowsRead(schema)
  expect(Object.keys(read)).toEqual(expect.arrayContaining(['hash_fields', 'key_values', 'sorted_sets']))
  for (const [table, count] of Object.entries(read)) expect(count, table).toBeLessThan(40 * ROUNDS * NAMES)
})

const ROUNDS = 8
const NAMES = 20

/** Rows and index entries that statements have read, by table: of connections that have ended. */
const rowsRead = async (schema: string): Promise<Record<string, number>> => {
  const client = new pg.Client((await sharedPostgres()).url)
  await client.connect()
  const open = "SELECT FROM pg_stat_activity WHERE application_name = 'quoin'"
  while ((await client.query(open)).rows.length > 0) await sleep(20)
  const { rows } = await client.query<{ relname: string; read: number }>(
    `SELECT relname, (seq_tup_read + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes i
       WHERE i.relid = t.relid))::int4 AS read
     FROM pg_stat_user_tables t WHERE schemaname = $1 AND idx_scan > 0 ORDER BY relname`,
    [schema]
  )
  await client.end()
  return Object.fromEntries(rows.map(({ relname, read }) => [relname, read]))
}
