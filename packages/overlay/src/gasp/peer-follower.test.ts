/** Changes that peers push: synced at once, from the log of the topic; the stream itself is believed in nothing. */
import { createServer, type Server, type ServerResponse } from 'node:http'
import { DevChain } from '@quoin/dev-chain'
import { QuoinError } from '@quoin/primitives'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { listening } from './http.testing.ts'
import { mint, TestNode, TOPIC } from './node.testing.ts'
import { httpPeer, localPeer, type Peer } from './peer.ts'
import { changesOf } from './peer-changes.ts'
import { SyncService } from './service.ts'

const HOUR = 3_600_000
let chain: DevChain
let a: TestNode
let b: TestNode
let service: SyncService | undefined
const servers: Server[] = []
beforeEach(async () => {
  chain = new DevChain({ seed: 'follower' })
  a = await TestNode.open('a', chain)
  b = await TestNode.open('b', chain)
})
afterEach(async () => {
  await service?.stop()
  service = undefined
  for (const node of [a, b]) await node.close()
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

/** A server of streams, whose clients are in `streams`. */
const streaming = async (status = 200) => {
  const streams: ServerResponse[] = []
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url!)
    response.writeHead(status, { 'content-type': 'text/event-stream' })
    if (status !== 200) response.end()
    else streams.push(response)
    if (status === 200) response.write('retry: 1000\nid: 7\n\n')
  })
  return { url: await listening(servers, server), streams, asked }
}
/** The lists of node a, which are counted, and the stream of another server. */
const peerWith = (url: string) => {
  const peer = localPeer('a', a.engine)
  const counted = { lists: 0 }
  return {
    ...peer,
    counted,
    syncResponse: (...request) => {
      counted.lists++
      return peer.syncResponse(...request)
    },
    changes: httpPeer(url, { silence: 2000 }).changes!
  } satisfies Peer & { counted: typeof counted }
}
const follow = (peer: Peer, interval = HOUR): SyncService => {
  service = new SyncService(b.engine, { peers: { [TOPIC]: [peer] }, interval })
  service.start()
  return service
}
const members = async (node: TestNode): Promise<number> => (await node.state()).members.length
const minted = async (): Promise<void> => {
  const transaction = await mint(chain)
  await a.submit(transaction)
}

it('syncs when a peer says that a topic has changed, long before the interval', async () => {
  const { url, streams, asked } = await streaming()
  follow(peerWith(url))
  await expect.poll(() => streams.length).toBe(1)
  expect(asked).toEqual([`/live?topics=${TOPIC}`])
  await minted()
  streams[0]!.write(`id: 8\nevent: saved\ndata: {"outputs":[{"topics":["${TOPIC}"]}]}\n\n`)
  await expect.poll(() => members(b), { timeout: 5000 }).toBe(1)
  expect(await service!.status()).toMatchObject([{ live: true, state: 'working' }])
})

it('syncs what it missed when the stream is there again, and polls meanwhile', async () => {
  const { url, streams } = await streaming()
  follow(peerWith(url))
  await expect.poll(() => streams.length).toBe(1)
  await minted()
  streams[0]!.destroy()
  await expect.poll(() => members(b), { timeout: 5000 }).toBe(1)
  expect(streams.length).toBe(2)
  await service!.stop()
  const down: Peer = {
    ...localPeer('a', a.engine),
    changes: () => {
      throw new QuoinError('ERR_SOURCE_CONNECTION', 'no stream')
    }
  }
  await minted()
  follow(down, 20)
  await expect.poll(() => members(b), { timeout: 5000 }).toBe(2)
  expect(await service!.status()).toMatchObject([{ live: false, state: 'working' }])
})

it('lists a few times a second at a peer that sends changes without end', async () => {
  const { url, streams } = await streaming()
  const peer = peerWith(url)
  follow(peer)
  await expect.poll(() => streams.length).toBe(1)
  const began = performance.now()
  for (let i = 0; i < 500; i++) {
    streams[0]!.write(`id: ${i}\nevent: saved\ndata: {"outputs":[],"spends":[]}\n\n`)
    if (i % 50 === 0) await new Promise(resolve => setTimeout(resolve, 10))
  }
  const passed = performance.now() - began
  // One at the start, one for the begin of the stream, and one for each pause that has passed.
  expect(peer.counted.lists).toBeLessThanOrEqual(3 + passed / 100)
})

