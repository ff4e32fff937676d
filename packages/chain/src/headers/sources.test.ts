/** Services over real HTTP: those that do as they should, and those that do not. */

import { WhatsOnChain } from '@bsv/sdk'
import { DevChain } from '@quoin/dev-chain'
import { formatTxid, parseTxid, type QuoinError } from '@quoin/primitives'
import { afterEach, describe, expect, it } from 'vitest'
import { formatHash, headerJson, readHeaders } from './header.ts'
import { blockHeadersServiceSource, chaintracksSource, peerSource } from './header-services.ts'
import {
  blockHeadersService,
  type Handler,
  oneSat,
  sendBytes,
  sendJson,
  serve,
  type TestService
} from './services.testing.ts'
import { type HeaderSource, proofService, sdkTracker } from './sources.ts'

const services: TestService[] = []
const started = async (handler: Handler): Promise<TestService> => {
  const service = await serve(handler)
  services.push(service)
  return service
}
afterEach(async () => {
  for (const service of services.splice(0)) await service.close()
})

const devChain = (blocks: number): DevChain => {
  const chain = new DevChain()
  chain.mine(blocks)
  return chain
}
const SOURCE = { name: 'QuoinError', code: 'ERR_CHAIN_SOURCE' }

describe.each([
  ['bytes', chaintracksSource],
  ['list', chaintracksSource],
  ['single', chaintracksSource]
] as const)('a Chaintracks service that answers with %s', (form, sourceOf) => {
  it('says its tip and its headers', async () => {
    const chain = devChain(30)
    const { url } = await started(oneSat(chain, form))
    const source = sourceOf(`${url}/chaintracks/`)
    const tip = await source.tip()
    expect(tip).toStrictEqual({ height: 30, hash: chain.header(30)!.header.hash })
    const some = await source.headers(5, form === 'single' ? 1 : 10)
    expect(some).toStrictEqual(await chain.headers(5, form === 'single' ? 1 : 10))
    expect(readHeaders(await source.headers(29, 10)).length).toBe(form === 'single' ? 1 : 2)
    expect(await source.headers(31, 10)).toHaveLength(0)
    expect(source.name).toBe(`${url}/chaintracks`)
  })
})

describe('another Quoin', () => {
  it('has the same routes in their place', async () => {
    const chain = devChain(3)
    const { url, asked } = await started(oneSat(chain))
    await peerSource(`${url}/`).headers(1, 2)
    expect(asked).toStrictEqual(['/1sat/chaintracks/headers?height=1&count=2'])
  })
})

describe('the Block Headers Service', () => {
  it('says its tip and its headers in order, though it has them in none and stale ones among them', async () => {
    const chain = devChain(20)
    const { removed } = await chain.reorg(3)
    const { url, asked } = await started(blockHeadersService(chain, removed))
    const source = blockHeadersServiceSource(url)
    expect(await source.tip()).toStrictEqual({ height: 21, hash: chain.header(21)!.header.hash })
    expect(await source.headers(10, 12)).toStrictEqual(await chain.headers(10, 12))
    expect(asked.filter(path => path.includes('/state/'))).toHaveLength(0)
    // Up to height 20 there are two lines of the same length, so it has to be asked.
    expect(await source.headers(10, 11)).toStrictEqual(await chain.headers(10, 11))
    expect(await source.headers(19, 1)).toStrictEqual(await chain.headers(19, 1))
    expect(asked.filter(path => path.includes('/state/')).length).toBeGreaterThan(1)
    expect(await source.headers(22, 5)).toHaveLength(0)
  })

  it('confirms merkle roots, as the client of the SDK would ask it', async () => {
    const chain = devChain(5)
    const { url } = await started(blockHeadersService(chain, [], 'secret'))
    const source = blockHeadersServiceSource(url, { token: 'secret' })
    const root = formatHash(chain.header(4)!.header.merkleRoot)
    expect(await source.isValidRootForHeight(root, 4)).toBe(true)
    expect(await source.isValidRootForHeight(root, 3)).toBe(false)
    expect(await source.isValidRootForHeight(root, 40)).toBe(false)
    expect(await source.currentHeight()).toBe(5)
    await expect(blockHeadersServiceSource(url).tip()).rejects.toMatchObject({
      ...SOURCE,
      details: { status: 401 }
    })
  })

  it('is not believed when no line is of its longest chain', async () => {
    const chain = devChain(6)
    const { removed } = await chain.reorg(2)
    const { url } = await started((at, response, request) =>
      at.pathname.includes('/state/')
        ? sendJson(response, { state: 'STALE' })
        : blockHeadersService(chain, removed)(at, response, request)
    )
    await expect(blockHeadersServiceSource(url).headers(5, 2)).rejects.toMatchObject(SOURCE)
  })
})

