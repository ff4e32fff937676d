/** `?replicas=N`: acknowledged batches are on N replicas; missing replicas refuse acknowledgement. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { hset, set, valueAbsent, zadd, zincrby } from '../../../store-contract/src/steps.ts'
import { EVERYTHING, Subject } from '../../../store-contract/src/subject.ts'
import { openRedis, type RedisOptions } from './redis.ts'
import { type RedisServer, startRedis } from './server.testing.ts'

const servers: RedisServer[] = []
const stores: Subject[] = []
afterEach(async () => {
  await Promise.all(stores.splice(0).map(store => store.engine.close()))
  await Promise.all(servers.splice(0).map(server => server.stop()))
})

/** A primary, then its replicas, all online. */
const replicated = async (
  replicas: number,
  config: Readonly<Record<string, string>> = {}
): Promise<RedisServer[]> => {
  const at = await Promise.all([
    startRedis({ config: { 'repl-diskless-sync-delay': '0', ...config } }),
    ...Array.from({ length: replicas }, () => startRedis())
  ])
  servers.push(...at)
  for (const replica of at.slice(1)) await attach(replica, at[0]!)
  await expect.poll(() => online(at[0]!), { timeout: 10_000 }).toBe(replicas)
  return at
}
const attach = (replica: RedisServer, { port }: RedisServer): Promise<unknown> =>
  replica.command('REPLICAOF', '127.0.0.1', String(port))
/** Replicas that have acknowledged an offset: they do so a second after joining, once there is something to send. */
const online = async (primary: RedisServer): Promise<number> => {
  await primary.command('PUBLISH', 'anything', '')
  return (await primary.command('INFO', 'replication'))!.match(/state=online,offset=[1-9]/g)?.length ?? 0
}

const open = async (
  { url }: RedisServer,
  replicas: number,
  options: RedisOptions = { timeout: 300 }
): Promise<Subject> => {
  const store = new Subject(await openRedis(`${url}?replicas=${replicas}`, options))
  stores.push(store)
  return store
}

const SHORT = { code: 'ERR_STORE_REPLICAS', details: { outcome: 'applied', expected: 1, replicas: 0 } }

it('a batch is on the replica when it is acknowledged', async () => {
  const [primary, replica] = await replicated(1)
  const store = await open(primary!, 1, {})
  const writers = Array.from({ length: 20 }, async (_, writer) => {
    for (let i = 0; i < 10; i++) {
      await store.commit(set(`k${writer}-${i}`, 'there'))
      expect(await replica!.command('GET', `vk${writer}-${i}`)).toBe('there')
    }
  })
  await Promise.all(writers)
  expect((await store.engine.stats()).details).toMatchObject({ replicas: 1 })
})

it('a replica that stops refuses acknowledgement, not reads; a repeated batch is acknowledged when it is back', async () => {
  const [primary, replica] = await replicated(1)
  const store = await open(primary!, 1)
  await store.commit(set('before', ''))
  replica!.process.kill('SIGSTOP')

  let isOver = false
  const committing = expect(store.commit(set('a', '1')))
    .rejects.toMatchObject(SHORT)
    .finally(() => {
      isOver = true
    })
  await expect(store.commit(valueAbsent('before'), set('a', '2'))).rejects.toMatchObject({
    code: 'ERR_STORE_PRECONDITION'
  })
  expect(await store.get('a')).toBe('1')
  expect(await store.snapshot(reads => reads.get('a'))).toBe('1')
  expect(isOver).toBe(false)
  await committing
  expect(store.engine.lastWrite?.error).toMatchObject({ code: 'ERR_STORE_REPLICAS' })

  // As it was, it would be acknowledged for having nothing to write.
  await expect(store.commit(zadd('z', 'm', 1))).rejects.toMatchObject(SHORT)
  await expect(store.commit(zadd('z', 'm', 1))).rejects.toMatchObject(SHORT)
  await expect(store.engine.replicated!()).rejects.toMatchObject(SHORT)

  replica!.process.kill('SIGCONT')
  await store.engine.replicated!()
  await store.commit(zadd('z', 'm', 1))
  expect(await replica!.command('GET', 'va')).toBe('1')
  expect(store.engine.lastWrite?.error).toBeUndefined()
})

