/** A primary, its synchronous standby, and a store on the one of both that takes writes. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { hset, set, valueAbsent, zincrby } from '../../../store-contract/src/steps.ts'
import { EVERYTHING, failureOf, refused, Subject } from '../../../store-contract/src/subject.ts'
import { openPostgres } from './postgres.ts'
import { type PostgresPair, startPair, waitForStandby } from './server.testing.ts'

let pair: PostgresPair
beforeAll(async () => {
  pair = await startPair()
})
afterAll(() => pair?.stop())

const opened = async (url = pair.url): Promise<Subject> => new Subject(await openPostgres(url))

it('takes the server that takes writes, in whichever place it is named', async () => {
  const { primary, standby } = pair
  for (const [first, second] of [
    [primary, standby],
    [standby, primary]
  ] as const) {
    const store = await opened(
      `postgres://postgres@127.0.0.1:${first.port},127.0.0.1:${second.port}/postgres`
    )
    await store.commit(set('a', String(first.port)))
    expect(await store.get('a')).toBe(String(first.port))
    await store.engine.close()
  }
  await expect(
    openPostgres(`${standby.url}?target_session_attrs=primary`, { timeout: 100 })
  ).rejects.toMatchObject({
    code: 'ERR_STORE_CONNECTION',
    message: expect.stringContaining(`127.0.0.1:${standby.port} is a standby`)
  })
})

it('leaves a server that was set to read-only', async () => {
  const { primary } = pair
  const store = await opened()
  await store.commit(set('a', '1'))
  await primary.query('ALTER SYSTEM SET default_transaction_read_only = on')
  await primary.query('SELECT pg_reload_conf()')
  const waiting = store.commit(set('a', '2'))
  await sleep(300)
  await primary.query('ALTER SYSTEM RESET default_transaction_read_only')
  await primary.query('SELECT pg_reload_conf()')
  await waiting
  expect(await store.get('a')).toBe('2')
  await store.engine.close()
})

it('says what each server answered, where none takes writes', async () => {
  const { standby } = pair
  const url = `postgres://postgres@127.0.0.1:1,127.0.0.1:${standby.port}/postgres?connect_timeout=1`
  const failure = await failureOf(() => openPostgres(url, { timeout: 1000 }))
  expect(failure).toMatchObject({
    code: 'ERR_STORE_CONNECTION',
    message: expect.stringMatching(/no server of the URL takes writes .*ECONNREFUSED.*is a standby/),
    details: { servers: [{ host: '127.0.0.1:1' }, { host: `127.0.0.1:${standby.port}` }] }
  })
  await refused(() => openPostgres(url.replace('postgres@', 'nobody@')), 'ERR_STORE_URL')
})

it('says where commits are kept, and that the standby is away which they wait for', async () => {
  const { primary, standby } = pair
  const store = await opened()
  await store.engine.probe()
  const durabilityOf = async () => (await store.engine.stats()).details['durability']
  expect(await durabilityOf()).toBe('standby')
  await standby.kill()
  await expect
    .poll(() => failureOf(() => store.engine.probe()))
    .toMatchObject({ code: 'ERR_STORE_REPLICAS', details: { standbys: '*' } })
  await standby.restart()
  await waitForStandby(primary)
  await store.engine.probe()
  await primary.query('ALTER DATABASE postgres SET synchronous_commit = local')
  const local = await opened()
  expect((await local.engine.stats()).details).toMatchObject({
    durability: 'server',
    warning: expect.stringContaining('no standby is synchronous')
  })
  await primary.query('ALTER DATABASE postgres RESET synchronous_commit')
  await Promise.all([store, local].map(({ engine }) => engine.close()))
})

it('has every acknowledged batch, whole, after the primary was killed and the standby promoted', async () => {
  const { primary, standby } = pair
  const stores = await Promise.all([opened(), opened()])
  const acknowledged: string[] = []
  const failures: unknown[] = []
  let isOver = false
  const writers = Array.from({ length: 16 }, async (_, writer) => {
    for (let i = 0; !isOver; i++) {
      const key = `k${writer}-${i}`
      const failure = await failureOf(() =>
        stores[writer % 2]!.commit(valueAbsent(key), set(key, ''), hset(key, 'f', ''), zincrby('sum', 'm', 1))
      )
      if (failure === undefined) acknowledged.push(key)
      else failures.push(failure)
    }
  })
  await sleep(300)
  await primary.kill()
  const before = acknowledged.length
  await standby.promote()
  await expect.poll(() => acknowledged.length, { timeout: 10_000 }).toBeGreaterThan(before + 100)
  isOver = true
  await Promise.all(writers)
  for (const failure of failures)
    expect(failure).toMatchObject({ code: 'ERR_STORE_CONNECTION', details: { outcome: 'unknown' } })
  const found = new Set((await stores[0]!.range(EVERYTHING)).map(([key]) => key))
  expect(acknowledged.filter(key => !found.has(key))).toEqual([])
  found.delete('a')
  expect((await stores[0]!.hrange(EVERYTHING)).map(([key]) => key)).toEqual([...found])
  expect(await stores[0]!.zscore('sum', 'm')).toBe(found.size)
  await Promise.all(stores.map(store => store.engine.close()))
})

it('leaves a server that answers nothing, and closes without it', async () => {
  const { primary } = pair
  await primary.restart()
  const store = await opened(`${pair.url}&connect_timeout=1`)
  await store.get('a')
  const [[isUsed]] = (await primary.query(
    "SELECT count(*) > 0 FROM pg_stat_activity WHERE application_name = 'quoin'"
  )) as [[boolean]]
  expect(isUsed).toBe(true)
  primary.signal('SIGSTOP')
  try {
    expect(await store.get('a')).toBe('2')
    await store.commit(set('a', '3'))
    await store.engine.close()
  } finally {
    primary.signal('SIGCONT')
  }
})
