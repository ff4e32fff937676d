/** A token's history is everything that admits or spends its outputs: spenders without outputs of the token among them. */
import type { Transaction } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { openStore, type Store } from '@quoin/store'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { TokenNode, type TokenNodeOptions } from '../node.testing.ts'
import * as t from '../tokens.testing.ts'
import { DISCOVERY, topicOf } from '../topic-names.ts'
import { Dispatcher } from './dispatcher.ts'
import { StagedTransactions } from './staged-transactions.ts'

const [alice, bob] = [t.person(1), t.person(2)]
let chain: DevChain
let store: Store
let node: TokenNode
let late = 0
const now = (): number => Date.now() / 1000 + late

beforeEach(async () => {
  chain = new DevChain()
  store = await openStore('memory:')
})
afterEach(async () => {
  await node.close()
  await store.close()
})

const open = (options: Omit<TokenNodeOptions, 'chain' | 'now'>): void => {
  late = 0
  node = new TokenNode(store, { chain, now, ...options })
}
const fund = (): t.Spent => t.at(chain.fund(alice.address, 1000), 0, alice)
const ingest = async (...made: readonly Transaction[]): Promise<void> => {
  for (const { txid } of made) await node.pipeline.ingest.ingestBeef(chain.beef(txid))
}
const settle = async (): Promise<void> => {
  late += 1000
  await node.pipeline.settle()
  await node.engine.settle()
}

/** Two tokens, and a transaction that spends the first and claims the second, which it has not. */
const destroying = async () => {
  const first = t.transaction([fund()], [t.deployMint(alice, 1000n)])
  const second = t.transaction([fund()], [t.deployMint(bob, 5n)])
  const other = t.tokenIdOf(second)
  const spender = t.transaction([t.at(first, 0, alice), fund()], [t.transfer(other, 9n, t.paidTo(bob))])
  await t.mined(chain, first, second, spender)
  return { first, second, spender, id: t.tokenIdOf(first), other }
}

it('takes a token from its holder when the spender has outputs of an inactive token only', async () => {
  open({ activation: 'listed' })
  const { first, second, spender, id } = await destroying()
  await node.activation.add('whitelist', id)
  await ingest(spender, second, first)
  await settle()
  expect(await node.tokens.totals(id)).toMatchObject({ minted: 1000n, supply: 0n, holders: 0 })
})

it('does so too when the other token becomes inactive between dispatch and its worker', async () => {
  open({ activation: 'listed', isShared: true })
  const { first, second, spender, id, other } = await destroying()
  await node.activation.add('whitelist', id)
  await node.activation.add('whitelist', other)
  await ingest(first, second, spender)
  const { engine, activation, outputs } = node
  const dispatcher = new Dispatcher({ engine, activation, staged: new StagedTransactions(outputs), now })
  expect((await dispatcher.dispatch(10)).count).toBe(3)
  await node.activation.remove('whitelist', other)
  await settle()
  expect(await node.tokens.totals(id)).toMatchObject({ supply: 0n, holders: 0 })
  expect(await node.tokens.totals(other)).toMatchObject({ supply: 0n })
  await node.activation.add('whitelist', other)
  await settle()
  expect(await node.tokens.totals(other)).toMatchObject({ supply: 5n, holders: 1 })
})

it('has every token of a transaction that was submitted to one topic, and those of its ancestors', async () => {
  open({ activation: 'all' })
  const deployed = t.transaction([fund()], [t.deployMint(alice, 1000n), t.deployMint(bob, 7n)])
  const [id, other] = [t.tokenIdOf(deployed), t.tokenIdOf(deployed, 1)]
  await chain.submit(deployed)
  const moved = t.transaction(
    [t.at(deployed, 0, alice), t.at(deployed, 1, bob), fund()],
    [t.transfer(id, 1000n, t.paidTo(bob)), t.transfer(other, 7n, t.paidTo(alice))]
  )
  await chain.submit(moved)
  await node.engine.submit({ beef: chain.beef(moved.txid), topics: [topicOf(id)] })
  expect((await node.engine.admissions(moved.txid))?.[topicOf(id)]?.outputsToAdmit).toEqual([])
  await settle()
  expect((await node.engine.admissions(deployed.txid))?.[DISCOVERY]?.outputsToAdmit).toEqual([0, 1])
  expect(await node.tokens.totals(id)).toMatchObject({ supply: 1000n, holders: 1 })
  expect(await node.tokens.totals(other)).toMatchObject({ supply: 7n, holders: 1 })
})
