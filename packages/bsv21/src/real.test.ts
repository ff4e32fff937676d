/** Real transactions through the engine: what the chain has of MNEE, BAMBOO, BUIDL and a listing. */

import type { ProofAnswer, Transaction } from '@quoin/chain'
import { makeOutpoint } from '@quoin/primitives'
import { openStore, type Store } from '@quoin/store'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { TestChain } from '../../chain/src/verify/test-chain.testing.ts'
import { type Fixture, fixture, ordLock, person } from '../../txo/src/scripts/scripts.testing.ts'
import { TokenNode } from './node.testing.ts'
import { readTokenLock } from './token-lock.ts'
import { tokenIdOf } from './tokens.testing.ts'

class ProvedChain extends TestChain {
  readonly name = 'test chain'
  proof = async (): Promise<ProofAnswer> => ({ status: 'unknown' })
}

let chain: ProvedChain
let store: Store
let node: TokenNode

beforeEach(async () => {
  chain = new ProvedChain()
  store = await openStore('memory:')
  node = new TokenNode(store, { chain, activation: 'all' })
})
afterEach(async () => {
  await node.close()
  await store.close()
})

const arrive = async (...names: readonly Fixture[]): Promise<Transaction[]> => {
  const transactions = names.map(name => fixture(name))
  for (const each of transactions) {
    chain.mine(each)
    await node.pipeline.ingest.ingestBeef(chain.beef([each]))
  }
  await node.pipeline.settle()
  await node.engine.settle()
  return transactions
}
const found = async (key: string): Promise<number> => (await node.outputs.search({ keys: [key] })).rows.length
const eventsOf = async (transaction: Transaction, vout: number): Promise<readonly string[]> =>
  (await node.outputs.loadOutput(makeOutpoint(transaction.txid, vout), { includeEvents: true }))!.events!

it.each([
  ['in order', ['mnee', 'mneeTransfer']],
  ['the other way round', ['mneeTransfer', 'mnee']]
] as const)('MNEE, whose supply is nearly 2^64, and its first transfer, %s', async (_, names) => {
  await arrive(...names)
  const deployed = fixture('mnee')
  const moved = fixture('mneeTransfer')
  const id = tokenIdOf(deployed)
  expect(await node.tokens.token(id)).toMatchObject({ sym: 'MNEE', dec: 5, amt: 18446744073709500000n })
  expect(await node.tokens.totals(id)).toMatchObject({
    minted: 18446744073709500000n,
    supply: 18446744073709500000n,
    burned: 0n,
    holders: 2
  })
  const [first, second] = (await node.tokens.holders(id, { limit: 10 })).holders
  expect([first!.amount, second!.amount]).toEqual([18446744073699500000n, 10000000n])
  expect(second!.locks).toEqual({ cos: { amount: 10000000n, outputs: 1 } })
  expect(await eventsOf(moved, 0)).toEqual([`cos:${second!.address}:${id}`, `id:${id}`])
  expect(await eventsOf(moved, 1)).toEqual([`id:${id}`, `p2pkh:${first!.address}:${id}`])
  expect(await found('sym:MNEE')).toBe(1)
})

it('BAMBOO, all of it under a contract that mints for locks', async () => {
  const [deployed] = await arrive('bamboo')
  const id = tokenIdOf(deployed!)
  const { supply, ltm, pow20, holders } = await node.tokens.totals(id)
  expect([ltm, pow20, holders]).toEqual([supply, 0n, 0])
  expect(supply).toBeGreaterThan(0n)
  expect(await found(`ltm:${id}`)).toBe(1)
})

it('BUIDL, all of it under a contract that mints for work', async () => {
  const [deployed] = await arrive('buidl')
  const id = tokenIdOf(deployed!)
  const { supply, ltm, pow20, holders } = await node.tokens.totals(id)
  expect([ltm, pow20, holders]).toEqual([0n, supply, 0])
  expect(supply).toBeGreaterThan(0n)
  expect(await found(`pow20:${id}`)).toBe(1)
})

it('the lock of a real listing is its seller\u2019s, as is one that is made here', () => {
  const real = fixture('listing').outputs[0]!
  expect(readTokenLock(real.script)).toMatchObject({ lock: 'list', holder: expect.stringMatching(/^1/) })
  expect(readTokenLock(ordLock(person(4), 5))).toEqual({ lock: 'list', holder: person(4).address })
})
