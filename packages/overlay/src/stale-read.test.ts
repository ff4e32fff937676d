/** How often a submission is verified and evaluated: once, unless its coins changed meanwhile. */

import { type Transaction, writeBeef } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { formatTxid } from '@quoin/primitives'
import { openStore } from '@quoin/store'
import { OutputStore, verifyIndex } from '@quoin/txo'
import { afterEach, expect, it, vi } from 'vitest'
import { makeKey, payTo, spend, withKeyHash } from '../../chain/src/verify/test-chain.testing.ts'
import { Engine, verifyAdmissions } from './index.ts'
import type { QuoinTopic } from './types.ts'

const key = makeKey('stale')
let engine: Engine
afterEach(async () => {
  await engine.close()
  expect((await verifyIndex(engine.outputs.store)).differences).toEqual([])
  for await (const { finding } of verifyAdmissions(engine.outputs.store)) expect(finding).toBeUndefined()
  await engine.outputs.store.close()
})

const childOf = (from: Transaction): Transaction =>
  spend({
    inputs: [{ from, vout: 0, unlock: withKeyHash(key) }],
    outputs: [{ satoshis: 900, script: payTo(key) }]
  })

/** A parent and its child, both unmined, and a topic that admits all outputs. */
const newScene = async (whileEvaluating: (transaction: Transaction) => Promise<unknown>) => {
  const chain = new DevChain({ seed: 'stale' })
  const parent = childOf(chain.fund(payTo(key), 1000))
  const child = childOf(parent)
  for (const each of [parent, child]) await chain.submit(each)
  const evaluations: string[] = []
  const topic: QuoinTopic = {
    getDocumentation: async () => 'All outputs.',
    getMetaData: async () => ({ name: 'all', shortDescription: 'all' }),
    admit: async ({ transaction, previousCoins }) => {
      evaluations.push(`${formatTxid(transaction.txid)} ${previousCoins.length}`)
      await whileEvaluating(transaction)
      return { outputs: [...transaction.outputs.keys()], retain: previousCoins.map(({ input }) => input) }
    }
  }
  const outputs = new OutputStore(await openStore('memory:'))
  const looked = vi.spyOn(outputs, 'known')
  engine = new Engine({ outputs, tracker: chain, topics: { tm_all: topic } })
  const verifications = ({ txid }: Transaction) =>
    looked.mock.calls.filter(([[first]]) => formatTxid(first!) === formatTxid(txid)).length
  return { chain, parent, child, evaluations, verifications }
}

it('an orphan is verified once, and no topic evaluates it', async () => {
  const { child, evaluations, verifications } = await newScene(async () => undefined)
  const alone = writeBeef({
    version: 2,
    transactions: [{ txid: child.txid, transaction: child, bump: undefined }]
  })
  const submitted = engine.submit({ beef: alone, topics: ['tm_all'] })
  await expect(submitted).rejects.toMatchObject({ code: 'ERR_TX_UNKNOWN' })
  expect(verifications(child)).toBe(1)
  expect(evaluations).toEqual([])
})

it('a transaction is verified and evaluated again when the topic admits its parent meanwhile', async () => {
  const topics = ['tm_all']
  const scene = await newScene(async transaction => {
    const { chain, parent, child } = scene
    // Repeated, the submission of the parent gets its first answer.
    if (formatTxid(transaction.txid) === formatTxid(child.txid)) {
      await engine.submit({ beef: chain.beef(parent.txid), topics })
    }
  })
  const { chain, parent, child, evaluations, verifications } = scene
  const steak = await engine.submit({ beef: chain.beef(child.txid), topics })
  expect(steak['tm_all']).toEqual({ outputsToAdmit: [0], coinsToRetain: [0], coinsRemoved: [] })
  expect(evaluations).toEqual([
    `${formatTxid(child.txid)} 0`,
    `${formatTxid(parent.txid)} 0`,
    `${formatTxid(child.txid)} 1`
  ])
  expect(verifications(child)).toBe(2)
})

it('a transaction whose coins change at every attempt is refused as stale, not as unknown', async () => {
  const topics = ['tm_all']
  const chain = new DevChain({ seed: 'stale' })
  const PARENTS = 5
  const parents = Array.from({ length: PARENTS }, () => childOf(chain.fund(payTo(key), 1000)))
  const child = spend({
    inputs: parents.map(from => ({ from, vout: 0, unlock: withKeyHash(key) })),
    outputs: [{ satoshis: 1000, script: payTo(key) }]
  })
  for (const each of [...parents, child]) await chain.submit(each)
  let next = 0
  const topic: QuoinTopic = {
    getDocumentation: async () => 'All outputs.',
    getMetaData: async () => ({ name: 'all', shortDescription: 'all' }),
    admit: async ({ transaction }) => {
      if (formatTxid(transaction.txid) === formatTxid(child.txid) && next < PARENTS) {
        await engine.submit({ beef: chain.beef(parents[next++]!.txid), topics })
      }
      return { outputs: [...transaction.outputs.keys()] }
    }
  }
  engine = new Engine({
    outputs: new OutputStore(await openStore('memory:')),
    tracker: chain,
    topics: { tm_all: topic }
  })
  const submit = () => engine.submit({ beef: chain.beef(child.txid), topics })
  await expect(submit()).rejects.toMatchObject({ code: 'ERR_STALE_READ' })
  expect(next).toBe(PARENTS)
  expect((await submit())['tm_all']?.outputsToAdmit).toEqual([0])
})
