/** The admin plane: for whoever has the token, and not there without one. */
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HeaderStore, syncHeaders } from '@quoin/chain'
import { overlay, SyncService } from '@quoin/overlay'
import { formatOutpoint, formatTxid, makeOutpoint, type Topic } from '@quoin/primitives'
import { verifyBackup } from '@quoin/store'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createServer, type Server } from '../index.ts'
import { said, startNode, type TestNode } from '../node.testing.ts'

const TOKEN = 'a token of some length'
const bearer = { authorization: `Bearer ${TOKEN}` }
const PEER = 'http://127.0.0.1:1'
let node: TestNode
let sync: SyncService
let server: Server
let url: string
let directory: string
let backups: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quoin-admin-'))
  backups = join(directory, 'backups')
  node = await startNode(`lmdb:${directory}/store`)
  const headers = await HeaderStore.open(node.engine.outputs.store, { network: 'regtest' })
  node.chain.mine()
  await syncHeaders(headers, node.chain)
  sync = new SyncService(node.engine, { peers: { tm_ones: [PEER] } })
  server = createServer({ engine: node.engine, headers, options: { adminToken: TOKEN, backups, sync } })
  ;({ url } = await server.listen())
})
afterAll(async () => {
  await server.close()
  await node.close()
  await rm(directory, { recursive: true })
})

const get = (path: string, headers: Record<string, string> = bearer) => fetch(url + path, { headers })
const send = (path: string, body: unknown, method = 'POST') =>
  fetch(url + path, { method, headers: bearer, body: JSON.stringify(body) })

describe('the token', () => {
  it('is asked for on every route', async () => {
    const routes = server.routes.filter(({ path }) => path.startsWith('/admin'))
    expect(routes.length).toBeGreaterThan(8)
    for (const { method, path } of routes) {
      const at = (headers: Record<string, string>) =>
        fetch(url + path, { method: method.toUpperCase(), headers })
      const none = await at({})
      expect([path, none.status, none.headers.get('www-authenticate')]).toEqual([path, 401, 'Bearer'])
      expect((await at({ authorization: 'Basic abc' })).status).toBe(401)
      const wrong = await at({ authorization: `Bearer ${TOKEN}.` })
      expect([path, wrong.status, (await said(wrong)).code]).toEqual([path, 403, 'ERR_FORBIDDEN'])
    }
  })

  it('not set, there is no admin plane', async () => {
    expect((await node.get('/admin/topics', bearer)).status).toBe(404)
    expect(node.server.routes.filter(({ path }) => path.startsWith('/admin'))).toEqual([])
  })
})