describe('proofs of a 1Sat stack', () => {
  it('are of what is mined; what is there without one waits, and all else is unknown', async () => {
    const chain = devChain(2)
    const { txid } = chain.fund(new Uint8Array([0x51]), 100)
    const { url } = await started(oneSat(chain))
    const source = proofService(url)
    expect(await source.proof(txid)).toStrictEqual({ status: 'unmined' })
    chain.mine()
    const answer = await source.proof(txid)
    expect(answer.status === 'mined' && formatHash(answer.bump.rootOf(txid)!)).toBe(
      formatHash(chain.header(3)!.header.merkleRoot)
    )
    expect(await source.proof(parseTxid('00'.repeat(32)))).toStrictEqual({ status: 'unknown' })
  })

  it('are not believed to be of another transaction, nor to be anything', async () => {
    const chain = devChain(2)
    const { txid } = chain.fund(new Uint8Array([0x51]), 100)
    chain.mine()
    const proof = await chain.proof(txid)
    const bytes = proof.status === 'mined' ? proof.bump.toBytes() : new Uint8Array()
    for (const sent of [bytes, bytes.subarray(1), new Uint8Array()]) {
      const { url } = await started((_, response) => sendBytes(response, sent))
      await expect(proofService(url).proof(parseTxid('11'.repeat(32)))).rejects.toMatchObject({
        ...SOURCE,
        details: { path: `/beef/${'11'.repeat(32)}/proof` }
      })
    }
    expect(formatTxid(txid)).not.toBe('11'.repeat(32))
  })
})

