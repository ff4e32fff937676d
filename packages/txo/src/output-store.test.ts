/** What the output store promises, on every engine where it matters that there are several. */

import { word } from '@quoin/keyspace'

import { makeOutpoint, type Outpoint, type Topic, type Txid } from '@quoin/primitives'
import { openStore, type Store } from '@quoin/store'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { describeStores } from '../../store/src/stores.testing.ts'
import { compareIndexes, type Difference } from './compare.ts'
import { EventRegistry, event, events, outputEvents, unspent } from './events.ts'
import {
  ADDRESSES,
  changeOf,
  downstream,
  eventsOf,
  type HistoryTransaction,
  history,
  NOW,
  outpointOf,
  own,
  txidNumber
} from './history.testing.ts'
import type { LoadOptions } from './load-outputs.ts'
import { OutputStore } from './output-store.ts'
import { TxUpdate } from './tx-update.ts'
import { verifyIndex } from './verify.ts'

const [ANN, BOB] = ADDRESSES.map(own) as [string, string]
const TOPIC = 'tm_test' as Topic
const OTHER = 'tm_other' as Topic

const opened = async (): Promise<OutputStore> =>
  new OutputStore(await openStore('memory:'), { now: () => NOW })
const differences = async (a: Store, b: Store): Promise<Difference[]> => {
  const found: Difference[] = []
  for await (const difference of compareIndexes(a, b)) found.push(difference)
  return found
}
const played = async (all: readonly HistoryTransaction[], order = all): Promise<OutputStore> => {
  const outputs = await opened()
  for (const each of order) await outputs.commit(changeOf(each, all))
  return outputs
}
const mined = (height: number, index = 0n) => ({ position: { height, index } })
const [A, B, C, D] = [1, 2, 3, 4].map(txidNumber) as [Txid, Txid, Txid, Txid]
const A0 = makeOutpoint(A, 0)
const A1 = makeOutpoint(A, 1)
const B0 = makeOutpoint(B, 0)
const found = async (outputs: OutputStore, ...keys: string[]): Promise<[Outpoint, number][]> =>
  (await outputs.search({ keys })).rows.map(({ outpoint, score }) => [outpoint, score])

