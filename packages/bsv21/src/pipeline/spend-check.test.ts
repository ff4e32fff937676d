/** A spender that no subscription delivers is found by asking for it. */
import type { Transaction } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { type Outpoint, sleep, type Txid } from '@quoin/primitives'
import { openStore, type Store } from '@quoin/store'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { TokenNode, type TokenNodeOptions } from '../node.testing.ts'
import { type ServedTransaction, tscProof } from '../source/junglebus.testing.ts'
import { JungleBusRest } from '../source/junglebus-rest.ts'
import { JungleBusServer } from '../source/junglebus-server.testing.ts'
import * as t from '../tokens.testing.ts'

const [alice, bob] = [t.person(1), t.person(2)]
let chain: DevChain
let store: Store
let server: JungleBusServer
let node: TokenNode

beforeEach(async () => {
  chain = new DevChain()
  store = await openStore('memory:')
  server = await JungleBusServer.start({ subscription: 'ef'.repeat(32) })
})
afterEach(async () => {
  await node.close()
  await server.close()
  await store.close()
})

const open = (options: Partial<TokenNodeOptions> = {}): void => {
  node = new TokenNode(store, { chain, activation: 'all', spends: new JungleBusRest(server.url), ...options })
}

/** As the service has it: with its proof. */
const served = ({ txid, raw }: Transaction): ServedTransaction => {
  const height = chain.heightOf(txid)!
  const txids = chain.block(height)!.map(each => each.txid)
  const index = txids.findIndex(each => each === txid || Buffer.compare(each, txid) === 0)
  return { txid, raw, index, proof: tscProof(txids, index) }
}

/** A token, and a spender without an output of it. */
const destroyed = async () => {
  const deployed = t.transaction([t.at(chain.fund(alice.address, 1000), 0, alice)], [t.deployMint(alice, 9n)])
  const spender = t.transaction([t.at(deployed, 0, alice)], [{ satoshis: 1, script: t.paidTo(bob) }])
  await t.mined(chain, deployed, spender)
  await node.pipeline.ingest.ingestBeef(chain.beef(deployed.txid))
  await node.pipeline.settle()
  return { id: t.tokenIdOf(deployed), spender }
}

const until = async (isTrue: () => Promise<boolean> | boolean): Promise<void> => {
  for (let tries = 0; !(await isTrue()); tries++) {
    if (tries > 1000) throw new Error('it did not come to be')
    await sleep(10)
  }
}

it('asks for the spenders of unspent outputs, and ingests them', async () => {
  open()
  const { id, spender } = await destroyed()
  expect((await node.tokens.totals(id)).supply).toBe(9n)
  server.know(chain.heightOf(spender.txid)!, served(spender))
  node.pipeline.start()
  await until(async () => (await node.tokens.totals(id)).supply === 0n)
  await until(async () => (await node.pipeline.status()).spends?.sweptAt !== undefined)
  expect((await node.pipeline.status()).spends).toMatchObject({ asked: 1, found: 1 })
})

it('asks for nothing of inactive tokens, nor of spent outputs', async () => {
  open({ activation: 'listed' })
  await destroyed()
  node.pipeline.start()
  await until(async () => (await node.pipeline.status()).spends?.sweptAt !== undefined)
  expect(server.asked).toEqual([])
})

it('believes no service that names a transaction which does not spend the output', async () => {
  let asked = 0
  const rest = new JungleBusRest(server.url)
  let other: Txid | undefined
  const spends = {
    name: rest.name,
    transaction: rest.transaction.bind(rest),
    spender: async (_: Outpoint) => {
      asked++
      return other
    }
  }
  open({ spends })
  const { id } = await destroyed()
  const stranger = chain.fund(bob.address, 5)
  chain.mine()
  server.know(chain.heightOf(stranger.txid)!, served(stranger))
  other = stranger.txid
  node.pipeline.start()
  await until(() => asked > 0)
  await sleep(50)
  expect((await node.tokens.totals(id)).supply).toBe(9n)
  expect(await node.outputs.record(stranger.txid)).toBeUndefined()
  expect((await node.pipeline.status()).spends).toMatchObject({ found: 0, sweptAt: undefined })
})
