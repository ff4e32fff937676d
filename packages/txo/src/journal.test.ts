/** Live events: nothing lost, nothing repeated, and one is told when it is too late. */

import { makeOutpoint, type Topic } from '@quoin/primitives'
import { openStore, type Store } from '@quoin/store'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { describeStores } from '../../store/src/stores.testing.ts'
import { ADDRESSES, own, txidNumber } from './history.testing.ts'
import type { LiveChange } from './journal-changes.ts'
import type { FollowOptions } from './journal-reader.ts'
import { outputs as outputKeys } from './keys.ts'
import { OutputStore } from './output-store.ts'
import { TxUpdate } from './tx-update.ts'

const [ANN, BOB] = ADDRESSES.map(own) as [string, string]
const stores: Store[] = []
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close()
})
const opened = async (journal?: number): Promise<OutputStore> => {
  const store = await openStore('memory:')
  stores.push(store)
  return new OutputStore(store, journal === undefined ? {} : { journal })
}
const save = (outputs: OutputStore, number: number, event = ANN): Promise<boolean> =>
  outputs.commit(new TxUpdate(txidNumber(number)).output(0, { satoshis: number, events: [event] }))
/** The first so many changes that a subscriber sees. */
const take = async (
  outputs: OutputStore,
  count: number,
  subscription: FollowOptions = {}
): Promise<LiveChange[]> => {
  const seen: LiveChange[] = []
  if (count === 0) return seen
  for await (const change of outputs.follow(subscription)) {
    seen.push(change)
    if (seen.length === count) break
  }
  return seen
}
const txid = (number: number): string => Buffer.from(txidNumber(number)).reverse().toString('hex')

