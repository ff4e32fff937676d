/** Changes of entries as they come, from a real node over HTTP. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { GlobalKV, GlobalKVOptions } from './global.ts'
import { startBetween, startHost, type TestHost } from './hosts.testing.ts'
import type { KvChange } from './watch.ts'
import { mint, newKey, startWorld, submitTo, type World } from './world.testing.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

const store = (options?: GlobalKVOptions): GlobalKV => world.store(options)
const opened: TestHost[] = []
const open = async <T extends TestHost>(host: Promise<T>): Promise<T> => {
  opened.push(await host)
  return host
}
afterEach(async () => {
  for (const host of opened.splice(0)) await host.close()
})

describe('watching', () => {
  /** The next changes, and what ends it. */
  const watching = (kv: GlobalKV, key: string, tags: string[] = []) => {
    const ending = new AbortController()
    const changes = kv.watch({ key, tags }, { signal: ending.signal })
    const next = async (): Promise<KvChange> => (await changes.next()).value as KvChange
    return { next, changes, end: () => ending.abort() }
  }

  it('tells what is live, what is set, what is ambiguous and what is removed', async () => {
    const key = newKey()
    const kv = store()
    await kv.set(key, 'before')
    const { next, changes, end } = watching(kv, key)
    expect(await next()).toMatchObject({ kind: 'set', entry: { value: 'before' } })
    const set = next()
    await kv.set(key, 'after', { tags: ['t'] })
    expect(await set).toMatchObject({ kind: 'set', entry: { value: 'after', tags: ['t'] } })
    const doubled = next()
    await submitTo(world.node, (await mint(world.alice, key, 'twice')).beef)
    expect(await doubled).toMatchObject({ kind: 'ambiguous' })
    const collapsed = next()
    await kv.set(key, 'once', { collapse: true })
    expect(await collapsed).toMatchObject({ kind: 'set', entry: { value: 'once' } })
    const removed = next()
    await kv.remove(key)
    expect(await removed).toMatchObject({ kind: 'removed', entry: { value: 'once' } })
    const last = changes.next()
    end()
    expect(await last).toEqual({ done: true, value: undefined })
  })

  it('tells of an entry that no longer matches that it is gone, and of one that does that it is there', async () => {
    const key = newKey()
    const kv = store()
    await kv.set(key, 'one', { tags: ['wanted'] })
    const { next, end } = watching(kv, key, ['wanted'])
    expect(await next()).toMatchObject({ kind: 'set', entry: { value: 'one' } })
    const gone = next()
    await kv.set(key, 'two', { tags: ['unwanted'] })
    expect(await gone).toMatchObject({ kind: 'removed', entry: { value: 'one' } })
    const back = next()
    await kv.set(key, 'three', { tags: ['wanted', 'more'] })
    expect(await back).toMatchObject({ kind: 'set', entry: { value: 'three' } })
    end()
  })

  it('goes on when the host was away, and misses nothing', async () => {
    const [key, other] = [newKey(), newKey()]
    const kv = store()
    await kv.set(key, 'one')
    const between = await open(startBetween(world.node.url))
    const { next, end } = watching(store({ host: between.url }), key)
    expect(await next()).toMatchObject({ kind: 'set', entry: { value: 'one' } })
    const missed = next()
    between.broken.add('/')
    between.cut()
    await kv.set(key, 'two')
    await kv.set(other, 'of no interest')
    await kv.set(key, 'three')
    between.broken.clear()
    expect(await missed).toMatchObject({ kind: 'set', entry: { value: 'three' } })
    const removed = next()
    between.broken.add('/')
    between.cut()
    await kv.remove(key)
    between.broken.clear()
    expect(await removed).toMatchObject({ kind: 'removed', entry: { value: 'three' } })
    end()
  })

  it('says of a host that tells no changes that it does not', async () => {
    const host = await open(
      startHost((_, __, response) => {
        response.statusCode = 404
        response.end()
      })
    )
    await expect(store({ host: host.url }).watch({ key: 'k' }).next()).rejects.toMatchObject({
      code: 'ERR_KV_HOST',
      message: 'the host does not stream changes'
    })
  })
})
