/** A store on a cluster: partitions, and batches in several of them. */
import { describe, expect, it } from 'vitest'
import {
  batchOf,
  enqueue,
  hset,
  lease,
  leaseHeld,
  remove,
  scoreIs,
  set,
  valueAbsent,
  valueIs,
  zadd,
  zincrby
} from '../contract/steps.ts'
import { EVERYTHING, under } from '../contract/subject.ts'
import { ClusterFixture, EVERYWHERE, keyIn } from './cluster.testing.ts'
import { openRedis } from './redis.ts'
import { startRedis } from './server.testing.ts'
import { tagsOf } from './slots.ts'

const fixture = new ClusterFixture()

describe('partitions', () => {
  it('lie on all servers', async () => {
    await fixture.using(async store => {
      await store.commit(...EVERYWHERE.map(key => set(key, key)))
      for (const node of fixture.cluster.nodes)
        expect(Number(await node.command('DBSIZE'))).toBeGreaterThan(6)
      expect(await store.range(under('k'))).toHaveLength(16)
    })
  })

  it('have a number that stays', async () => {
    const four = await openRedis(`${fixture.cluster.url}?partitions=4`)
    await four.commit(batchOf([...'abcdefgh'].map(key => set(key, key))))
    await four.close()
    await expect(openRedis(`${fixture.cluster.url}?partitions=16`)).rejects.toMatchObject({
      code: 'ERR_STORE_VERSION'
    })
    const again = await fixture.open()
    expect(await again.range(EVERYTHING)).toHaveLength(8)
    expect((await again.engine.stats()).details['partitions']).toBe(4)
    await again.engine.close()
  })

  it('answer ranges as one, in order and in pages', () =>
    fixture.using(async store => {
      const all = Array.from({ length: 3000 }, (_, i) => `k${String(i).padStart(5, '0')}`)
      await store.engine.commitMany(
        all.map(key => batchOf([set(key, ''), hset(key, 'f', ''), zadd(key, 'm', 1)]))
      )
      const keys = async (reverse: boolean, limit?: number) =>
        (await store.range(under('k', reverse), limit)).map(([key]) => key)
      expect(await keys(false)).toEqual(all)
      expect(await keys(true)).toEqual([...all].reverse())
      for (const limit of [0, 1, 2, 17, 999, 1600, 5000]) {
        expect(await keys(false, limit)).toEqual(all.slice(0, limit))
        expect(await keys(true, limit)).toEqual([...all].reverse().slice(0, limit))
      }
      expect(await store.zkeys('k')).toEqual(all)
      expect((await store.hrange(under('k0001'))).map(([key]) => key)).toEqual(all.slice(10, 20))
    }))

  it('keep what shares its first 34 bytes together, so that it can be checked together', () =>
    fixture.using(async store => {
      const tx = `h:${'t'.repeat(32)}`
      await store.commit(valueAbsent(`${tx}0`), valueAbsent(`${tx}1`), set(`${tx}0`, 'a'), set(`${tx}1`, 'b'))
      expect(await store.range(under(tx))).toEqual([
        [`${tx}0`, 'a'],
        [`${tx}1`, 'b']
      ])
    }))
})

describe('a batch in several partitions', () => {
  it('is refused if its checks are in more than one', () =>
    fixture.using(async store => {
      await expect(
        store.commit(valueAbsent(keyIn(1)), valueAbsent(keyIn(2)), set(keyIn(1), ''))
      ).rejects.toMatchObject({ code: 'ERR_STORE_SLOTS' })
    }))

  it('does nothing anywhere if a check fails', () =>
    fixture.using(async store => {
      await expect(
        store.commit(scoreIs(keyIn(3), 'm', 1), ...EVERYWHERE.map(key => set(key, '')))
      ).rejects.toMatchObject({ code: 'ERR_STORE_PRECONDITION', details: { check: 0 } })
      expect(await store.range(EVERYTHING)).toEqual([])
      expect(await fixture.journaled()).toBe(0)
    }))

  it('answers in the order of its operations, wherever they are', () =>
    fixture.using(async store => {
      const steps = EVERYWHERE.flatMap((key, i) => [zincrby(key, 'm', i), enqueue(key, 'item', 1, 1)])
      const answers = await store.commit(
        ...steps,
        ...EVERYWHERE.map(key => lease(key, 'tokentok', 1, 9, 9, 5)),
        ...EVERYWHERE.map(key => zincrby(key, 'm', 100))
      )
      expect(answers.slice(0, 16)).toEqual([...EVERYWHERE.keys()])
      expect(answers.slice(16, 32)).toEqual(EVERYWHERE.map(() => [expect.objectContaining({ item: 'item' })]))
      expect(answers.slice(32)).toEqual([...EVERYWHERE.keys()].map(i => i + 100))
    }))

  it('leaves no journal and few notes when it is done', () =>
    fixture.using(async store => {
      for (let i = 0; i < 50; i++) await store.commit(...EVERYWHERE.map(key => zincrby(key, 'm', 1)))
      await store.engine.close()
      expect(await fixture.journaled()).toBe(0)
      let notes = 0
      for (const tag of tagsOf(16)) {
        for (const node of fixture.cluster.nodes) {
          notes += Number(await node.command('ZCARD', `{${tag}}a0`).catch(() => 0))
        }
      }
      expect(notes).toBeLessThanOrEqual(2 * 15)
    }))
})