describe('saving outputs', () => {
  it('makes them findable by owner and by transaction, under the score of where they are', async () => {
    const outputs = await opened()
    await outputs.saveOutputs(A, [{ vout: 0, satoshis: 5, owners: [ADDRESSES[0]] }], mined(850_000, 123n))
    expect(await found(outputs, ANN)).toEqual([[A0, 850_000.000000123]])
    expect(await outputs.loadOutputsByTxid(A, { includeEvents: true, includeBlock: true })).toEqual([
      {
        outpoint: A0,
        score: 850_000.000000123,
        events: [ANN, `txid:${Buffer.from(A).reverse().toString('hex')}`],
        block: { height: 850_000, index: 123n }
      }
    ])
  })

  it('what is not mined is scored by when it was first seen, and a later word does not change that', async () => {
    const outputs = await opened()
    await outputs.saveOutputs(A, [{ vout: 0, satoshis: 5, owners: [ADDRESSES[0]] }], {
      seen: 1_700_000_000.5
    })
    await outputs.saveOutputs(A, [{ vout: 0, satoshis: 5, owners: [ADDRESSES[0]] }], { seen: 1_800_000_000 })
    expect(await found(outputs, ANN)).toEqual([[A0, 1_700_000_000.5]])
  })

  it('an unknown outpoint is null, in its place', async () => {
    const outputs = await opened()
    await outputs.saveOutputs(A, [{ vout: 1, satoshis: 5 }])
    await outputs.saveSpend(B0, C)
    const [first, second, third] = await outputs.loadOutputs([A0, A1, B0], { includeSatoshis: true })
    expect([first, second?.satoshis, third]).toEqual([null, 5n, null])
    expect(await outputs.areKnown([A0, A1, B0])).toEqual([false, true, false])
    expect(await outputs.satoshis([A0, A1])).toEqual([null, 5n])
    expect(await outputs.spends([A0, B0])).toEqual([null, C])
  })

  it('many are loaded in the order asked, as often as asked, each as it is loaded alone', async () => {
    const outputs = await opened()
    const vouts = Array.from({ length: 300 }, (_, vout) => vout)
    for (const txid of [A, B]) {
      const change = new TxUpdate(txid, mined(txid === A ? 5 : 6))
      for (const vout of vouts) {
        const data = vout % 3 === 0 ? { note: vout, other: 'x'.repeat(vout) } : { note: vout }
        change.output(vout, { satoshis: vout, events: vout % 2 ? [ANN] : [], data })
        if (vout % 5 === 0) change.admit(TOPIC, vout)
      }
      await outputs.commit(change)
    }
    await outputs.saveSpend(makeOutpoint(A, 299), C)
    // Transactions take turns, so that no slice of them has the outputs of one alone.
    const asked = vouts.flatMap(vout => [
      makeOutpoint(A, vout),
      makeOutpoint(B, 299 - vout),
      makeOutpoint(C, vout)
    ])
    asked.push(makeOutpoint(A, 0), makeOutpoint(A, 0))
    const all: LoadOptions = {
      includeSatoshis: true,
      includeSpend: true,
      includeEvents: true,
      includeTopics: true,
      includeBlock: true,
      includeTags: 'all',
      includeOutput: true,
      includeRawtx: true,
      includeMerkleProof: true
    }
    for (const options of [all, { includeTags: ['other'], includeEvents: true }, {}] as LoadOptions[]) {
      const loaded = await outputs.loadOutputs(asked, options)
      const alone = await Promise.all(asked.map(outpoint => outputs.loadOutput(outpoint, options)))
      expect(loaded).toEqual(alone)
      expect(loaded.map(each => each?.outpoint ?? null)).toEqual(
        asked.map((outpoint, i) => (i % 3 === 2 && i < 900 ? null : outpoint))
      )
    }
    const [first] = await outputs.loadOutputs([makeOutpoint(A, 3)], {
      includeTags: 'all',
      includeSatoshis: true
    })
    expect(first).toMatchObject({ satoshis: 3n, data: { note: 3, other: 'xxx' } })
  })

  it('an event of no declared type is refused, and nothing is written', async () => {
    const outputs = await opened()
    for (const event of ['nothing', 'own:', 'own:nobody', `${ANN}:spnd`, 'tp:tm_x', '']) {
      await expect(outputs.saveEvents(A0, { events: [ANN, event] })).rejects.toMatchObject({
        code: 'ERR_TXO_EVENT'
      })
    }
    expect(await outputs.loadOutput(A0)).toBeNull()
  })

  it('several writers add up, whoever comes first', async () => {
    const saves = [
      (outputs: OutputStore) =>
        outputs.saveOutputs(A, [{ vout: 0, satoshis: 7, owners: [ADDRESSES[0]] }], mined(9)),
      (outputs: OutputStore) => outputs.saveEvents(A0, { events: [BOB], data: { note: { text: 'hello' } } }),
      (outputs: OutputStore) => outputs.admit(TOPIC, A0, { inputs: [B0], dependencies: [C] }),
      (outputs: OutputStore) => outputs.saveSpend(A0, B, [ANN], mined(10))
    ]
    const [one, other] = [await opened(), await opened()]
    for (const save of saves) await save(one)
    for (const save of saves.reverse()) await save(other)
    expect(await differences(one.store, other.store)).toEqual([])
    const loaded = await one.loadOutput(A0, {
      includeEvents: true,
      includeTags: 'all',
      includeTopics: true,
      includeSpend: true
    })
    expect(loaded).toMatchObject({ data: { note: { text: 'hello' } }, topics: [TOPIC], spend: B })
    expect(loaded?.events).toEqual(expect.arrayContaining([ANN, BOB]))
    expect(await found(one, `${ANN}:spnd`)).toEqual([[A0, 10]])
    expect(await found(one, `${BOB}:spnd`)).toEqual([[A0, 10]])
  })

  it('saying the same again changes nothing, and publishes nothing', async () => {
    const outputs = await opened()
    const save = () => outputs.saveOutputs(A, [{ vout: 0, satoshis: 7, owners: [ADDRESSES[0]] }], mined(9))
    expect(await save()).toBe(true)
    expect(await save()).toBe(false)
    expect(await outputs.journal.last()).toBe(1)
  })

  it('the order in which transactions come, and how often, makes no difference', async () => {
    const orders = history(12).chain(all =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray([...all, ...all], { minLength: all.length * 2 }))
    )
    await fc.assert(
      fc.asyncProperty(orders, async ([all, order]) => {
        const [forwards, shuffled] = [await played(all), await played(all, order)]
        expect(await differences(forwards.store, shuffled.store)).toEqual([])
      }),
      { numRuns: 60 }
    )
  })
})

