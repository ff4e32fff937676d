/** Tokens from a JungleBus that is not to be relied on, through the whole pipeline: in the end they are right. */

import type { Transaction } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { openStore } from '@quoin/store'
import { afterEach, describe, expect, it } from 'vitest'
import { TokenNode } from '../node.testing.ts'
import { tokenOutputs } from '../rules.ts'
import * as t from '../tokens.testing.ts'
import { type ServedBlock, tscProof } from './junglebus.testing.ts'
import { JungleBus } from './junglebus.ts'
import { JungleBusServer } from './junglebus-server.testing.ts'

const SUBSCRIPTION = 'ef'.repeat(32)
const people = [1, 2, 3, 4].map(number => t.person(number))
const closing: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** What JungleBus has of a block: those transactions that have tokens, with their proofs. */
const servedOf = (chain: DevChain, height: number): ServedBlock => {
  const all = chain.block(height)!
  const txids = all.map(({ txid }) => txid)
  const transactions = all.flatMap((transaction, index) =>
    tokenOutputs(transaction).size > 0
      ? [{ txid: transaction.txid, raw: transaction.raw, index, proof: tscProof(txids, index) }]
      : []
  )
  return { height, transactions }
}

const random = (seed: number): (() => number) => {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
}

describe('a backfill', () => {
  it('ends with the right holders, whatever was lost, repeated and mixed up on the way', async () => {
    const chain = new DevChain()
    const fund = (): t.Spent => t.at(chain.fund(people[0]!.address, 1000), 0, people[0]!)
    const deployed = t.transaction([fund()], [t.deployMint(people[0]!, 1000n, { sym: 'FAULT' })])
    await t.mined(chain, deployed)
    const id = t.tokenIdOf(deployed)
    let [last, owner, left] = [deployed as Transaction, people[0]!, 1000n]
    for (let i = 1; i <= 40; i++) {
      const next = people[i % people.length]!
      const moved = t.transaction(
        [t.at(last, 0, owner), fund()],
        [t.transfer(id, left - 1n, t.paidTo(next)), t.transfer(id, 1n, t.paidTo(owner))]
      )
      await chain.submit(moved)
      if (i % 3 === 0) chain.mine()
      ;[last, owner, left] = [moved, next, left - 1n]
    }
    chain.mine(2)

    const server = await JungleBusServer.start({ subscription: SUBSCRIPTION, perFrame: 3 })
    closing.push(() => server.close())
    const roll = random(7)
    server.fault = () => {
      const rolled = roll()
      if (rolled < 0.05) return 'drop'
      if (rolled < 0.1) return 'repeat'
      if (rolled < 0.2) return 'reorder'
      return rolled < 0.22 ? 'break' : 'send'
    }
    const store = await openStore('memory:')
    const source = new JungleBus({
      url: server.url,
      subscription: SUBSCRIPTION,
      fromBlock: 1,
      patience: 15,
      backoff: { first: 1, limit: 5 }
    })
    const node = new TokenNode(store, { chain, activation: 'all', sources: [source], fetch: source.rest })
    closing.push(async () => {
      await node.close()
      await store.close()
    })
    node.pipeline.start()
    for (let height = 1; height <= chain.height; height++) server.add(servedOf(chain, height))

    const richest = async (): Promise<unknown> => {
      const [first] = (await node.tokens.holders(id, { limit: 1 })).holders
      return first && [first.address, first.amount]
    }
    await expect.poll(richest, { timeout: 20_000, interval: 20 }).toEqual([people[0]!.address, 970n])
    const { holders } = await node.tokens.holders(id, { limit: 10 })
    expect(holders.map(({ amount }) => amount)).toEqual([970n, 10n, 10n, 10n])
    expect(await node.tokens.totals(id)).toMatchObject({
      supply: 1000n,
      minted: 1000n,
      burned: 0n,
      holders: 4
    })
  })
})
