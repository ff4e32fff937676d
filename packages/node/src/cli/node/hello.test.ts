/** The overlay of `quoin demo`, with real signatures on the development chain. */

import type { Transaction } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { Engine, installPlugins } from '@quoin/overlay'
import { makeOutpoint } from '@quoin/primitives'
import { openStore } from '@quoin/store'
import { OutputStore, verifyIndex } from '@quoin/txo'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  makeKey,
  payTo,
  pushDrop,
  spend,
  withKey,
  withKeyHash
} from '../../../../chain/src/verify/test-chain.testing.ts'
import { hello } from './hello.ts'

const alice = makeKey('alice')
let chain: DevChain
let engine: Engine

beforeEach(async () => {
  chain = new DevChain({ seed: 'hello' })
  const outputs = new OutputStore(await openStore('memory:'))
  const plugins = await installPlugins([hello], { outputs })
  engine = new Engine({ outputs, tracker: chain, ...plugins })
})
afterEach(async () => {
  await engine.close()
  expect((await verifyIndex(engine.outputs.store)).differences).toEqual([])
  await engine.outputs.store.close()
})

const submit = async (transaction: Transaction) => {
  await chain.submit(transaction)
  const steak = await engine.submit({ beef: chain.beef(transaction.txid), topics: ['tm_hello'] })
  return steak['tm_hello']!
}
const text = (field: string): Uint8Array => Buffer.from(field)

describe('hello', () => {
  const say = async (...messages: string[]): Promise<Transaction> => {
    const transaction = spend({
      inputs: [{ from: chain.fund(payTo(alice), 100), vout: 0, unlock: withKeyHash(alice) }],
      outputs: messages.map(message => ({ satoshis: 1, script: pushDrop(alice, [text(message)]) }))
    })
    expect(await submit(transaction)).toMatchObject({ outputsToAdmit: [...messages.keys()] })
    return transaction
  }
  const find = (query: unknown) => engine.lookup('ls_hello', query)

  it('finds messages by what they say, whatever that is', async () => {
    const transaction = await say('hello', 'a:b/c', 'hello')
    expect((await find({ message: 'hello' })).map(({ outpoint }) => outpoint)).toEqual([
      makeOutpoint(transaction.txid, 0),
      makeOutpoint(transaction.txid, 2)
    ])
    expect(await find({ message: 'a:b/c' })).toHaveLength(1)
    expect(await find({ message: 'a' })).toEqual([])
    expect(await find(null)).toHaveLength(3)
    expect(await find({ limit: 2 })).toHaveLength(2)
  })

  it('forgets what is spent, and takes no payment for a message', async () => {
    const said = await say('hello')
    const taken = spend({
      inputs: [{ from: said, vout: 0, unlock: withKey(alice) }],
      outputs: [{ satoshis: 1, script: payTo(alice) }]
    })
    expect(await submit(taken)).toMatchObject({ outputsToAdmit: [], coinsRemoved: [0] })
    expect(await find({ message: 'hello' })).toEqual([])
  })

  it('what is asked for wrongly is an error with a code', async () => {
    await expect(find({ message: 7 })).rejects.toMatchObject({ code: 'ERR_KEY_VALUE' })
    await expect(find({ limit: 'many' })).rejects.toMatchObject({ code: 'ERR_STORE_OPTION' })
  })
})
