/**
 * Requests of strangers: thousands for each family of routes, made from the server's own description. Nothing fails
 * inside, every refusal is JSON, and nothing is kept. `QUOIN_MALFORMED=10000` makes so many for each.
 */
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { formatAddress, HeaderStore, hash160, syncHeaders } from '@quoin/chain'
import { createPool, createPosition, Liquidity } from '@quoin/liquidity'
import { liquidityRoutes } from '@quoin/liquidity/routes'
import { Broadcaster, httpProcessor } from '@quoin/overlay'
import { formatTxid } from '@quoin/primitives'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ProcessorServer } from '../../../overlay/src/broadcast/processor-server.testing.ts'
import { createServer, type Server } from './index.ts'
import { Generator, type MalformedRequest, operationsByTag, type RealValues } from './malformed.testing.ts'
import { key, startNode, type TestNode } from './node.testing.ts'
import { describe as describeRoutes } from './openapi.ts'

const COUNT = Number(process.env['QUOIN_MALFORMED'] ?? 200)
const SEED = Number(process.env['QUOIN_SEED'] ?? 20)
const AT_ONCE = 16
const TOKEN = 'token'
const OWNER = 'osmo1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqruwfv6g3'
const FAMILIES = [
  'overlay',
  'txo',
  'beef',
  '1sat',
  'chaintracks',
  'content',
  'live',
  'liquidity',
  'keyspace',
  'health',
  'admin'
]

let node: TestNode
let server: Server
let arc: ProcessorServer
let port: number
let real: RealValues
const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
const heap = async (): Promise<number> => {
  // Twice, since what is finalized in the first is free in the second.
  for (let i = 0; i < 2; i++) {
    await new Promise(resolve => setTimeout(resolve, 20))
    collect()
  }
  return process.memoryUsage().heapUsed
}

const provideLiquidity = (liquidity: Liquidity): Promise<unknown> =>
  liquidity.change(async draft => {
    const [address, now] = [OWNER, 0n]
    await createPool(draft, {
      id: 1n,
      token0: 'uatom',
      token1: 'uosmo',
      tickSpacing: 100n,
      spreadFactor: 0n,
      address,
      incentivesAddress: address,
      spreadRewardsAddress: address,
      now
    })
    const range = { lowerTick: -1000n, upperTick: 1000n, amount0: 1_000_000n, amount1: 1_000_000n }
    return createPosition(draft, { pool: 1n, owner: OWNER, ...range, now })
  })

beforeAll(async () => {
  node = await startNode()
  const { engine, chain } = node
  const headers = await HeaderStore.open(engine.outputs.store, { network: 'regtest' })
  chain.mine()
  await syncHeaders(headers, chain)
  const minted = [await node.minted(), await node.minted()]
  for (const each of minted) await node.submit(each, 'tm_ones')
  await provideLiquidity(await Liquidity.open(engine.outputs.store))
  const options = { adminToken: TOKEN, arcToken: TOKEN, backups: '/nonexistent', heartbeat: 50 }
  arc = await ProcessorServer.start('arc', chain)
  const broadcaster = new Broadcaster(engine.outputs, { processors: [httpProcessor('arc', arc.url)] })
  server = createServer({ engine, headers, options: { mounts: [liquidityRoutes], broadcaster, ...options } })
  ;({ port } = await server.listen())
  real = {
    txids: minted.map(({ txid }) => formatTxid(txid)),
    texts: [
      `own:${formatAddress(hash160(key.publicKey))}`,
      'tp:tm_ones',
      'tm_ones',
      'ls_ones',
      'notify:ls_ones',
      'yes',
      '1',
      '-1000',
      '100uatom',
      OWNER
    ],
    beefs: [...minted.map(({ txid }) => chain.beef(txid)), new Uint8Array(), Uint8Array.of(1, 0, 0xbe, 0xef)]
  }
})
afterAll(async () => {
  agent.destroy()
  await server.close()
  await node.close()
  await arc.close()
})

interface ObservedResponse {
  readonly status: number
  readonly type: string
  readonly text: string
}

