/** What the engine's storage promises, apart from what the comparison with the reference shows. */
import type { Storage as OverlayStorage } from '@bsv/overlay'
import { type BeefTransaction, type Transaction, writeBeef, writeTransaction } from '@quoin/chain'
import type { Topic } from '@quoin/primitives'
import { openStore, type Store } from '@quoin/store'
import { OutputStore, TxUpdate, verifyIndex } from '@quoin/txo'
import { afterEach, beforeEach, describe, expect, expectTypeOf, it } from 'vitest'
import { beefContent, differences } from './compare.testing.ts'
import { EngineStorage } from './engine-storage.ts'
import { idOf, script, TOPICS, World } from './world.testing.ts'

const [ONE, TWO] = TOPICS
const NO_PROOFS = new Map()

let world: World
let store: Store
let outputs: OutputStore
let ours: EngineStorage

beforeEach(async () => {
  world = new World()
  store = await openStore('memory:')
  outputs = new OutputStore(store, { now: () => world.clock / 1000 })
  ours = new EngineStorage(outputs)
})
afterEach(() => store.close())

const conflicts = { code: 'ERR_TXO_CONFLICT' }

describe('as the storage of an engine', () => {
  it('has the interface', () => {
    expectTypeOf<EngineStorage>().toExtend<OverlayStorage>()
  })

  it('an answer about what cannot be is that there is none', async () => {
    const [a] = world.transactions as [Transaction]
    await ours.insertOutput(world.output(a, 0, ONE))
    for (const [txid, vout] of [
      ['kv0001', 0],
      [idOf(a), -1],
      [idOf(a), 0.5],
      [idOf(a), 2 ** 32],
      [idOf(a), 7]
    ] as const) {
      expect(await ours.findOutput(txid, vout, ONE)).toBeNull()
      expect(await ours.findOutputsByOutpoints([{ txid, outputIndex: vout }])).toEqual([])
    }
    expect(await ours.findOutputsForTransaction('kv0001')).toEqual([])
    expect(await ours.doesAppliedTransactionExist({ txid: 'kv0001', topic: ONE })).toBe(false)
    expect(await ours.findUTXOsForTopic('tm_unknown')).toEqual([])
    expect(await ours.getLastInteraction('https://nobody.example', ONE)).toBe(0)
  })

  it('finds many outputs at once, in all topics, in the order asked', async () => {
    const [a, b] = world.transactions as [Transaction, Transaction]
    for (const topic of [ONE, TWO]) await ours.insertOutput(world.output(a, 1, topic))
    await ours.insertOutput(world.output(b, 0, TWO))
    const asked = [
      [b, 0],
      [a, 0],
      [a, 1]
    ] as const
    const rows = await ours.findOutputsByOutpoints(
      asked.map(([each, outputIndex]) => ({ txid: idOf(each), outputIndex })),
      true
    )
    expect(rows.map(row => [row.txid, row.outputIndex, row.topic])).toEqual([
      [idOf(b), 0, TWO],
      [idOf(a), 1, ONE],
      [idOf(a), 1, TWO]
    ])
    for (const row of rows) expect(Array.isArray(row.beef)).toBe(true)
  })

  it('lists a topic of more than one page', async () => {
    const count = 10_500
    const big = writeTransaction({
      version: 1,
      inputs: [{ txid: world.transactions[0]!.txid, vout: 0, script: new Uint8Array(), sequence: 0 }],
      outputs: Array.from({ length: count }, (_, i) => ({ satoshis: 1, script: script(i) })),
      lockTime: 0
    })
    const change = new TxUpdate(big.txid, { vouts: count }).addWrites(batch =>
      outputs.transactions.saveIn(batch, big, { verified: false })
    )
    for (let vout = 0; vout < count; vout++) change.output(vout, { satoshis: 1 }).admit(ONE as Topic, vout)
    await outputs.commit(change)
    await ours.markUTXOAsSpent(idOf(big), 17, ONE)
    const vouts = async (limit?: number): Promise<number[]> =>
      (await ours.findUTXOsForTopic(ONE, undefined, limit)).map(({ outputIndex }) => outputIndex)
    const expected = Array.from({ length: count }, (_, i) => i).filter(vout => vout !== 17)
    expect(await vouts()).toEqual(expected)
    expect(await vouts(10_200)).toEqual(expected.slice(0, 10_200))
  })

  it('takes BEEF of every version, atomic or not, whatever else is in it', async () => {
    const [a, b] = world.transactions as [Transaction, Transaction]
    const child = world.spend(a, 0)
    const grandchild = world.spend(child, 0)
    const entry = (transaction: Transaction): BeefTransaction => ({
      txid: transaction.txid,
      transaction,
      bump: world.transactions.indexOf(transaction) < 2 ? world.mine(transaction) : undefined
    })
    const v2 = writeBeef({ version: 2, atomic: child.txid, transactions: [entry(a), entry(child)] })
    await ours.insertOutput(world.output(child, 0, ONE, { beef: [...v2] }))
    const known = { txid: child.txid, transaction: undefined, bump: undefined }
    const short = writeBeef({ version: 2, transactions: [entry(b), known, entry(grandchild)] })
    await ours.insertOutput(world.output(grandchild, 0, ONE, { beef: [...short] }))
    const found = await ours.findOutput(idOf(grandchild), 0, ONE, undefined, true)
    expect(Object.keys(beefContent(found!.beef!, idOf(grandchild), NO_PROOFS))).toEqual(
      [grandchild, child, a].map(idOf)
    )
    // It was beside the transaction, where nobody has verified it.
    expect(await outputs.transactions.get(b.txid)).toBeUndefined()
  })

  it('believes nothing of what is behind a proof, which nobody has verified', async () => {
    const [a, b] = world.transactions as [Transaction, Transaction]
    const child = world.spend(a, 0)
    const [mined, behind] = [child, a].map(transaction => ({
      txid: transaction.txid,
      transaction,
      bump: world.mine(transaction)
    })) as [BeefTransaction, BeefTransaction]
    const beef = [...writeBeef({ version: 1, transactions: [behind, mined] })]
    await ours.insertOutput(world.output(child, 0, ONE, { beef }))
    expect(await outputs.transactions.get(a.txid)).toBeUndefined()
    expect(await outputs.transactions.proof(a.txid)).toBeUndefined()
    expect(await outputs.transactions.get(b.txid)).toBeUndefined()
  })

  it('a transaction is at its place in the chain, whoever brought the proof', async () => {
    const [a] = world.transactions as [Transaction]
    const parent = world.spend(a, 0)
    const child = world.spend(parent, 0)
    const { height } = world.mine(parent)
    await ours.insertOutput(world.output(child, 0, ONE))
    expect(await outputs.record(parent.txid)).toBeUndefined()
    await ours.insertOutput(world.output(parent, 1, ONE, { beef: world.beef(parent, false) }))
    expect(await ours.findOutput(idOf(parent), 1, ONE)).toMatchObject({
      blockHeight: height,
      score: height + 2e-9
    })
    expect((await verifyIndex(store)).differences).toEqual([])
  })

  it('refuses a BEEF that contradicts itself, and leaves what it would take back', async () => {
    const [a] = world.transactions as [Transaction]
    const mined = world.spend(a, 0)
    world.mine(mined)
    // Its proof is here, but not what it spends.
    await ours.insertOutput(world.output(world.spend(mined, 0), 0, ONE))
    const double = world.create(
      world.coins([
        { of: 0, vout: 0 },
        { of: world.transactions.indexOf(mined), vout: 1 }
      ]),
      1
    )
    await ours.insertOutput(world.output(double, 0, ONE))
    const child = world.spend(double, 0)
    const beef = world.beef(child, false)
    await expect(ours.insertOutput(world.output(child, 0, ONE, { beef }))).rejects.toMatchObject(conflicts)
    expect(await ours.findOutput(idOf(double), 0, ONE)).not.toBeNull()
    expect(await outputs.transactions.get(child.txid)).toBeUndefined()
  })

  it('an output that others saved without its transaction, or without an ancestor, does not hide the rest', async () => {
    const [a, b] = world.transactions as [Transaction, Transaction]
    const child = world.spend(b, 0)
    await ours.insertOutput(world.output(a, 0, ONE))
    await outputs.commit(new TxUpdate(b.txid).admit(ONE as Topic, 0))
    const alone = new TxUpdate(child.txid).addWrites(batch =>
      outputs.transactions.saveIn(batch, child, { verified: false })
    )
    await outputs.commit(alone.admit(ONE as Topic, 0).admit(ONE as Topic, 9))
    const rows = await ours.findUTXOsForTopic(ONE, 0, 0, true)
    expect(rows.map(({ txid, beef }) => [txid, beef !== undefined])).toEqual([
      [idOf(a), true],
      [idOf(child), false]
    ])
    expect(await ours.findOutput(idOf(b), 0, ONE)).toBeNull()
  })

  it('refuses an output that the transaction or the BEEF does not have', async () => {
    const [a, b] = world.transactions as [Transaction, Transaction]
    await expect(ours.insertOutput({ ...world.output(a, 0, ONE), outputIndex: 3 })).rejects.toMatchObject({
      code: 'ERR_KEY_VALUE'
    })
    await expect(ours.insertOutput({ ...world.output(a, 0, ONE), txid: idOf(b) })).rejects.toMatchObject({
      code: 'ERR_TX_UNKNOWN'
    })
    await expect(ours.insertOutput(world.output(a, 0, ONE, { beef: [1, 2, 3] }))).rejects.toMatchObject({
      code: 'ERR_BEEF_FORMAT'
    })
    expect(await differences(store, await openStore('memory:'))).toEqual([])
  })

  it('a score that is no time in milliseconds says nothing of when it was', async () => {
    const [a] = world.transactions as [Transaction]
    const [first, second] = [world.spend(a, 0), world.spend(a, 1)]
    await ours.insertOutput(world.output(first, 0, ONE, { score: 1_650_000_000_500 }))
    await ours.insertOutput(world.output(second, 0, ONE, { score: 7 }))
    const scores = (await ours.findUTXOsForTopic(ONE)).map(({ score }) => score)
    expect(scores).toEqual([1_650_000_000.5, world.clock / 1000])
  })

  it('what was verified before stays so', async () => {
    const [a] = world.transactions as [Transaction]
    const batch = store.batch()
    outputs.transactions.saveIn(batch, a, { verified: true })
    await batch.commit()
    await ours.insertOutput(world.output(a, 0, ONE))
    expect(await outputs.transactions.known([a.txid])).toMatchObject([{ height: 1 }])
  })

  it('a coin is unspent again when its spender is taken back, though the topic had it marked', async () => {
    const [a] = world.transactions as [Transaction]
    const [early, late] = [world.spend(a, 0), world.spend(a, 1)]
    for (const vout of [0, 1, 2]) await ours.insertOutput(world.output(a, vout, ONE))
    await ours.markUTXOAsSpent(idOf(a), 0, ONE)
    await ours.insertOutput(world.output(early, 0, ONE))
    await ours.insertOutput(world.output(late, 0, ONE))
    await ours.markUTXOAsSpent(idOf(a), 1, ONE)
    await ours.markUTXOAsSpent(idOf(a), 2, ONE)
    const coins = async (): Promise<boolean[]> =>
      (await ours.findOutputsForTransaction(idOf(a))).map(({ spent }) => spent)
    expect(await coins()).toEqual([true, true, true])
    await outputs.rollback(early.txid)
    await outputs.rollback(late.txid)
    expect(await coins()).toEqual([false, false, true])
  })

  it('to mark, to delete or to give a height to what is not there changes nothing', async () => {
    const [a] = world.transactions as [Transaction]
    await ours.markUTXOAsSpent(idOf(a), 0, ONE)
    await ours.deleteOutput(idOf(a), 0, ONE)
    await ours.updateOutputBlockHeight(idOf(a), 0, ONE, 5)
    await ours.updateTransactionBEEF(idOf(a), world.beef(a, true))
    expect(await differences(store, await openStore('memory:'))).toEqual([])
    expect(await outputs.journal.last()).toBe(0)
  })

  it('all outputs of a transaction may be inserted at once, and one that is refused does not hurt the others', async () => {
    const [a] = world.transactions as [Transaction]
    const big = world.spend(a, 0, 200)
    const beef = world.beef(big, true)
    await ours.insertOutput(world.output(world.spend(a, 1, 1), 0, TWO))
    const conflicting = world.spend(a, 1, 2)
    const writes = big.outputs.map((_, vout) => ours.insertOutput(world.output(big, vout, ONE, { beef })))
    const refused = ours.insertOutput(world.output(conflicting, 0, ONE))
    await expect(refused).rejects.toMatchObject(conflicts)
    await Promise.all(writes)
    expect(await ours.findUTXOsForTopic(ONE)).toHaveLength(200)
    expect(await outputs.transactions.get(conflicting.txid)).toBeUndefined()
    expect((await verifyIndex(store)).differences).toEqual([])
  })

  it('two of them on one store do not lose what the other writes', async () => {
    const [a] = world.transactions as [Transaction]
    const second = new EngineStorage(new OutputStore(store))
    const big = world.spend(a, 0, 40)
    const beef = world.beef(big, true)
    await Promise.all(
      big.outputs.map((_, vout) =>
        (vout % 2 ? ours : second).insertOutput(world.output(big, vout, ONE, { beef }))
      )
    )
    expect(await ours.findUTXOsForTopic(ONE)).toHaveLength(40)
  })
})
