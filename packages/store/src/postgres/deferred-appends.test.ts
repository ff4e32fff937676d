/** Deferred appends and notifications between two engines on one store, as two processes have them. */
import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { appendDeferred, batchOf, bytes, set } from '../../../store-contract/src/steps.ts'
import { Subject } from '../../../store-contract/src/subject.ts'
import { openPostgres } from './postgres.ts'
import { sharedPostgres } from './server.testing.ts'

const SCHEMA = `deferred_${process.pid}`
let url = ''
let client: pg.Client
const stores: Subject[] = []
const opened = async (): Promise<Subject> => {
  const store = new Subject(await openPostgres(`${url}?schema=${SCHEMA}`))
  stores.push(store)
  return store
}
beforeAll(async () => {
  ;({ url } = await sharedPostgres())
  client = new pg.Client(url)
  await client.connect()
})
afterAll(() => client?.end())
afterEach(async () => {
  await Promise.all(stores.splice(0).map(store => store.engine.close()))
  await client.query(`DROP SCHEMA ${SCHEMA} CASCADE`)
})
const rowsOf = async (sql: string): Promise<unknown[][]> =>
  (await client.query<unknown[]>({ text: sql, rowMode: 'array' })).rows

/** Milliseconds until an entry that a store appends can be read by a listener at another. */
const seen = (store: Subject, entry: string, from?: Subject): Promise<number> => {
  const since = performance.now()
  return new Promise((resolve, reject) => {
    const unwatch = store.engine.deferred!.watch(bytes('l'), async () => {
      if ((await store.zscore('l', entry)) === undefined) return
      unwatch()
      resolve(performance.now() - since)
    })
    from?.engine.commit(batchOf([appendDeferred('l', entry)])).catch(reject)
  })
}

it('writers of a log wait for none of the others, and positions are dense and visible in their order', async () => {
  const [one, other] = [await opened(), await opened()]
  // A transaction that holds the last position of the log.
  await one.commit(appendDeferred('l', 'first'))
  await client.query(`BEGIN; SELECT * FROM ${SCHEMA}.sorted_sets WHERE key = 'l' AND member = '' FOR UPDATE`)
  const entries = Array.from({ length: 200 }, (_, i) => `${i}`)
  await Promise.all(
    entries.map((entry, i) =>
      (i % 2 ? one : other).engine.commit(batchOf([appendDeferred('l', entry), set(entry, '')]))
    )
  )
  expect(await one.zscore('l', '')).toBe(1)
  await client.query('COMMIT')
  await Promise.all([one, other].map(({ engine }) => engine.deferred!.settled()))
  const rows = (await one.zrows('l')).filter(([entry]) => entry !== '')
  expect(rows.map(([, position]) => position)).toEqual(rows.map((_, i) => i + 1))
  expect(new Set(rows.map(([entry]) => entry))).toEqual(new Set(['first', ...entries]))
})

it('entries of batches that depend on one another are in the order of these', async () => {
  const [one, other] = [await opened(), await opened()]
  for (let i = 0; i < 40; i++)
    await (i % 2 ? one : other).engine.commit(batchOf([appendDeferred('l', String(i).padStart(2, '0'))]))
  await one.engine.deferred!.settled()
  const entries = (await one.zrows('l')).map(([entry]) => entry).filter(Boolean)
  expect(entries).toEqual(entries.toSorted())
  expect(entries).toHaveLength(40)
})

it('a listener is called for the appends of another process, also after its connection was lost', async () => {
  const [one, other] = [await opened(), await opened()]
  const unwatch = other.engine.deferred!.watch(bytes('l'), () => {})
  await seen(other, 'a', one)
  const listening = `SELECT pid FROM pg_stat_activity WHERE query = 'LISTEN ${SCHEMA}' OR query LIKE '%deferred_appends LIMIT 1'`
  await expect.poll(async () => (await rowsOf(listening)).length).toBeGreaterThan(0)
  await rowsOf(`SELECT pg_terminate_backend(pid) FROM (${listening}) AS l`)
  await seen(other, 'b', one)
  unwatch()
})

it('entries of a process that was killed after its commit have their positions soon', async () => {
  const store = await opened()
  await client.query(`INSERT INTO ${SCHEMA}.deferred_appends (key, entry) VALUES ('l', 'left behind')`)
  await seen(store, 'left behind')
  await client.query(`INSERT INTO ${SCHEMA}.deferred_appends (key, entry) VALUES ('l', 'and another')`)
  const again = await opened()
  await again.engine.close()
  expect(await store.zscore('l', 'and another')).toBe(2)
})

it('a store of layout 1 gets the table of deferred appends', async () => {
  await opened()
  await client.query(`DROP TABLE ${SCHEMA}.deferred_appends; UPDATE ${SCHEMA}.store_version SET version = 1`)
  const [one] = await Promise.all([opened(), opened()])
  await one!.commit(appendDeferred('l', 'a'))
  expect(await one!.zscore('l', 'a')).toBe(1)
  expect(await rowsOf(`SELECT version FROM ${SCHEMA}.store_version`)).toEqual([[2]])
})

it('a listener of another process is called without waiting for a poll', async () => {
  const [one, other] = [await opened(), await opened()]
  const unwatch = other.engine.deferred!.watch(bytes('l'), () => {})
  await seen(other, '0', one)
  let milliseconds = 0
  for (let i = 1; i <= 20; i++) milliseconds += await seen(other, `${i}`, one)
  unwatch()
  // A poll is 500 milliseconds away, on average.
  expect(milliseconds).toBeLessThan(20 * 400)
})
