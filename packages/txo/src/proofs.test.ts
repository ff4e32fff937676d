/** Verified BEEF into the index, proofs, reorgs, and the index rebuilt from what is stored, on a development chain. */

import { formatAddress, hash160, p2pkh, type Transaction } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { makeOutpoint } from '@quoin/primitives'
import { openStore } from '@quoin/store'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makeKey, payTo, spend, withKeyHash } from '../../chain/src/verify/test-chain.testing.ts'
import { Indexer } from './indexer.ts'
import { outputs as outputKeys } from './keys.ts'
import { OutputStore } from './output-store.ts'
import { Proofs } from './proofs.ts'
import { verifyIndex } from './verify.ts'

const ann = makeKey('ann')
const bob = makeKey('bob')
const own = (key: { publicKey: Uint8Array }): string => `own:${formatAddress(hash160(key.publicKey), 'main')}`

let chain: DevChain
let outputs: OutputStore
let indexer: Indexer
let proofs: Proofs

beforeEach(async () => {
  chain = new DevChain({ seed: 'proofs' })
  outputs = new OutputStore(await openStore('memory:'))
  indexer = new Indexer(outputs, chain)
  proofs = new Proofs(outputs, chain, chain)
})
afterEach(async () => {
  expect((await verifyIndex(outputs.store)).differences).toEqual([])
  await outputs.store.close()
})

const pay = (from: Transaction, vout: number, key = ann, to = bob): Transaction =>
  spend({
    inputs: [{ from, vout, unlock: withKeyHash(key) }],
    outputs: [{ satoshis: from.outputs[vout]!.satoshis, script: payTo(to) }]
  })
const submitted = async (transaction: Transaction): Promise<Transaction> => {
  await chain.submit(transaction)
  await indexer.index(chain.beef(transaction.txid), 1_700_000_000)
  return transaction
}
const scores = async (key: string): Promise<number[]> =>
  (await outputs.search({ keys: [key] })).rows.map(({ score }) => score)

describe('indexing BEEF', () => {
  it('saves the outputs, what they mean, what is spent, and everything it rests on', async () => {
    const funding = chain.fund(payTo(ann), 1000)
    const first = await submitted(pay(funding, 0))
    const loaded = await outputs.loadOutput(makeOutpoint(first.txid, 0), {
      includeEvents: true,
      includeOutput: true,
      includeSatoshis: true,
      includeTags: ['p2pkh']
    })
    expect(loaded).toMatchObject({ satoshis: 1000n, output: first.outputs[0], data: { p2pkh: {} } })
    expect(loaded?.events).toContain(own(bob))
    expect(await outputs.spends([makeOutpoint(funding.txid, 0)])).toEqual([first.txid])
    expect(await scores(`${own(ann)}:spnd`)).toEqual([1_700_000_000])
    expect(await outputs.transactions.beef(first.txid, { atomic: true })).toEqual(chain.beef(first.txid))
  })

  it('of a forged one writes nothing', async () => {
    const funding = chain.fund(payTo(ann), 1000)
    await chain.submit(pay(funding, 0, bob))
    await expect(indexer.index(chain.beef(pay(funding, 0, bob).txid))).rejects.toMatchObject({
      code: 'ERR_TX_INVALID'
    })
    expect(await outputs.store.hgetall(outputKeys.collections.spends.encode())).toEqual([])
  })

  it('again changes nothing; with a proof it moves', async () => {
    const first = await submitted(pay(chain.fund(payTo(ann), 1000), 0))
    const last = await outputs.journal.last()
    await indexer.index(chain.beef(first.txid))
    expect(await outputs.journal.last()).toBe(last)
    chain.mine()
    await indexer.index(chain.beef(first.txid))
    expect((await scores(own(bob)))[0]).toBeLessThan(1000)
  })

  it('an ancestor that is not mined is known by what it spends, and takes its descendants with it', async () => {
    const funding = chain.fund(payTo(ann), 1000)
    const parent = pay(funding, 0)
    await chain.submit(parent)
    const child = await submitted(pay(parent, 0, bob, ann))
    await expect(
      (async () => {
        const other = pay(funding, 0, ann, ann)
        const rival = new DevChain({ seed: 'proofs' })
        rival.fund(payTo(ann), 1000)
        await rival.submit(other)
        await indexer.index(rival.beef(other.txid))
      })()
    ).rejects.toMatchObject({ code: 'ERR_TXO_CONFLICT' })
    const gone = await outputs.rollback(funding.txid)
    expect(gone).toEqual(expect.arrayContaining([parent.txid, child.txid]))
  })
})