describe('what an operator may do', () => {
  it('evict an output', async () => {
    const transaction = await node.minted()
    await node.submit(transaction, 'tm_ones')
    const outpoint = `${formatTxid(transaction.txid)}.0`
    expect(await said(send('/admin/evict', { outpoint }))).toEqual({
      status: 'success',
      data: { evicted: outpoint }
    })
    expect((await node.get(`/txo/outpoint/${outpoint}`)).status).toBe(404)
    expect((await send('/admin/evict', { outpoint })).status).toBe(404)
    const other = await node.minted()
    await node.submit(other, 'tm_ones')
    const named = { txid: formatTxid(other.txid), outputIndex: 0 }
    expect((await send('/admin/evictOutpoint', named)).status).toBe(200)
    expect(await node.engine.outputs.loadOutput(makeOutpoint(other.txid, 0))).toBeNull()
  })

  it('see the topics and the headers, and add some', async () => {
    await node.submit(await node.minted(), 'tm_ones')
    const { data: topics } = await said(get('/admin/topics'))
    expect(topics).toEqual([{ name: 'tm_ones', outputs: 1, transactions: expect.any(Number) }])
    const { data } = await said(get('/admin/headers'))
    expect(data).toMatchObject({ network: 'regtest', start: 0, tip: { height: expect.any(Number) } })
    node.chain.mine()
    const bytes = await node.chain.headers(data.tip.height + 1, 1)
    const added = await fetch(`${url}/admin/headers`, {
      method: 'POST',
      headers: bearer,
      body: bytes as Uint8Array<ArrayBuffer>
    })
    expect((await said(added)).data).toMatchObject({ added: 1, tip: { height: data.tip.height + 1 } })
    expect((await said(get(`/admin/headers/${data.tip.height}`))).data).toEqual(data.tip)
    expect((await get('/admin/headers/4000000')).status).toBe(404)
    expect((await get('/status').then(said)).chain.height).toBe(data.tip.height + 1)
  })

  it('look at dead letters, try them again, or drop them', async () => {
    const { store } = node.engine.outputs
    const queue = store.queueAt(overlay.collections.failedDeliveries, ['ls_ones'])
    const items = ['tm_ones@1', 'tm_ones@2']
    for (const item of items) await queue.enqueue(item, 0)
    for (const lease of await queue.lease(2, 60)) {
      await queue.fail(lease, { outcome: 'dead', reason: 'the service says no' })
    }
    const { data: queues } = await said(get('/admin/queues'))
    expect(queues[0]).toMatchObject({ name: 'notify:ls_ones', dead: 2 })
    expect(queues.map(({ name }: { name: string }) => name)).toEqual([
      'notify:ls_ones',
      'again:judge',
      'again:admit',
      `sync:tm_ones:${PEER}`
    ])
    const dead = (await said(get('/admin/queues/notify:ls_ones/dead'))).data
    expect(dead.items).toMatchObject(items.map(item => ({ item, reason: 'the service says no' })))
    const path = `/admin/queues/notify:ls_ones/items/${items[0]}`
    expect((await send(path, undefined, 'DELETE')).status).toBe(200)
    expect((await said(send('/admin/queues/notify:ls_ones/retry', {}))).data).toEqual({ retried: 1 })
    // Revived, an entry is delivered again.
    await vi.waitFor(async () =>
      expect(await queue.stats()).toMatchObject({ due: 0, leased: 0, waiting: 0, dead: 0 })
    )
    expect((await get('/admin/queues/nothing/dead')).status).toBe(404)
    expect((await get('/admin/queues/notify:ls_ones/alive')).status).toBe(400)
  })

  it('see the delivery to each lookup service, and replay it', async () => {
    const transaction = await node.minted()
    await node.submit(transaction, 'tm_ones')
    const states = async () => (await said(get('/admin/lookups'))).data
    await expect.poll(states).toEqual([
      {
        service: 'ls_ones',
        process: null,
        delivery: expect.objectContaining({ status: 'current', lag: 0, retrying: 0, dead: 0 })
      }
    ])
    const outpoint = { txid: formatTxid(transaction.txid), outputIndex: 0 }
    const found = async () =>
      (await node.service.lookup({ service: 'ls_ones', query: {} })).map(({ txid }) => txid)
    await node.service.outputEvicted(outpoint.txid, 0)
    expect(await found()).not.toContain(outpoint.txid)
    const replayed = await send('/admin/lookups/ls_ones/replay', {})
    expect(replayed.status).toBe(200)
    expect((await said(replayed)).data).toMatchObject({ lag: expect.any(Number), dead: 0 })
    await expect.poll(found).toContain(outpoint.txid)

    const last = await node.engine.outputs.membership('tm_ones' as Topic).last()
    await node.service.outputEvicted(outpoint.txid, 0)
    const after = await send('/admin/lookups/ls_ones/replay', { topic: 'tm_ones', after: last })
    expect(after.status).toBe(200)
    await expect.poll(async () => (await states())[0].delivery.status).toBe('current')
    expect(await found()).not.toContain(outpoint.txid)
    const beyond = await send('/admin/lookups/ls_ones/replay', { topic: 'tm_ones', after: last + 1 })
    expect([beyond.status, (await said(beyond)).message]).toEqual([
      400,
      `invalid position ${last + 1}: the log of tm_ones ends at ${last}`
    ])
  })

  it.each([
    ['ls_none', {}, 400, 'ERR_LOOKUP_UNKNOWN'],
    ['ls_ones', { topic: 'tm_none' }, 400, 'ERR_TOPIC_UNKNOWN'],
    ['ls_ones', { after: 5 }, 400, 'ERR_REQUEST'],
    ['ls_ones', { after: -1 }, 400, 'ERR_REQUEST'],
    ['ls_ones', { after: 1.5, topic: 'tm_ones' }, 400, 'ERR_REQUEST']
  ])('do not replay %s with %j', async (service, body, status, code) => {
    const refused = await send(`/admin/lookups/${service}/replay`, body)
    expect([refused.status, (await said(refused)).code]).toEqual([status, code])
  })

  it('do the same with what could not be fetched from another node', async () => {
    const { queue } = sync.queues[0]!
    const [one, two] = [await node.minted(), await node.minted()].map(({ txid }) => makeOutpoint(txid, 1))
    for (const outpoint of [one!, two!]) await queue.enqueue(outpoint, 0)
    for (const lease of await queue.lease(2, 60))
      await queue.fail(lease, { outcome: 'dead', reason: 'a lie' })
    const path = `/admin/queues/${encodeURIComponent(`sync:tm_ones:${PEER}`)}`
    const { items } = (await said(get(`${path}/dead`))).data
    expect(items.map(({ item }: { item: string }) => item).sort()).toEqual(
      [one!, two!].map(each => formatOutpoint(each)).sort()
    )
    expect((await said(send(`${path}/retry`, { item: formatOutpoint(one!) }))).data).toEqual({ retried: 1 })
    expect((await send(`${path}/items/${formatOutpoint(two!)}`, undefined, 'DELETE')).status).toBe(200)
    expect(await queue.stats()).toMatchObject({ dead: 0, due: 1 })
    expect((await send(`${path}/retry`, { item: 'no outpoint' })).status).toBe(400)
  })

  it('make a backup, in one place only', async () => {
    const refused = await send('/admin/backup', { name: '../elsewhere' })
    expect(refused.status).toBe(400)
    const response = await send('/admin/backup', { name: 'first' })
    expect(response.status).toBe(200)
    expect(await readdir(backups)).toEqual(['first'])
    expect((await verifyBackup(join(backups, 'first'))).rows).toBeGreaterThan(0)
  })
})
