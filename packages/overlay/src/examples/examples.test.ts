/** The examples run, with real signatures on the development chain. */

import { Beef, type Output, type Transaction } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { makeOutpoint, toHex } from '@quoin/primitives'
import { openStore } from '@quoin/store'
import { OutputStore, verifyIndex } from '@quoin/txo'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type Key,
  makeKey,
  payTo,
  pushDrop,
  signDigest,
  spend,
  withKey,
  withKeyHash
} from '../../../chain/src/verify/signed.testing.ts'
import { answerBeef, Engine, installPlugins } from '../index.ts'
import { hello } from './hello.ts'
import { mintDigest, tokenOf } from './token.ts'

const [issuer, alice, bob] = ['issuer', 'alice', 'bob'].map(makeKey) as [Key, Key, Key]
let chain: DevChain
let engine: Engine

beforeEach(async () => {
  chain = new DevChain({ seed: 'examples' })
  const outputs = new OutputStore(await openStore('memory:'))
  const plugins = await installPlugins([hello, tokenOf(issuer.publicKey)], { outputs })
  engine = new Engine({ outputs, tracker: chain, ...plugins })
})
afterEach(async () => {
  await engine.close()
  expect((await verifyIndex(engine.outputs.store)).differences).toEqual([])
  await engine.outputs.store.close()
})

const submit = async (transaction: Transaction, topic: string) => {
  await chain.submit(transaction)
  const steak = await engine.submit({ beef: chain.beef(transaction.txid), topics: [topic] })
  return steak[topic]!
}
const text = (field: string): Uint8Array => Buffer.from(field)

describe('hello', () => {
  const say = async (...messages: string[]): Promise<Transaction> => {
    const transaction = spend({
      inputs: [{ from: chain.fund(payTo(alice), 100), vout: 0, unlock: withKeyHash(alice) }],
      outputs: messages.map(message => ({ satoshis: 1, script: pushDrop(alice, [text(message)]) }))
    })
    expect(await submit(transaction, 'tm_hello')).toMatchObject({ outputsToAdmit: [...messages.keys()] })
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
    expect(await submit(taken, 'tm_hello')).toMatchObject({ outputsToAdmit: [], coinsRemoved: [0] })
    expect(await find({ message: 'hello' })).toEqual([])
  })

  it('what is asked for wrongly is an error with a code', async () => {
    await expect(find({ message: 7 })).rejects.toMatchObject({ code: 'ERR_KEY_VALUE' })
    await expect(find({ limit: 'many' })).rejects.toMatchObject({ code: 'ERR_STORE_OPTION' })
  })
})

describe('token', () => {
  const amountFor = (key: Key, amount: bigint, ...more: Uint8Array[]): Output => ({
    satoshis: 1,
    script: pushDrop(key, [text('tok'), text(`${amount}`), ...more])
  })
  const coin = (): { from: Transaction; vout: number; unlock: ReturnType<typeof withKeyHash> } => ({
    from: chain.fund(payTo(issuer), 1000),
    vout: 0,
    unlock: withKeyHash(issuer)
  })
  const mint = (amount: bigint, signer = issuer, signed = amount): Transaction => {
    const paid = coin()
    const digest = mintDigest({ txid: paid.from.txid, vout: 0 }, 0, alice.publicKey, signed)
    return spend({
      inputs: [paid],
      outputs: [{ ...amountFor(alice, amount, signDigest(digest, signer)), satoshis: 100 }]
    })
  }
  const send = (from: Transaction, ...outputs: Output[]): Transaction =>
    spend({ inputs: [{ from, vout: 0, unlock: withKey(alice) }], outputs })
  const holdings = async (holder: Key): Promise<unknown[]> => {
    const found = await engine.lookup('ls_token', { holder: toHex(holder.publicKey) })
    const loaded = await engine.outputs.loadOutputs(
      found.map(({ outpoint }) => outpoint),
      { includeTags: ['token'] }
    )
    return loaded.map(each => each!.data!['token'])
  }
  const reasons = async ({ txid }: Transaction) => (await engine.judgements(txid))!['tm_token']!.refused

  it('is minted by its issuer, and by nobody else', async () => {
    const huge = 2n ** 64n - 1n
    expect(await submit(mint(huge), 'tm_token')).toMatchObject({ outputsToAdmit: [0] })
    expect(await holdings(alice)).toEqual([{ amount: `${huge}` }])
    for (const forged of [mint(5n, bob), mint(500n, issuer, 5n)]) {
      expect(await submit(forged, 'tm_token')).toMatchObject({ outputsToAdmit: [] })
      expect(await reasons(forged)).toEqual({ 0: 'the issuer did not sign this mint' })
    }
  })

  it('a signature is for one coin: it does not mint again', async () => {
    const first = mint(5n)
    await submit(first, 'tm_token')
    const again = spend({ inputs: [coin()], outputs: first.outputs })
    expect(await submit(again, 'tm_token')).toMatchObject({ outputsToAdmit: [] })
  })

  it('is conserved by transfers', async () => {
    const minted = mint(100n)
    await submit(minted, 'tm_token')
    const sent = send(minted, amountFor(bob, 60n), amountFor(alice, 40n))
    expect(await submit(sent, 'tm_token')).toMatchObject({ outputsToAdmit: [0, 1], coinsToRetain: [0] })
    expect([await holdings(alice), await holdings(bob)]).toEqual([[{ amount: '40' }], [{ amount: '60' }]])
  })

  it.each([99n, 101n])('100 do not become %s', async amount => {
    const minted = mint(100n)
    await submit(minted, 'tm_token')
    const sent = send(minted, amountFor(bob, amount))
    expect(await submit(sent, 'tm_token')).toMatchObject({ outputsToAdmit: [] })
    expect(await reasons(sent)).toEqual({
      0: `${amount} tokens are sent, and 100 are spent: they have to be the same`
    })
    expect([await holdings(alice), await holdings(bob)]).toEqual([[], []])
  })

  it('out of nothing is none', async () => {
    const made = spend({ inputs: [coin()], outputs: [amountFor(alice, 1n)] })
    expect(await submit(made, 'tm_token')).toMatchObject({ outputsToAdmit: [] })
  })

  it('keeps its history, back to the mint', async () => {
    const minted = mint(100n)
    await submit(minted, 'tm_token')
    const middle = send(minted, amountFor(alice, 100n))
    await submit(middle, 'tm_token')
    chain.mine()
    const last = send(middle, amountFor(bob, 100n))
    await submit(last, 'tm_token')
    const [found] = await engine.lookup('ls_token', { holder: toHex(bob.publicKey) })
    const beef = Beef.parse(answerBeef(found!))
    for (const { txid } of [minted, middle, last]) expect(beef.find(txid)?.transaction).toBeDefined()
  })
})