const send = ({ method, path, headers: given, body }: MalformedRequest): Promise<ObservedResponse> =>
  new Promise((resolve, reject) => {
    // Without it the body of a GET would be taken for the next request.
    const headers = { ...given, ...(body && { 'content-length': body.length }) }
    const sent = httpRequest(
      { port, host: '127.0.0.1', agent, method, path, headers },
      (response: IncomingMessage) => {
        const type = response.headers['content-type'] ?? ''
        const status = response.statusCode!
        if (type === 'text/event-stream') {
          response.destroy()
          resolve({ status, type, text: '' })
          return
        }
        const chunks: Buffer[] = []
        response.on('data', chunk => chunks.push(chunk))
        response.on('end', () => resolve({ status, type, text: Buffer.concat(chunks).toString() }))
        response.on('error', reject)
      }
    )
    sent.on('error', reject)
    sent.end(body)
  })

const checked = async (malformed: MalformedRequest): Promise<number> => {
  const { status, type, text } = await send(malformed)
  const what = `${malformed.method} ${malformed.path} ${JSON.stringify(malformed.headers)} ${malformed.body && Buffer.from(malformed.body).toString('hex').slice(0, 400)}: ${text}`
  // A node that is not ready says so with 503; this one is.
  expect(status, what).toBeLessThan(500)
  if (status >= 400 && malformed.method !== 'HEAD') {
    expect(type, what).toBe('application/json')
    expect(JSON.parse(text), what).toMatchObject({ status: 'error', code: expect.stringMatching(/^ERR_/) })
  }
  return status
}

it('has the tags that are tried', () => {
  expect([...operationsByTag(describeRoutes(server.routes)).keys()].sort()).toEqual([...FAMILIES].sort())
})

it.each(FAMILIES)(`${COUNT} requests of %s`, { timeout: 60_000 + 60 * COUNT }, async family => {
  const operations = operationsByTag(describeRoutes(server.routes)).get(family)!
  const generator = new Generator(SEED, real)
  const statuses = new Map<number, number>()
  const half = Math.ceil(COUNT / 2)
  let left = half
  const work = async (): Promise<void> => {
    while (left > 0) {
      const { path, method, operation } = operations[left-- % operations.length]!
      const status = await checked(generator.request(path, method, operation, TOKEN))
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  }
  const all = () => Promise.all(Array.from({ length: AT_ONCE }, work))
  await all()
  const before = await heap()
  left = half
  await all()
  const growth = (await heap()) - before
  expect(growth, 'bytes of heap').toBeLessThan(8 * 1024 * 1024)
  // Some were right, and some were not.
  expect([...statuses.keys()].some(status => status < 300)).toBe(true)
  expect([...statuses.keys()].some(status => status >= 400)).toBe(true)
})

it.each([
  ['no HTTP', 'hello\r\n\r\n', '400'],
  ['no host', 'GET / HTTP/1.1\r\n\r\n', '400'],
  ['a host that is none', 'GET / HTTP/1.1\r\nhost: a b\r\n\r\n', '400'],
  ['headers without end', `GET / HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`, '431'],
  ['a length that is none', 'POST /submit HTTP/1.1\r\nhost: x\r\ncontent-length: -5\r\n\r\n', '400'],
  [
    'two lengths',
    'POST /submit HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n',
    '400'
  ],
  [
    'a chunk that is none',
    'POST /lookup HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
    '400'
  ]
])('bytes that are %s', async (_, bytes, status) => {
  const answer = await new Promise<string>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    let text = ''
    socket.on('data', chunk => {
      text += chunk
      if (text.includes('"code"')) socket.destroy()
    })
    socket.on('close', () => resolve(text))
    socket.on('error', reject)
    setTimeout(() => socket.destroy(), 2000).unref()
  })
  expect(answer.slice(9, 12)).toBe(status)
})

it('leaves no stream behind', async () => {
  const status = async (): Promise<number> =>
    JSON.parse((await send({ method: 'GET', path: '/status', headers: {}, body: undefined })).text).streams
  await expect.poll(status, { timeout: 5000 }).toBe(0)
})
