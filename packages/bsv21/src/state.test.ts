/** Tokens through the engine: what is admitted, what it comes to, and that all of it goes back. */

import { parseAddress, type Transaction } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { Engine } from '@quoin/overlay'
import { openStore, type Store } from '@quoin/store'
import { OutputStore, verifyIndex } from '@quoin/txo'
import { beforeEach, describe, expect, it } from 'vitest'
import { tokenLedger } from './ledger.ts'
import { tokenLookup } from './lookup.ts'
import { TOKEN_EVENTS } from './node.testing.ts'
import { inOrder, specifiedState } from './specification.testing.ts'
import { ranked, storedState } from './state.testing.ts'
import * as t from './tokens.testing.ts'
import { Tokens } from './tokens.ts'
import { DISCOVERY, topicOf } from './topic-names.ts'
import { discoveryTopic, tokenTopics } from './topics.ts'

const [alice, bob, carol] = [t.person(1), t.person(2), t.person(3)]
const MNEE = 18446744073709500000n

describe('tokens', () => {
  let chain: DevChain
  let store: Store
  let outputs: OutputStore
  let engine: Engine
  let tokens: Tokens
  const known: Transaction[] = []

  beforeEach(async () => {
    chain = new DevChain()
    store = await openStore('memory:')
    outputs = new OutputStore(store, { events: TOKEN_EVENTS, ledger: tokenLedger })
    engine = new Engine({
      outputs,
      tracker: chain,
      topics: { [DISCOVERY]: discoveryTopic },
      families: [{ find: tokenTopics }],
      lookups: { ls_bsv21: tokenLookup(outputs) },
      proofs: chain
    })
    tokens = new Tokens(outputs)
    known.length = 0
    return async () => {
      await engine.close()
      await store.close()
    }
  })

  const fund = (): t.Spent => t.at(chain.fund(alice.address, 1000), 0, alice)
  const make = async (...args: Parameters<typeof t.transaction>): Promise<Transaction> => {
    const made = t.transaction(...args)
    await chain.submit(made)
    return made
  }
  const submit = async (made: Transaction, ...topics: string[]): Promise<void> => {
    known.push(made)
    await engine.submit({ beef: chain.beef(made.txid), topics })
  }
  /** What the store has is what the specification says, and what a rebuilt index has. */
  const isRight = async (...ids: string[]): Promise<void> => {
    const expected = ranked(specifiedState(inOrder(known)), address => parseAddress(address).hash)
    expect(await storedState(outputs, ids)).toEqual(Object.fromEntries(ids.map(id => [id, expected[id]])))
    const { differences } = await verifyIndex(store, { events: TOKEN_EVENTS, ledger: tokenLedger })
    expect(differences).toEqual([])
  }

  it('are known once they are deployed', async () => {
    const deployed = await make(
      [fund()],
      [t.deployMint(alice, MNEE, { sym: 'MNEE', dec: '5', icon: '_1' }), t.deployAuth(alice)]
    )
    await submit(deployed, DISCOVERY)
    const id = t.tokenIdOf(deployed)
    expect(await tokens.token(id)).toMatchObject({
      id,
      op: 'deploy+mint',
      amt: MNEE,
      sym: 'MNEE',
      dec: 5,
      icon: `${id.slice(0, -1)}1`
    })
    expect(await tokens.token(t.tokenIdOf(deployed, 1))).toMatchObject({ op: 'deploy+auth', amt: 0n, dec: 0 })
    expect((await outputs.search({ keys: ['sym:MNEE'] })).rows).toHaveLength(1)
    // Nothing counts before the topic of the token has evaluated it.
    expect(await tokens.totals(id)).toMatchObject({ supply: 0n, holders: 0 })
  })

  it('are moved, burned and listed, and every holder has what is left', async () => {
    const deployed = await make([fund()], [t.deployMint(alice, MNEE)])
    const id = t.tokenIdOf(deployed)
    const topic = topicOf(id)
    const moved = await make(
      [t.at(deployed, 0, alice), fund()],
      [
        t.transfer(id, 1000n, t.paidTo(bob)),
        t.transfer(id, 500n, t.cosigned(bob)),
        t.transfer(id, 300n, t.listedBy(carol)),
        t.burn(id, 7n),
        t.transfer(id, MNEE - 2000n, t.paidTo(alice))
      ]
    )
    await submit(deployed, DISCOVERY, topic)
    await submit(moved, topic)
    expect(await tokens.totals(id)).toEqual({
      minted: MNEE,
      supply: MNEE - 200n,
      burned: 200n,
      listed: 300n,
      listings: 1,
      ltm: 0n,
      pow20: 0n,
      holders: 3
    })
    expect(await tokens.balance(id, 'p2pkh', [bob.address])).toEqual({ amount: 1000n, outputs: 1 })
    expect(await tokens.balance(id, 'cos', [bob.address])).toEqual({ amount: 500n, outputs: 1 })
    expect(await tokens.balance(id, 'p2pkh', [alice.address, bob.address, bob.address])).toEqual({
      amount: MNEE - 1000n,
      outputs: 2
    })
    const { holders } = await tokens.holders(id, { limit: 10 })
    expect(holders.map(({ address, amount }) => [address, amount])).toEqual([
      [alice.address, MNEE - 2000n],
      [bob.address, 1500n],
      [carol.address, 300n]
    ])
    for (const key of [
      `p2pkh:${bob.address}:${id}`,
      `cos:${bob.address}:${id}`,
      `list:${id}`,
      `list:${carol.address}:${id}`
    ]) {
      expect((await outputs.search({ keys: [key] })).rows, key).toHaveLength(1)
    }
    expect((await outputs.search({ keys: [`p2pkh:${alice.address}:${id}:spnd`] })).rows).toHaveLength(1)
    expect((await outputs.search({ keys: [`id:${id}:spnd`] })).rows).toHaveLength(1)
    await isRight(id)
  })

  it('count the minted part of binary values by what their transaction spends, whenever that comes', async () => {
    const deployed = await make(
      [fund()],
      [t.binary(undefined, 0n, t.paidTo(alice), { sym: 'GOLD', dec: 2n })]
    )
    const id = t.tokenIdOf(deployed)
    const topic = topicOf(id)
    const minted = await make(
      [t.at(deployed, 0, alice), fund()],
      [t.binary(id, 100n, t.paidTo(alice)), t.auth(id, t.paidTo(bob)), t.binary(id, 0n, t.paidTo(bob))]
    )
    const moved = await make([t.at(minted, 0, alice), fund()], [t.binary(id, 100n, t.paidTo(carol))])
    const both = await make(
      [t.at(minted, 1, bob), t.at(moved, 0, carol), fund()],
      [t.binary(id, 60n, t.paidTo(alice)), t.binary(id, 90n, t.cosigned(bob))]
    )
    await submit(deployed, DISCOVERY, topic)
    expect(await tokens.token(id)).toMatchObject({
      op: 'deploy+auth',
      sym: 'GOLD',
      dec: 2,
      encoding: 'binary'
    })
    await submit(minted, topic)
    await submit(both, topic)
    // Of the ancestor that pays for a part of it, only the spends are known: all of it counts as minted.
    expect(await tokens.totals(id)).toMatchObject({ minted: 250n, supply: 150n, burned: 100n })
    await submit(moved, topic)
    await engine.settle()
    expect(await tokens.totals(id)).toMatchObject({ minted: 150n, supply: 150n, burned: 0n, holders: 2 })
    await isRight(id)
    // The transaction is indexed again, and the topic that is asked has nothing to add.
    await submit(both, DISCOVERY)
    expect(await tokens.totals(id)).toMatchObject({ minted: 150n, supply: 150n })
  })

  it('cannot be made by a transfer that nothing good comes into (forged)', async () => {
    const deployed = await make([fund()], [t.deployMint(alice, 1000n)])
    const id = t.tokenIdOf(deployed)
    const forged = await make([fund()], [t.transfer(id, 1_000_000n, t.paidTo(bob))])
    const passedOn = await make([t.at(forged, 0, bob), fund()], [t.transfer(id, 1_000_000n, t.paidTo(carol))])
    await submit(deployed, topicOf(id))
    await submit(forged, topicOf(id))
    await submit(passedOn, topicOf(id))
    expect(await tokens.totals(id)).toMatchObject({ supply: 1000n, holders: 1 })
    expect((await engine.admissions(forged.txid))?.[topicOf(id)]).toMatchObject({
      outputsToAdmit: [],
      refused: { 0: expect.stringContaining('exceed its valid inputs') }
    })
    await isRight(id)
  })

  it('are the same in whatever order transactions come', async () => {
    const deployed = await make([fund()], [t.deployAuth(alice)])
    const id = t.tokenIdOf(deployed)
    const minted = await make(
      [t.at(deployed, 0, alice), fund()],
      [t.mint(id, 50n, t.paidTo(alice)), t.mint(id, 60n, t.paidTo(bob)), t.auth(id, t.paidTo(alice))]
    )
    const first = await make(
      [t.at(minted, 0, alice), t.at(minted, 1, bob), fund()],
      [t.transfer(id, 110n, t.paidTo(carol))]
    )
    const second = await make(
      [t.at(first, 0, carol), fund()],
      [t.transfer(id, 10n, t.paidTo(bob)), t.transfer(id, 100n, t.paidTo(carol))]
    )
    chain.mine()
    for (const each of [second, first, minted, deployed]) await submit(each, topicOf(id))
    expect(await tokens.totals(id)).toMatchObject({ minted: 110n, supply: 110n, holders: 2 })
    await isRight(id)
  })

  it('are burned by a transaction that does not know of them, and come back with it', async () => {
    const deployed = await make([fund()], [t.deployMint(alice, 1000n)])
    const id = t.tokenIdOf(deployed)
    await submit(deployed, topicOf(id))
    const careless = await make(
      [t.at(deployed, 0, alice), fund()],
      [{ satoshis: 900, script: t.paidTo(bob) }]
    )
    await submit(careless, DISCOVERY)
    expect(await tokens.totals(id)).toMatchObject({ minted: 1000n, supply: 0n, burned: 1000n, holders: 0 })
    await isRight(id)
    await outputs.rollback(careless.txid)
    known.pop()
    expect(await tokens.totals(id)).toMatchObject({ supply: 1000n, burned: 0n, holders: 1 })
    await isRight(id)
  })

  it('go back to what they were when a reorg takes a transfer back, and leave nothing when it takes all', async () => {
    const deployed = await make([fund()], [t.deployMint(alice, 1000n)])
    const id = t.tokenIdOf(deployed)
    chain.mine()
    await submit(deployed, topicOf(id))
    const before = await storedState(outputs, [id])
    const moved = await make([t.at(deployed, 0, alice), fund()], [t.transfer(id, 400n, t.paidTo(bob))])
    chain.mine()
    await submit(moved, topicOf(id))
    expect(await tokens.totals(id)).toMatchObject({ supply: 400n, burned: 600n })
    const { fork } = await chain.reorg(1, { drop: [moved.txid] })
    await engine.proofs.reconcile(fork + 1)
    expect(await storedState(outputs, [id])).toEqual(before)
    await outputs.rollback(deployed.txid)
    expect(await storedState(outputs, [id])).toEqual({
      [id]: {
        minted: 0n,
        supply: 0n,
        burned: 0n,
        listed: 0n,
        balances: {},
        holders: [],
        outputs: [],
        unspent: []
      }
    })
  })

  it('are counted right when many move them at once', async () => {
    const many = 40
    const people = Array.from({ length: many }, (_, i) => t.person(100 + i))
    const deployed = await make([fund()], [t.deployMint(alice, BigInt(many) * 10n)])
    const id = t.tokenIdOf(deployed)
    const spread = await make(
      [t.at(deployed, 0, alice), fund()],
      people.map(each => t.transfer(id, 10n, t.paidTo(each)))
    )
    const moves = await Promise.all(
      people.map((each, i) =>
        make(
          [t.at(spread, i, each), fund()],
          [t.transfer(id, 3n, t.paidTo(bob)), t.transfer(id, 6n, t.paidTo(each))]
        )
      )
    )
    chain.mine()
    await Promise.all([deployed, spread, ...moves].map(each => submit(each, topicOf(id))))
    await engine.settle()
    expect(await tokens.balance(id, 'p2pkh', [bob.address])).toEqual({ amount: 3n * 40n, outputs: 40 })
    expect(await tokens.totals(id)).toMatchObject({ supply: 360n, burned: 40n, holders: 41 })
    await isRight(id)
  })
})