describe('spending', () => {
  it('pages of unspent outputs are full as long as there are any', async () => {
    const outputs = await opened()
    const saved = Array.from({ length: 500 }, (_, vout) => ({ vout, satoshis: 1, owners: [ADDRESSES[0]] }))
    await outputs.saveOutputs(A, saved, mined(1))
    const spender = new TxUpdate(B, mined(2))
    for (let vout = 0; vout < 500; vout++) if (vout % 10 !== 0) spender.spend(makeOutpoint(A, vout), [ANN])
    await outputs.commit(spender)
    const page = await outputs.search({ keys: [ANN], filterSpent: true, limit: 20, reverse: true })
    expect(page.rows).toHaveLength(20)
    const rest = await outputs.search({
      keys: [ANN],
      filterSpent: true,
      limit: 100,
      reverse: true,
      cursor: page.cursor!
    })
    expect(rest.rows).toHaveLength(30)
    expect((await outputs.search({ keys: [`${ANN}:spnd`], limit: 1000 })).rows).toHaveLength(450)
  })

  it('outputs of events for what is unspent leave them when they are spent, and come back with a rollback', async () => {
    const declared = events('live', {
      note: unspent(event('note', 'Notes that are unspent.', word('note', 'a', 'b'))),
      every: event('every', 'All notes.', word('note', 'a', 'b'))
    })
    const types = new EventRegistry(outputEvents, declared)
    const outputs = new OutputStore(await openStore('memory:'), { now: () => NOW, events: types })
    const [note, every] = [declared.types.note.text('a'), declared.types.every.text('a')]
    await outputs.commit(
      new TxUpdate(A, mined(1)).output(0, { events: [note, every] }).output(1, { events: [note] })
    )
    const before = await found(outputs, note)
    expect(before.map(([outpoint]) => outpoint)).toEqual([A0, A1])
    await outputs.commit(
      new TxUpdate(B)
        .spend(A0)
        .spend(A1, [note])
        .output(0, { events: [note] })
    )
    expect((await found(outputs, note)).map(([outpoint]) => outpoint)).toEqual([B0])
    expect(await found(outputs, `${note}:spnd`)).toEqual([])
    expect(await found(outputs, `${every}:spnd`)).toHaveLength(1)
    // What is spent does not come back when its transaction moves.
    await outputs.commit(new TxUpdate(A, mined(7)))
    expect((await found(outputs, note)).map(([outpoint]) => outpoint)).toEqual([B0])
    expect((await verifyIndex(outputs.store, { events: types })).differences).toEqual([])
    await outputs.rollback(B)
    await outputs.commit(new TxUpdate(A, mined(1)))
    expect(await found(outputs, note)).toEqual(before)
  })

  it('a coin that another transaction spends is a conflict: refused whole, and recorded', async () => {
    const outputs = await opened()
    await outputs.saveOutputs(A, [{ vout: 0, satoshis: 1 }])
    await outputs.saveSpend(A0, B, [])
    const second = new TxUpdate(C)
      .spend(A0)
      .spend(B0)
      .output(0, { events: [ANN] })
    await expect(outputs.commit(second)).rejects.toMatchObject({ code: 'ERR_TXO_CONFLICT' })
    expect(await outputs.spends([A0, B0])).toEqual([B, null])
    expect(await found(outputs, ANN)).toEqual([])
    expect(await outputs.conflicts(A0)).toEqual([C])
  })

  it('one that is not mined gives way to one that is, with everything downstream', async () => {
    const outputs = await opened()
    await outputs.saveOutputs(A, [{ vout: 0, satoshis: 1, owners: [ADDRESSES[0]] }], mined(1))
    await outputs.commit(new TxUpdate(B).spend(A0, [ANN]).output(0, { satoshis: 1, events: [BOB] }))
    await outputs.commit(new TxUpdate(C).spend(B0, [BOB]).output(0, { satoshis: 1, events: [BOB] }))
    await outputs.commit(new TxUpdate(D, mined(2)).spend(A0, [ANN]).output(0, { satoshis: 1, events: [ANN] }))
    expect(await outputs.spends([A0, B0])).toEqual([D, null])
    expect(await outputs.searchBalance({ keys: [BOB] })).toEqual({ satoshis: 0n, outputs: 0 })
    expect(await found(outputs, BOB, `${BOB}:spnd`)).toEqual([])
    expect(await found(outputs, `${ANN}:spnd`)).toEqual([[A0, 2]])
  })

  it('one that is mined does not give way', async () => {
    const outputs = await opened()
    await outputs.saveSpend(A0, B, [], mined(1))
    await expect(outputs.saveSpend(A0, C, [], mined(1, 2n))).rejects.toMatchObject({
      code: 'ERR_TXO_CONFLICT'
    })
  })
})

