/** Headers in the dialects of header services: the forms are those of go-chaintracks and chaintracks-server. */
import { ChaintracksServiceClient } from '@bsv/wallet-toolbox'
import { chaintracksSource, formatHash, HeaderStore, syncHeaders } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { fromHex, toHex } from '@quoin/primitives'
import { openStore } from '@quoin/store'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MAIN_1 } from '../../../../../chain/src/headers/headers.testing.ts'
import { createServer, type Server } from '../../index.ts'
import { said, startNode, type TestNode } from '../../node.testing.ts'
import { LiveClient } from '../live-client.testing.ts'

/** More than the blocks after which an answer is cached. */
const BLOCKS = 105
const FIELDS = ['bits', 'hash', 'height', 'merkleRoot', 'nonce', 'previousHash', 'time', 'version']
const GENESIS = {
  version: 1,
  previousHash: '00'.repeat(32),
  merkleRoot: '4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b',
  time: 1231006505,
  bits: 486604799,
  nonce: 2083236893,
  height: 0,
  hash: '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f'
}
const FIRST = '00000000839a8e6886ab5951d76f411475428afc90947ee320161bbf18eb6048'

let node: TestNode
let chain: DevChain
let headers: HeaderStore
let server: Server
let url: string
/** A node with the first blocks of the main network. */
let main: Server
let mainUrl: string
beforeAll(async () => {
  node = await startNode()
  chain = new DevChain({ seed: 'chaintracks' })
  chain.mine(BLOCKS)
  headers = await HeaderStore.open(node.engine.outputs.store, { network: 'regtest' })
  await syncHeaders(headers, chain)
  server = createServer({ engine: node.engine, headers, options: { heartbeat: 50 } })
  ;({ url } = await server.listen())
  const mainHeaders = await HeaderStore.open(await openStore('memory:'), { network: 'main' })
  await mainHeaders.add(fromHex(MAIN_1))
  main = createServer({ engine: node.engine, headers: mainHeaders })
  ;({ url: mainUrl } = await main.listen())
})
afterAll(async () => {
  await main.close()
  await server.close()
  await node.close()
})

const rawHeader = async (height: number): Promise<Uint8Array> => (await headers.header(height))!.header.raw
const bytesOf = async (response: Response): Promise<string> =>
  toHex(new Uint8Array(await response.arrayBuffer()))

describe.each(['/chaintracks/v2', '/1sat/chaintracks'])('%s, as go-chaintracks', prefix => {
  const get = (path: string): Promise<Response> => fetch(url + prefix + path)

  it('answers values and headers without an envelope', async () => {
    expect(await said(get('/network'))).toEqual({ network: 'regtest' })
    expect(await said(get('/height'))).toEqual({ height: BLOCKS })
    const tip = await get('/tip')
    expect(tip.headers.get('x-block-height')).toBe(String(BLOCKS))
    const header = await said(tip)
    expect(header).toMatchObject({ height: BLOCKS, hash: formatHash((await headers.tip()).header.hash) })
    expect(await said(get(`/header/height/${BLOCKS}`))).toEqual(header)
    expect(await said(get(`/header/hash/${header.hash}`))).toEqual(header)
  })

  it('serves the bytes of headers', async () => {
    for (const path of ['/tip.bin', `/header/height/${BLOCKS}.bin`]) {
      const answer = await get(path)
      expect(answer.headers.get('content-type')).toBe('application/octet-stream')
      expect(answer.headers.get('x-block-height')).toBe(String(BLOCKS))
      expect(await bytesOf(answer)).toBe(toHex(await rawHeader(BLOCKS)))
    }
    const { hash } = await said(get('/header/height/7'))
    expect(await bytesOf(await get(`/header/hash/${hash}.bin`))).toBe(toHex(await rawHeader(7)))
    for (const path of ['/headers', '/headers.bin']) {
      const few = await get(`${path}?height=${BLOCKS - 1}&count=1000000`)
      expect(few.headers.get('x-start-height')).toBe(String(BLOCKS - 1))
      expect(few.headers.get('x-header-count')).toBe('2')
      expect(await bytesOf(few)).toBe(toHex(await rawHeader(BLOCKS - 1)) + toHex(await rawHeader(BLOCKS)))
      expect((await get(`${path}?height=${BLOCKS + 1}&count=1`)).headers.get('x-header-count')).toBe('0')
    }
  })

  it('lets caches keep settled headers', async () => {
    const cache = async (path: string) => (await get(path)).headers.get('cache-control')
    expect(await cache('/header/height/1')).toBe('public, max-age=3600')
    expect(await cache('/headers.bin?height=1&count=1')).toBe('public, max-age=3600')
    expect(await cache(`/header/height/${BLOCKS - 100}`)).toBe('no-cache')
    expect(await cache('/tip')).toBe('no-cache')
  })

  it('refuses unknown blocks and malformed questions', async () => {
    expect((await get(`/header/height/${BLOCKS + 1}`)).status).toBe(404)
    expect((await get(`/header/hash/${'00'.repeat(32)}.bin`)).status).toBe(404)
    for (const path of [
      '/header/height/-1',
      '/header/height/1.binary',
      '/header/height/9999999999',
      '/header/hash/ab',
      '/headers?height=1',
      '/headers.bin?height=1&count=0'
    ]) {
      expect((await get(path)).status, path).toBe(400)
    }
  })

  it('is a Chaintracks service for ChaintracksServiceClient of @bsv/wallet-toolbox', async () => {
    const client = new ChaintracksServiceClient('test', url + prefix)
    expect(await client.currentHeight()).toBe(BLOCKS)
    const header = (await client.findHeaderForHeight(3))!
    expect(Object.keys(header).sort()).toEqual(FIELDS)
    expect(await client.isValidRootForHeight(header.merkleRoot, 3)).toBe(true)
    expect(await client.isValidRootForHeight(header.merkleRoot, 4)).toBe(false)
    expect(await client.getHeaders(3, 2)).toBe(toHex(await rawHeader(3)) + toHex(await rawHeader(4)))
  })
})

