/** One node follows another over HTTP, and ends with the same tokens. */

import type { Transaction } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { formatTxid } from '@quoin/primitives'
import { openStore } from '@quoin/store'
import { outputs as outputKeys, progressFields } from '@quoin/txo'
import { createServer } from 'quoin'
import { afterEach, describe, expect, it } from 'vitest'
import { TokenNode } from '../node.testing.ts'
import * as t from '../tokens.testing.ts'
import { DeliveryRecorder } from './delivery-recorder.testing.ts'
import { PeerSource } from './peer.ts'

const [alice, bob] = [t.person(1), t.person(2)]
const closing: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** A node with tokens, and its server; the same chain for all. */
class World {
  readonly chain = new DevChain()
  readonly node: TokenNode
  url = ''

  constructor(node: TokenNode, chain: DevChain) {
    this.node = node
    this.chain = chain
  }

  static async start(): Promise<World> {
    const chain = new DevChain()
    const store = await openStore('memory:')
    const world = new World(new TokenNode(store, { chain, activation: 'all' }), chain)
    closing.push(async () => {
      await world.node.close()
      await store.close()
    })
    await world.listen()
    return world
  }

  /** Ends the server, not the node. */
  stop: () => Promise<void> = async () => undefined

  async listen(): Promise<void> {
    const server = createServer({ engine: this.node.engine, options: { heartbeat: 50 } })
    const port = this.url === '' ? 0 : Number(new URL(this.url).port)
    this.url = (await server.listen({ port })).url
    this.stop = () => server.close()
    closing.push(this.stop)
  }

  fund(): t.Spent {
    return t.at(this.chain.fund(alice.address, 1000), 0, alice)
  }

  async take(...transactions: readonly Transaction[]): Promise<void> {
    for (const each of transactions) await this.chain.submit(each)
    this.chain.mine()
    for (const { txid } of transactions) await this.node.pipeline.ingest.ingestBeef(this.chain.beef(txid))
    await this.node.pipeline.settle()
  }

  /** A token that is moved, and then burned in part. */
  async token(): Promise<Transaction[]> {
    const deployed = t.transaction([this.fund()], [t.deployMint(alice, 1000n)])
    const id = t.tokenIdOf(deployed)
    const moved = t.transaction(
      [t.at(deployed, 0, alice), this.fund()],
      [t.transfer(id, 400n, t.paidTo(bob)), t.transfer(id, 600n, t.paidTo(alice))]
    )
    const gone = t.transaction([t.at(moved, 1, alice), this.fund()], [t.burn(id, 600n)])
    await this.take(deployed, moved, gone)
    return [deployed, moved, gone]
  }
}

const takerOf = async (): Promise<DeliveryRecorder> => {
  const taker = await DeliveryRecorder.open()
  closing.push(async () => {
    await taker.stop()
    await taker.store.close()
  })
  return taker
}

const sourceOf = ({ url }: World): PeerSource => new PeerSource(url, { backoff: { first: 5, limit: 20 } })
const idsOf = (transactions: readonly Transaction[]): string[] =>
  transactions.map(({ txid }) => formatTxid(txid))
const hasAll = (taker: DeliveryRecorder, ids: readonly string[]): boolean =>
  ids.every(id => taker.txids.includes(id))

describe('another node', () => {
  it('gives what it had before and what it has since', async () => {
    const world = await World.start()
    const before = await world.token()
    const taker = await takerOf()
    taker.follow(sourceOf(world))
    await taker.until(() => hasAll(taker, idsOf(before)), 'what was there')
    const since = await world.token()
    await taker.until(() => hasAll(taker, idsOf(since)), 'what came since')
    expect(taker.staged.every(({ beef }) => beef !== undefined)).toBe(true)
  })

  it('makes of a node the same as it is itself', async () => {
    const world = await World.start()
    await world.token()
    const store = await openStore('memory:')
    const source = sourceOf(world)
    const follower = new TokenNode(store, {
      chain: world.chain,
      activation: 'all',
      sources: [source],
      fetch: source
    })
    closing.push(async () => {
      await follower.close()
      await store.close()
    })
    follower.pipeline.start()
    const [deployed] = await world.token()
    const id = t.tokenIdOf(deployed!)
    await expect.poll(async () => (await follower.tokens.totals(id))?.burned, { timeout: 20_000 }).toBe(600n)
    expect(await follower.tokens.totals(id)).toEqual(await world.node.tokens.totals(id))
    expect(await follower.tokens.holders(id, { limit: 10 })).toEqual(
      await world.node.tokens.holders(id, { limit: 10 })
    )
  })

  it('gives a spender that it had before the output that is spent', async () => {
    const world = await World.start()
    const taker = await takerOf()
    const source = sourceOf(world)
    taker.follow(source)
    await taker.until(() => source.status.state === 'waiting')
    const deployed = t.transaction([world.fund()], [t.deployMint(alice, 1000n)])
    const destroyed = t.transaction([t.at(deployed, 0, alice)], [{ satoshis: 1, script: t.paidTo(bob) }])
    await t.mined(world.chain, deployed, destroyed)
    for (const { txid } of [destroyed, deployed]) {
      await world.node.pipeline.ingest.ingestBeef(world.chain.beef(txid))
      await world.node.pipeline.settle()
    }
    await taker.until(() => hasAll(taker, idsOf([deployed, destroyed])))
  })

  it('goes on from the position that is kept, and gives nothing again', async () => {
    const world = await World.start()
    const first = await takerOf()
    const source = sourceOf(world)
    first.follow(source)
    await first.until(() => source.status.state === 'waiting')
    const some = await world.token()
    await first.until(() => hasAll(first, idsOf(some)))
    await first.stop()
    const more = await world.token()
    const second = first.next()
    second.follow(sourceOf(world))
    await second.until(() => hasAll(second, idsOf(more)))
    await second.stop()
    expect(idsOf(some).filter(id => second.txids.includes(id))).toEqual([])
  })

  it('that goes away is come back to', async () => {
    const world = await World.start()
    const taker = await takerOf()
    const source = sourceOf(world)
    taker.follow(source)
    await taker.until(() => source.status.state === 'waiting')
    await world.stop()
    await taker.until(() => source.status.lastError !== undefined)
    const meanwhile = await world.token()
    await world.listen()
    await taker.until(() => hasAll(taker, idsOf(meanwhile)))
  })

  it('whose journal no longer goes back so far is read as a whole', async () => {
    const world = await World.start()
    const all = await world.token()
    const taker = await takerOf()
    const batch = taker.store.batch()
    batch
      .use(outputKeys.collections.progress)
      .at()
      .set(progressFields.collections.live, [world.url], 1_000_000n)
    await batch.commit()
    taker.follow(sourceOf(world))
    await taker.until(() => hasAll(taker, idsOf(all)))
  })

  it('has single transactions, or not', async () => {
    const world = await World.start()
    const [deployed] = await world.token()
    const source = sourceOf(world)
    expect(await source.transaction(deployed!.txid)).toBeDefined()
    expect(await source.transaction(world.chain.fund(alice.address, 1).txid)).toBeUndefined()
  })
})
