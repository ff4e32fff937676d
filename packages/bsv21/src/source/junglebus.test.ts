import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { parseTransaction } from '@quoin/chain'
import { formatTxid, type QuoinError } from '@quoin/primitives'
import { outputs, progressFields } from '@quoin/txo'
import { afterEach, describe, expect, it } from 'vitest'
import { DeliveryRecorder } from './delivery-recorder.testing.ts'
import { blockOf, type ServedBlock, someTransaction } from './junglebus.testing.ts'
import { JungleBus, type JungleBusOptions } from './junglebus.ts'
import { JungleBusServer, type JungleBusServerOptions } from './junglebus-server.testing.ts'

const SUBSCRIPTION = 'ab'.repeat(32)
const opened: { close(): Promise<unknown> }[] = []

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close()
})

const serverOf = async (options: Partial<JungleBusServerOptions> = {}): Promise<JungleBusServer> => {
  const server = await JungleBusServer.start({ subscription: SUBSCRIPTION, ...options })
  opened.push(server)
  return server
}

const sourceOf = (server: JungleBusServer, options: Partial<JungleBusOptions> = {}): JungleBus =>
  new JungleBus({
    url: server.url,
    subscription: SUBSCRIPTION,
    fromBlock: 100,
    patience: 30,
    backoff: { first: 5, limit: 20 },
    timeout: 2000,
    ...options
  })

const takerOf = async (): Promise<DeliveryRecorder> => {
  const taker = await DeliveryRecorder.open()
  opened.push({
    close: async () => {
      await taker.stop()
      await taker.store.close()
    }
  })
  return taker
}

/** So many blocks from a height on, each of so many transactions that no other has. */
const blocksOf = (from: number, count: number, size = 3): ServedBlock[] =>
  Array.from({ length: count }, (_, i) =>
    blockOf(
      from + i,
      Array.from({ length: size }, (_, n) => someTransaction((from + i) * 16 + n))
    )
  )

const idsOf = (blocks: readonly ServedBlock[]): string[] =>
  blocks.flatMap(({ transactions }) => transactions.map(({ txid }) => formatTxid(txid)))

const progressOf = ({ store }: DeliveryRecorder): Promise<number | undefined> =>
  store
    .use(outputs.collections.progress)
    .at()
    .get(progressFields.collections.subscription, Buffer.from(SUBSCRIPTION, 'hex'))

