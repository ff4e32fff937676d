/** The stages together: nothing is lost, nothing holds up what is behind it, and what is idle costs nothing. */

import { Beef, type Transaction, writeBeef } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { formatTxid, makeOutpoint, type TokenId, txidOf } from '@quoin/primitives'
import { openStore, type Store } from '@quoin/store'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { bsv21 } from '../keys.ts'
import { TokenNode, type TokenNodeOptions } from '../node.testing.ts'
import * as t from '../tokens.testing.ts'
import { topicOf } from '../topic-names.ts'
import { discoveryQueue, queueOfToken } from './queues.ts'

const [alice, bob, carol] = [t.person(1), t.person(2), t.person(3)]
const XPUB =
  'xpub661MyMwAqRbcF221R74MPqdipLsgUevAAX4hZP2rywyEeShpbe3v2r9ciAvSGT6FB22TEmFLdUyeEDJL4ekG8s9H5WXbzDQPr6eW1zEYYy9'

describe.each([
  ['by the short way', false],
  ['through the queues', true]
])('the pipeline, %s', (_, isShared) => {
  let chain: DevChain
  let store: Store
  let node: TokenNode
  /** Seconds that have gone by beside the real ones: what is to be tried again later is due at once. */
  let later = 0
  const now = (): number => Date.now() / 1000 + later

  beforeEach(async () => {
    later = 0
    chain = new DevChain()
    store = await openStore('memory:')
    node = open({ activation: 'all' })
  })
  afterEach(async () => {
    await node.close()
    await store.close()
  })

  const open = (options: Omit<TokenNodeOptions, 'chain' | 'now'>): TokenNode =>
    new TokenNode(store, { chain, now, isShared, ...options })
  const fund = (): t.Spent => t.at(chain.fund(alice.address, 1000), 0, alice)
  const make = async (...args: Parameters<typeof t.transaction>): Promise<Transaction> => {
    const made = t.transaction(...args)
    await chain.submit(made)
    return made
  }
  const arrive = (...made: readonly Transaction[]): Promise<unknown> =>
    Promise.all(made.map(({ txid }) => node.pipeline.ingest.ingestBeef(chain.beef(txid))))
  /** As a source that has no more than the transaction itself brings it. */
  const arriveAlone = (transaction: Transaction): Promise<unknown> =>
    node.pipeline.ingest.ingestBeef(
      writeBeef({ version: 1, transactions: [{ txid: transaction.txid, transaction, bump: undefined }] })
    )
  const settle = async (): Promise<void> => {
    await node.pipeline.settle()
    await node.engine.settle()
  }
  const discovered = () => discoveryQueue(store, now)

  it('takes a token from its deployment to its holders', async () => {
    const deployed = await make([fund()], [t.deployMint(alice, 1000n, { sym: 'GOLD' })])
    const id = t.tokenIdOf(deployed)
    const moved = await make(
      [t.at(deployed, 0, alice), fund()],
      [t.transfer(id, 400n, t.paidTo(bob)), t.transfer(id, 600n, t.paidTo(alice))]
    )
    chain.mine()
    await arrive(deployed, moved)
    await settle()
    expect(await node.tokens.token(id)).toMatchObject({ sym: 'GOLD', amt: 1000n })
    expect(await node.tokens.totals(id)).toMatchObject({ supply: 1000n, holders: 2 })
    expect(await discovered().stats()).toMatchObject({ due: 0, leased: 0, waiting: 0, dead: 0 })
    expect(await store.use(bsv21.collections.ready).at().count()).toBe(0)
    // What was taken in is stored once.
    expect(await store.use(bsv21.collections.arrived).get(moved.txid)).toBeUndefined()
  })

  it('does the same again when everything comes again, in any order', async () => {
    const deployed = await make([fund()], [t.deployMint(alice, 1000n)])
    const id = t.tokenIdOf(deployed)
    const moved = await make([t.at(deployed, 0, alice), fund()], [t.transfer(id, 1000n, t.paidTo(bob))])
    chain.mine()
    await arrive(moved)
    await settle()
    await arrive(moved, deployed)
    await settle()
    const state = await node.tokens.holders(id, { limit: 10 })
    expect(state.holders).toMatchObject([{ address: bob.address, amount: 1000n }])
    await arrive(deployed, moved)
    await settle()
    expect(await node.tokens.holders(id, { limit: 10 })).toEqual(state)
    expect(await discovered().stats()).toMatchObject({ due: 0, leased: 0, waiting: 0, dead: 0 })
  })

  it('parks what rests on something that nobody has, and goes on when that comes', async () => {
    const deployed = await make([fund()], [t.deployMint(alice, 1000n)])
    const id = t.tokenIdOf(deployed)
    chain.mine()
    const first = await make([t.at(deployed, 0, alice), fund()], [t.transfer(id, 1000n, t.paidTo(bob))])
    const second = await make([t.at(first, 0, bob)], [t.transfer(id, 1000n, t.paidTo(carol))])
    await arrive(deployed)
    await arriveAlone(second)
    await settle()
    expect((await discovered().list('waiting')).items).toMatchObject([
      { item: second.txid, reason: expect.stringContaining(formatTxid(first.txid)) }
    ])
    await arrive(first)
    await settle()
    expect((await node.tokens.holders(id, { limit: 10 })).holders).toMatchObject([
      { address: carol.address, amount: 1000n }
    ])
    expect(await discovered().stats()).toMatchObject({ waiting: 0, dead: 0 })
  })

  it('keeps those that nobody has mined in the order in which they came', async () => {
    await node.close()
    node = open({})
    const deployed = await make([fund()], [t.deployMint(alice, 1000n)])
    const id = t.tokenIdOf(deployed)
    chain.mine()
    await arrive(deployed)
    await settle()
    const made: Transaction[] = []
    for (let i = 0; i < 12; i++) made.push(await make([fund()], [t.transfer(id, 1n, t.paidTo(bob))]))
    await node.pipeline.ingest.ingest({
      transactions: made.map(({ txid }) => ({ txid, beef: Beef.parse(chain.beef(txid)), mined: undefined })),
      reorgFrom: undefined,
      mark: () => undefined
    })
    const order = made.map(({ txid }) => formatTxid(txid))
    const waiting = (await discovered().list('due')).items
    expect(waiting.map(({ item }) => formatTxid(item))).toEqual(order)
    await settle()
    const passedOn = (await queueOfToken(store, id, now).list('due')).items.map(({ item }) => txidOf(item))
    expect(passedOn.map(formatTxid).filter(txid => order.includes(txid))).toEqual(order)
  })

  it('goes through a chain that nobody has mined, however long it is', async () => {
    const LINKS = 1200
    const deployed = await make([fund()], [t.deployMint(alice, 1000n)])
    const id = t.tokenIdOf(deployed)
    const money = chain.fund(alice.address, 1_000_000)
    chain.mine()
    await arrive(deployed, money)
    const links: Transaction[] = []
    let [token, change] = [t.at(deployed, 0, alice), t.at(money, 0, alice)]
    for (let i = 1; i <= LINKS; i++) {
      const link = t.transaction(
        [token, change],
        [t.transfer(id, 1000n, t.paidTo(alice)), { satoshis: 1_000_000 - 10 * i, script: t.paidTo(alice) }]
      )
      links.push(link)
      ;[token, change] = [t.at(link, 0, alice), t.at(link, 1, alice)]
    }
    await node.pipeline.ingest.ingest({
      transactions: links.map(transaction => {
        const { txid } = transaction
        const beef = Beef.of([{ txid, transaction, bump: undefined }])
        return { txid, beef, mined: undefined }
      }),
      reorgFrom: undefined,
      mark: () => undefined
    })
    await settle()
    expect(await discovered().stats()).toMatchObject({ due: 0, leased: 0, waiting: 0, dead: 0 })
    expect(await queueOfToken(store, id, now).stats()).toMatchObject({ due: 0, waiting: 0, dead: 0 })
    expect(await node.outputs.isInTopic(topicOf(id), makeOutpoint(links.at(-1)!.txid, 0))).toBe(true)
  })

  it('fetches what a transaction rests on, and tokens that nobody brought, if there is a place to', async () => {
    await node.close()
    node = open({
      activation: 'all',
      fetch: {
        name: 'the chain',
        transaction: async txid => (chain.transaction(txid) ? Beef.parse(chain.beef(txid)) : undefined)
      }
    })
    const deployed = await make([fund()], [t.deployMint(alice, 1000n)])
    const id = t.tokenIdOf(deployed)
    chain.mine()
    const first = await make([t.at(deployed, 0, alice), fund()], [t.transfer(id, 1000n, t.paidTo(bob))])
    chain.mine()
    const second = await make([t.at(first, 0, bob)], [t.transfer(id, 1000n, t.paidTo(carol))])
    await arriveAlone(second)
    await settle()
    expect((await node.tokens.holders(id, { limit: 10 })).holders).toMatchObject([
      { address: carol.address, amount: 1000n }
    ])
    expect(await node.tokens.token(id)).toMatchObject({ amt: 1000n })
  })

  it('keeps what is wrong for good with its reason, and goes on behind it (poison at the head)', async () => {
    const deployed = await make([fund()], [t.deployMint(alice, 1000n)])
    const id = t.tokenIdOf(deployed)
    chain.mine()
    const wrong = t.transaction([t.at(deployed, 0, bob)], [t.transfer(id, 1000n, t.paidTo(bob))])
    await arrive(deployed)
    await arriveAlone(wrong)
    const right = await make([t.at(deployed, 0, alice)], [t.transfer(id, 1000n, t.paidTo(carol))])
    await arrive(right)
    await settle()
    expect((await node.tokens.holders(id, { limit: 10 })).holders).toMatchObject([{ address: carol.address }])
    const dead = await queueOfToken(store, id, now).list('dead')
    expect(dead.items).toMatchObject([{ errorClass: 'ERR_TX_INVALID', reason: expect.any(String) }])
  })

  it('is held up by no number of failures in any of its queues, and ends when it is told to', async () => {
    const many = 60
    const deployed = await make([fund()], [t.deployMint(alice, 1000n)])
    const id = t.tokenIdOf(deployed)
    chain.mine()
    // Half of them rest on nothing that there is, and half are signed by the wrong one.
    const nothing = chain.fund(bob.address, 5)
    for (let i = 0; i < many; i++) {
      const from = i % 2 === 0 ? t.transaction([t.at(nothing, 0, bob)], [], i + 1) : deployed
      const spent = i % 2 === 0 ? { txid: from.txid, vout: 0 } : { txid: deployed.txid, vout: 0 }
      await arriveAlone(t.unsigned([spent], [t.transfer(id, 1n, t.paidTo(bob)), t.deployMint(bob, 1n)], i))
    }
    await arrive(deployed)
    node.pipeline.start()
    const moved = await make([t.at(deployed, 0, alice), fund()], [t.transfer(id, 1000n, t.paidTo(carol))])
    chain.mine()
    await arrive(moved)
    await until(async () => (await node.tokens.balance(id, 'p2pkh', [carol.address])).amount === 1000n)
    await until(async () => {
      const { due, leased } = await discovered().stats()
      return due + leased === 0
    })
    expect(await discovered().stats()).toMatchObject({ waiting: many / 2, dead: many / 2 })
    await node.pipeline.close()
  })

  it('goes on with all others when one token is stopped', async () => {
    const deployed = await make([fund()], [t.deployMint(alice, 10n), t.deployMint(alice, 20n)])
    const [first, second] = [t.tokenIdOf(deployed, 0), t.tokenIdOf(deployed, 1)]
    await node.activation.add('blacklist', first)
    node.pipeline.start()
    await arrive(deployed)
    await until(async () => (await node.tokens.totals(second)).supply === 20n)
    expect(await node.tokens.totals(first)).toMatchObject({ supply: 0n })
    await node.activation.remove('blacklist', first)
    await until(async () => (await node.tokens.totals(first)).supply === 10n)
  })

  it('does not look at tokens that have nothing to do', async () => {
    const ids = Array.from({ length: 2000 }, (_, i) => `${i.toString(16).padStart(64, '0')}_0` as TokenId)
    const batch = store.batch()
    for (const id of ids) batch.use(bsv21.collections.lists).at('whitelist').add(id)
    await batch.commit()
    const asked = vi.spyOn(node.activation, 'isActive')
    await settle()
    expect(asked).not.toHaveBeenCalled()
  })

  it('tries a proof again whose block is not known yet', async () => {
    const deployed = await make([fund()], [t.deployMint(alice, 1000n)])
    const id = t.tokenIdOf(deployed)
    chain.mine()
    const behind: TokenNodeOptions['chain'] = {
      name: 'behind',
      proof: txid => chain.proof(txid),
      isValidRootForHeight: async () => false,
      currentHeight: async () => 0
    }
    await node.close()
    node = new TokenNode(store, { chain: behind, now, isShared, activation: 'all' })
    await arrive(deployed)
    await settle()
    expect(await node.tokens.token(id)).toBeUndefined()
    expect(await discovered().stats()).toMatchObject({ due: 1, dead: 0 })
    await node.close()
    node = open({ activation: 'all' })
    later += 10
    await settle()
    expect(await node.tokens.totals(id)).toMatchObject({ supply: 1000n })
  })

  it('moves what was known unmined to its place when it comes with a proof', async () => {
    const deployed = await make([fund()], [t.deployMint(alice, 1000n)])
    const id = t.tokenIdOf(deployed)
    await arrive(deployed)
    await settle()
    expect((await node.tokens.token(id))!.score).toBeGreaterThan(1e9)
    chain.mine()
    await arrive(deployed)
    await settle()
    expect((await node.tokens.token(id))!.score).toBeLessThan(1000)
    expect(await store.use(bsv21.collections.arrived).get(deployed.txid)).toBeUndefined()
  })

  it('sees that tokens are burned by what has none', async () => {
    const deployed = await make([fund()], [t.deployMint(alice, 1000n)])
    const id = t.tokenIdOf(deployed)
    const careless = await make(
      [t.at(deployed, 0, alice), fund()],
      [{ satoshis: 900, script: t.paidTo(bob) }]
    )
    chain.mine()
    await arrive(deployed, careless)
    await settle()
    expect(await node.tokens.totals(id)).toMatchObject({ supply: 0n, burned: 1000n, holders: 0 })
  })

  describe('with tokens that are not all active', () => {
    beforeEach(async () => {
      await node.close()
      node = open({ feeXpub: XPUB })
    })

    it('keeps what is theirs, and works on it when they are whitelisted', async () => {
      const deployed = await make([fund()], [t.deployMint(alice, 1000n)])
      const id = t.tokenIdOf(deployed)
      const moved = await make([t.at(deployed, 0, alice), fund()], [t.transfer(id, 1000n, t.paidTo(bob))])
      chain.mine()
      await arrive(deployed, moved)
      await settle()
      expect(await node.tokens.token(id)).toBeDefined()
      expect(await node.tokens.totals(id)).toMatchObject({ supply: 0n })
      expect(await queueOfToken(store, id, now).stats()).toMatchObject({ due: 2 })
      expect(await node.activation.status(id)).toMatchObject({ isActive: false, reason: 'not paid for' })
      // Nobody looks at it again and again.
      expect(await store.use(bsv21.collections.ready).at().count()).toBe(0)

      await node.activation.add('whitelist', id)
      await settle()
      expect(await node.tokens.totals(id)).toMatchObject({ supply: 1000n, holders: 1 })
      expect(await queueOfToken(store, id, now).stats()).toMatchObject({ due: 0 })

      await node.activation.add('blacklist', id)
      expect(await node.activation.status(id)).toMatchObject({ isActive: false, reason: 'blacklisted' })
      const late = await make([t.at(moved, 0, bob)], [t.transfer(id, 1000n, t.paidTo(carol))])
      await expect(
        node.engine.submit({ beef: chain.beef(late.txid), topics: [topicOf(id)] })
      ).rejects.toMatchObject({
        code: 'ERR_TOKEN_INACTIVE'
      })
    })

    it('works on them at once when they are paid for, for as long as that lasts', async () => {
      const deployed = await make([fund()], [t.deployMint(alice, 1000n)])
      const id = t.tokenIdOf(deployed)
      chain.mine()
      node.pipeline.start()
      await arrive(deployed)
      await until(async () => (await node.tokens.token(id)) !== undefined)
      const { feeAddress } = await node.activation.status(id)
      const paid = chain.fund(feeAddress!, 1500)
      chain.mine()
      await node.outputs.saveOutputs(paid.txid, [{ vout: 0, satoshis: 1500, owners: [feeAddress!] }])
      await until(async () => (await node.tokens.totals(id)).supply === 1000n)
      expect(await node.activation.status(id)).toMatchObject({
        isActive: true,
        reason: 'paid for',
        credits: 1500n,
        debits: 1000n,
        balance: 500n
      })
      const moved = await make(
        [t.at(deployed, 0, alice), fund()],
        [t.transfer(id, 500n, t.paidTo(bob)), t.transfer(id, 500n, t.paidTo(carol))]
      )
      chain.mine()
      await arrive(moved)
      await until(async () => (await node.tokens.totals(id)).holders === 2)
      expect(await node.activation.status(id)).toMatchObject({ isActive: false, balance: -1500n })
    })
  })
})

const until = async (isSo: () => Promise<boolean>): Promise<void> => {
  for (let tries = 0; !(await isSo()); tries++) {
    if (tries > 500) throw new Error('it did not come to be')
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}
