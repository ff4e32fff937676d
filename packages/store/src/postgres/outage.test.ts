/** Servers that are away, full of locks, read-only or of another kind. */
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { hset, set, valueAbsent, zadd } from '../../../store-contract/src/steps.ts'
import { failureOf, refused, Subject } from '../../../store-contract/src/subject.ts'
import { openEngine } from '../open.ts'
import { openPostgres, type PostgresOptions } from './postgres.ts'
import { type PostgresServer, startPostgres } from './server.testing.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server?.stop())

const stores: Subject[] = []
const opened = async (query = '', options?: PostgresOptions): Promise<Subject> => {
  const store = new Subject(await openPostgres(`${server.url}?${query}`, options))
  stores.push(store)
  return store
}
const clients: pg.Client[] = []
const connected = async (): Promise<pg.Client> => {
  const client = new pg.Client(server.url)
  await client.connect()
  clients.push(client)
  return client
}
afterEach(async () => {
  await Promise.all(clients.splice(0).map(client => client.end()))
  await Promise.all(stores.splice(0).map(store => store.engine.close()))
})

it('a call waits for a server that is killed and comes back, and what was acknowledged is there', async () => {
  const store = await opened()
  await store.commit(set('a', '1'))
  await server.kill()
  const waiting = Promise.all([store.get('a'), store.commit(set('b', '2'))])
  await sleep(300)
  await server.restart()
  expect(await waiting).toEqual(['1', []])
  expect(await store.get('b')).toBe('2')
})

it('a call that waits too long fails, and so does opening', async () => {
  const store = await opened('', { timeout: 200 })
  await server.kill()
  await refused(() => store.get('a'), 'ERR_STORE_CONNECTION')
  await refused(() => store.commit(set('c', '')), 'ERR_STORE_CONNECTION')
  await refused(() => openPostgres(server.url, { timeout: 200 }), 'ERR_STORE_CONNECTION')
  expect(store.engine.lastWrite?.error?.code).toBe('ERR_STORE_CONNECTION')
  await server.restart()
  expect(await store.get('c')).toBe(undefined)
})

it('a batch that was interrupted is there whole or not at all', async () => {
  const store = await opened('', { timeout: 5000 })
  const commits = Array.from({ length: 50 }, async (_, i) => {
    await sleep(2 * i)
    return failureOf(() =>
      store.commit(valueAbsent(`k${i}`), set(`k${i}`, ''), hset(`k${i}`, 'f', ''), zadd(`k${i}`, 'm', 1))
    )
  })
  await sleep(40)
  await server.restart()
  for (const [i, failure] of (await Promise.all(commits)).entries()) {
    const found = [await store.get(`k${i}`), await store.hget(`k${i}`, 'f'), await store.zscore(`k${i}`, 'm')]
    expect([
      ['', '', 1],
      [undefined, undefined, undefined]
    ]).toContainEqual(found)
    if (failure === undefined) expect(found[0]).toBe('')
    else expect(failure).toMatchObject({ code: 'ERR_STORE_CONNECTION', details: { outcome: 'unknown' } })
  }
})

it('a transaction that stops holds others up until its time is over', async () => {
  const store = await opened('statement_timeout=200')
  const blocker = await connected()
  await store.commit(set('locked', '1'))
  await blocker.query("BEGIN; SELECT * FROM quoin.key_values WHERE key = 'locked' FOR UPDATE")
  await refused(() => store.commit(set('locked', '2')), 'ERR_STORE_BUSY')
  await blocker.query('ROLLBACK')
  await store.commit(set('locked', '3'))
  expect(await store.get('locked')).toBe('3')
})

it('a server that takes no writes is read', async () => {
  const store = await opened()
  await store.commit(set('read', '1'))
  const client = await connected()
  await client.query('ALTER DATABASE postgres SET default_transaction_read_only = on')
  const reader = await opened()
  expect(await reader.get('read')).toBe('1')
  await refused(() => reader.commit(set('read', '2')), 'ERR_STORE_READ_ONLY')
  await refused(() => reader.engine.probe(), 'ERR_STORE_READ_ONLY')
  await client.query('SET default_transaction_read_only = off')
  await client.query('ALTER DATABASE postgres RESET default_transaction_read_only')
  await store.engine.probe()
})

it('keys that are too long together are refused, and the batches beside them are not', async () => {
  const store = await opened()
  const long = (): string => randomBytes(1900).toString('latin1')
  await store.commit(hset(long(), 'f', ''), zadd('z', long(), 1), set(long(), ''))
  const codes = await Promise.all([
    failureOf(() => store.commit(set('beside', '1'))),
    failureOf(() => store.commit(hset(long(), long(), ''), set('beside', '2')))
  ])
  expect(codes).toMatchObject([undefined, { code: 'ERR_STORE_KEY' }])
  expect(await store.get('beside')).toBe('1')
})

it('a store of another version, or tables of another program, are left alone', async () => {
  const client = await connected()
  await (await opened('schema=newer')).engine.close()
  await client.query('UPDATE newer.store_version SET version = 99')
  await refused(() => openEngine(`${server.url}?schema=newer`), 'ERR_STORE_VERSION')
  await client.query('CREATE SCHEMA foreign_program; CREATE TABLE foreign_program.t (n int)')
  await refused(() => openEngine(`${server.url}?schema=foreign_program`), 'ERR_STORE_VERSION')
})

it('a user or a database that the server does not know is said at once', async () => {
  await refused(() => openPostgres(server.url.replace('postgres@', 'nobody@')), 'ERR_STORE_URL')
  await refused(() => openPostgres(server.url.replace(/postgres$/, 'nowhere')), 'ERR_STORE_URL')
})

it('the statistics say what the server may lose, and commits are synchronous all the same', async () => {
  const client = await connected()
  await client.query('ALTER DATABASE postgres SET synchronous_commit = off')
  const store = await opened()
  await client.query(`CREATE FUNCTION seen() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN NEW.value = current_setting('synchronous_commit')::bytea; RETURN NEW; END $$;
    CREATE TRIGGER seen BEFORE INSERT ON quoin.key_values FOR EACH ROW EXECUTE FUNCTION seen()`)
  await store.commit(set('setting', ''))
  expect(await store.get('setting')).toBe('on')
  await client.query(
    'DROP TRIGGER seen ON quoin.key_values; ALTER DATABASE postgres RESET synchronous_commit'
  )
  const { details } = await store.engine.stats()
  expect(details).toMatchObject({ schema: 'quoin', fsync: 'off', synchronousStandbys: 'none' })
  expect(details['warning']).toMatch(/fsync is off.*no standby is synchronous/)
})

it('many snapshots, and reads inside them, do not wait for each other', async () => {
  const store = await opened('pool=2')
  await store.commit(set('a', '1'))
  const seen = await store.snapshot(reads =>
    store.snapshot(async inner => [await reads.get('a'), await inner.get('a'), await store.get('a')])
  )
  expect(seen).toEqual(['1', '1', '1'])
})