describe('a service that does not do as it should', () => {
  const tipOf = async (handler: Handler, options = {}): Promise<unknown> =>
    chaintracksSource((await started(handler)).url, options).tip()
  const headersOf = async (handler: Handler, of: (url: string) => HeaderSource = chaintracksSource) =>
    of((await started(handler)).url).headers(1, 2)

  it('and never answers is left after a while', async () => {
    const silent = tipOf(() => {}, { timeout: 100 })
    await expect(silent).rejects.toMatchObject({
      ...SOURCE,
      details: { reason: 'did not answer within 100 ms' }
    })
    const dripping = tipOf(
      (_, response) => {
        response.writeHead(200)
        const drip = setInterval(() => response.write(' '), 10)
        response.on('close', () => clearInterval(drip))
      },
      { timeout: 100 }
    )
    await expect(dripping).rejects.toMatchObject({
      ...SOURCE,
      details: { reason: 'did not answer within 100 ms' }
    })
  })

  it('and never stops answering is cut off', async () => {
    let sent = 0
    const endless = tipOf(
      (_, response) => {
        const more = (): void => {
          while (!response.destroyed && response.write(new Uint8Array(65536))) sent += 65536
        }
        response.on('drain', more)
        more()
      },
      { maxBytes: 1_000_000 }
    )
    await expect(endless).rejects.toMatchObject({
      ...SOURCE,
      details: { reason: 'answered with more than 1000000 bytes' }
    })
    expect(sent).toBeLessThan(50_000_000)
  })

  it('and cannot be reached says so', async () => {
    const { url } = await started(() => {})
    await services.pop()!.close()
    await expect(chaintracksSource(url).tip()).rejects.toMatchObject({
      ...SOURCE,
      cause: expect.any(Error),
      details: { reason: expect.stringContaining('cannot be reached: connect ECONNREFUSED') }
    })
    await expect(tipOf((_, response) => response.destroy())).rejects.toMatchObject(SOURCE)
  })

  it.each([500, 503, 429, 400, 403])('and answers with status %i: the error has the status', async status => {
    const asking = tipOf((_, response) => sendJson(response, {}, status))
    await expect(asking).rejects.toMatchObject({ ...SOURCE, details: { status } })
  })

  it('ends when whoever asked no longer wants to know', async () => {
    const { url } = await started(() => {})
    const asking = chaintracksSource(url).tip({ signal: AbortSignal.timeout(50) })
    await expect(asking).rejects.toMatchObject({ name: 'TimeoutError' })
  })

  it.each([
    ['nothing', ''],
    ['no JSON', '<html>'],
    ['bytes that are no text', Buffer.from([0xff, 0xfe])],
    ['null', 'null'],
    ['a number', '7'],
    ['a list', '[]'],
    ['a height below zero', JSON.stringify({ height: -1, hash: '00'.repeat(32) })],
    ['a height that is text', JSON.stringify({ height: '7', hash: '00'.repeat(32) })],
    ['a hash that is none', JSON.stringify({ height: 7, hash: '00' })],
    ['no hash', JSON.stringify({ height: 7 })]
  ])('and answers with %s has no tip', async (_, body) => {
    await expect(tipOf((__, response) => response.end(body))).rejects.toMatchObject(SOURCE)
    const { url } = await started((__, response) => response.end(body))
    await expect(blockHeadersServiceSource(url).tip()).rejects.toMatchObject(SOURCE)
  })

  const good = headerJson(devChain(1).header(1)!)
  it.each([
    ['another hash', { ...good, hash: '00'.repeat(32) }],
    ['no hash', { ...good, hash: undefined }],
    ['another number', { ...good, nonce: good.nonce + 1 }],
    ['a number that is none', { ...good, time: '7' }],
    ['a number that is too large', { ...good, bits: 2 ** 32 }],
    ['no merkle root', { ...good, merkleRoot: undefined }],
    ['nothing in it', {}],
    ['text in its place', 'header'],
    ['null in its place', null]
  ])('and gives a header with %s is not believed', async (_, header) => {
    for (const of of [chaintracksSource, blockHeadersServiceSource]) {
      await expect(headersOf((__, response) => sendJson(response, [header]), of)).rejects.toMatchObject(
        SOURCE
      )
    }
  })

  it.each([
    ['a piece of a header', new Uint8Array(79)],
    ['more than were asked for', new Uint8Array(240)]
  ])('and gives bytes that are %s is not believed', async (_, bytes) => {
    await expect(headersOf((__, response) => sendBytes(response, bytes))).rejects.toMatchObject(SOURCE)
  })

  it('and gives more headers than were asked for is not believed', async () => {
    const list = (_: URL, response: Parameters<Handler>[1]): void => sendJson(response, [good, good, good])
    await expect(headersOf(list)).rejects.toMatchObject(SOURCE)
    const long = Array.from({ length: 1000 }, () => good)
    const longer = (_: URL, response: Parameters<Handler>[1]): void => sendJson(response, long)
    await expect(headersOf(longer, blockHeadersServiceSource)).rejects.toMatchObject(SOURCE)
  })

  it.each([
    'nowhere',
    'ftp://example.com',
    'http://example.com?key=secret',
    'http://user:secret@example.com',
    'file:///etc/passwd',
    ''
  ])('is not at %j', url => {
    let error: Partial<QuoinError> = {}
    try {
      chaintracksSource(url)
    } catch (thrown) {
      error = thrown as QuoinError
    }
    expect(error).toMatchObject(SOURCE)
    expect(JSON.stringify([error.message, error.details])).not.toContain('secret')
  })

  it('does not get the token into errors', async () => {
    const { url } = await started((_, response) => sendJson(response, {}, 500))
    const error = await chaintracksSource(url, { token: 'secret' })
      .tip()
      .catch(failure => failure)
    expect(error).toMatchObject(SOURCE)
    expect(JSON.stringify([error.message, error.details])).not.toContain('secret')
  })
})

describe('a tracker of the SDK', () => {
  it('is asked, and what it throws is an error with a code', async () => {
    const chain = devChain(3)
    const tracker = sdkTracker(chain, 'mine')
    expect(await tracker.isValidRootForHeight(formatHash(chain.header(2)!.header.merkleRoot), 2)).toBe(true)
    expect(await tracker.currentHeight()).toBe(3)
    const { url } = await started((_, response) => sendJson(response, {}, 500))
    const real = new WhatsOnChain('main', { httpClient: { request: () => fetch(url) as never } })
    await expect(sdkTracker(real).currentHeight()).rejects.toMatchObject(SOURCE)
    const nonsense = {
      isValidRootForHeight: async () => 'yes' as never,
      currentHeight: async () => Number.NaN
    }
    await expect(sdkTracker(nonsense).isValidRootForHeight('', 1)).rejects.toMatchObject(SOURCE)
    await expect(sdkTracker(nonsense).currentHeight()).rejects.toMatchObject(SOURCE)
  })
})
