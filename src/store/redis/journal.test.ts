/** Crashes between the parts of a batch, servers that go and come, slots that move. */
import { describe, expect, it } from 'vitest'
import {
  append,
  batchOf,
  enqueue,
  hset,
  type Step,
  sadd,
  set,
  valueAbsent,
  zadd,
  zincrby,
  ztally
} from '../contract/steps.ts'
import { EVERYTHING, type Subject } from '../contract/subject.ts'
import { ClusterFixture, EVERYWHERE } from './cluster.testing.ts'
import { partition } from './names.ts'
import type { RedisOptions } from './redis.ts'
import { Router } from './router.ts'
import { batchScript } from './scripts/batch.ts'
import { slotOf, tagsOf } from './slots.ts'

const fixture = new ClusterFixture()

const stopAt = (step: string, times = 1): RedisOptions => {
  let left = times
  return {
    onStep: reached => {
      if (reached === step && --left === 0) throw new Error(`stopped at ${step}`)
    }
  }
}

/** One of everything that must not be done twice, in every partition; the check is in the first. */
const BATCH: Step[] = [
  valueAbsent(EVERYWHERE[0]!),
  ...EVERYWHERE.flatMap(key => [
    set(key, 'new'),
    zincrby(key, 'counter', 1),
    ztally(key, 'tally', 1),
    append(key, 'entry'),
    sadd(key, 'member'),
    enqueue(key, 'item', 1, 7)
  ])
]

/** In how many partitions the batch is to be seen, and that it is nowhere to be seen twice. */
const seen = async (store: Subject): Promise<number> => {
  let count = 0
  for (const key of EVERYWHERE) {
    const score = await store.zscore(key, 'counter')
    expect([undefined, 1]).toContain(score)
    expect(await store.zscore(key, 'tally')).toBe(score)
    expect(await store.zscore(key, 'entry')).toBe(score)
    expect(await store.get(key)).toBe(score && 'new')
    expect((await store.qcounts(key)).due).toBe(score ?? 0)
    if (score) count++
  }
  return count
}

describe('a crash', () => {
  it.each([
    ['after the part at home', stopAt('home'), 1],
    ['after one other part', stopAt('part'), undefined],
    ['after five other parts', stopAt('part', 5), undefined],
    ['before the journal is cleared', stopAt('applied'), 16]
  ])('%s is repaired by whoever opens the store next', async (_, options, visible) => {
    const crashing = await fixture.open(options)
    await expect(crashing.commit(...BATCH)).rejects.toThrow('stopped')
    if (visible !== undefined) expect(await seen(crashing)).toBe(visible)
    expect(await fixture.journaled()).toBe(1)
    await crashing.engine.close()
    await fixture.using(async store => {
      expect(await seen(store)).toBe(16)
      expect(await fixture.journaled()).toBe(0)
      await expect(store.commit(...BATCH)).rejects.toMatchObject({ code: 'ERR_STORE_PRECONDITION' })
    })
  })

  it('may be answered by sending the batch again: what it appends is in each log once', async () => {
    const again = EVERYWHERE.flatMap(key => [append(key, 'a'), append(key, 'b')])
    const crashing = await fixture.open(stopAt('part', 5))
    await expect(crashing.commit(...again)).rejects.toThrow('stopped')
    expect(await fixture.journaled()).toBe(1)
    await crashing.commit(...again.toReversed())
    await crashing.engine.close()
    await fixture.using(async store => {
      expect(await fixture.journaled()).toBe(0)
      await store.commit(...EVERYWHERE.map(key => append(key, 'c')))
      for (const key of EVERYWHERE) {
        const rows = await store.zrows(key)
        expect(rows.map(([, position]) => position)).toEqual([1, 2, 3, 3])
        expect(rows.map(([entry]) => entry).toSorted()).toEqual(['', 'a', 'b', 'c'])
      }
    })
  })

  it('during the repair is repaired too, by several at once', async () => {
    const crashing = await fixture.open(stopAt('home'))
    await expect(crashing.commit(...BATCH)).rejects.toThrow('stopped')
    await crashing.engine.close()
    await expect(fixture.open(stopAt('part', 3))).rejects.toThrow('stopped')
    await expect(fixture.open(stopAt('applied'))).rejects.toThrow('stopped')
    expect(await fixture.journaled()).toBe(1)
    const stores = await Promise.all([fixture.open(), fixture.open(), fixture.open()])
    expect(await seen(stores[0]!)).toBe(16)
    expect(await fixture.journaled()).toBe(0)
    for (const store of stores) await store.engine.close()
  })

  it('is repaired once, also when a part comes again long after', async () => {
    const tags = tagsOf(16)
    const seeds = fixture.cluster.nodes.map(({ port }) => ({ host: '127.0.0.1', port }))
    const router = await Router.cluster(seeds, tags.map(slotOf), {
      secure: false,
      username: undefined,
      password: undefined,
      database: 0,
      timeout: 1000,
      connectTimeout: 1000,
      silenceTimeout: 1000,
      scripts: []
    })
    const key = EVERYWHERE[5]!
    const program = batchOf([zincrby(key, 'counter', 1)])
    const send = async (number: string, lowest: string): Promise<unknown> => {
      const command = batchScript(partition(5, tags[5]), program, '', '0', number, lowest)
      const reply = await router.repeatable(5, command)
      return Array.isArray(reply) ? Number(new TextDecoder().decode(reply[0])) : reply
    }
    // As often as it is sent, it answers what it answered first.
    expect([await send('100', '100'), await send('100', '100')]).toEqual([1, 1])
    expect([await send('102', '100'), await send('101', '100')]).toEqual([2, 3])
    expect(await send('102', '100')).toBe(2)
    // 103 began when all below it were finished: their notes are gone, and still they are not applied again.
    expect(await send('103', '103')).toBe(4)
    expect([await send('100', '100'), await send('102', '100')]).toEqual([0, 0])
    expect(await send('103', '103')).toBe(4)
    expect(await (await fixture.ownerOf(tags[5]!)).command('ZCARD', `{${tags[5]}}a0`)).toBe('1')
    router.close()
  })
})

