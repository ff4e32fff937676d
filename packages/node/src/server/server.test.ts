/** What holds for every route: errors, limits, CORS, ids, logs, metrics, health, and an orderly end. */
import { connect } from 'node:net'
import { SILENT } from '@quoin/overlay'
import { formatTxid } from '@quoin/primitives'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createServer, jsonLogger } from './index.ts'
import { said, startNode, type TestNode } from './node.testing.ts'

let node: TestNode
const lines: string[] = []
beforeAll(async () => {
  node = await startNode('memory:', {
    limits: { body: 10_000, depth: 10 },
    logger: jsonLogger({ write: line => lines.push(line) })
  })
})
afterAll(() => node.close())

/** Bytes as they are, with nothing between. */
const raw = (text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const { port } = new URL(node.url)
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(text))
    let answer = ''
    socket.on('data', chunk => {
      answer += chunk
    })
    socket.on('close', () => resolve(answer))
    socket.on('error', reject)
  })

describe('errors', () => {
  it('are JSON, for routes that are not there too', async () => {
    for (const path of ['/nowhere', '/txo', '/submit', '/%00', '//']) {
      const response = await node.get(path)
      expect([path, response.status]).toEqual([path, 404])
      const body = await said(response)
      expect(body).toMatchObject({ status: 'error', code: 'ERR_ROUTE_NOT_FOUND' })
      expect(body.requestId).toBe(response.headers.get('x-request-id'))
    }
  })

  it('a body that is no JSON', async () => {
    const send = (body: string) => fetch(`${node.url}/lookup`, { method: 'POST', body })
    for (const body of ['', '{', 'null', '[]', '"x"', '\u0000', '{"service":5}']) {
      const response = await send(body)
      expect([body, response.status, (await said(response)).code]).toEqual([body, 400, 'ERR_REQUEST'])
    }
  })

  it('a body that is too long, or nested too deep', async () => {
    const long = await node.post('/lookup', { service: 'x'.repeat(20_000) })
    expect([long.status, (await said(long)).code]).toEqual([413, 'ERR_REQUEST_LIMIT'])
    const query = JSON.parse('['.repeat(20) + ']'.repeat(20))
    expect((await node.post('/lookup', { service: 'ls_ones', query })).status).toBe(413)
    // No length is told, so that it shows only while it is read.
    const chunk = `${(5000).toString(16)}\r\n${'x'.repeat(5000)}\r\n`
    const answer = await raw(
      `POST /submit HTTP/1.1\r\nhost: x\r\nx-topics: ["tm_ones"]\r\ntransfer-encoding: chunked\r\n\r\n${chunk.repeat(4)}0\r\n\r\n`
    )
    expect(answer).toContain('413')
  })

  it('of nobody thought are told to the log, not to strangers', async () => {
    const { engine } = node
    const original = engine.topicMetaData
    engine.topicMetaData = () => Promise.reject(new Error('secret place'))
    const response = await node.get('/listTopicManagers', { 'x-request-id': 'this-one' })
    engine.topicMetaData = original
    expect(response.status).toBe(500)
    expect(await said(response)).toMatchObject({ code: 'ERR_INTERNAL', message: 'Unexpected error' })
    const logged = lines
      .map(line => JSON.parse(line))
      .find(({ id, level }) => id === 'this-one' && level === 'error')
    expect(logged.reason).toContain('secret place')
  })
})

describe('every answer', () => {
  it('may be read from anywhere', async () => {
    const response = await node.get('/nowhere', { origin: 'https://example.com' })
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    const preflight = await fetch(`${node.url}/submit`, { method: 'OPTIONS' })
    expect(preflight.status).toBe(200)
    expect(preflight.headers.get('access-control-allow-headers')).toContain('Authorization')
  })

  it('has an id, that of the client if it is one', async () => {
    expect((await node.get('/health/live', { 'x-request-id': 'abc-1' })).headers.get('x-request-id')).toBe(
      'abc-1'
    )
    const ids = await Promise.all(
      [1, 2].map(async () =>
        (await node.get('/health/live', { 'x-request-id': 'a b' })).headers.get('x-request-id')
      )
    )
    expect(new Set([...ids, 'a b', null]).size).toBe(4)
    expect(JSON.parse(lines.findLast(line => line.includes('abc-1'))!)).toMatchObject({
      level: 'info',
      event: 'request',
      method: 'GET',
      path: '/health/live',
      status: 200
    })
  })

  it('to HEAD is the same without a body', async () => {
    const response = await fetch(`${node.url}/health/live`, { method: 'HEAD' })
    expect([response.status, await response.text()]).toEqual([200, ''])
  })

  it('comes without a socket too', async () => {
    const response = await node.server.fetch(new Request('http://node/health/live'))
    expect(await said(response)).toMatchObject({ status: 'ok', live: true })
    const body = JSON.stringify({ service: 'ls_ones', query: {} })
    const looked = await node.server.fetch(new Request('http://node/lookup', { method: 'POST', body }))
    expect(looked.status).toBe(200)
  })
})

