/** Sources on the network that are away or silent: the node is ready all the same, and says since when and why. */
import { createServer, type Server as TcpServer } from 'node:net'
import { DevChain } from '@quoin/dev-chain'
import { type Logger, overlay, SyncService } from '@quoin/overlay'
import { afterEach, describe, expect, it } from 'vitest'
import { oneSat, serve } from '../../../chain/src/headers/services.testing.ts'
import { loadConfig } from './config.ts'
import { createServer as createNodeServer } from './index.ts'
import { startNode as startTestNode } from './node.testing.ts'
import { startNode } from './node.ts'
import type { NamedState } from './parts.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const logged: (readonly [event: string, fields: Readonly<Record<string, unknown>> | undefined])[] = []
const log: Logger['info'] = (event, fields) => void logged.push([event, fields])
const logger: Logger = { info: log, warn: log, error: log }
const countOf = (event: string): number => logged.filter(([each]) => each === event).length
afterEach(() => void logged.splice(0))

/** Accepts connections and never answers. */
const silent = async (): Promise<string> => {
  const sockets = new Set<{ destroy(): void }>()
  const server: TcpServer = createServer(socket => sockets.add(socket.on('error', () => undefined)))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`
}
const GONE = 'http://127.0.0.1:1'

// biome-ignore lint/suspicious/noExplicitAny: the test looks at each answer.
const ask = async (url: string): Promise<any> => (await fetch(url)).json()
const partOf = async (url: string, name: string): Promise<NamedState | undefined> =>
  (await ask(`${url}/status`)).parts.find((part: NamedState) => part.name === name)
const metric = (text: string, name: string, part: string): number => {
  const line = text.split('\n').find(each => each.startsWith(`${name}{part="${part}"}`))
  return Number(line?.split(' ').at(-1))
}

describe('peers', () => {
  it('that are silent or gone are stalled and failing, told once, and never make a node unready', async () => {
    const started = Date.now()
    const quiet = await silent()
    const node = await startTestNode()
    closing.push(() => node.close())
    const options = { interval: 20, patience: 100, timeout: 300, attempts: 1, logger }
    const sync = new SyncService(node.engine, { peers: { tm_ones: [quiet, GONE] }, ...options })
    sync.start()
    closing.push(() => sync.stop())
    const server = createNodeServer({ engine: node.engine, options: { sync } })
    const { url } = await server.listen()
    closing.push(() => server.close())
    expect((await fetch(`${url}/health/ready`)).status).toBe(200)
    await expect
      .poll(async () => (await sync.status()).map(({ state }) => state))
      .toEqual(['stalled', 'failing'])
    // Several rounds more.
    await expect
      .poll(async () => (await sync.status())[0]!.lastRun! - started, { timeout: 5000 })
      .toBeGreaterThan(1500)

    const [first, second] = (await ask(`${url}/status`)).sync
    expect(first).toMatchObject({ peer: quiet, state: 'stalled', since: expect.any(Number) })
    expect(first.since - started).toBeLessThan(1000)
    expect(second).toMatchObject({
      peer: GONE,
      state: 'failing',
      lastError: expect.stringContaining('cannot be reached')
    })
    const ready = await fetch(`${url}/health/ready`)
    expect(ready.status).toBe(200)
    const report = (await ready.json()) as { status: string; checks: NamedState[] }
    expect(report.status).toBe('degraded')
    expect(report.checks).toContainEqual(
      expect.objectContaining({
        name: `peer tm_ones ${quiet}`,
        status: 'degraded',
        message: expect.stringMatching(/^stalled: /),
        since: first.since
      })
    )
    const text = await (await fetch(`${url}/metrics`)).text()
    for (const peer of [quiet, GONE]) {
      expect(metric(text, 'quoin_part_up', `peer tm_ones ${peer}`)).toBe(0)
      expect(metric(text, 'quoin_part_last_error_seconds', `peer tm_ones ${peer}`)).toBeGreaterThan(
        started / 1000
      )
      expect(metric(text, 'quoin_part_last_success_seconds', `peer tm_ones ${peer}`)).toBeNaN()
    }
    expect(metric(text, 'quoin_part_since_seconds', `peer tm_ones ${quiet}`)).toBe(first.since / 1000)
    expect(metric(text, 'quoin_part_up', 'store')).toBe(1)
    expect(text).toMatch(/^quoin_task_passes\{task="[^"]+"\} \d+$/m)
    expect([countOf('a peer is stalled'), countOf('a peer is failing')]).toEqual([1, 1])
  })

  it('that come back work again', async () => {
    const other = await startTestNode()
    closing.push(() => other.close())
    const { port } = new URL(other.url)
    await other.server.close()
    const node = await startTestNode()
    closing.push(() => node.close())
    const sync = new SyncService(node.engine, {
      peers: { tm_ones: [other.url] },
      interval: 20,
      attempts: 1,
      logger
    })
    sync.start()
    closing.push(() => sync.stop())
    const state = async () => (await sync.status())[0]!.state
    await expect.poll(state).toBe('failing')
    const back = createNodeServer({ engine: other.engine })
    await back.listen({ port: Number(port) })
    closing.push(() => back.close())
    await expect.poll(state).toBe('working')
    expect([countOf('a peer is failing'), countOf('a peer works again')]).toEqual([1, 1])
  })
})

describe('a node', () => {
  it('is ready while its peer and its source of tokens are silent or gone, and names each', async () => {
    const quiet = await silent()
    const { config } = loadConfig({
      options: {
        store: 'memory:',
        port: '0',
        chain: 'scripts-only',
        peers: `tm_kvstore=${quiet}`,
        'bsv21.peers': `${quiet},${GONE}`
      }
    })
    const node = await startNode(config, { logger })
    closing.push(() => node.close())
    expect((await fetch(`${node.url}/health/ready`)).status).toBe(200)
    const gone = { status: 'degraded', message: expect.stringContaining('failing: ') }
    await expect.poll(() => partOf(node.url, `source ${GONE}`)).toMatchObject(gone)
    expect(await partOf(node.url, `source ${quiet}`)).toMatchObject({
      status: 'degraded',
      message: 'not asked yet'
    })
    expect(await partOf(node.url, `peer tm_kvstore ${quiet}`)).toMatchObject({ status: 'degraded' })
    expect((await fetch(`${node.url}/health/ready`)).status).toBe(200)
    // It backs off from half a second.
    await new Promise(resolve => setTimeout(resolve, 2000))
    expect(countOf('a source of tokens is failing')).toBe(1)
  })

  it('stays ready when the source of its headers goes away, and was unready before it had them', async () => {
    const chain = new DevChain({ seed: 'parts' })
    chain.mine(3)
    const service = await serve(oneSat(chain))
    const options = { store: 'memory:', port: '0', network: 'regtest', chain: `headers:${service.url}` }
    const node = await startNode(loadConfig({ options }).config, { logger })
    closing.push(() => node.close())
    const headers = async () =>
      (await ask(`${node.url}/status`)).parts.find(({ name }: NamedState) => name.startsWith('headers of'))
    await expect.poll(headers).toMatchObject({ status: 'ok', lastSuccess: expect.any(Number) })
    await service.close()
    for (let i = 0; i < 3; i++) await node.sync!.once()
    expect(await headers()).toMatchObject({
      status: 'degraded',
      message: expect.stringContaining('cannot be reached')
    })
    expect((await fetch(`${node.url}/health/ready`)).status).toBe(200)
    expect(countOf('a source of headers is failing')).toBe(1)
  })

  it('names a lookup service that gave changes up', async () => {
    const node = await startTestNode()
    closing.push(() => node.close())
    expect(await partOf(node.url, 'lookup ls_ones')).toMatchObject({ status: 'ok' })
    node.service.failing = true
    await node.submit(await node.minted(), 'tm_ones')
    const queue = node.engine.outputs.store.queueAt(overlay.collections.failedDeliveries, ['ls_ones'])
    let leases: Awaited<ReturnType<typeof queue.lease>> = []
    await expect
      .poll(
        async () => {
          leases = await queue.lease(1, 60)
          return leases.length
        },
        { timeout: 5000 }
      )
      .toBe(1)
    await queue.fail(leases[0]!, { outcome: 'dead', reason: 'out of order' })
    expect(await partOf(node.url, 'lookup ls_ones')).toMatchObject({
      status: 'degraded',
      message: expect.stringContaining('1 change was given up')
    })
    expect((await fetch(`${node.url}/health/ready`)).status).toBe(200)
  })
})
