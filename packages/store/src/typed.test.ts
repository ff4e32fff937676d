/** Declared collections read and written through the store, on keyspaces that ship. */

import { bsv21 } from '@quoin/bsv21'
import { outpoint } from '@quoin/chain/components'
import { collection, escaped, keyspace, logOf, single, u32, word } from '@quoin/keyspace'
import { makeOutpoint, parseTxid, type Topic, type Txid } from '@quoin/primitives'
import { outputFields, outputs, spendFields } from '@quoin/txo'
import { describe, expect, it } from 'vitest'
import { MAX_KEY } from './engine.ts'
import { openStore } from './store.ts'

const txid = parseTxid('aa'.repeat(32))
const [topicA, topicB] = ['tm_a', 'tm_b'] as Topic[] as [Topic, Topic]
const { output, spends, topicOutputs } = outputs.collections
const spenderOf = (vout: number): Txid => new Uint8Array(32).fill(vout) as Txid

describe('typed access', () => {
  it('refuses keys that are too long, before an engine sees them', async () => {
    const { notes } = keyspace('notes', {
      notes: collection({ key: ['n:', escaped('name')], value: single(u32('n')) })
    }).collections
    const store = await openStore('memory:')
    const reads = store.use(notes)
    const tooLong = 'x'.repeat(MAX_KEY)
    const refused = expect.objectContaining({ code: 'ERR_STORE_KEY' })
    await expect(reads.get(tooLong)).rejects.toEqual(refused)
    await expect(reads.getMany([['a'], [tooLong]])).rejects.toEqual(refused)
    await expect(store.run(reads.plan(tooLong))).rejects.toEqual(refused)
    expect(await reads.get('x'.repeat(MAX_KEY - 'n:'.length))).toBeUndefined()
    await store.close()
  })

  it('writes and reads the fields of hashes, alone, many at once and all', async () => {
    const store = await openStore('memory:')
    const batch = store.batch()
    for (const vout of [0, 1, 2]) {
      const hash = batch.use(output).at(txid, vout)
      hash.set(outputFields.collections.events, [], [`own:${vout}`])
      hash.set(outputFields.collections.data, ['bsv21'], { amt: `${vout}` })
      batch.use(spends).at().set(spendFields.collections.spend, [txid, vout], spenderOf(vout))
    }
    await batch.commit()
    const first = store.use(output).at(txid, 1)
    expect(await first.get(outputFields.collections.events)).toEqual(['own:1'])
    expect(await first.get(outputFields.collections.satoshis)).toBeUndefined()
    const all = await first.all()
    expect(all.size).toBe(2)
    expect(all.get(outputFields.collections.data, 'bsv21')).toEqual({ amt: '1' })
    expect(all.get(outputFields.collections.data, 'other')).toBeUndefined()
    expect(all.entries(outputFields.collections.data)).toEqual([{ key: ['bsv21'], value: { amt: '1' } }])
    const spenders = store.use(spends).at()
    expect(
      await spenders.getMany(spendFields.collections.spend, [
        [txid, 2],
        [txid, 9],
        [txid, 0]
      ])
    ).toEqual([spenderOf(2), undefined, spenderOf(0)])
    await store.close()
  })

  it('finds the outputs of a transaction in order, and no others', async () => {
    const store = await openStore('memory:')
    const batch = store.batch()
    const other = parseTxid('ab'.repeat(32))
    for (const [id, vout] of [
      [txid, 256],
      [txid, 2],
      [other, 0],
      [txid, 10]
    ] as const) {
      batch.use(output).at(id, vout).set(outputFields.collections.events, [], [])
    }
    await batch.commit()
    const found = await store.use(output).scan([txid])
    expect(found.map(({ key }) => key[1])).toEqual([2, 10, 256])
    expect(found[0]?.fields.get(outputFields.collections.events)).toEqual([])
    expect((await store.use(output).scan([txid], { reverse: true, limit: 1 }))[0]?.key[1]).toBe(256)
    await store.close()
  })

  it('reads and writes sorted sets, and searches several', async () => {
    const store = await openStore('memory:')
    const outpoints = [0, 1, 2].map(vout => makeOutpoint(txid, vout))
    const batch = store.batch()
    outpoints.forEach((each, i) => {
      batch.use(topicOutputs).at(topicA).add(each, i)
    })
    batch.use(topicOutputs).at(topicB).add(outpoints[1]!, 7)
    await batch.commit()
    const [a, b] = [topicA, topicB].map(topic => store.use(topicOutputs).at(topic))
    expect(await a!.count()).toBe(3)
    expect(await a!.score(outpoints[2]!)).toBe(2)
    expect((await a!.reverseRange({ count: 1 }))[0]).toEqual({ member: outpoints[2], score: 2 })
    expect(await store.searchSets([a!, b!], { join: 'intersect' })).toEqual({
      rows: [{ member: outpoints[1], score: 1, from: 0 }],
      cursor: undefined
    })
    expect(
      (await store.searchSets([a!], { filter: rows => rows.map(({ score }) => score > 0) })).rows
    ).toHaveLength(2)
    await store.close()
  })

  it('reads and writes sets and values', async () => {
    const store = await openStore('memory:')
    const { settings } = keyspace('typed-test', {
      settings: collection({
        key: ['v:', word('name', 'depth', 'limit')],
        scans: [[]],
        value: single(u32('n'))
      })
    }).collections
    const token = `${'cd'.repeat(32)}_1`
    const batch = store.batch()
    batch.use(settings).at('depth').set(7)
    batch.use(settings).at('limit').set(9)
    batch
      .use(bsv21.collections.lists)
      .at('whitelist')
      .add(token as never)
    await batch.commit()
    expect(await store.use(settings).get('depth')).toBe(7)
    expect(await store.use(settings).scan([])).toEqual([
      { key: ['depth'], value: 7 },
      { key: ['limit'], value: 9 }
    ])
    const list = store.use(bsv21.collections.lists).at('whitelist')
    expect(await list.has(token as never)).toBe(true)
    expect(await list.members()).toEqual([token])
    await store.close()
  })

  it('leases the items of a declared queue as they are declared', async () => {
    const store = await openStore('memory:')
    const queue = store.queueAt(outputs.collections.queue, ['subscription'])
    await queue.enqueue(txid, 1)
    const [lease] = await queue.lease(1, 60)
    expect(lease!.item).toEqual(txid)
    expect((await queue.list('leased')).items.map(({ item }) => item)).toEqual([txid])
    await queue.acknowledge(lease!)
    expect(await queue.stats()).toMatchObject({ due: 0, leased: 0 })
    expect(() => store.use(outputs.collections.queue as never)).toThrow('queueAt')
    expect(() => store.batch().use(outputs.collections.queue as never)).toThrow('queueAt')
    await store.close()
  })

  it('appends and reads the entries of a declared log as they are declared', async () => {
    const store = await openStore('memory:')
    const { news } = keyspace('typed-log-test', {
      news: collection({ key: ['l:', word('name', 'coins', 'blocks')], value: logOf(outpoint('outpoint')) })
    }).collections
    const log = store.logAt(news, ['coins'])
    const outpoints = [2, 0, 1].map(vout => makeOutpoint(txid, vout))
    const batch = store.batch()
    for (const each of outpoints) log.appendIn(batch, each)
    await batch.commit()
    await log.append(outpoints[0]!)
    expect(await log.read({ after: 1 })).toEqual({
      entries: [
        { position: 2, entry: outpoints[1] },
        { position: 3, entry: outpoints[2] }
      ],
      last: 3
    })
    expect(await store.snapshot(reads => reads.logAt(news, ['coins']).first())).toBe(1)
    expect(await store.logAt(news, ['blocks']).last()).toBe(0)
    expect(() => store.use(news as never)).toThrow('logAt')
    expect(() => store.batch().use(news as never)).toThrow('logAt')
    await store.close()
  })

  it('tallies the members of a declared sorted set, and keeps none that come to nothing', async () => {
    const store = await openStore('memory:')
    const set = store.use(topicOutputs).at(topicA)
    const tally = async (...by: number[]): Promise<void> => {
      const batch = store.batch()
      for (const each of by) batch.use(topicOutputs).at(topicA).count(makeOutpoint(txid, 0), each)
      await batch.commit()
    }
    await tally(-3, 5)
    expect(await set.score(makeOutpoint(txid, 0))).toBe(2)
    await tally(-2)
    expect(await set.range()).toEqual([])
    await store.close()
  })

  it('makes conditions of typed values', async () => {
    const store = await openStore('memory:')
    const admit = () => {
      const batch = store.batch()
      batch.use(topicOutputs).at(topicA).expect(makeOutpoint(txid, 0), undefined)
      batch.use(topicOutputs).at(topicA).add(makeOutpoint(txid, 0), 1)
      return batch.commit()
    }
    await admit()
    await expect(admit()).rejects.toMatchObject({ code: 'ERR_STORE_PRECONDITION' })
    await store.close()
  })

  it('refuses a field that belongs to another hash', async () => {
    const store = await openStore('memory:')
    const hash = store.use(output).at(txid, 0)
    await expect(hash.get(spendFields.collections.spend, txid, 0)).rejects.toMatchObject({
      code: 'ERR_KEY_VALUE'
    })
    await store.close()
  })
})