describe('balances', () => {
  it('kept ones are what adding up gives, after any history', async () => {
    await fc.assert(
      fc.asyncProperty(history(15), async all => {
        const outputs = await played(all)
        for (const event of [ANN, BOB]) {
          const kept = await outputs.searchBalance({ keys: [event] })
          expect(await outputs.searchBalance({ keys: [event], from: 0 })).toEqual(kept)
          const spent = new Set(all.flatMap(({ spends }) => spends.map(({ of, vout }) => `${of}.${vout}`)))
          const mine = all.flatMap(({ number, outputs: each }) =>
            each.filter(
              (_, vout) => !spent.has(`${number}.${vout}`) && eventsOf(number, vout, all).includes(event)
            )
          )
          expect(kept).toEqual({
            satoshis: mine.reduce((sum, { satoshis }) => sum + BigInt(satoshis), 0n),
            outputs: mine.length
          })
        }
      }),
      { numRuns: 60 }
    )
  })

  it('several events add up without counting an output twice, and a limit is a limit', async () => {
    const outputs = await opened()
    await outputs.saveOutputs(A, [
      { vout: 0, satoshis: 3, owners: [ADDRESSES[0], ADDRESSES[1]] },
      { vout: 1, satoshis: 4, owners: [ADDRESSES[0]] }
    ])
    expect(await outputs.searchBalance({ keys: [ANN, BOB] })).toEqual({ satoshis: 7n, outputs: 2 })
    expect(await outputs.searchBalance({ keys: [ANN], limit: 1 })).toEqual({ satoshis: 3n, outputs: 1 })
  })
})

