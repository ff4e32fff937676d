import { createHook } from 'node:async_hooks'
import { openStore } from '@quoin/store'
import { OutputStore } from '@quoin/txo'
import { afterAll, expect, it } from 'vitest'
import { makeKey, payTo, spend, TestChain, withKeyHash } from '../../chain/src/verify/test-chain.testing.ts'
import { Engine } from './engine.ts'

const chain = new TestChain()
const key = makeKey('promises')
const outputs = new OutputStore(await openStore('memory:'))
const about = {
  getDocumentation: async () => '',
  getMetaData: async () => ({ name: '', shortDescription: '' })
}
const engine = new Engine({
  outputs,
  tracker: chain,
  topics: { tm_all: { ...about, admit: () => ({ outputs: [0] }) } }
})
afterAll(async () => {
  await engine.close()
  await outputs.store.close()
})

/** Promises of a submission with one input; other work of the process adds to some of the counts. */
const promisesOfOne = async (): Promise<number> => {
  const parent = chain.fund([{ satoshis: 1000, script: payTo(key) }])
  const inputs = [{ from: parent, vout: 0, unlock: withKeyHash(key) }]
  const subject = spend({ inputs, outputs: [{ satoshis: 900, script: payTo(key) }] })
  const beef = chain.beef([parent, subject])
  let promises = 0
  const hook = createHook({ init: (_, type) => void (type === 'PROMISE' && promises++) }).enable()
  const steak = await engine.submit({ beef, topics: ['tm_all'] })
  hook.disable()
  expect(steak['tm_all']!.outputsToAdmit).toEqual([0])
  return promises
}

it('a submission with one input makes at most 100 promises on a store that reads synchronously', async () => {
  const counts: number[] = []
  for (let i = 0; i < 10; i++) counts.push(await promisesOfOne())
  expect(Math.min(...counts)).toBeLessThanOrEqual(100)
})
