/** Bans and health checks, with hosts on loopback behind the names that they advertise. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DevChain } from '@quoin/dev-chain'
import { Engine, installPlugins } from '@quoin/overlay'
import { formatOutpoint, makeOutpoint } from '@quoin/primitives'
import { openStore } from '@quoin/store'
import { EventRegistry, OutputStore, outputEvents } from '@quoin/txo'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ban, banList, unban } from './bans.ts'
import { Host } from './host.testing.ts'
import { checkHost } from './host-health.ts'
import { checkHosts, hostRecords } from './janitor.ts'
import { discoveryEvents, type HostRecord } from './keys.ts'
import { discovery } from './plugin.ts'

let chain: DevChain
let engine: Engine
let outputs: OutputStore
const [one, two] = [new Host('one'), new Host('two')]
/** The answer of each host: status and report, or a broken connection. */
const reports = new Map<string, unknown>()
let server: Server
let now: number
let asked: string[]

beforeEach(async () => {
  chain = new DevChain({ seed: 'janitor' })
  outputs = new OutputStore(await openStore('memory:'), {
    events: new EventRegistry(outputEvents, discoveryEvents)
  })
  engine = new Engine({ outputs, tracker: chain, ...(await installPlugins([discovery], { outputs })) })
  reports.clear()
  asked = []
  now = 1_000_000
  server = createServer((request, response) => {
    const host = request.headers['x-for']! as string
    asked.push(`${host}${request.url}`)
    const report = reports.get(host)
    if (report === undefined) request.socket.destroy()
    else response.end(typeof report === 'string' ? report : JSON.stringify(report))
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
})
afterEach(async () => {
  server.closeAllConnections()
  await new Promise(done => server.close(done))
  await engine.close()
})

const redirected: typeof fetch = (input, init) => {
  const { host, pathname } = new URL(String(input))
  const { port } = server.address() as AddressInfo
  return fetch(`http://127.0.0.1:${port}${pathname}`, {
    ...init,
    headers: { ...init?.headers, 'x-for': host }
  })
}

const advertise = async (host: Host, name = 'tm_a'): Promise<string> => {
  const { txid } = chain.fund(await host.token('SHIP', name), 1)
  await engine.submit({ beef: chain.beef(txid), topics: ['tm_ship'] })
  return formatOutpoint(makeOutpoint(txid, 0))
}

const found = async (query: unknown = { topics: ['tm_a'] }): Promise<string[]> =>
  (await engine.lookup('ls_ship', query)).map(({ outpoint }) => formatOutpoint(outpoint)).sort()

const INTERVAL = 600
const changes: HostRecord[] = []
const round = (own?: string) => {
  now += INTERVAL
  return checkHosts(outputs, {
    fetch: redirected,
    interval: INTERVAL,
    now: () => now,
    own,
    onChange: each => changes.push(each)
  })
}

describe('a ban', () => {
  it('of a host hides its advertisements in any spelling of its name, until it is lifted', async () => {
    const plain = await advertise(one)
    const odd = await advertise(new Host('one', 'https+rtt://One.Example.com:443/'))
    const other = await advertise(two)
    const all = [plain, odd, other].sort()
    expect(await found()).toEqual(all)
    await ban(outputs.store, 'domain', 'HTTPS://ONE.example.com./', 'spam')
    expect(await found()).toEqual([other])
    expect(await found('findAll')).toEqual([other])
    expect(await found({ identityKey: one.identityKey })).toEqual([])
    expect(await banList(outputs.store)).toMatchObject([
      { type: 'domain', value: 'one.example.com', reason: 'spam' }
    ])
    expect(await unban(outputs.store, 'domain', 'one.example.com')).toBe(true)
    expect(await unban(outputs.store, 'domain', 'one.example.com')).toBe(false)
    expect(await found()).toEqual(all)
  })

  it('of an advertisement leaves the older one of the same host', async () => {
    const older = await advertise(one)
    const newer = await advertise(one)
    expect(await found()).toEqual([newer])
    await ban(outputs.store, 'outpoint', newer.replace('.', '_'))
    expect(await found()).toEqual([older])
    await unban(outputs.store, 'outpoint', newer)
    expect(await found()).toEqual([newer])
  })

  it.each(['', 'http://one.example.com', 'a b', 'one.example.com/path', 'user@one.example.com'])(
    'of %j is refused',
    async value => {
      await expect(ban(outputs.store, 'domain', value)).rejects.toMatchObject({ code: 'ERR_REQUEST' })
    }
  )
})

it('advertisements that differ in the spelling of the host are one', async () => {
  await advertise(one)
  const newer = await advertise(new Host('one', 'https://ONE.example.com:443/'))
  expect(await found()).toEqual([newer])
  expect(await found({ domain: 'https://one.example.com' })).toEqual([newer])
})

describe('a host', () => {
  it('that fails three checks in a row is left out, until it answers again', async () => {
    const [up, down] = [await advertise(one), await advertise(two)]
    reports.set('one.example.com', { status: 'ok', ready: true })
    expect(await round()).toEqual({ hosts: 2, checked: 2, down: 0, isOffline: false })
    await round()
    expect(await found()).toEqual([up, down].sort())
    expect(await round()).toMatchObject({ down: 1 })
    expect(await found()).toEqual([up])
    // Its owner finds its advertisements, to revoke them.
    expect(await found({ identityKey: two.identityKey })).toEqual([down])
    expect((await hostRecords(outputs)).find(({ site }) => site === 'two.example.com')).toMatchObject({
      failures: 3,
      reason: expect.stringContaining('cannot be reached')
    })
    reports.set('two.example.com', { ready: true, status: 'degraded' })
    expect(await round()).toMatchObject({ down: 0 })
    expect(await found()).toEqual([up, down].sort())
    expect(changes.splice(0).map(({ site, failures }) => [site, failures])).toEqual([
      ['two.example.com', 3],
      ['two.example.com', 0]
    ])
  })

  it('that is down is asked less often, and forgotten when its advertisement is spent or banned', async () => {
    await advertise(one)
    for (let i = 0; i < 20; i++) await round()
    const before = asked.length
    expect(before).toBeLessThan(10)
    for (let i = 0; i < 2; i++) await round()
    expect(asked.length).toBeLessThanOrEqual(before + 1)
    await ban(outputs.store, 'domain', one.domain)
    expect(await round()).toEqual({ hosts: 0, checked: 0, down: 0, isOffline: false })
    expect(await hostRecords(outputs)).toEqual([])
    changes.splice(0)
  })

  it('is not counted as failed when all of several fail at once: the node is offline', async () => {
    const hosts = ['a', 'b', 'c'].map(name => new Host(name))
    for (const host of hosts) {
      await advertise(host)
      reports.set(new URL(host.domain).host, { status: 'ok' })
    }
    await round()
    reports.clear()
    for (let i = 0; i < 4; i++) expect(await round()).toMatchObject({ isOffline: true, down: 0 })
    expect(await found()).toHaveLength(3)
  })

  it('is this node itself, which is not asked', async () => {
    await advertise(one)
    expect(await round('https://one.example.com/')).toMatchObject({ checked: 0 })
    expect(asked).toEqual([])
  })

  it.each<[unknown, string | undefined]>([
    [{ status: 'ok' }, undefined],
    [{ status: 'ok', ready: false }, '/health says that it is not ready'],
    [{ ready: true, live: false }, '/health says that it is not ready'],
    ['no JSON', '/health says that it is not ready'],
    [null, '/health says that it is not ready'],
    [`"${'a'.repeat(300_000)}"`, '/health has more than 262144 bytes']
  ])('that reports %.30j: %s', async (report, expected) => {
    reports.set('one.example.com', report === null ? 'null' : report)
    expect(await checkHost('https://one.example.com', { fetch: redirected })).toBe(expected)
    expect(asked).toEqual(['one.example.com/health'])
  })

  it('that does not answer fails after the timeout', async () => {
    const silent: typeof fetch = (_, init) =>
      new Promise((__, rejected) =>
        init!.signal!.addEventListener('abort', () => rejected(init!.signal!.reason))
      )
    expect(await checkHost('https://one.example.com', { fetch: silent, timeout: 5 })).toBe(
      'no answer within 5 ms'
    )
  })
})
