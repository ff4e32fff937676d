/** The global store where hosts fail, lie, are behind, or have to be found. */
import { PushDrop, Transaction, type WalletInterface } from '@bsv/sdk'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { shows } from '../../kvstore/src/shows.testing.ts'
import { GlobalKV, type GlobalKVOptions } from './global.ts'
import { startAnswering, startBetween, startHost, startTracker, type TestHost } from './hosts.testing.ts'
import { startKvNode } from './node.testing.ts'
import { newRoot } from './wallet.testing.ts'
import { mint, newKey, startWorld, tokenOf, valuesOf, type World } from './world.testing.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

const store = (options?: GlobalKVOptions): GlobalKV => world.store(options)
const actionsOf = (wallet: WalletInterface) => vi.spyOn(wallet, 'createAction')

const opened: TestHost[] = []
const open = async <T extends TestHost>(host: Promise<T>): Promise<T> => {
  opened.push(await host)
  return host
}
afterEach(async () => {
  for (const host of opened.splice(0)) await host.close()
})

describe('the global store', () => {
  it('§2.3 when a host cannot be asked nothing is said of the entry, and nothing is minted (G5)', async () => {
    const key = newKey()
    await store().set(key, 'there')
    const down = await open(startBetween(world.node.url))
    const kv = store({ host: down.url })
    expect((await kv.get(key))?.value).toBe('there')
    down.broken.add('/lookup')
    const actions = actionsOf(world.alice)
    const unknown = { code: 'ERR_KV_HOST', details: { hosts: { [down.url]: expect.any(String) } } }
    for (const doing of [
      () => kv.get(key),
      () => kv.history(key),
      () => kv.list({ key }),
      () => kv.set(key, 'again'),
      () => kv.set(newKey(), 'new'),
      () => kv.remove(key)
    ]) {
      await expect(doing()).rejects.toMatchObject(unknown)
    }
    expect(actions).not.toHaveBeenCalled()
    actions.mockRestore()
    down.broken.clear()
    await kv.set(key, 'again')
    expect(valuesOf(await kv.history(key))).toEqual(['there', 'again'])
  })

  it('§2.3 that there is nothing is known only when every host says so', async () => {
    const key = newKey()
    const down = await open(startBetween(world.node.url))
    down.broken.add('/lookup')
    const kv = store({ host: [world.node.url, down.url] })
    await expect(kv.get(key)).rejects.toMatchObject({ code: 'ERR_KV_HOST' })
    await expect(kv.set(key, 'new')).rejects.toMatchObject({ code: 'ERR_KV_HOST' })
    await store().set(key, 'there')
    expect((await kv.get(key))?.value).toBe('there')
  })

  it.each([
    ['an error of the host', 500, ''],
    ['an answer that is none', 200, '{"outputs":5}'],
    ['an answer that is no JSON', 200, '<html>'],
    ['a BEEF that is none', 200, '{"type":"output-list","outputs":[{"beef":[1,2,3],"outputIndex":0}]}']
  ])('§2.3 %s is not taken for nothing', async (_, status, body) => {
    const host = await open(
      startHost((__, ___, response) => {
        response.statusCode = status
        response.end(body)
      })
    )
    await expect(store({ host: host.url }).get('key')).rejects.toMatchObject({ code: 'ERR_KV_HOST' })
  })

  it('§3.4 a token that no host takes is an error (G6)', async () => {
    const nothing = { outputsToAdmit: [], coinsToRetain: [], coinsRemoved: [] }
    for (const [status, steak, reason] of [
      [200, { tm_kvstore: nothing }, 'the topic admits nothing of the transaction'],
      [200, { tm_kvstore: { ...nothing, error: { code: 'X', message: 'too tired' } } }, 'too tired'],
      [200, {}, 'the STEAK has no admittance for tm_kvstore'],
      [400, { status: 'error', message: 'not today' }, '400 not today']
    ] as const) {
      const host = await open(
        startHost(({ url }, __, response) => {
          const isLookup = url === '/lookup'
          response.statusCode = isLookup ? 200 : status
          response.setHeader('content-type', 'application/json')
          response.end(JSON.stringify(isLookup ? { type: 'output-list', outputs: [] } : steak))
        })
      )
      await expect(store({ host: host.url }).set(newKey(), 'v')).rejects.toMatchObject({
        code: 'ERR_KV_REFUSED',
        details: { txid: expect.stringMatching(/^[0-9a-f]{64}$/), hosts: { [host.url]: reason } }
      })
    }
  })

  it('§E global rejection of malformed or forged tokens via read-side signature verification', async () => {
    const key = newKey()
    const kv = store()
    const controller = await kv.identity()
    const good = await mint(world.alice, key, 'signed')
    const forged = await mint(world.bob, key, 'forged', controller)
    const other = await mint(world.alice, newKey(), 'of another key')
    const outputsOf = (...minted: { beef: number[] }[]) => ({
      type: 'output-list',
      outputs: minted.map(({ beef }) => ({ beef, outputIndex: 0 }))
    })
    const lying = await open(startAnswering(outputsOf(forged, other, { beef: good.beef })))
    expect(await store({ host: lying.url }).get(key)).toMatchObject({
      value: 'signed',
      outpoint: good.outpoint
    })
    const onlyForged = await open(startAnswering(outputsOf(forged, other)))
    shows('Security-1 E-3', await store({ host: onlyForged.url }).get(key)).toBeUndefined()
    expect((await store({ host: onlyForged.url }).list({ controller, key })).entries).toEqual([])
    const noToken = await open(
      startAnswering({ type: 'output-list', outputs: [{ beef: good.beef, outputIndex: 1 }] })
    )
    expect(await store({ host: noToken.url }).get(key)).toBeUndefined()
  })

  it('what reached no host is submitted before the next write, so that nothing is minted twice', async () => {
    const key = newKey()
    const flaky = await open(startBetween(world.node.url))
    const kv = store({ host: flaky.url })
    const lost = { code: 'ERR_KV_HOST', details: { txid: expect.stringMatching(/^[0-9a-f]{64}$/) } }
    flaky.broken.add('/submit')
    await expect(kv.set(key, 'created')).rejects.toMatchObject(lost)
    await expect(kv.set(key, 'created again')).rejects.toMatchObject({ code: 'ERR_KV_HOST' })
    expect(await kv.get(key)).toBeUndefined()
    flaky.broken.clear()
    await kv.set(key, 'updated')
    expect(valuesOf(await kv.history(key))).toEqual(['created', 'updated'])

    flaky.broken.add('/submit')
    await expect(kv.set(key, 'updated again')).rejects.toMatchObject(lost)
    flaky.broken.clear()
    await kv.set(key, 'and again')
    expect(valuesOf(await kv.history(key))).toEqual(['created', 'updated', 'updated again', 'and again'])

    flaky.broken.add('/submit')
    await expect(kv.remove(key)).rejects.toMatchObject(lost)
    flaky.broken.clear()
    expect(await kv.remove(key)).toBeUndefined()
    expect(await kv.get(key)).toBeUndefined()
    await kv.set(key, 'a new one')
    expect(valuesOf(await kv.history(key))).toEqual(['a new one'])
  })

  it('what a process made that ended before a host had it is submitted by the next one', async () => {
    const key = newKey()
    const flaky = await open(startBetween(world.node.url))
    flaky.broken.add('/submit')
    await expect(store({ host: flaky.url }).set(key, 'of the first')).rejects.toMatchObject({
      code: 'ERR_KV_HOST'
    })
    vi.resetModules()
    const { GlobalKV: InNextProcess } = await import('./global.ts')
    expect(InNextProcess).not.toBe(GlobalKV)
    const next = new InNextProcess({ wallet: world.alice, host: world.node.url })
    expect(await next.get(key)).toBeUndefined()
    await next.set(key, 'of the next')
    expect(valuesOf(await next.history(key))).toEqual(['of the first', 'of the next'])
  })

  it('what a process removed that ended before a host knew is removed by the next one', async () => {
    const [removed, replaced] = [newKey(), newKey()]
    const flaky = await open(startBetween(world.node.url))
    const first = store({ host: flaky.url })
    for (const key of [removed, replaced]) {
      await first.set(key, 'there')
      flaky.broken.add('/submit')
      await expect(first.remove(key)).rejects.toMatchObject({ code: 'ERR_KV_HOST' })
      flaky.broken.clear()
    }
    vi.resetModules()
    const { GlobalKV: InNextProcess } = await import('./global.ts')
    const next = new InNextProcess({ wallet: world.alice, host: world.node.url })
    expect((await next.get(removed))?.value).toBe('there')
    expect(await next.remove(removed)).toBeUndefined()
    expect(await next.get(removed)).toBeUndefined()
    await next.set(replaced, 'a new one')
    expect(valuesOf(await next.history(replaced))).toEqual(['a new one'])
  })

  it('§2.3 two devices of one owner get in between each other, and the entry has one live token', async () => {
    const key = newKey()
    const root = newRoot()
    const flaky = await open(startBetween(world.node.url))
    const one = store({ wallet: await world.chain.wallet(root), host: flaky.url })
    const two = store({ wallet: await world.chain.wallet(root) })
    await one.set(key, 'by one')
    flaky.broken.add('/submit')
    await expect(one.set(key, 'known to the network alone')).rejects.toMatchObject({ code: 'ERR_KV_HOST' })
    await two.set(key, 'by two')
    expect(valuesOf(await two.history(key))).toEqual(['by one', 'known to the network alone', 'by two'])
    flaky.broken.clear()
    await one.set(key, 'by one again')
    await two.remove(key)
    expect([await one.get(key), await two.get(key)]).toEqual([undefined, undefined])
    await one.set(key, 'a new one')
    expect(valuesOf(await two.history(key))).toEqual(['a new one'])
  })

  it('a host that is behind is not taken for a second live token', async () => {
    const second = await startKvNode(world.chain)
    try {
      const key = newKey()
      const both = store({ host: [world.node.url, second.url] })
      const behind = store({ host: second.url })
      await both.set(key, 'on both')
      for (const [i, value] of ['on one', 'on one again', 'and again'].entries()) {
        await store().set(key, value)
        expect((await behind.get(key))?.value).toBe('on both')
        expect((await both.get(key))?.value).toBe(value)
        expect(await both.history(key)).toHaveLength(i + 2)
      }
      await both.set(key, 'on both again')
      expect(valuesOf(await behind.history(key))).toEqual([
        'on both',
        'on one',
        'on one again',
        'and again',
        'on both again'
      ])
    } finally {
      await second.close()
    }
  })

  it('a host cannot pass an old token off as the newer one', async () => {
    const key = newKey()
    const kv = store()
    await kv.set(key, 'old')
    await kv.set(key, 'live')
    const { outpoint } = (await kv.get(key))!
    const [txid, vout] = outpoint.split('.')
    // Says that it spends the live one, with the script of the old one, which the controller signed once.
    const fake = new Transaction()
    fake.addInput({
      sourceTXID: txid!,
      sourceOutputIndex: Number(vout),
      unlockingScript: (await new PushDrop(world.bob).lock([[1]], [1, 'kvstore'], key, 'anyone')) as never,
      sequence: 0xffffffff
    })
    fake.addOutput({ satoshis: 1, lockingScript: await tokenOf(world.alice, key, 'old') })
    const raw = fake.toBinary()
    const beef = [2, 0, 0xbe, 0xef, 0, 1, 0, ...raw]
    const lying = await open(startAnswering({ type: 'output-list', outputs: [{ beef, outputIndex: 0 }] }))
    await expect(store({ host: [world.node.url, lying.url] }).get(key)).rejects.toMatchObject({
      code: 'ERR_KV_AMBIGUOUS'
    })
  })
})

