/** How often the indexer verifies a transaction: once, unless a transaction that was known has been removed meanwhile. */

import { type Transaction, writeBeef } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { equalBytes } from '@quoin/primitives'
import { openStore, type Store } from '@quoin/store'
import { afterEach, expect, it, vi } from 'vitest'
import { makeKey, payTo, spend, withKeyHash } from '../../chain/src/verify/test-chain.testing.ts'
import { Indexer } from './indexer.ts'
import { OutputStore } from './output-store.ts'
import { verifyIndex } from './verify.ts'

const key = makeKey('stale')
let store: Store
afterEach(async () => {
  expect((await verifyIndex(store)).differences).toEqual([])
  await store.close()
})

const childOf = (from: Transaction): Transaction =>
  spend({
    inputs: [{ from, vout: 0, unlock: withKeyHash(key) }],
    outputs: [{ satoshis: 900, script: payTo(key) }]
  })

/** With a chain of a parent and its child, both unmined. */
const newScene = async () => {
  const chain = new DevChain({ seed: 'stale' })
  store = await openStore('memory:')
  const outputs = new OutputStore(store)
  const parent = childOf(chain.fund(payTo(key), 1000))
  const child = childOf(parent)
  for (const each of [parent, child]) await chain.submit(each)
  const { known } = outputs
  const looked = vi.spyOn(outputs, 'known')
  const verifications = () => looked.mock.calls.filter(([[first]]) => equalBytes(first!, child.txid)).length
  return { chain, outputs, indexer: new Indexer(outputs, chain), parent, child, known, looked, verifications }
}

it('an orphan is verified once', async () => {
  const { chain, indexer, child, verifications } = await newScene()
  const alone = writeBeef({
    version: 2,
    transactions: [{ txid: child.txid, transaction: child, bump: undefined }]
  })
  await expect(indexer.index(alone)).rejects.toMatchObject({ code: 'ERR_TX_UNKNOWN' })
  expect(verifications()).toBe(1)
  await indexer.index(chain.beef(child.txid))
})

it('a transaction is verified again when its parent is removed before the commit', async () => {
  const { chain, outputs, indexer, parent, child, known, looked, verifications } = await newScene()
  await indexer.index(chain.beef(parent.txid))
  let isRemoved = false
  looked.mockImplementation(async txids => {
    const answers = await known(txids)
    if (!isRemoved && txids.some(txid => equalBytes(txid, parent.txid))) {
      isRemoved = true
      await outputs.rollback(parent.txid)
    }
    return answers
  })
  await indexer.index(chain.beef(child.txid))
  expect(verifications()).toBe(2)
  expect(await outputs.record(parent.txid)).toBeDefined()
  expect(await outputs.record(child.txid)).toBeDefined()
})