describe('a subscription', () => {
  it('gives the transactions of its blocks in order, each with its proof and its place', async () => {
    const server = await serverOf()
    const blocks = blocksOf(100, 4)
    server.add(...blocks)
    const taker = await takerOf()
    const source = sourceOf(server)
    taker.follow(source)
    await taker.until(() => taker.staged.length >= 12 && source.status.at === 104)
    expect(taker.txids).toEqual(idsOf(blocks))
    const { txid, beef, mined } = taker.staged[4]!
    expect(mined).toEqual({ height: 101, index: 1n })
    const read = beef!
    expect(read.subject).toEqual(txid)
    expect(read.find(txid)!.bump!.height).toBe(101)
    expect(read.find(txid)!.bump!.offsetOf(txid)).toBe(1)
    expect(source.status).toMatchObject({ at: 104, end: 103, transactions: 12, lastError: undefined })
  })

  it('asks for a token, and subscribes to the ends of blocks before the blocks', async () => {
    const server = await serverOf()
    server.add(...blocksOf(100, 1))
    const taker = await takerOf()
    taker.follow(sourceOf(server))
    await taker.until(() => taker.staged.length === 3)
    expect(server.asked.slice(0, 4)).toEqual([
      'POST /v1/user/subscription-token',
      'connect token-1',
      `subscribe query:${SUBSCRIPTION}:control`,
      `subscribe query:${SUBSCRIPTION}:100:0`
    ])
  })

  it('goes on with blocks as they come', async () => {
    const server = await serverOf()
    const taker = await takerOf()
    taker.follow(sourceOf(server))
    await taker.until(() => server.sessions === 1)
    const blocks = blocksOf(100, 3)
    for (const [i, block] of blocks.entries()) {
      server.add(block)
      await taker.until(() => taker.staged.length === (i + 1) * 3)
    }
    expect(taker.txids).toEqual(idsOf(blocks))
  })

  it('gives what is not mined when that is wanted, and only then', async () => {
    const server = await serverOf()
    const [with_, without] = [await takerOf(), await takerOf()]
    with_.follow(sourceOf(server, { mempool: true }))
    without.follow(sourceOf(server))
    await with_.until(() => server.asked.filter(each => each.endsWith('100:0')).length === 2)
    await with_.until(() => server.asked.some(each => each.endsWith(':mempool')))
    const raw = someTransaction(7)
    const { txid } = parseTransaction(raw)
    server.seen({ raw, txid, index: 0, proof: new Uint8Array() })
    server.add(...blocksOf(100, 1))
    await with_.until(() => with_.staged.length === 4 && without.staged.length === 3)
    expect(with_.staged[0]).toMatchObject({ txid, mined: undefined })
    expect(with_.staged[0]!.beef!.find(txid)!.bump).toBeUndefined()
  })

  it('names a transaction that is too large to be sent, to be fetched by its id', async () => {
    const server = await serverOf()
    const [block] = blocksOf(100, 1)
    const [first, ...others] = block!.transactions
    server.add({ height: 100, transactions: [{ ...first!, isLarge: true }, ...others] })
    const taker = await takerOf()
    const source = sourceOf(server)
    taker.follow(source)
    await taker.until(() => taker.staged.length === 3)
    expect(taker.staged[0]).toEqual({
      txid: first!.txid,
      beef: undefined,
      mined: { height: 100, index: 0n }
    })
    const fetched = await source.rest.transaction(first!.txid)
    expect(fetched!.find(first!.txid)!.bump!.height).toBe(100)
  })

  it('names one whose bytes are those of another', async () => {
    const server = await serverOf()
    const [block] = blocksOf(100, 1)
    const [first, ...others] = block!.transactions
    server.add({ height: 100, transactions: [{ ...first!, raw: someTransaction(9999) }, ...others] })
    const taker = await takerOf()
    taker.follow(sourceOf(server))
    await taker.until(() => taker.staged.length === 3)
    expect(taker.staged.map(({ beef }) => beef === undefined)).toEqual([true, false, false])
  })
})

describe('how far it is', () => {
  it('is kept as many blocks behind as a reorg may replace, and never before the first', async () => {
    const server = await serverOf()
    server.add(...blocksOf(100, 3))
    const taker = await takerOf()
    taker.follow(sourceOf(server))
    await taker.until(() => taker.staged.length === 9)
    expect(await progressOf(taker)).toBe(100)
    server.add(...blocksOf(103, 10))
    await taker.until(() => taker.staged.length === 39)
    await taker.stop()
    expect(await progressOf(taker)).toBe(107)
  })

  it('is where the next one begins, and does not creep back when nothing comes', async () => {
    const server = await serverOf()
    server.add(...blocksOf(100, 20, 1))
    const first = await takerOf()
    first.follow(sourceOf(server))
    await first.until(() => first.staged.length === 20)
    await first.stop()
    expect(await progressOf(first)).toBe(114)
    const second = first.next()
    second.follow(sourceOf(server))
    await second.until(() => second.staged.length === 6)
    await second.stop()
    expect(second.staged.map(({ mined }) => mined!.height)).toEqual([114, 115, 116, 117, 118, 119])
    expect(await progressOf(second)).toBe(114)
  })

  it('is never ahead of what was taken', async () => {
    const server = await serverOf({ perFrame: 7 })
    server.add(...blocksOf(100, 40))
    const taker = await takerOf()
    const places: (number | undefined)[] = []
    taker.before = async () => {
      const place = await progressOf(taker)
      places.push(place)
      const taken = new Set(taker.txids)
      const missing = blocksOf(100, (place ?? 100) - 100).flatMap(block => idsOf([block]))
      expect(missing.filter(id => !taken.has(id))).toEqual([])
    }
    taker.follow(sourceOf(server, { reorgDepth: 0 }))
    await taker.until(() => taker.staged.length >= 120)
    await taker.stop()
    expect(await progressOf(taker)).toBe(140)
  })
})