it('of two replicas that are asked for, one is too few', async () => {
  const [primary, , second] = await replicated(2)
  const [both, any] = [await open(primary!, 2), await open(primary!, 1)]
  await both.commit(set('a', '1'))
  second!.process.kill('SIGSTOP')
  await expect(both.commit(set('a', '2'))).rejects.toMatchObject({
    code: 'ERR_STORE_REPLICAS',
    details: { outcome: 'applied', expected: 2, replicas: 1 }
  })
  await any.commit(set('a', '3'))
  second!.process.kill('SIGCONT')
  await both.commit(set('a', '4'))
  expect(await second!.command('GET', 'va')).toBe('4')
})

it('every acknowledged batch is there, and whole, after the primary was killed and the replica took over', async () => {
  const [primary, replica] = await replicated(1)
  const store = await open(primary!, 1, { timeout: 1000 })
  const acknowledged: number[] = []
  let next = 0
  const writers = Array.from({ length: 16 }, async () => {
    for (;;) {
      const i = next++
      try {
        await store.commit(set(`k${i}`, ''), hset(`k${i}`, 'f', ''), zincrby('sum', 'm', 1))
        acknowledged.push(i)
      } catch (error) {
        expect(error).toMatchObject({ code: 'ERR_STORE_CONNECTION' })
        return
      }
    }
  })
  await sleep(300)
  await primary!.kill()
  await Promise.all(writers)
  await replica!.command('REPLICAOF', 'NO', 'ONE')
  const after = new Subject(await openRedis(replica!.url))
  stores.push(after)
  const found = (await after.range(EVERYTHING)).map(([key]) => key)
  expect(acknowledged.length).toBeGreaterThan(16)
  expect(found).toEqual(expect.arrayContaining(acknowledged.map(i => `k${i}`)))
  expect((await after.hrange(EVERYTHING)).map(([key]) => key)).toEqual(found)
  expect(await after.zscore('sum', 'm')).toBe(found.length)
})

it('a server that wants replicas itself refuses the batch, of which nothing is written', async () => {
  const [primary, replica] = await replicated(1, { 'min-replicas-max-lag': '1' })
  const store = await open(primary!, 1)
  await primary!.command('CONFIG', 'SET', 'min-replicas-to-write', '1')
  await store.commit(set('a', '1'))
  await replica!.kill()
  await expect.poll(() => online(primary!)).toBe(0)
  await expect(store.commit(set('a', '2'), set('b', '2'))).rejects.toMatchObject({
    code: 'ERR_STORE_REPLICAS',
    details: { outcome: 'refused' }
  })
  expect([await store.get('a'), await store.get('b')]).toEqual(['1', undefined])
})

it('the probe says that a replica is gone', async () => {
  const [primary, replica] = await replicated(1)
  const store = await open(primary!, 1)
  await store.engine.probe()
  await replica!.kill()
  await expect.poll(() => online(primary!)).toBe(0)
  await expect(store.engine.probe()).rejects.toMatchObject({
    code: 'ERR_STORE_REPLICAS',
    details: { expected: 1, replicas: 0 }
  })
})

it('a connection that is lost while replicas are waited for leaves the outcome unknown', async () => {
  const [primary, replica] = await replicated(1)
  const store = await open(primary!, 1, { timeout: 5000 })
  replica!.process.kill('SIGSTOP')
  const committing = expect(store.commit(set('a', '1'))).rejects.toMatchObject({
    code: 'ERR_STORE_CONNECTION',
    details: { outcome: 'unknown' }
  })
  await expect.poll(() => store.get('a')).toBe('1')
  await primary!.kill()
  await committing
  replica!.process.kill('SIGCONT')
})

it('a batch waits for a primary that is away, and runs on one that has forgotten the scripts', async () => {
  const [primary, replica] = await replicated(1, { appendonly: 'yes' })
  const store = await open(primary!, 1, { timeout: 20_000 })
  await store.commit(set('a', '1'))
  await primary!.command('SCRIPT', 'FLUSH')
  await store.commit(set('a', '2'))
  await primary!.kill()
  const committing = store.commit(set('a', '3'))
  await sleep(100)
  await primary!.restart()
  await committing
  expect(await replica!.command('GET', 'va')).toBe('3')
})

it('a user who may not wait is refused when the store is opened', async () => {
  const [primary] = await replicated(0)
  await primary!.command('ACL', 'SETUSER', 'poor', 'on', '>secret', '~*', '&*', '+@all', '-wait')
  const url = `redis://poor:secret@127.0.0.1:${primary!.port}`
  await expect(openRedis(`${url}?replicas=1`)).rejects.toMatchObject({
    code: 'ERR_STORE_ENGINE',
    message: expect.stringMatching(/NOPERM.*wait/)
  })
  await (await openRedis(url)).close()
})