it('asks a peer without a stream once, and goes on at the interval', async () => {
  const { url, asked } = await streaming(404)
  follow(peerWith(url), 20)
  await minted()
  await expect.poll(() => members(b), { timeout: 5000 }).toBe(1)
  await minted()
  await expect.poll(() => members(b), { timeout: 5000 }).toBe(2)
  expect(asked).toHaveLength(1)
})

it('reads topics from the changes, all topics from changes of another form, and none from signs of life', async () => {
  const { url, streams } = await streaming()
  const topics = ['tm_one', 'tm_two', 'tm_three']
  const stopping = new AbortController()
  const changes = changesOf(url, topics, { signal: stopping.signal })
  expect((await changes.next()).value).toEqual(topics)
  const next = async (text: string) => {
    streams[0]!.write(text)
    return (await changes.next()).value
  }
  expect(await next('data: {"outputs":[{"topics":["tm_two","tm_other"]}]}\n\n')).toEqual(['tm_two'])
  expect(await next('data: nonsense\n\n')).toEqual(topics)
  expect(await next('id: 9\n\n')).toEqual([])
  stopping.abort()
  await expect(changes.next()).rejects.toMatchObject({ name: 'AbortError' })
})

it('says of a peer that hangs that it is stalled, of one that answers wrongly why, and goes on with both', async () => {
  await minted()
  let how: 'hang' | 'nonsense' | 'answer' = 'hang'
  const waiting: (() => void)[] = []
  const peer = localPeer('odd', a.engine)
  const odd: Peer = {
    ...peer,
    syncResponse: async (...request) => {
      if (how === 'nonsense') return { UTXOList: 7 }
      if (how === 'hang') await new Promise<void>(resolve => waiting.push(resolve))
      return peer.syncResponse(...request)
    }
  }
  service = new SyncService(b.engine, { peers: { [TOPIC]: [odd] }, interval: 20, patience: 50 })
  service.start()
  const status = async () => (await service!.status())[0]!
  await expect.poll(status).toMatchObject({ state: 'stalled', running: true, lastError: /no answer for/ })
  how = 'nonsense'
  for (const resolve of waiting.splice(0)) resolve()
  await expect.poll(status).toMatchObject({
    state: 'failing',
    lastError: expect.stringContaining('UTXOList is not a list')
  })
  how = 'answer'
  await expect.poll(status).toMatchObject({ state: 'working', lastError: undefined })
  expect(await members(b)).toBe(1)
})

it('syncs with peers that are discovered while it runs, and not with those that are discovered no more', async () => {
  const listings = { first: 0, second: 0 }
  const peerOf = (name: 'first' | 'second'): Peer => {
    const peer = localPeer(name, a.engine)
    return {
      ...peer,
      syncResponse: (...request) => {
        listings[name]++
        return peer.syncResponse(...request)
      }
    }
  }
  service = new SyncService(b.engine, { peers: {}, interval: 10, live: false })
  service.start()
  await minted()
  service.setDiscovered({ [TOPIC]: [peerOf('first')] })
  await expect.poll(() => members(b), { timeout: 5000 }).toBe(1)
  const before = await service.status()
  service.setDiscovered({ [TOPIC]: [peerOf('first'), peerOf('second')] })
  await expect.poll(() => listings.second, { timeout: 5000 }).toBeGreaterThan(0)
  expect((await service.status()).map(({ peer }) => peer)).toEqual(['first', 'second'])
  expect((await service.status())[0]!.since).toBe(before[0]!.since)
  service.setDiscovered({ [TOPIC]: [peerOf('second')] })
  const left = listings.first
  const [rounds] = [listings.second]
  await expect.poll(() => listings.second, { timeout: 5000 }).toBeGreaterThan(rounds + 3)
  // One listing may have been on its way.
  expect(listings.first).toBeLessThanOrEqual(left + 1)
  expect(service.queues.map(({ peer }) => peer)).toEqual(['second'])
  service.setDiscovered({})
  expect(await service.status()).toEqual([])
})

it('does not sync twice with a configured peer that is discovered too', async () => {
  service = new SyncService(b.engine, {
    peers: { [TOPIC]: [localPeer('a', a.engine)] },
    interval: HOUR,
    live: false
  })
  service.setDiscovered({ [TOPIC]: [localPeer('a', a.engine), localPeer('c', a.engine)] })
  expect((await service.status()).map(({ peer }) => peer)).toEqual(['a', 'c'])
})