describe('a reorg', () => {
  it('is told, and everything from some blocks before it comes again', async () => {
    const server = await serverOf()
    server.add(...blocksOf(100, 20, 1))
    const taker = await takerOf()
    taker.follow(sourceOf(server, { reorgDepth: 3 }))
    await taker.until(() => taker.staged.length === 20)
    const others = Array.from({ length: 3 }, (_, i) => blockOf(118 + i, [someTransaction(5000 + i)]))
    server.reorg(...others)
    await taker.until(() => taker.staged.at(-1)!.mined!.height === 120)
    const told = taker.deliveries.find(({ reorgFrom }) => reorgFrom !== undefined)!
    expect(told.reorgFrom).toBe(115)
    const after = taker.deliveries.slice(taker.deliveries.indexOf(told) + 1)
    const heights = after.flatMap(({ transactions }) => transactions.map(({ mined }) => mined!.height))
    expect(heights).toEqual([115, 116, 117, 118, 119, 120])
    expect(
      after.flatMap(({ transactions }) => transactions.map(({ txid }) => formatTxid(txid))).slice(3)
    ).toEqual(idsOf(others))
    expect(server.asked.at(-1)).toBe('GET /v1/block_header/tip')
    expect(server.asked).toContain(`subscribe query:${SUBSCRIPTION}:115:0`)
  })

  it('moves the kept place back', async () => {
    const server = await serverOf()
    server.add(...blocksOf(100, 20, 1))
    const taker = await takerOf()
    taker.follow(sourceOf(server, { reorgDepth: 3 }))
    await taker.until(() => taker.staged.length === 20)
    const places: (number | undefined)[] = []
    taker.before = async delivery => {
      if (delivery.reorgFrom === undefined) places.push(await progressOf(taker))
    }
    server.reorg(blockOf(110, [someTransaction(6000)]))
    await taker.until(() => places.length > 0)
    expect(places[0]).toBe(107)
  })
})