describe('moving in the chain', () => {
  it('a proof moves every score of a transaction at once, and a reorg moves them back', async () => {
    const outputs = await opened()
    await outputs.saveOutputs(A, [{ vout: 0, satoshis: 1, owners: [ADDRESSES[0]] }], mined(1))
    const change = new TxUpdate(B, { seen: 1_700_000_000 })
      .spend(A0, [ANN])
      .output(0, { satoshis: 1, events: [BOB] })
      .admit(TOPIC, 0, { inputs: [A0] })
      .markApplied(TOPIC)
    await outputs.commit(change)
    const scores = async () => [
      ...(await found(outputs, `${ANN}:spnd`, BOB, `tp:${TOPIC}`)).map(([, score]) => score),
      (await outputs.loadOutput(B0))?.score
    ]
    expect(await scores()).toEqual([1_700_000_000, 1_700_000_000, 1_700_000_000])
    await outputs.move(B, { height: 2, index: 5n })
    expect(await scores()).toEqual([2.000000005, 2.000000005, 2.000000005])
    const fresh = await opened()
    await fresh.saveOutputs(A, [{ vout: 0, satoshis: 1, owners: [ADDRESSES[0]] }], mined(1))
    await fresh.commit(change)
    await outputs.move(B, null)
    expect(await differences(outputs.store, fresh.store)).toEqual([])
  })
})

describe('rolling back', () => {
  it('leaves what there would be without the transaction and everything downstream', async () => {
    const cases = history(15).chain(all => fc.tuple(fc.constant(all), fc.nat(all.length - 1)))
    await fc.assert(
      fc.asyncProperty(cases, async ([all, root]) => {
        const outputs = await played(all)
        const gone = downstream(root, all)
        const removed = await outputs.rollback(txidNumber(root))
        expect(new Set(removed.map(txid => Buffer.from(txid).toString('hex')))).toEqual(
          new Set([...gone].map(number => Buffer.from(txidNumber(number)).toString('hex')))
        )
        const without = await played(
          all,
          all.filter(({ number }) => !gone.has(number))
        )
        expect(await differences(outputs.store, without.store)).toEqual([])
      }),
      { numRuns: 80 }
    )
  })

  it('of an output that nobody indexed but somebody spends, takes the spender too', async () => {
    const outputs = await opened()
    await outputs.commit(new TxUpdate(A, { vouts: 2 }).output(0, { events: [ANN] }))
    await outputs.saveSpend(A1, B)
    expect(await outputs.rollback(A)).toEqual([A, B])
    expect(await outputs.spends([A1])).toEqual([null])
  })

  it('goes as deep as there is anything', async () => {
    const outputs = await opened()
    const depth = 5000
    const changes = Array.from({ length: depth }, (_, number) => {
      const change = new TxUpdate(txidNumber(number)).output(0, { satoshis: 1, events: [ANN] })
      return number === 0 ? change : change.spend(outpointOf({ of: number - 1, vout: 0 }))
    })
    await outputs.commit(...changes)
    expect(await outputs.rollback(txidNumber(0))).toHaveLength(depth)
    const empty = await opened()
    expect(await differences(outputs.store, empty.store)).toEqual([])
  })

  it('to a height takes back what is mined above it', async () => {
    await fc.assert(
      fc.asyncProperty(history(12), fc.integer({ min: 800_000, max: 800_100 }), async (all, height) => {
        const outputs = await played(all)
        await outputs.rollbackTo(height)
        const gone = new Set(
          all.flatMap(each => ((each.height ?? 0) > height ? [...downstream(each.number, all)] : []))
        )
        const without = await played(
          all,
          all.filter(({ number }) => !gone.has(number))
        )
        expect(await differences(outputs.store, without.store)).toEqual([])
      }),
      { numRuns: 30 }
    )
  })

  it('of what is not there does nothing', async () => {
    const outputs = await opened()
    expect(await outputs.rollback(A)).toEqual([])
  })
})

