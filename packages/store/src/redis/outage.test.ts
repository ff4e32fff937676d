/** How a server is opened, and what happens when it goes away, says nothing or is full. */
import { createServer, type Server } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { batchOf, bytes, hset, set, zadd } from '../../../store-contract/src/steps.ts'
import { EVERYTHING, Subject } from '../../../store-contract/src/subject.ts'
import { openRedis } from './redis.ts'
import { type RedisServer, startRedis } from './server.testing.ts'

let server: RedisServer
beforeAll(async () => {
  server = await startRedis({ appendonly: true, appendfsync: 'always' })
})
afterAll(() => server.stop())
beforeEach(async () => {
  await server.command('FLUSHALL')
})

const open = async (): Promise<Subject> => new Subject(await openRedis(server.url))
const using = async (use: (store: Subject) => Promise<void>): Promise<void> => {
  const store = await open()
  try {
    await use(store)
  } finally {
    await store.engine.close()
  }
}

describe('opening', () => {
  it('refuses a database with something else in it', async () => {
    await server.command('SET', 'mine', '1')
    await expect(open()).rejects.toMatchObject({ code: 'ERR_STORE_VERSION' })
  })

  it('refuses a store of a newer layout', async () => {
    await using(async () => {})
    await server.command('HSET', '{quoin}', 'version', '2')
    await expect(open()).rejects.toMatchObject({ code: 'ERR_STORE_VERSION' })
  })

  it('refuses a server of a cluster', async () => {
    const node = await startRedis({ config: { 'cluster-enabled': 'yes' } })
    await expect(openRedis(node.url)).rejects.toMatchObject({ code: 'ERR_STORE_URL' })
    await node.stop()
  })

  it('keeps databases apart', async () => {
    const [one, other] = [await openRedis(`${server.url}/1`), await openRedis(`${server.url}/2`)]
    await one.commit(batchOf([set('a', '1')]))
    expect(await other.reads.get(bytes('a'))).toBeUndefined()
    await Promise.all([one.close(), other.close()])
  })

  it('takes a user and a password, and says so when they are wrong', async () => {
    await server.command('ACL', 'SETUSER', 'quoin', 'on', '>a secret/@', '~*', '&*', '+@all')
    const at = `127.0.0.1:${server.port}`
    await (await openRedis(`redis://quoin:${encodeURIComponent('a secret/@')}@${at}`)).close()
    await expect(openRedis(`redis://quoin:wrong@${at}`)).rejects.toMatchObject({
      code: 'ERR_STORE_ENGINE',
      message: expect.stringContaining('WRONGPASS')
    })
  })

  it('needs no rights beyond those over the data', async () => {
    const rights = ['+@all', '-info', '-config', '-script']
    await server.command('ACL', 'SETUSER', 'poor', 'on', '>secret', '~*', '&*', ...rights)
    const store = new Subject(await openRedis(`redis://poor:secret@127.0.0.1:${server.port}`))
    await store.commit(set('a', '1'))
    expect(await store.range(EVERYTHING)).toEqual([['a', '1']])
    expect((await store.engine.stats()).details).toMatchObject({
      appendonly: 'unknown',
      appendfsync: 'unknown',
      warning: expect.stringContaining('does not tell')
    })
    await store.engine.close()
  })

  it('fails in time when nobody is there', async () => {
    const before = performance.now()
    await expect(openRedis('redis://127.0.0.1:1', { timeout: 300 })).rejects.toMatchObject({
      code: 'ERR_STORE_CONNECTION'
    })
    expect(performance.now() - before).toBeLessThan(3000)
  })

  it.each([
    ['something that is no Redis', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
    ['something that says nothing', ''],
    ['something that says too much', '+PONG\r\n'.repeat(100)]
  ])('fails in time at %s', async (_, greeting) => {
    const stranger = await listening(greeting)
    const { port } = stranger.address() as { port: number }
    await expect(
      openRedis(`redis://127.0.0.1:${port}`, { timeout: 300, connectTimeout: 200 })
    ).rejects.toMatchObject({ code: 'ERR_STORE_CONNECTION' })
    stranger.close()
  })
})

const listening = (greeting: string): Promise<Server> =>
  new Promise(resolve => {
    const stranger = createServer(socket => {
      socket.on('error', () => {})
      socket.on('data', () => socket.write(greeting))
      socket.unref()
    })
    stranger.listen(0, '127.0.0.1', () => resolve(stranger))
  })

describe('a server', () => {
  it('that has forgotten the scripts is told them again', () =>
    using(async store => {
      await store.commit(set('a', '1'))
      await server.command('SCRIPT', 'FLUSH')
      await store.commit(set('a', '2'))
      await server.command('SCRIPT', 'FLUSH')
      expect(await store.range(EVERYTHING)).toEqual([['a', '2']])
      await server.command('SCRIPT', 'FLUSH')
      expect(await store.snapshot(reads => reads.range(EVERYTHING))).toEqual([['a', '2']])
    }))

  it('that is killed and comes back is used again, with all that was committed', async () => {
    const store = await open()
    let written = 0
    const unknown: string[] = []
    let stop = false
    const writing = (async () => {
      for (let i = 0; !stop; i++) {
        try {
          await store.commit(set(`k${i}`, ''), hset(`k${i}`, 'f', ''))
          written++
        } catch (error) {
          expect(error).toMatchObject({ code: 'ERR_STORE_CONNECTION' })
          unknown.push(`k${i}`)
        }
      }
    })()
    await new Promise(resolve => setTimeout(resolve, 200))
    const reading = Array.from({ length: 20 }, () => store.range(EVERYTHING))
    const many = Array.from({ length: 3000 }, (_, i) => (i % 3 ? 'k0' : 'nothing'))
    const values = many.map(key => (key === 'k0' ? '' : undefined))
    const readingMany = Array.from({ length: 5 }, () => store.mget(many))
    await server.kill()
    const waiting = store.get('k0')
    const waitingMany = store.mget(many)
    await server.restart()
    expect(await waiting).toBe('')
    expect(await waitingMany).toEqual(values)
    for (const read of await Promise.all(readingMany)) expect(read).toEqual(values)
    await Promise.all(reading)
    await new Promise(resolve => setTimeout(resolve, 200))
    stop = true
    await writing
    const found = (await store.range(EVERYTHING)).map(([key]) => key)
    expect(new Set(found).size).toBe(found.length)
    expect(found.filter(key => !unknown.includes(key))).toHaveLength(written)
    expect((await store.hrange(EVERYTHING)).map(([key]) => key)).toEqual(found)
    await store.engine.close()
  })

  it('that stays away lets calls fail when their time is over', async () => {
    const away = await startRedis()
    const store = new Subject(await openRedis(away.url, { timeout: 300 }))
    await away.kill()
    const before = performance.now()
    const [one, many] = [store.get('a'), store.mget(['a', 'b'])]
    await expect(one).rejects.toMatchObject({ code: 'ERR_STORE_CONNECTION' })
    await expect(many).rejects.toMatchObject({ code: 'ERR_STORE_CONNECTION' })
    await expect(store.commit(set('a', '1'))).rejects.toMatchObject({ code: 'ERR_STORE_CONNECTION' })
    await expect(store.snapshot(reads => reads.get('a'))).rejects.toMatchObject({
      code: 'ERR_STORE_CONNECTION'
    })
    expect(performance.now() - before).toBeLessThan(5000)
    await store.engine.close()
    await away.stop()
  })

  it('that does not answer any more is cut off', async () => {
    const deaf = await startRedis()
    const store = new Subject(
      await openRedis(deaf.url, { timeout: 500, silenceTimeout: 200, connectTimeout: 200 })
    )
    deaf.process.kill('SIGSTOP')
    await expect(store.commit(set('a', '1'))).rejects.toMatchObject({
      code: 'ERR_STORE_CONNECTION',
      details: { outcome: 'unknown' }
    })
    await expect(store.get('a')).rejects.toMatchObject({ code: 'ERR_STORE_CONNECTION' })
    deaf.process.kill('SIGCONT')
    expect(['1', undefined]).toContain(await store.get('a'))
    await store.engine.close()
    await deaf.stop()
  })

  it('that is full refuses batches as a whole, and still reads', async () => {
    const small = await startRedis({ config: { maxmemory: '8mb' } })
    const store = new Subject(await openRedis(small.url))
    const value = 'x'.repeat(100_000)
    let failure: unknown
    for (let i = 0; i < 200 && !failure; i++) {
      await store.commit(hset(`h${i}`, 'f', ''), set(`k${i}`, value), zadd('z', `m${i}`, i)).catch(error => {
        failure = error
      })
    }
    expect(failure).toMatchObject({ code: 'ERR_STORE_FULL' })
    const [values, hashes] = [await store.range(EVERYTHING), await store.hrange(EVERYTHING)]
    expect(values.length).toBeGreaterThan(0)
    expect(hashes).toHaveLength(values.length)
    expect(await store.zcard('z')).toBe(values.length)
    await store.engine.close()
    await small.stop()
  })

  it('tells how durable it is', async () => {
    await using(async store => {
      const { details } = await store.engine.stats()
      expect(details).toMatchObject({ appendonly: 'yes', appendfsync: 'always' })
      expect(details).not.toHaveProperty('warning')
    })
    const lax = await startRedis({ appendonly: true, appendfsync: 'everysec' })
    const engine = await openRedis(lax.url)
    expect((await engine.stats()).details['warning']).toMatch(/appendfsync/)
    await engine.close()
    await lax.stop()
  })
})