describe('a connection', () => {
  const lost: [string, (server: JungleBusServer) => void][] = [
    ['breaks', server => server.breakAll()],
    ['is ended by the server', server => server.disconnect(3001, 'shutdown')],
    ['is ended by the server for good', server => server.disconnect(3503, 'force no reconnect')],
    ['loses its subscription', server => server.unsubscribe(2500, 'insufficient state')]
  ]
  it.each(lost)('that %s is made again, from the first block of which not all has come', async (_, lose) => {
    const server = await serverOf()
    server.add(...blocksOf(100, 5))
    const taker = await takerOf()
    const troubles: QuoinError[] = []
    const source = sourceOf(server, { onWarning: error => troubles.push(error) })
    taker.follow(source)
    await taker.until(() => taker.staged.length === 15 && source.status.at === 105)
    lose(server)
    await taker.until(() => server.asked.filter(each => each.startsWith('connect')).length === 2)
    const more = blocksOf(105, 2)
    server.add(...more)
    await taker.until(() => taker.staged.length === 21)
    expect(taker.txids).toEqual(idsOf([...blocksOf(100, 5), ...more]))
    expect(server.asked).toContain(`subscribe query:${SUBSCRIPTION}:105:0`)
    expect(troubles[0]!.code).toMatch(/^ERR_SOURCE_(CONNECTION|REFUSED)$/)
    expect(source.status.lastError).toBeUndefined()
  })

  it('that is refused is tried again, with a new token', async () => {
    const server = await serverOf()
    server.add(...blocksOf(100, 1))
    server.isOpen = false
    const taker = await takerOf()
    const source = sourceOf(server)
    taker.follow(source)
    await taker.until(() => server.asked.length >= 3)
    await taker.until(() => source.status.lastError !== undefined)
    expect(taker.staged).toEqual([])
    server.isOpen = true
    await taker.until(() => taker.staged.length === 3)
  })

  it('to nobody is tried again until there is somebody', async () => {
    const server = await serverOf()
    const { url } = server
    await server.close()
    opened.length = 0
    const taker = await takerOf()
    const troubles: QuoinError[] = []
    taker.follow(
      new JungleBus({
        url,
        subscription: SUBSCRIPTION,
        fromBlock: 1,
        backoff: { first: 1, limit: 5 },
        onWarning: error => troubles.push(error)
      })
    )
    await taker.until(() => troubles.length >= 3)
    expect(troubles[0]!.code).toBe('ERR_CHAIN_SOURCE')
  })

  it('renews its token before that ends', async () => {
    const server = await serverOf({ ttl: 1 })
    const taker = await takerOf()
    taker.follow(sourceOf(server))
    await taker.until(() => server.asked.some(each => each.startsWith('refresh ')))
    expect(server.asked).toContain('GET /v1/user/refresh-token')
    expect(server.asked.filter(each => each.startsWith('connect'))).toHaveLength(1)
  })

  it('to a server that has gone silent is made again', async () => {
    const server = await serverOf({ ping: 1, pong: true })
    const taker = await takerOf()
    const source = sourceOf(server, { timeout: 100 })
    taker.follow(source)
    await taker.until(() => server.sessions === 1 && source.status.state === 'reading')
    // A ping comes, and is answered; then nothing comes.
    await taker.until(() => server.pongs === 1)
    server.isSilent = true
    await taker.until(
      () =>
        source.status.lastError !== undefined ||
        server.asked.filter(each => each.startsWith('connect')).length === 2
    )
    server.add(...blocksOf(100, 1))
    await taker.until(() => taker.staged.length === 3)
  })

  it('ends when nobody wants it any more, and so does the source', async () => {
    const server = await serverOf()
    server.add(...blocksOf(100, 2))
    const taker = await takerOf()
    const source = sourceOf(server)
    taker.follow(source)
    await taker.until(() => taker.staged.length === 6)
    await taker.stop()
    await taker.until(() => server.sessions === 0)
    expect(source.status.state).toBe('ended')
  })

  it('that is never answered ends at once when nobody wants it any more', async () => {
    const silent = createServer(() => undefined)
    await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve))
    opened.push({ close: async () => silent.close() })
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
    for (const token of [undefined, 'given']) {
      const taker = await takerOf()
      const source = new JungleBus({
        url,
        subscription: SUBSCRIPTION,
        fromBlock: 1,
        ...(token !== undefined && { token })
      })
      taker.follow(source)
      await taker.until(() => source.status.state === 'connecting')
      await taker.stop()
      expect(source.status).toMatchObject({ state: 'ended', lastError: undefined })
    }
  })

  it('ends with whoever stops asking in the middle', async () => {
    const server = await serverOf()
    server.add(...blocksOf(100, 2))
    const taker = await takerOf()
    for await (const _ of sourceOf(server).deliveries(taker.store)) break
    await taker.until(() => server.sessions === 0)
  })

  it('waits for a slow taker instead of filling the memory', async () => {
    const server = await serverOf()
    const size = 256 * 1024
    // 32 MB, of which the two sides of the socket and 8 MB here hold but a part.
    const blocks = Array.from({ length: 32 }, (_, i) =>
      blockOf(
        100 + i,
        Array.from({ length: 4 }, (_, n) => someTransaction(i * 4 + n, size))
      )
    )
    const taker = await takerOf()
    let release: () => void = () => undefined
    const held = new Promise<void>(resolve => {
      release = resolve
    })
    taker.before = async (_, taken) => {
      if (taken === 0) await held
    }
    server.add(...blocks)
    taker.follow(sourceOf(server))
    try {
      await taker.until(() => server.waiting > 4 * 1024 * 1024)
      await new Promise(resolve => setTimeout(resolve, 100))
      expect(server.waiting).toBeGreaterThan(4 * 1024 * 1024)
    } finally {
      release()
    }
    await taker.until(() => taker.staged.length === 128)
    expect(taker.txids).toEqual(idsOf(blocks))
  })
})

describe('settings', () => {
  it.each([[{ subscription: 'short' }], [{ fromBlock: -1 }], [{ fromBlock: 1.5 }], [{ reorgDepth: -1 }]])(
    'that are none are refused: %j',
    change => {
      const options = { url: 'http://localhost:1', subscription: SUBSCRIPTION, fromBlock: 0, ...change }
      expect(() => new JungleBus(options)).toThrow(expect.objectContaining({ code: 'ERR_SOURCE_OPTION' }))
    }
  )

  it('that name no address are refused', () => {
    expect(() => new JungleBus({ url: 'nowhere', subscription: SUBSCRIPTION, fromBlock: 0 })).toThrow(
      expect.objectContaining({ code: 'ERR_CHAIN_SOURCE' })
    )
  })
})