describe('topics', () => {
  it('an output is in a topic only if that admitted it', async () => {
    const outputs = await opened()
    await outputs.commit(
      new TxUpdate(A)
        .output(0, { events: [ANN] })
        .output(1, { events: [ANN] })
        .admit(TOPIC, 1)
        .markApplied(TOPIC)
    )
    expect(await outputs.isInTopic(TOPIC, A0)).toBe(false)
    expect(await outputs.isInTopic(TOPIC, A1)).toBe(true)
    expect(await outputs.isInTopic(OTHER, A1)).toBe(false)
    expect((await outputs.loadOutputsByTxidForTopic(A, TOPIC)).map(({ outpoint }) => outpoint)).toEqual([A1])
    expect([await outputs.isApplied(TOPIC, A), await outputs.isApplied(OTHER, A)]).toEqual([true, false])
  })

  it('what consumes an output follows from who spends it', async () => {
    const outputs = await opened()
    await outputs.commit(new TxUpdate(A).admit(TOPIC, 0))
    await outputs.commit(
      new TxUpdate(B)
        .spend(A0)
        .admit(TOPIC, 1, { inputs: [A0] })
        .admit(OTHER, 2)
    )
    expect(await outputs.consumedBy(A0, TOPIC)).toEqual([makeOutpoint(B, 1)])
    expect(await outputs.consumedBy(A0, OTHER)).toEqual([makeOutpoint(B, 2)])
    expect(await outputs.consumedBy(makeOutpoint(B, 1), TOPIC)).toEqual([])
  })

  it('expelling takes it from one topic; what nobody holds any more is unknown', async () => {
    const outputs = await opened()
    await outputs.commit(new TxUpdate(A, mined(3)).admit(TOPIC, 0).admit(OTHER, 0))
    await outputs.commit(new TxUpdate(A).removeFromTopic(TOPIC, 0))
    expect(await outputs.loadOutput(A0, { includeTopics: true })).toMatchObject({ topics: [OTHER] })
    await outputs.commit(new TxUpdate(A).removeFromTopic(OTHER, 0))
    expect(await outputs.loadOutput(A0)).toBeNull()
    expect(await found(outputs, `tp:${TOPIC}`, `tp:${OTHER}`)).toEqual([])
  })
})

describeStores(['memory', 'lmdb', 'level', 'redis'], stores => {
  const all = fc.sample(history(25), { numRuns: 1, seed: 7 })[0]!
  const shared = makeOutpoint(txidNumber(1000), 0)

  it('many writers at once lose nothing', async () => {
    const outputs = new OutputStore(stores.store, { now: () => NOW })
    const saves = Array.from({ length: 30 }, (_, i) =>
      outputs.saveEvents(shared, { events: [ADDRESSES[i % 3]!].map(own), data: { [`t${i}`]: i } })
    )
    const orders = all.flatMap(each => [
      outputs.commit(changeOf(each, all)),
      outputs.commit(changeOf(each, all))
    ])
    await Promise.all([...saves, ...orders])
    const output = await outputs.loadOutput(shared, { includeEvents: true, includeTags: 'all' })
    expect(Object.keys(output!.data!)).toHaveLength(30)
    for (const address of ADDRESSES) expect(output!.events).toContain(own(address))
    const expected = await opened()
    for (const each of [...all].reverse()) await expected.commit(changeOf(each, all))
    await expected.saveEvents(shared, {
      events: ADDRESSES.map(own),
      data: Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`t${i}`, i]))
    })
    expect(await differences(stores.store, expected.store)).toEqual([])
  })

  it('of two that want one coin, one gets it', async () => {
    const outputs = new OutputStore(stores.store, { now: () => NOW })
    const coin = makeOutpoint(txidNumber(999), 0)
    const wanting = [1001, 1002, 1003, 1004].map(txidNumber)
    const outcomes = await Promise.allSettled(wanting.map(txid => outputs.saveSpend(coin, txid, [BOB])))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await outputs.conflicts(coin)).toHaveLength(3)
  })

  it('rolls back whole', async () => {
    const outputs = new OutputStore(stores.store, { now: () => NOW })
    for (const { number } of all) await outputs.rollback(txidNumber(number))
    for (const number of [1000, 1001, 1002, 1003, 1004]) await outputs.rollback(txidNumber(number))
    const empty = await opened()
    expect(await differences(stores.store, empty.store)).toEqual([])
  })
})
