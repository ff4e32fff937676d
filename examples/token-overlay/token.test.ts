/** The token, with real signatures on the development chain. */

import { Beef, type Output, type Transaction } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { answerBeef, Engine, installPlugins } from '@quoin/overlay'
import { toHex } from '@quoin/primitives'
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
} from '../../packages/chain/src/verify/test-chain.testing.ts'
import { mintDigest, tokenOf } from './token.ts'

const [issuer, alice, bob] = ['issuer', 'alice', 'bob'].map(makeKey) as [Key, Key, Key]
let chain: DevChain
let engine: Engine

beforeEach(async () => {
  chain = new DevChain({ seed: 'token' })
  const outputs = new OutputStore(await openStore('memory:'))
  const plugins = await installPlugins([tokenOf(issuer.publicKey)], { outputs })
  engine = new Engine({ outputs, tracker: chain, ...plugins })
})
afterEach(async () => {
  await engine.close()
  expect((await verifyIndex(engine.outputs.store)).differences).toEqual([])
  await engine.outputs.store.close()
})

const submit = async (transaction: Transaction) => {
  await chain.submit(transaction)
  const steak = await engine.submit({ beef: chain.beef(transaction.txid), topics: ['tm_token'] })
  return steak['tm_token']!
}
const text = (field: string): Uint8Array => Buffer.from(field)

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
  const reasons = async ({ txid }: Transaction) => (await engine.admissions(txid))!['tm_token']!.refused

  it('is minted by its issuer, and by nobody else', async () => {
    const huge = 2n ** 64n - 1n
    expect(await submit(mint(huge))).toMatchObject({ outputsToAdmit: [0] })
    expect(await holdings(alice)).toEqual([{ amount: `${huge}` }])
    for (const forged of [mint(5n, bob), mint(500n, issuer, 5n)]) {
      expect(await submit(forged)).toMatchObject({ outputsToAdmit: [] })
      expect(await reasons(forged)).toEqual({ 0: 'the issuer did not sign this mint' })
    }
  })

  it('a signature is for one coin: it does not mint again', async () => {
    const first = mint(5n)
    await submit(first)
    const again = spend({ inputs: [coin()], outputs: first.outputs })
    expect(await submit(again)).toMatchObject({ outputsToAdmit: [] })
  })

  it('is conserved by transfers', async () => {
    const minted = mint(100n)
    await submit(minted)
    const sent = send(minted, amountFor(bob, 60n), amountFor(alice, 40n))
    expect(await submit(sent)).toMatchObject({ outputsToAdmit: [0, 1], coinsToRetain: [0] })
    expect([await holdings(alice), await holdings(bob)]).toEqual([[{ amount: '40' }], [{ amount: '60' }]])
  })

  it.each([99n, 101n])('100 do not become %s', async amount => {
    const minted = mint(100n)
    await submit(minted)
    const sent = send(minted, amountFor(bob, amount))
    expect(await submit(sent)).toMatchObject({ outputsToAdmit: [] })
    expect(await reasons(sent)).toEqual({
      0: `the transaction sends ${amount} tokens and spends 100: the sums must be equal`
    })
    expect([await holdings(alice), await holdings(bob)]).toEqual([[], []])
  })

  it('out of nothing is none', async () => {
    const made = spend({ inputs: [coin()], outputs: [amountFor(alice, 1n)] })
    expect(await submit(made)).toMatchObject({ outputsToAdmit: [] })
  })

  it('keeps its history, back to the mint', async () => {
    const minted = mint(100n)
    await submit(minted)
    const middle = send(minted, amountFor(alice, 100n))
    await submit(middle)
    chain.mine()
    const last = send(middle, amountFor(bob, 100n))
    await submit(last)
    const [found] = await engine.lookup('ls_token', { holder: toHex(bob.publicKey) })
    const beef = Beef.parse(answerBeef(found!))
    for (const { txid } of [minted, middle, last]) expect(beef.find(txid)?.transaction).toBeDefined()
  })
})
