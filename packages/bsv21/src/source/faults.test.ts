/**
 * A JungleBus that loses, repeats, holds back and mixes up what it sends, breaks off and talks nonsense, and a taker that is killed
 * in the middle: every transaction arrives, and the place that is kept is never ahead of what was taken.
 */

import { formatTxid } from '@quoin/primitives'
import { outputs, progressFields } from '@quoin/txo'
import { describe, expect, it } from 'vitest'
import { DeliveryRecorder } from './delivery-recorder.testing.ts'
import { blockOf, type ServedBlock, someTransaction } from './junglebus.testing.ts'
import { JungleBus } from './junglebus.ts'
import { type Fault, JungleBusServer } from './junglebus-server.testing.ts'

const SUBSCRIPTION = 'cd'.repeat(32)
const BLOCKS = 40
const SEEDS = Number(process.env['QUOIN_SOURCE_SEEDS'] ?? 8)

/** The same numbers for the same seed. */
const randomOf = (seed: number): (() => number) => {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
}

const chainOf = (random: () => number): ServedBlock[] =>
  Array.from({ length: BLOCKS }, (_, i) =>
    blockOf(
      i + 1,
      Array.from({ length: Math.floor(random() * 6) }, (_, n) => someTransaction(i * 8 + n))
    )
  )

const FAULTS: readonly [Fault, number][] = [
  ['drop', 0.04],
  ['repeat', 0.05],
  ['reorder', 0.08],
  ['delay', 0.04],
  ['break', 0.01],
  ['garbage', 0.005]
]

const faultOf = (random: () => number): Fault => {
  let rest = random()
  for (const [fault, part] of FAULTS) {
    if (rest < part) return fault
    rest -= part
  }
  return 'send'
}

const placeOf = ({ store }: DeliveryRecorder): Promise<number | undefined> =>
  store
    .use(outputs.collections.progress)
    .at()
    .get(progressFields.collections.subscription, Buffer.from(SUBSCRIPTION, 'hex'))

const KILLED = new Error('killed')

describe('every transaction arrives', () => {
  it.each(Array.from({ length: SEEDS }, (_, i) => i + 1))('with seed %i', { timeout: 60_000 }, async seed => {
    const random = randomOf(seed)
    const blocks = chainOf(random)
    const server = await JungleBusServer.start({
      subscription: SUBSCRIPTION,
      perFrame: 1 + Math.floor(random() * 5)
    })
    server.fault = () => faultOf(random)
    server.add(...blocks.slice(0, BLOCKS / 2))
    const wanted = new Set(
      blocks.flatMap(({ transactions }) => transactions.map(({ txid }) => formatTxid(txid)))
    )
    const taken = new Set<string>()
    let taker = await DeliveryRecorder.open()
    const { store } = taker
    for (let life = 0; ; life++) {
      const source: JungleBus = new JungleBus({
        url: server.url,
        subscription: SUBSCRIPTION,
        fromBlock: 1,
        reorgDepth: 2,
        patience: 15,
        backoff: { first: 1, limit: 5 }
      })
      const [current, isLast, end] = [taker, life === 4, 1 + Math.floor(random() * 6)]
      let isKilled = false
      current.before = async (_, count) => {
        // What the store has is what was taken: below the place nothing is missing.
        for (const id of current.txids) taken.add(id)
        const place = (await placeOf(current)) ?? 1
        for (const { height, transactions } of blocks) {
          if (height >= place) break
          for (const { txid } of transactions) expect(taken).toContain(formatTxid(txid))
        }
        if (isLast || count < end) return
        isKilled = true
        throw KILLED
      }
      current.follow(source)
      if (life === 1) server.add(...blocks.slice(BLOCKS / 2))
      const isThere = (): boolean => source.status.at! > server.tip
      await current.until(() => isKilled || isThere(), `seed ${seed}, life ${life}`)
      await current.stop().catch((error: unknown) => expect(error).toBe(KILLED))
      for (const id of current.txids) taken.add(id)
      if (life > 0 && !isKilled) break
      taker = current.next()
    }
    expect([...wanted].filter(id => !taken.has(id))).toEqual([])
    expect([...taken].filter(id => !wanted.has(id))).toEqual([])
    await store.close()
    await server.close()
  })
})

describe('a block of which more was told than there is', () => {
  it('is asked for some times, and then taken for what it is', async () => {
    const server = await JungleBusServer.start({ subscription: SUBSCRIPTION })
    const blocks = [1, 2, 3].map(height =>
      blockOf(height, [someTransaction(height), someTransaction(height + 50)])
    )
    const poison = formatTxid(blocks[1]!.transactions[0]!.txid)
    server.fault = ({ kind, height, index }) =>
      kind === 'transaction' && height === 2 && index === 0 ? 'drop' : 'send'
    server.add(...blocks)
    const taker = await DeliveryRecorder.open()
    const troubles: string[] = []
    const source = new JungleBus({
      url: server.url,
      subscription: SUBSCRIPTION,
      fromBlock: 1,
      patience: 10,
      backoff: { first: 1, limit: 2 },
      onWarning: ({ message }) => troubles.push(message)
    })
    taker.follow(source)
    await taker.until(() => source.status.at === 4)
    await taker.stop()
    expect(new Set(taker.txids).size).toBe(5)
    expect(taker.txids).not.toContain(poison)
    expect(troubles.filter(each => each.includes('of block 2')).length).toBe(4)
    await taker.store.close()
    await server.close()
  })
})

describe('a server that does not tell of blocks without transactions', () => {
  it('is held up once, and then no more', async () => {
    const server = await JungleBusServer.start({ subscription: SUBSCRIPTION, tellsOfEmpty: false })
    const blocks = Array.from({ length: 60 }, (_, i) =>
      blockOf(i + 1, i % 7 === 3 ? [someTransaction(i)] : [])
    )
    server.add(...blocks)
    const taker = await DeliveryRecorder.open()
    const source = new JungleBus({
      url: server.url,
      subscription: SUBSCRIPTION,
      fromBlock: 1,
      patience: 10,
      backoff: { first: 1, limit: 2 }
    })
    taker.follow(source)
    await taker.until(() => source.status.at === 61)
    await taker.stop()
    expect(new Set(taker.txids).size).toBe(9)
    const connected = server.asked.filter(each => each.startsWith('connect'))
    expect(connected.length).toBeLessThan(10)
    await taker.store.close()
    await server.close()
  })
})
