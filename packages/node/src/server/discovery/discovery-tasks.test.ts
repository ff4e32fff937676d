/** The advertiser, the janitor and the search for peers in nodes; connections to advertised hosts go to loopback. */
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Transaction } from '@quoin/chain'
import { checkHost } from '@quoin/discovery'
import { openDevWallet } from '@quoin/kvstore-client/dev-wallet'
import type { Logger, QuoinTopic } from '@quoin/overlay'
import { makeOutpoint, parseOutpoint } from '@quoin/primitives'
import { afterEach, describe, expect, it } from 'vitest'
import { Host } from '../../../../discovery/src/host.testing.ts'
import { loadConfig } from '../config.ts'
import { type Node, startNode } from '../node.ts'
import { AdvertiserTask } from './advertiser-task.ts'

const TOKEN = 'a-token-of-some-length'
const URI = 'https://node.example.com'
const open: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

const logged: Record<string, unknown>[] = []
const record = (event: string, fields: object = {}) => void logged.push({ event, ...fields })
const logger: Logger = { info: record, warn: record, error: record }

const start = async (
  options: Record<string, string>,
  more: Parameters<typeof startNode>[1] = {}
): Promise<Node> => {
  logged.length = 0
  const node = await startNode(
    loadConfig({ options: { store: 'memory:', port: '0', blockTime: '0', adminToken: TOKEN, ...options } })
      .config,
    { logger, ...more }
  )
  open.push(() => node.close())
  return node
}

const admin = async (node: Node, path: string, body?: object) => {
  const response = await fetch(`${node.url}/admin/${path}`, {
    headers: { authorization: `Bearer ${TOKEN}` },
    ...(body && { method: 'POST', body: JSON.stringify(body) })
  })
  return (await response.json()) as { data: never; code?: string; message?: string }
}
const folder = async (): Promise<string> => {
  const path = await mkdtemp(join(tmpdir(), 'quoin-discovery-'))
  open.push(() => rm(path, { recursive: true }))
  return path
}
const served = async (node: Node, service: 'ls_ship' | 'ls_slap'): Promise<number> =>
  (await node.engine.lookup(service, 'findAll')).length

const topic: QuoinTopic = {
  admit: () => ({ outputs: [] }),
  getDocumentation: async () => 'Admits nothing.',
  getMetaData: async () => ({ name: 'Extra', shortDescription: 'Admits nothing.' })
}
const extra = { name: 'extra', setup: () => ({ topics: { tm_extra: topic } }) }

interface Report {
  readonly current: readonly { readonly name: string; readonly outpoint: string }[]
  readonly missing: readonly string[]
  readonly obsolete: readonly unknown[]
  readonly refused: readonly { readonly name: string; readonly reason: string; readonly advice: string }[]
}
const namesOf = ({ current }: Report): string[] => current.map(({ name }) => name).sort()