describe('hosts', () => {
  it('§E canonical service/topic naming and current overlay host-resolution expectations', async () => {
    const [lookups, submits] = [
      await open(startBetween(world.node.url)),
      await open(startBetween(world.node.url))
    ]
    const tracker = await open(startTracker([lookups.url], [submits.url]))
    const kv = store({ host: undefined as never, trackers: [tracker.url] })
    const key = newKey()
    await kv.set(key, 'found')
    expect((await kv.get(key))?.value).toBe('found')
    shows('E-9', [...new Set(lookups.asked)]).toEqual(['/lookup'])
    expect([...new Set(submits.asked)]).toEqual(['/submit'])
    expect((await store().get(key))?.value).toBe('found')
  })

  it('§3.1 the service that is asked is ls_kvstore, and the topic that is submitted to is tm_kvstore', async () => {
    const asked: unknown[] = []
    const host = await open(
      startHost(({ url, headers }, body, response) => {
        asked.push(url === '/lookup' ? JSON.parse(String(body)) : headers['x-topics'])
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify(url === '/lookup' ? { type: 'output-list', outputs: [] } : {}))
      })
    )
    const kv = store({ host: host.url })
    await expect(kv.set('key', 'value')).rejects.toMatchObject({ code: 'ERR_KV_REFUSED' })
    const query = { key: 'key', controller: await kv.identity(), protocolID: [1, 'kvstore'] }
    shows('3.1-1 B-5', asked).toEqual([
      { service: 'ls_kvstore', query: { ...query, history: false, limit: 10 } },
      '["tm_kvstore"]'
    ])
  })

  it('no hosts are an error, not an empty store', async () => {
    const tracker = await open(startTracker([], []))
    for (const trackers of [[tracker.url], ['http://127.0.0.1:1']]) {
      const kv = new GlobalKV({ wallet: world.alice, trackers })
      await expect(kv.get('key')).rejects.toMatchObject({
        code: 'ERR_KV_HOST',
        message: /no host found for ls_kvstore/
      })
    }
  })

  it('are URLs, and at least one', () => {
    expect(() => store({ host: 'localhost:8080' })).toThrow(expect.objectContaining({ code: 'ERR_KV_HOST' }))
    expect(() => store({ host: [] })).toThrow(expect.objectContaining({ code: 'ERR_KV_HOST' }))
  })
})
