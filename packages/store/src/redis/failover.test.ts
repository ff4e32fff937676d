/** Connections that are lost while commands are under way, and a name that comes to mean another server. */
import { connect, createServer, type Server } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { enqueue, hset, sadd, set, zadd } from '../../../store-contract/src/steps.ts'
import { EVERYTHING, Subject } from '../../../store-contract/src/subject.ts'
import { openRedis, type RedisOptions } from './redis.ts'
import { type RedisServer, startRedis } from './server.testing.ts'

const ended: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end()
})

const started = async (): Promise<RedisServer> => {
  const server = await startRedis({
    appendonly: true,
    appendfsync: 'always',
    config: { 'repl-diskless-sync-delay': '0' }
  })
  ended.push(() => server.stop())
  return server
}
const opened = async (url: string, options: RedisOptions): Promise<Subject> => {
  const store = new Subject(await openRedis(url, options))
  ended.push(() => store.engine.close())
  return store
}

/** One read of each kind, with its answer. */
const READS: readonly (readonly [string, (store: Subject) => Promise<unknown>, unknown])[] = [
  ['get', store => store.get('k'), 'v'],
  ['mget', store => store.mget(['k', 'none', 'k']), ['v', undefined, 'v']],
  ['range', store => store.range(EVERYTHING), [['k', 'v']]],
  ['hgetall', store => store.hgetall('h'), [['f', '1']]],
  ['hrange', store => store.hrange(EVERYTHING), [['h', [['f', '1']]]]],
  ['smembers', store => store.smembers('s'), ['m']],
  ['zrows', store => store.zrows('z'), [['m', 1]]],
  ['zkeys', store => store.zkeys(''), ['z']],
  ['qcounts', store => store.qcounts('q'), expect.objectContaining({ due: 1 })],
  ['snapshot', store => store.snapshot(reads => reads.get('k')), 'v'],
  ['now', async store => typeof (await store.engine.now()), 'number'],
  ['stats', async store => (await store.engine.stats()).engine, 'redis'],
  ['probe', store => store.engine.probe(), undefined]
]
const FILL = [set('k', 'v'), hset('h', 'f', '1'), sadd('s', 'm'), zadd('z', 'm', 1), enqueue('q', 'i', 1, 1)]

describe('commands under way when the server is killed', () => {
  it('that comes back: reads are answered, and a batch is rejected with its outcome unknown', async () => {
    const server = await started()
    const store = await opened(server.url, { timeout: 20_000 })
    await store.commit(...FILL)
    // A connection to lend, which is lost as well.
    await store.snapshot(reads => reads.get('k'))
    server.process.kill('SIGSTOP')
    const reading = READS.map(([, read]) => read(store))
    const committing = expect(store.commit(set('k', 'lost'))).rejects.toMatchObject({
      code: 'ERR_STORE_CONNECTION',
      details: { outcome: 'unknown' }
    })
    await new Promise(resolve => setTimeout(resolve, 100))
    await server.kill()
    await committing
    // Longer than a few tries at once would take.
    await new Promise(resolve => setTimeout(resolve, 700))
    await server.restart()
    const answers = await Promise.all(reading)
    for (const [i, [name, , expected]] of READS.entries()) expect(answers[i], name).toEqual(expected)
    await store.commit(set('k', 'again'))
    expect(await store.get('k')).toBe('again')
  })

  it('that stays away: every one is rejected with ERR_STORE_CONNECTION, in time', async () => {
    const server = await started()
    const store = await opened(server.url, { timeout: 500 })
    await store.commit(...FILL)
    server.process.kill('SIGSTOP')
    const since = performance.now()
    const reading = Promise.allSettled(READS.map(([, read]) => read(store)))
    await new Promise(resolve => setTimeout(resolve, 50))
    await server.kill()
    const outcomes = await reading
    expect(performance.now() - since).toBeLessThan(5000)
    for (const [i, [name]] of READS.entries()) {
      expect(outcomes[i], name).toMatchObject({
        status: 'rejected',
        reason: { code: 'ERR_STORE_CONNECTION' }
      })
    }
  })

  it('and says nothing more: reads are rejected when the silence is over', async () => {
    const server = await started()
    const store = await opened(server.url, { timeout: 300, silenceTimeout: 300, connectTimeout: 200 })
    await store.commit(...FILL)
    server.process.kill('SIGSTOP')
    const outcomes = await Promise.allSettled(READS.map(([, read]) => read(store)))
    server.process.kill('SIGCONT')
    for (const [i, [name]] of READS.entries()) {
      expect(outcomes[i], name).toMatchObject({ reason: { code: 'ERR_STORE_CONNECTION' } })
    }
    expect(await store.get('k')).toBe('v')
  })
})

/** A name for a server: connections stay with the one that it meant when they were made. */
class Name {
  readonly #listener: Server
  target: number

  constructor(target: number) {
    this.target = target
    this.#listener = createServer(client => {
      const server = connect(this.target, '127.0.0.1')
      client.pipe(server).pipe(client)
      for (const [one, other] of [
        [client, server],
        [server, client]
      ] as const) {
        one.on('error', () => other.destroy()).on('close', () => other.destroy())
      }
    })
  }

  async url(): Promise<string> {
    await new Promise<void>(resolve => this.#listener.listen(0, '127.0.0.1', resolve))
    ended.push(() => new Promise(resolve => this.#listener.close(resolve)))
    return `redis://127.0.0.1:${(this.#listener.address() as { port: number }).port}`
  }
}

describe('a primary that has become a replica', () => {
  it.each(['', '?replicas=1'])(
    'refuses a write once; the next finds the server that its name means now (redis://name%s)',
    { timeout: 20_000 },
    async query => {
      const [first, second] = [await started(), await started()]
      await second.command('REPLICAOF', '127.0.0.1', String(first.port))
      const name = new Name(first.port)
      const store = await opened(`${await name.url()}${query}`, { timeout: 8000 })
      await store.commit(...FILL)
      await expect.poll(() => second.command('GET', 'vk'), { timeout: 10_000 }).toBe('v')

      await second.command('REPLICAOF', 'NO', 'ONE')
      await first.command('REPLICAOF', '127.0.0.1', String(second.port))
      name.target = second.port
      await expect(store.commit(set('k', 'refused'))).rejects.toMatchObject({ code: 'ERR_STORE_READ_ONLY' })
      await store.commit(set('k', 'new'))
      expect(await second.command('GET', 'vk')).toBe('new')
      expect(await store.get('k')).toBe('new')
      expect(await store.snapshot(reads => reads.get('k'))).toBe('new')
    }
  )
})