describe('following the journal', () => {
  it('says what was saved, spent, moved and removed, in the order of the commits', async () => {
    const outputs = await opened()
    const coin = makeOutpoint(txidNumber(1), 0)
    await save(outputs, 1)
    await outputs.saveSpend(coin, txidNumber(2), [], { seen: 1_700_000_000 })
    await outputs.move(txidNumber(2), { height: 7, index: 1n })
    await outputs.rollback(txidNumber(2))
    const changes = await take(outputs, 4, { after: 0 })
    // Read after the removal, which has the spends.
    expect(changes[1]).toMatchObject({ outputs: [], spends: [] })
    expect(changes.map(({ position, kind, txid: of }) => [position, kind, of])).toEqual([
      [1, 'saved', txid(1)],
      [2, 'saved', txid(2)],
      [3, 'moved', txid(2)],
      [4, 'removed', txid(2)]
    ])
    expect(changes[0]!.outputs).toEqual([{ vout: 0, events: [ANN], topics: [] }])
    expect(changes[2]).toMatchObject({ score: 7.000000001, outputs: [] })
    expect(changes[3]!.spends).toEqual([{ outpoint: `${txid(1)}.0`, events: [ANN], topics: [] }])
  })

  it('keeps what an output lost: topics that it left, and all of an output that was erased', async () => {
    const outputs = await opened()
    const topic = 'tm_x' as Topic
    const both = new TxUpdate(txidNumber(1)).output(0, { events: [ANN] }).output(1, { events: [BOB] })
    await outputs.commit(both.admit(topic, 0).admit(topic, 1))
    await outputs.commit(new TxUpdate(txidNumber(1)).removeFromTopic(topic, 0))
    await outputs.commit(new TxUpdate(txidNumber(1)).erase(1))
    const changes = await take(outputs, 3, { after: 0 })
    expect(changes.map(change => change.outputs)).toEqual([
      [{ vout: 0, events: [ANN], topics: [] }],
      [{ vout: 0, events: [ANN], topics: [], left: [topic] }],
      [{ vout: 1, events: [BOB], topics: [topic] }]
    ])
  })

  it('names all outputs of a transaction where the changed ones are too many for an entry', async () => {
    const outputs = await opened()
    const made = new TxUpdate(txidNumber(1))
    for (let vout = 0; vout < 300; vout++) made.output(vout, { events: [ANN] })
    await outputs.commit(made)
    const more = new TxUpdate(txidNumber(1))
    for (let vout = 0; vout < 150; vout++) more.output(vout, { events: [BOB] })
    await outputs.commit(more, new TxUpdate(txidNumber(2)).output(7, { events: [ANN] }))
    const [first, second, third] = await take(outputs, 3, { after: 0 })
    expect([first!, second!].map(change => change.outputs.length)).toEqual([300, 300])
    expect(third!.outputs.map(({ vout }) => vout)).toEqual([7])
  })

  it('streams the changes of commits as a reader of the store reads them', async () => {
    const outputs = await opened()
    const reader = new OutputStore(outputs.store).journal
    const stream = outputs.follow({ after: 0 })
    const topic = 'tm_a' as Topic
    const coin = makeOutpoint(txidNumber(1), 0)
    const commits = [
      () => save(outputs, 1),
      () => outputs.admit(topic, coin),
      () => outputs.saveSpend(coin, txidNumber(2), [BOB], { seen: 1_700_000_000 }),
      () => outputs.saveEvents(makeOutpoint(txidNumber(2), 1), { satoshis: 5, events: [BOB] }),
      () => outputs.saveSpend(makeOutpoint(txidNumber(9), 3), txidNumber(2), [ANN]),
      () => outputs.move(txidNumber(2), { height: 7, index: 1n }),
      () => outputs.commit(new TxUpdate(txidNumber(1)).removeFromTopic(topic, 0)),
      () => outputs.rollback(txidNumber(2)),
      () => outputs.commit(new TxUpdate(txidNumber(1)).erase(0))
    ]
    const first = stream.next()
    await save(outputs, 3)
    await first
    for (const [i, commit] of commits.entries()) {
      const streamed = stream.next()
      await commit()
      const [stored] = await reader.read(1 + i)
      expect((await streamed).value).toEqual(stored)
    }
    // They are in memory: no rows of the index are read.
    const plans = vi.spyOn(outputs.store, 'run')
    expect(await outputs.journal.read(1)).toHaveLength(commits.length)
    expect(plans).not.toHaveBeenCalled()
    await stream.return()
  })

  it('wakes who waits, and filters by event', async () => {
    const outputs = await opened()
    const waiting = take(outputs, 2, { events: [BOB] })
    await new Promise(resolve => setTimeout(resolve, 20))
    for (const number of [1, 2, 3, 4, 5]) await save(outputs, number, number % 2 ? ANN : BOB)
    expect((await waiting).map(change => change.txid)).toEqual([txid(2), txid(4)])
  })

  it('goes on exactly where one left, however often one leaves', async () => {
    const outputs = await opened()
    const saves = Array.from({ length: 200 }, (_, number) => save(outputs, number))
    const seen: LiveChange[] = []
    while (seen.length < 200) {
      const next = Math.min(1 + (seen.length % 37), 200 - seen.length)
      seen.push(...(await take(outputs, next, { after: seen.at(-1)?.position ?? 0 })))
    }
    await Promise.all(saves)
    expect(seen.map(({ position }) => position)).toEqual(Array.from({ length: 200 }, (_, i) => i + 1))
    expect(new Set(seen.map(change => change.txid)).size).toBe(200)
  })

  it('ends when the signal says so', async () => {
    const outputs = await opened()
    const controller = new AbortController()
    const following = (async () => {
      for await (const _ of outputs.follow({ signal: controller.signal })) expect.unreachable()
    })()
    await new Promise(resolve => setTimeout(resolve, 10))
    controller.abort()
    await following
  })

  it('says so when what followed is no longer kept, or never was', async () => {
    const outputs = await opened(10)
    for (let number = 0; number < 30; number++) await save(outputs, number)
    await outputs.journal.trim()
    await expect(take(outputs, 1, { after: 5 })).rejects.toMatchObject({
      code: 'ERR_TXO_POSITION',
      details: { after: 5, oldest: 21, last: 30 }
    })
    await expect(take(outputs, 1, { after: 31 })).rejects.toMatchObject({ code: 'ERR_TXO_POSITION' })
    expect(await take(outputs, 10, { after: 20 })).toHaveLength(10)
  })

  it('refuses a position without an entry of its form', async () => {
    const outputs = await opened()
    await save(outputs, 1)
    await outputs.store.logAt(outputKeys.collections.journal, []).append(new Uint8Array(16).fill(2))
    await save(outputs, 3)
    await expect(take(outputs, 3, { after: 0 })).rejects.toMatchObject({
      code: 'ERR_STORE_CORRUPT',
      details: { position: 2 }
    })
  })

  it('names each change later than the one before, so that they are stored side by side', async () => {
    const outputs = await opened()
    for (let number = 0; number < 20; number++) await save(outputs, number)
    const { entries } = await outputs.store.logAt(outputKeys.collections.journal, []).read({ limit: 100 })
    const names = entries.map(({ entry }) => Buffer.from(entry).toString('hex'))
    expect(new Set(names).size).toBe(20)
    expect([...names].sort()).toEqual(names)
  })

  it('is trimmed by itself as it grows', async () => {
    const outputs = await opened(100)
    await outputs.commit(
      ...Array.from({ length: 1500 }, (_, i) => new TxUpdate(txidNumber(i)).output(0, { events: [ANN] }))
    )
    await outputs.journal.idle()
    await expect(take(outputs, 1, { after: 1000 })).rejects.toMatchObject({ details: { oldest: 1401 } })
  })
})

describeStores(['redis'], open => {
  it('who follows is not stopped by one who does not stop writing', async () => {
    const outputs = new OutputStore(open.store)
    const after = await outputs.journal.last()
    let isOver = false
    const writing = async (): Promise<void> => {
      for (let number = 1_000_000; !isOver; number++) await save(outputs, number)
    }
    const following = take(outputs, 1000, { after }).finally(() => {
      isOver = true
    })
    const [seen] = await Promise.all([following, writing()])
    expect(seen.map(({ position }) => position)).toEqual(
      Array.from({ length: 1000 }, (_, i) => after + i + 1)
    )
  })
})

describeStores(['lmdb', 'redis'], open => {
  it('two who write and two who follow: everyone sees everything once, in one order', async () => {
    const writers = [new OutputStore(open.store), new OutputStore(open.store)]
    const after = await writers[0]!.journal.last()
    const followers = [take(writers[0]!, 100, { after }), take(new OutputStore(open.store), 100, { after })]
    await Promise.all(Array.from({ length: 100 }, (_, number) => save(writers[number % 2]!, number)))
    const [one, other] = await Promise.all(followers)
    expect(one!.map(change => change.txid)).toEqual(other!.map(change => change.txid))
    expect(new Set(one!.map(change => change.txid)).size).toBe(100)
  })
})