describe('a server of the cluster', () => {
  it('that is killed and comes back loses nothing, and batches are whole in the end', async () => {
    const store = await fixture.open()
    let stop = false
    const outcomes: string[] = []
    const writing = (async () => {
      for (let i = 0; !stop; i++) {
        try {
          await store.commit(...EVERYWHERE.map(key => zadd(key, `m${i}`, i)))
          outcomes.push('written')
        } catch (error) {
          expect(error).toMatchObject({ code: 'ERR_STORE_CONNECTION' })
          outcomes.push('unknown')
        }
      }
    })()
    await new Promise(resolve => setTimeout(resolve, 200))
    const [node] = fixture.cluster.nodes
    await node!.kill()
    const waiting = Promise.all(EVERYWHERE.map(key => store.zcard(key)))
    await new Promise(resolve => setTimeout(resolve, 200))
    await node!.restart()
    await fixture.cluster.ready()
    await waiting
    await new Promise(resolve => setTimeout(resolve, 300))
    stop = true
    await writing
    expect(outcomes.at(-1)).toBe('written')
    await store.engine.close()
    await fixture.using(async again => {
      expect(await fixture.journaled()).toBe(0)
      const counts = await Promise.all(EVERYWHERE.map(key => again.zcard(key)))
      expect(new Set(counts).size).toBe(1)
      expect(counts[0]).toBeGreaterThanOrEqual(outcomes.filter(outcome => outcome === 'written').length)
      expect(counts[0]).toBeLessThanOrEqual(outcomes.length)
    })
  })

  it('that stays away lets a batch be finished later', async () => {
    const store = await fixture.open({ timeout: 400 })
    const [away] = fixture.cluster.nodes
    const homes: string[] = []
    for (const [i, tag] of tagsOf(16).entries())
      if ((await fixture.ownerOf(tag)) !== away) homes.push(EVERYWHERE[i]!)
    await away!.kill()
    await expect(
      store.commit(valueAbsent(homes[0]!), ...EVERYWHERE.map(key => zincrby(key, 'c', 1)))
    ).rejects.toMatchObject({ code: 'ERR_STORE_CONNECTION', details: { outcome: 'unknown' } })
    await store.engine.close()
    await away!.restart()
    await fixture.cluster.ready()
    await fixture.using(async again => {
      const scores = await Promise.all(EVERYWHERE.map(key => again.zscore(key, 'c')))
      expect(scores).toEqual(EVERYWHERE.map(() => 1))
    })
  })
})

describe('a slot that moves', () => {
  it('is found at its new server, and no batch runs while it is on its way', async () => {
    const store = await fixture.open({ timeout: 500 })
    const key = EVERYWHERE[5]!
    const tag = tagsOf(16)[5]!
    const slot = String(slotOf(tag))
    await store.commit(set(key, '1'), hset(key, 'f', '1'))
    const source = await fixture.ownerOf(tag)
    const target = fixture.cluster.nodes.find(node => node !== source)!
    const [sourceId, targetId] = [
      await source.command('CLUSTER', 'MYID'),
      await target.command('CLUSTER', 'MYID')
    ]
    await target.command('CLUSTER', 'SETSLOT', slot, 'IMPORTING', sourceId!)
    await source.command('CLUSTER', 'SETSLOT', slot, 'MIGRATING', targetId!)
    // Half of the keys have moved.
    await source.command('MIGRATE', '127.0.0.1', String(target.port), `{${tag}}v${key}`, '0', '1000')
    expect(await store.get(key)).toBe('1')
    expect(await store.mget([key, `${key} not there`, key])).toEqual(['1', undefined, '1'])
    expect(await store.mhgetall([key, key])).toEqual([[['f', '1']], [['f', '1']]])
    await expect(store.commit(set(key, '2'), hset(key, 'f', '2'))).rejects.toMatchObject({
      code: 'ERR_STORE_CONNECTION'
    })
    expect(await store.get(key)).toBe('1')
    const finishing = store.commit(set(key, '3'), hset(key, 'f', '3'))
    for (const name of [`h${key}`, 'V', 'H']) {
      await source.command('MIGRATE', '127.0.0.1', String(target.port), `{${tag}}${name}`, '0', '1000')
    }
    for (const node of fixture.cluster.nodes)
      await node.command('CLUSTER', 'SETSLOT', slot, 'NODE', targetId!)
    await finishing
    expect(await store.mget([EVERYWHERE[4]!, key])).toEqual([undefined, '3'])
    expect(await store.get(key)).toBe('3')
    expect(await store.snapshot(reads => reads.hget(key, 'f'))).toBe('3')
    expect(await store.range(EVERYTHING)).toEqual([[key, '3']])
    await store.engine.close()
  })
})