describe('health', () => {
  it('is ready when every check is well, and says why not', async () => {
    let reason: string | undefined = 'importing'
    const { engine } = node
    const state = async () => ({ status: reason ? ('error' as const) : ('ok' as const), message: reason })
    const server = createServer({ engine, options: { parts: [{ name: 'index', state }] } })
    const { url } = await server.listen()
    const ready = await fetch(`${url}/health/ready`)
    expect(ready.status).toBe(503)
    expect((await said(ready)).checks).toContainEqual({
      name: 'index',
      status: 'error',
      message: 'importing'
    })
    expect((await fetch(`${url}/health/live`)).status).toBe(200)
    reason = undefined
    for (const path of ['/health/ready', '/health']) {
      const response = await fetch(url + path)
      expect([path, response.status]).toEqual([path, 200])
      expect(await said(response)).toMatchObject({ status: 'ok', ready: true, service: { name: 'quoin' } })
    }
    await server.close()
  })

  it('is counted for Prometheus', async () => {
    await node.submit(await node.minted(), 'tm_ones')
    await node.post('/lookup', { service: 'ls_ones', query: {} })
    const text = await (await node.get('/metrics')).text()
    for (const line of [
      /^quoin_submits_total\{outcome="answered"\} 1$/m,
      /^quoin_admitted_outputs_total\{topic="tm_ones"\} 1$/m,
      /^quoin_commit_seconds_count 1$/m,
      /^quoin_lookups_total\{service="ls_ones"\} \d+$/m,
      /^quoin_queue_items\{queue="notify:ls_ones",state="dead"\} 0$/m,
      /^quoin_store_bytes\{engine="memory"\} \d+$/m,
      /^quoin_http_request_seconds_count\{method="POST",route="\/submit",status="200"\} 1$/m,
      /^process_resident_memory_bytes \d+$/m
    ]) {
      expect(text).toMatch(line)
    }
    expect(await said(node.get('/status'))).toMatchObject({
      store: { engine: 'memory' },
      topics: ['tm_ones'],
      lookups: ['ls_ones'],
      totals: { submits: 1, refused: 0, admitted: 1 },
      chain: null
    })
  })
})

describe('too many requests', () => {
  it('are refused, and told when to come again', async () => {
    const { engine } = node
    const limits = { rate: { perSecond: 0.5, burst: 3 } }
    const server = createServer({ engine, options: { limits, trustProxy: ['loopback'] } })
    const { url } = await server.listen()
    const from = (address: string) =>
      fetch(`${url}/health/live`, { headers: { 'x-forwarded-for': `9.9.9.9, ${address}` } })
    for (let i = 0; i < 3; i++) expect((await from('1.2.3.4')).status).toBe(200)
    const refused = await from('1.2.3.4')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '2'])
    expect((await from('1.2.3.5')).status).toBe(200)
    // A process of this machine, without the proxy.
    for (let i = 0; i < 5; i++) expect((await fetch(`${url}/health/live`)).status).toBe(200)
    await server.close()
  })

  it('count strangers whom an unnamed proxy of this machine forwards as one, and say it once', async () => {
    const { engine } = node
    const warnings: unknown[] = []
    const logger = { ...SILENT, warn: (...line: unknown[]) => void warnings.push(line) }
    const server = createServer({
      engine,
      options: { limits: { rate: { perSecond: 0.01, burst: 3 } }, logger }
    })
    const { url } = await server.listen()
    const statuses: number[] = []
    for (let i = 0; i < 4; i++) {
      const headers = { 'x-forwarded-for': `1.2.3.${i}` }
      statuses.push((await fetch(`${url}/health/live`, { headers })).status)
    }
    expect(statuses).toEqual([200, 200, 200, 429])
    expect(warnings).toEqual([
      [
        'requests of an untrusted proxy',
        { address: '127.0.0.1', reason: expect.stringContaining('trustProxy') }
      ]
    ])
    await server.close()
  })
})

const gate = (): { readonly opened: Promise<void>; open(): void } => {
  let open: () => void = () => undefined
  const opened = new Promise<void>(resolve => {
    open = resolve
  })
  return { opened, open: () => open() }
}

describe('close', () => {
  it('answers what it began, and takes no more', async () => {
    const slow = await startNode()
    const { engine } = slow
    const [begun, go] = [gate(), gate()]
    const submit = engine.submit.bind(engine)
    engine.submit = async (...given) => {
      begun.open()
      await go.opened
      return submit(...given)
    }
    const transaction = await slow.minted()
    const answer = slow.submit(transaction, 'tm_ones')
    await begun.opened
    const closed = slow.server.close()
    await expect(slow.get('/health/live')).rejects.toThrow()
    go.open()
    const response = await answer
    expect([response.status, response.headers.get('connection')]).toEqual([200, 'close'])
    expect(await engine.admissions(transaction.txid), formatTxid(transaction.txid)).toBeDefined()
    await closed
    await slow.close()
  })

  it('does not wait for ever', async () => {
    const slow = await startNode('memory:', { drain: 100 })
    const begun = gate()
    slow.engine.topicMetaData = () => {
      begun.open()
      return new Promise(() => undefined)
    }
    const answer = slow.get('/listTopicManagers').catch(() => 'cut off')
    await begun.opened
    await slow.close()
    expect(await answer).toBe('cut off')
  })
})