describe('proofs', () => {
  it('move everything of a transaction in one commit', async () => {
    const first = await submitted(pay(chain.fund(payTo(ann), 1000), 0))
    chain.mine()
    const answer = await chain.proof(first.txid)
    if (answer.status !== 'mined') return expect.unreachable()
    await proofs.save(first.txid, answer.bump)
    const score = answer.bump.height + answer.bump.offsetOf(first.txid)! / 1e9
    expect(await scores(own(bob))).toEqual([score])
    expect(await scores(`${own(ann)}:spnd`)).toEqual([score])
    expect(await outputs.transactions.beef(first.txid, { atomic: true })).toEqual(chain.beef(first.txid))
  })

  it('are refused when the headers do not bear them out, or nothing is known of the transaction', async () => {
    const first = await submitted(pay(chain.fund(payTo(ann), 1000), 0))
    const other = new DevChain({ seed: 'another' })
    other.fund(p2pkh(new Uint8Array(20)), 5)
    other.mine(chain.height)
    const answer = await other.proof(other.block(2)![0]!.txid)
    if (answer.status !== 'mined') return expect.unreachable()
    await expect(proofs.save(first.txid, answer.bump)).rejects.toMatchObject({ code: 'ERR_PROOF_INVALID' })
    chain.mine()
    const unknown = chain.fund(payTo(bob), 7)
    chain.mine()
    const proof = await chain.proof(unknown.txid)
    if (proof.status !== 'mined') return expect.unreachable()
    await expect(proofs.save(unknown.txid, proof.bump)).rejects.toMatchObject({ code: 'ERR_TX_UNKNOWN' })
  })
})

describe('a reorg', () => {
  it('moves what was mined elsewhere, and takes back what is gone with all that rests on it', async () => {
    const [kept, dropped] = [chain.fund(payTo(ann), 1000), chain.fund(payTo(ann), 2000)]
    chain.mine()
    const first = await submitted(pay(kept, 0))
    const second = await submitted(pay(dropped, 0))
    const third = await submitted(pay(second, 0, bob, ann))
    chain.mine()
    for (const { txid } of [first, second, third]) await indexer.index(chain.beef(txid))
    const { fork } = await chain.reorg(1, { drop: [second.txid] })
    const outcome = await proofs.reconcile(fork + 1)
    expect(outcome.moved).toEqual([first.txid])
    expect(outcome.removed).toEqual(expect.arrayContaining([second.txid, third.txid]))
    expect(await scores(own(bob))).toHaveLength(1)
    expect(await outputs.spends([makeOutpoint(dropped.txid, 0)])).toEqual([null])
    expect(await proofs.reconcile(0)).toEqual({ moved: [], unmined: [], removed: [] })
  })

  it('without a source puts a transaction back to waiting', async () => {
    const first = await submitted(pay(chain.fund(payTo(ann), 1000), 0))
    chain.mine()
    await indexer.index(chain.beef(first.txid))
    await chain.reorg(1)
    const outcome = await new Proofs(outputs, chain).reconcile(0)
    expect(outcome.unmined).toContainEqual(first.txid)
    expect(await scores(own(bob))).toEqual([1_700_000_000])
  })
})

describe('the rebuilt index', () => {
  it('shows whatever was changed by hand', async () => {
    const first = await submitted(pay(chain.fund(payTo(ann), 1000), 0))
    const { store } = outputs
    const outpoint = makeOutpoint(first.txid, 0)
    const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
    const hash = Uint8Array.from([...bytes('h:'), ...outpoint])
    const repairs: [() => Promise<void>, () => Promise<void>][] = [
      [
        () => store.zrem(bytes(`z:${own(bob)}`), outpoint),
        () => store.zadd(bytes(`z:${own(bob)}`), { member: outpoint, score: 1_700_000_000 })
      ],
      [
        () => store.zcounter(bytes('z:balance:satoshis'), bytes(own(bob)), 5),
        () => store.zcounter(bytes('z:balance:satoshis'), bytes(own(bob)), -5)
      ],
      [
        () => store.zadd(bytes(`z:${own(ann)}`), { member: outpoint, score: 3 }),
        () => store.zrem(bytes(`z:${own(ann)}`), outpoint)
      ],
      [
        () => store.hset(hash, bytes('sa'), Uint8Array.of(3, 7)),
        () => store.hset(hash, bytes('sa'), Uint8Array.of(3, 232, 7))
      ]
    ]
    for (const [damage, repair] of repairs) {
      await damage()
      expect((await verifyIndex(store)).differences).toHaveLength(1)
      await repair()
    }
  })
})