describe('the advertiser', () => {
  it('keeps what the node serves advertised, here and at trackers, and renews what a tracker lost', async () => {
    const tracker = await start({ chain: 'scripts-only' })
    const directory = await folder()
    const options = {
      store: `lmdb:${directory}/store`,
      'advertise.uri': `${URI}/`,
      'advertise.wallet': join(directory, 'wallet.json'),
      'advertise.to': tracker.url
    }
    const first = await start(options, { plugins: [extra] })
    await expect.poll(() => served(tracker, 'ls_slap'), { timeout: 20_000 }).toBe(1)
    expect(await served(tracker, 'ls_ship')).toBe(2)
    const report: Report = (await admin(first, 'advertisements')).data
    expect(namesOf(report)).toEqual(['ls_kvstore', 'tm_extra', 'tm_kvstore'])
    expect(report).toMatchObject({ missing: [], obsolete: [] })
    expect(report.refused.map(({ name, reason }) => [name, reason])).toEqual([
      ['tm_bsv21', 'it has digits'],
      ['ls_bsv21', 'it has digits']
    ])
    expect(report.refused[0]!.advice).toContain('Give a plug-in another name')
    expect(logged.find(({ event }) => event === 'names cannot be advertised')).toMatchObject({
      names: ['tm_bsv21: it has digits', 'ls_bsv21: it has digits']
    })

    const [lost] = report.current
    await tracker.engine.evict(parseOutpoint(lost!.outpoint))
    expect((await served(tracker, 'ls_ship')) + (await served(tracker, 'ls_slap'))).toBe(2)
    expect((await admin(first, 'syncAdvertisements', {})).data).toMatchObject({ isDone: true })
    expect(logged.at(-1)).toMatchObject({ event: 'request' })
    expect(logged.findLast(({ event }) => event === 'advertisements renewed')).toMatchObject({
      names: [lost!.name]
    })

    // After a restart without the plug-in nothing is created twice, and what is not served is revoked.
    await first.close()
    const second = await start(options)
    await expect.poll(() => served(tracker, 'ls_ship'), { timeout: 20_000 }).toBe(1)
    expect((await admin(second, 'syncAdvertisements', {})).data).toMatchObject({ isDone: true })
    const after: Report = (await admin(second, 'advertisements')).data
    expect(namesOf(after)).toEqual(['ls_kvstore', 'tm_kvstore'])
    for (const each of after.current) expect(report.current).toContainEqual(each)
    expect(logged.filter(({ event }) => event === 'advertised')).toEqual([])

    // It does not pay for advertisements that its own ban list hides.
    await admin(second, 'ban', { type: 'domain', value: 'NODE.example.com' })
    expect((await admin(second, 'syncAdvertisements', {})).data).toMatchObject({ isDone: false })
    const { parts } = (await (await fetch(`${second.url}/status`)).json()) as { parts: { name: string }[] }
    expect(parts.find(({ name }) => name === 'advertiser')).toMatchObject({
      status: 'degraded',
      message: expect.stringContaining('is on the ban list of this node')
    })
  }, 60_000)

  it('takes a BRC-100 wallet at a URL', async () => {
    let wallet: Awaited<ReturnType<typeof openDevWallet>>
    const server: Server = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const args = JSON.parse(Buffer.concat(chunks).toString() || '{}')
      const method = request.url!.slice(1) as 'createAction'
      response.end(JSON.stringify(await wallet[method](args)))
    })
    await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
    open.push(async () => server.close())
    const place = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const node = await start({ 'advertise.uri': URI, 'advertise.wallet': place, 'advertise.interval': '10' })
    wallet = await openDevWallet({ node: node.url })
    await admin(node, 'syncAdvertisements', {})
    const report: Report = (await admin(node, 'advertisements')).data
    expect(namesOf(report)).toEqual(['ls_kvstore', 'tm_kvstore'])
  }, 60_000)

  it('does nothing in a process without the lease, and waits no longer than its patience for the wallet', async () => {
    const node = await start({})
    let asked = 0
    const silent = async () => {
      asked++
      return new Promise<never>(() => undefined)
    }
    const gate = { signal: undefined as AbortSignal | undefined, onOpen: () => () => undefined }
    const task = new AdvertiserTask({
      engine: node.engine,
      uri: URI,
      openWallet: silent,
      trackers: [],
      interval: 1e6,
      logger,
      gate,
      patience: 5
    })
    await expect(task.once()).rejects.toMatchObject({ code: 'ERR_UNAVAILABLE' })
    expect(asked).toBe(0)
    expect(task.state()).toEqual({ status: 'ok', message: 'another process has the lease' })
    gate.signal = new AbortController().signal
    expect(await task.once()).toBe(false)
    expect(task.state()).toMatchObject({
      status: 'degraded',
      message: expect.stringContaining('the wallet did not open: no answer within 5 ms')
    })
  })
})

it('the advertiser goes on with the transaction of a wallet that answered late', async () => {
  const node = await start({})
  const wallet = await openDevWallet({ node: node.url })
  let actions = 0
  let answer: () => void = () => undefined
  const late = new Promise<void>(resolve => {
    answer = resolve
  })
  const slow = {
    ...wallet,
    createAction: async (args: Parameters<typeof wallet.createAction>[0]) => {
      actions++
      await late
      return wallet.createAction(args)
    }
  }
  const task = new AdvertiserTask({
    engine: node.engine,
    uri: URI,
    openWallet: async () => slow,
    trackers: [],
    interval: 1e6,
    logger,
    gate: { signal: new AbortController().signal, onOpen: () => () => undefined },
    patience: 300
  })
  expect(await task.once()).toBe(false)
  expect(task.state().message).toContain('the wallet did not create advertisements: no answer within 300 ms')
  expect(actions).toBe(1)
  answer()
  await expect.poll(() => task.once(), { timeout: 20_000 }).toBe(true)
  expect(actions).toBe(1)
  expect(await task.report()).toMatchObject({ missing: [] })
}, 60_000)

const host = (name: string) => new Host(name)
const beefOf = async (node: Node, { txid }: Transaction): Promise<Uint8Array> => node.dev!.chain.beef(txid)
const advertisement = async (node: Node, by: Host, protocol: 'SHIP' | 'SLAP', name: string) =>
  node.dev!.fund(await by.token(protocol, name), 1)