describe('a snapshot', () => {
  it('sees one state of all servers', () =>
    fixture.using(async store => {
      const [one, two, three] = [EVERYWHERE[0]!, EVERYWHERE[8]!, EVERYWHERE[15]!]
      await store.commit(set(one, '0'))
      await store.commit(set(two, '0'))
      await store.commit(set(three, '0'))
      let stop = false
      const writing = (async () => {
        for (let i = 1; !stop; i++) {
          // Never more than one apart, and never behind the one after it.
          for (const key of [one, two, three]) {
            await store.commit(set(key, String(i)))
            await new Promise(resolve => setTimeout(resolve, 2))
          }
        }
      })()
      for (let i = 0; i < 30; i++) {
        const read = async (reads: { get(key: string): Promise<string | undefined> }): Promise<number[]> => [
          Number(await reads.get(three)),
          Number(await reads.get(one)),
          Number(await reads.get(two))
        ]
        const [third, first, second] = await store.snapshot(read)
        expect(first! - second!).toBeGreaterThanOrEqual(0)
        expect(second! - third!).toBeGreaterThanOrEqual(0)
        expect(first! - third!).toBeLessThanOrEqual(1)
      }
      stop = true
      await writing
    }))
})

describe('opening', () => {
  it('tells a cluster from a single server', async () => {
    const [node] = fixture.cluster.nodes
    await expect(openRedis(`redis://127.0.0.1:${node!.port}`)).rejects.toMatchObject({
      code: 'ERR_STORE_URL'
    })
    const single = await startRedis()
    await expect(openRedis(`redis-cluster://127.0.0.1:${single.port}`)).rejects.toMatchObject({
      code: 'ERR_STORE_URL'
    })
    await single.stop()
  })

  it('needs one server that is there', async () => {
    const [node] = fixture.cluster.nodes
    const engine = await openRedis(`redis-cluster://127.0.0.1:1,127.0.0.1:${node!.port}`)
    await engine.commit(batchOf(EVERYWHERE.map(key => set(key, '1'))))
    await engine.close()
    await expect(openRedis('redis-cluster://127.0.0.1:1', { timeout: 200 })).rejects.toMatchObject({
      code: 'ERR_STORE_CONNECTION'
    })
  })
})

describe('a lease', () => {
  it('is held in the partition of its queue, with work in others', () =>
    fixture.using(async store => {
      const queue = EVERYWHERE[2]!
      await store.commit(enqueue(queue, 'item', 1, 1))
      const [item] = await store.leased(lease(queue, 'tokentok', 1, 9, 9, 5))
      await store.commit(
        leaseHeld(queue, item!.item, 'tokentok'),
        remove(queue, item!.item),
        ...EVERYWHERE.map(key => set(key, 'done'))
      )
      expect(await store.range(EVERYTHING)).toHaveLength(16)
      await expect(
        store.commit(leaseHeld(queue, item!.item, 'tokentok'), set(EVERYWHERE[9]!, 'twice'))
      ).rejects.toMatchObject({ code: 'ERR_STORE_LEASE_LOST' })
      expect(await store.get(EVERYWHERE[9]!)).toBe('done')
      await store.commit(valueIs(EVERYWHERE[9]!, 'done'))
    }))
})