it('gives strict clients no field beside those of a header', async () => {
  expect(Object.keys(await said(fetch(`${url}/chaintracks/v2/tip`))).sort()).toEqual(FIELDS)
  const { value } = await said(fetch(`${url}/v2/tip`))
  expect(Object.keys(value).sort()).toEqual(FIELDS)
})

it('is a source of headers for another node', async () => {
  const store = await openStore('memory:')
  const other = await HeaderStore.open(store, { network: 'regtest' })
  await syncHeaders(other, chaintracksSource(`${url}/chaintracks/v2`))
  expect(await other.currentHeight()).toBe(BLOCKS)
  await store.close()
})

describe('/v2, as chaintracks-server', () => {
  const get = async (path: string) => {
    const response = await fetch(mainUrl + path)
    const [type] = response.headers.get('content-type')!.split(';')
    const body = type === 'application/json' ? await said(response) : await bytesOf(response)
    return { status: response.status, body, headers: Object.fromEntries(response.headers) }
  }

  it('answers with a status and a value', async () => {
    expect((await get('/v2/network')).body).toEqual({ status: 'success', value: 'main' })
    expect((await get('/v2/height')).body).toEqual({ status: 'success', value: 1 })
    expect((await get('/v2/header/height/0')).body).toEqual({ status: 'success', value: GENESIS })
    expect((await get(`/v2/header/hash/${GENESIS.hash}`)).body).toEqual({ status: 'success', value: GENESIS })
    expect((await get('/v2/tip')).body.value).toMatchObject({ height: 1, hash: FIRST, nonce: 2573394689 })
  })

  it('serves the bytes of headers', async () => {
    expect(await get('/v2/tip.bin')).toMatchObject({ body: MAIN_1, headers: { 'x-block-height': '1' } })
    expect((await get('/v2/header/height/1.bin')).body).toBe(MAIN_1)
    expect(await get('/v2/headers.bin?height=0&count=2')).toMatchObject({
      body: expect.stringMatching(new RegExp(`^[0-9a-f]{160}${MAIN_1}$`)),
      headers: { 'x-start-height': '0', 'x-header-count': '2' }
    })
  })

  it.each([
    ['/v2/header/height/abc', 400],
    ['/v2/header/height/-1', 400],
    ['/v2/header/height/999999999', 404],
    ['/v2/header/hash/deadbeef', 400],
    [`/v2/header/hash/${'z'.repeat(64)}`, 400],
    [`/v2/header/hash/${'0'.repeat(63)}1`, 404],
    ['/v2/headers?height=0', 400],
    ['/v2/headers?height=0&count=0', 400],
    ['/v2/headers?count=2', 400]
  ])('%s has the error of the vectors, %i', async (path, status) => {
    expect(await get(path)).toMatchObject({
      status,
      body: {
        status: 'error',
        code: status === 400 ? 'ERR_INVALID_PARAMS' : 'ERR_NOT_FOUND',
        description: expect.any(String)
      }
    })
  })
})

describe('streams', () => {
  const openStreams = async (): Promise<number> => {
    const metrics = await (await fetch(`${url}/metrics`)).text()
    return Number(/^quoin_live_streams (\d+)$/m.exec(metrics)![1])
  }
  const events = (client: LiveClient) => client.told.map(({ data }) => JSON.parse(data!))

  it('tells each reorg with the blocks that left, and the tip as it moves', async () => {
    const reorgs = new LiveClient(`${url}/chaintracks/v2/reorg/stream`)
    const tips = new LiveClient(`${url}/chaintracks/v2/tip/stream`)
    await expect.poll(() => events(tips).map(({ height }) => height)).toEqual([BLOCKS])
    await expect.poll(openStreams).toBe(2)
    chain.mine()
    await syncHeaders(headers, chain)
    await expect.poll(() => events(tips).map(({ height }) => height)).toEqual([BLOCKS, BLOCKS + 1])
    const left = await Promise.all([BLOCKS, BLOCKS + 1].map(each => headers.header(each)))
    const ancestor = await said(fetch(`${url}/chaintracks/v2/header/height/${BLOCKS - 1}`))
    await chain.reorg(2)
    await syncHeaders(headers, chain)
    await expect
      .poll(() => events(reorgs))
      .toEqual([
        {
          orphanedHashes: left.map(each => formatHash(each!.header.hash)),
          commonAncestor: ancestor,
          newTip: await said(fetch(`${url}/chaintracks/v2/tip`)),
          depth: 2
        }
      ])
    await expect.poll(() => events(tips).at(-1)).toMatchObject({ height: BLOCKS + 2 })
    reorgs.close()
    tips.close()
  })

  it('finds the reorg of another process at the next heartbeat', async () => {
    const reorgs = new LiveClient(`${url}/v2/reorg/stream`)
    const others = await HeaderStore.open(node.engine.outputs.store, { network: 'regtest' })
    // The stream has begun when it keeps itself alive.
    const response = await fetch(`${url}/v2/reorg/stream`)
    const reader = response.body!.getReader()
    expect(Buffer.from((await reader.read()).value!).toString()).toBe(': keepalive\n\n')
    await reader.cancel()
    await expect.poll(openStreams).toBe(1)
    await chain.reorg(1)
    await syncHeaders(others, chain)
    await expect.poll(() => events(reorgs)).toMatchObject([{ depth: 1 }])
    reorgs.close()
  })
})