describe('peers found through SHIP', () => {
  const redirectedTo =
    (node: () => Node): typeof fetch =>
    (input, init) => {
      const { pathname } = new URL(String(input))
      return fetch(`${node().url}${pathname}`, init)
    }

  it('are synced with for the topics of sync.discover, and no longer when they are banned', async () => {
    const a = await start({})
    const ship = await advertisement(a, host('a'), 'SHIP', 'tm_slap')
    const beef = await beefOf(a, ship)
    const b = await start(
      { chain: 'scripts-only', 'sync.discover': 'tm_slap', 'sync.interval': '1' },
      { fetch: redirectedTo(() => a) }
    )
    await b.engine.submit({ beef, topics: ['tm_ship'] })
    const slap = await advertisement(a, host('a'), 'SLAP', 'ls_something')
    await a.engine.submit({ beef: await beefOf(a, slap), topics: ['tm_slap'] })
    await expect.poll(() => served(b, 'ls_slap'), { timeout: 20_000 }).toBe(1)
    const status = async () =>
      (await (await fetch(`${b.url}/status`)).json()) as {
        sync: { topic: string; peer: string }[]
        parts: { name: string; status: string }[]
        queues: object
      }
    expect(await status()).toMatchObject({
      sync: [{ topic: 'tm_slap', peer: 'https://a.example.com', state: 'working', live: false }],
      leases: { peers: true }
    })
    expect((await status()).parts).toContainEqual(
      expect.objectContaining({ name: 'peer tm_slap https://a.example.com', status: 'ok' })
    )
    expect(Object.keys((await status()).queues)).toContain('sync:tm_slap:https://a.example.com')
    await admin(b, 'ban', { type: 'domain', value: 'a.example.com' })
    await expect.poll(async () => (await status()).sync, { timeout: 20_000 }).toEqual([])
    expect(Object.keys((await status()).queues)).not.toContain('sync:tm_slap:https://a.example.com')
  }, 60_000)

  it('at private addresses are not connected to', async () => {
    const b = await start({ 'sync.discover': 'all', 'sync.interval': '1' })
    const ship = await advertisement(b, new Host('inside', 'https://10.0.0.7'), 'SHIP', 'tm_kvstore')
    await b.engine.submit({ beef: await beefOf(b, ship), topics: ['tm_ship'] })
    const reasons = async () =>
      ((await (await fetch(`${b.url}/status`)).json()) as { sync: { lastError?: string }[] }).sync.map(
        ({ lastError }) => lastError
      )
    await expect
      .poll(reasons, { timeout: 20_000 })
      .toEqual([
        expect.stringContaining('10.0.0.7 is not a public address; the setting privateHosts permits it')
      ])
  }, 60_000)

  it('are of topics that the node has', async () => {
    await expect(start({ 'sync.discover': 'tm_nothing' })).rejects.toMatchObject({
      code: 'ERR_CONFIG',
      message: expect.stringContaining('unknown topic in sync.discover: tm_nothing')
    })
  })
})

describe('the janitor', () => {
  it('is off unless an interval turns it on, and asks on request of the operator', async () => {
    const asked: string[] = []
    const down: typeof fetch = async input => {
      asked.push(String(input))
      throw new TypeError('fetch failed', { cause: new Error('no route') })
    }
    const node = await start({}, { fetch: down })
    const ship = await advertisement(node, host('a'), 'SHIP', 'tm_slap')
    await node.engine.submit({ beef: await beefOf(node, ship), topics: ['tm_ship'] })
    expect(asked).toEqual([])
    expect((await admin(node, 'janitor', {})).data).toEqual({
      hosts: 1,
      checked: 1,
      down: 0,
      isOffline: false
    })
    expect(asked).toEqual(['https://a.example.com/health'])
    expect((await admin(node, 'hosts')).data).toMatchObject({
      hosts: [{ site: 'a.example.com', failures: 1, isDown: false, reason: 'cannot be reached: no route' }]
    })
    expect(await served(node, 'ls_ship')).toBe(1)
    // A node is healthy to others by the same rule.
    expect(await checkHost(node.url, { fetch })).toBeUndefined()
  })

  it('asks in rounds of its own', async () => {
    const asked: string[] = []
    const up: typeof fetch = async input => {
      asked.push(String(input))
      return Response.json({ status: 'ok' })
    }
    const node = await start({ 'janitor.interval': '1' }, { fetch: up })
    const ship = await advertisement(node, host('a'), 'SHIP', 'tm_slap')
    await node.engine.submit({ beef: await beefOf(node, ship), topics: ['tm_ship'] })
    await expect.poll(() => asked, { timeout: 20_000 }).toContain('https://a.example.com/health')
    expect((await admin(node, 'hosts')).data).toMatchObject({
      hosts: [{ site: 'a.example.com', failures: 0 }]
    })
  }, 60_000)

  it('bans by the routes of overlay-express', async () => {
    const node = await start({})
    const ship = await advertisement(node, host('a'), 'SHIP', 'tm_slap')
    await node.engine.submit({ beef: await beefOf(node, ship), topics: ['tm_ship'] })
    const outpoint = `${Buffer.from(makeOutpoint(ship.txid, 0).subarray(0, 32)).reverse().toString('hex')}.0`
    expect(await admin(node, 'ban', { type: 'outpoint', value: outpoint, reason: 'spam' })).toMatchObject({
      status: 'success',
      data: { type: 'outpoint', value: outpoint, reason: 'spam' }
    })
    expect(await served(node, 'ls_ship')).toBe(0)
    expect((await admin(node, 'bans?type=outpoint')).data).toMatchObject({ bans: [{ value: outpoint }] })
    expect((await admin(node, 'bans?type=domain')).data).toEqual({ bans: [] })
    expect((await admin(node, 'unban', { type: 'outpoint', value: outpoint })).data).toEqual({ lifted: true })
    expect(await served(node, 'ls_ship')).toBe(1)
    expect(await admin(node, 'ban', { type: 'domain', value: 'http://x' })).toMatchObject({
      code: 'ERR_REQUEST'
    })
  })
})
