/** What is particular to Redis: its names, its indexes and pages, its snapshots. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  append,
  type BatchStep,
  del,
  enqueue,
  hdel,
  hset,
  lease,
  remove,
  sadd,
  set,
  srem,
  wait,
  zadd,
  zcounter,
  zincrby,
  zrem
} from '../../../store-contract/src/steps.ts'
import { EVERYTHING, Subject, under } from '../../../store-contract/src/subject.ts'
import { openRedis } from './redis.ts'
import { type RedisServer, startRedis } from './server.testing.ts'

const EVERY_BYTE = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte)).join('')
const ODD_NAMES = [
  '',
  '\r\n',
  '{}',
  '{a}b',
  '}{',
  '*',
  '[x',
  '(y',
  '\0',
  '\xff\xff',
  EVERY_BYTE,
  'k'.repeat(1900)
]

let server: RedisServer
beforeAll(async () => {
  server = await startRedis({ appendonly: true, appendfsync: 'always' })
})
afterAll(() => server.stop())
beforeEach(async () => {
  await server.command('FLUSHALL')
})

const open = async (): Promise<Subject> => new Subject(await openRedis(server.url))

const using = async (use: (store: Subject) => Promise<void>): Promise<void> => {
  const store = await open()
  try {
    await use(store)
  } finally {
    await store.engine.close()
  }
}

const keys = async (): Promise<number> => Number(await server.command('DBSIZE'))

describe('names', () => {
  it('may be any bytes, in every structure', () =>
    using(async store => {
      for (const name of ODD_NAMES) {
        await store.commit(
          set(name, name),
          hset(name, name, name),
          sadd(name, name),
          zadd(name, name, 0.1),
          enqueue(name, name, 1, 2)
        )
      }
      for (const name of ODD_NAMES) {
        expect(await store.get(name)).toBe(name)
        expect(await store.hgetall(name)).toEqual([[name, name]])
        expect(await store.smembers(name)).toEqual([name])
        expect(await store.zrows(name)).toEqual([[name, 0.1]])
        expect((await store.qlist(name, 'due')).map(({ item }) => item)).toEqual([name])
      }
      const sorted = [...ODD_NAMES].sort()
      expect((await store.range(EVERYTHING)).map(([key]) => key)).toEqual(sorted)
      expect((await store.hrange({ ...EVERYTHING, reverse: true })).map(([key]) => key)).toEqual(
        sorted.reverse()
      )
      expect(await store.zkeys('{')).toEqual(['{a}b', '{}'])
    }))
})

describe('the index of keys', () => {
  it('leaves nothing behind when everything is removed', () =>
    using(async store => {
      const empty = await keys()
      const add: BatchStep[] = []
      const remove: BatchStep[] = []
      for (let i = 0; i < 50; i++) {
        add.push(set(`a${i}`, ''), hset(`a${i}`, 'f', ''), sadd(`a${i}`, 'm'), zadd(`a${i}`, 'm', i))
        remove.push(del(`a${i}`), hdel(`a${i}`, 'f'), srem(`a${i}`, 'm'), zrem(`a${i}`, 'm'))
      }
      await store.commit(...add)
      expect(await keys()).toBe(empty + 4 * 50 + 3)
      await store.commit(...remove)
      expect(await keys()).toBe(empty)
      await store.commit(...add, ...remove)
      expect(await keys()).toBe(empty)
      await store.commit(...remove, ...add)
      expect(await store.zkeys('a')).toHaveLength(50)
      await store.commit(...remove, zcounter('t', 'm', 2), zcounter('t', 'n', 0), append('l', 'e'))
      expect(await keys()).toBe(empty + 3)
      await store.commit(zcounter('t', 'm', -2), zrem('l', 'e'), zrem('l', ''))
      expect(await keys()).toBe(empty)
    }))

  it('is the same for a long program, which gathers what it adds', () =>
    using(async store => {
      const filler = 'x'.repeat(20_000)
      await store.commit(
        set('long', filler),
        hset('h', 'f', '1'),
        hset('h', 'g', '2'),
        hdel('h', 'f'),
        hdel('h', 'g'),
        hset('i', 'f', '1'),
        hdel('i', 'f'),
        hset('i', 'f', '2'),
        zadd('z', 'm', 1),
        zadd('z', 'm', 2),
        zadd('z', 'n', 3),
        zrem('z', 'm'),
        zadd('y', 'm', 1),
        zrem('y', 'm'),
        zincrby('x', 'm', 5),
        zadd('x', 'm', 7),
        zadd('t', 'm', 1),
        zcounter('t', 'm', -1),
        zadd('u', 'm', 1),
        zadd('u', 'n', 1),
        zcounter('u', 'm', -1),
        zcounter('w', 'm', 4),
        zadd('w', 'm', 1),
        append('l', 'a'),
        zadd('l', 'b', 9),
        append('l', 'b'),
        zadd('l', '', 5),
        append('l', 'c'),
        append('k', 'a')
      )
      expect(await store.hrange(EVERYTHING)).toEqual([['i', [['f', '2']]]])
      expect(await store.zkeys('')).toEqual(['k', 'l', 'u', 'w', 'x', 'z'])
      expect(await store.zrows('u')).toEqual([['n', 1]])
      expect(await store.zscore('w', 'm')).toBe(1)
      expect(await store.zrows('l')).toEqual([
        ['a', 1],
        ['', 6],
        ['c', 6],
        ['b', 9]
      ])
      expect(await store.zrows('z')).toEqual([['n', 3]])
      expect(await store.zscore('x', 'm')).toBe(7)
    }))

  it('finds more keys than a page has, in both directions, and values larger than one', () =>
    using(async store => {
      const all: BatchStep[] = []
      for (let i = 0; i < 2500; i++) all.push(set(`k${String(i).padStart(4, '0')}`, String(i)))
      await store.commit(...all)
      expect((await store.range(under('k'))).map(([, value]) => Number(value))).toEqual([...all.keys()])
      expect((await store.range(under('k', true), 1500)).map(([, value]) => Number(value))).toEqual(
        [...all.keys()].reverse().slice(0, 1500)
      )
      await store.commit(...['a', 'b', 'c'].map(key => set(key, key.repeat(5_000_000))))
      expect((await store.range(under(''), 4)).map(([key, value]) => [key, value.length])).toEqual([
        ['a', 5_000_000],
        ['b', 5_000_000],
        ['c', 5_000_000],
        ['k0000', 1]
      ])
    }))
})

describe('rows', () => {
  it('of thousands of ties are found by places between them, more than a page long', () =>
    using(async store => {
      const all: BatchStep[] = []
      for (let i = 0; i < 20_500; i++) all.push(zadd('z', `m${String(2 * i).padStart(5, '0')}`, 1))
      await store.commit(zadd('z', 'low', 0), zadd('z', 'high', 2), ...all)
      const member = (i: number): string => `m${String(i).padStart(5, '0')}`
      for (const exclusive of [false, true]) {
        expect(await store.zrows('z', { min: { score: 1, member: member(7), exclusive }, count: 1 })).toEqual(
          [[member(8), 1]]
        )
        expect(
          await store.zrows('z', { max: { score: 1, member: member(7), exclusive }, count: 1, reverse: true })
        ).toEqual([[member(6), 1]])
      }
      const up = await store.zrows('z')
      expect(up).toHaveLength(20_502)
      expect(await store.zrows('z', { reverse: true })).toEqual([...up].reverse())
      expect(await store.zrows('z', { offset: 3, count: 11_000 })).toEqual(up.slice(3, 11_003))
      expect(await store.zrows('z', { min: { score: 1 }, offset: 2000, count: 2 })).toEqual(
        up.slice(2001, 2003)
      )
      expect(await store.zsum('z')).toBe(20_502)
    }))

  it('of several pages with few ties, and with ties at the edge of a page, are all there once', () =>
    using(async store => {
      const all: BatchStep[] = []
      for (let i = 0; i < 25_000; i++) all.push(zadd('z', `m${i * 7919}`, Math.floor(i / 3)))
      await store.commit(...all)
      const up = await store.zrows('z')
      expect(up).toHaveLength(25_000)
      const order = (a: readonly [string, number], b: readonly [string, number]): number =>
        a[1] - b[1] || (a[0] < b[0] ? -1 : 1)
      expect(up).toEqual([...up].sort(order))
      expect(await store.zrows('z', { reverse: true })).toEqual([...up].reverse())
      const bounds = { min: { score: 5, exclusive: true }, max: { score: 8000 } }
      const between = up.filter(([, score]) => score > 5 && score <= 8000)
      expect(await store.zrows('z', { ...bounds, offset: 1 })).toEqual(between.slice(1))
      expect(await store.zrows('z', { ...bounds, count: 20_001, reverse: true })).toEqual(
        between.reverse().slice(0, 20_001)
      )
    }))
})

describe('a snapshot', () => {
  it('sees one state however others write', () =>
    using(async store => {
      await store.commit(set('a', '0'), hset('h', 'f', '0'), zadd('z', 'm', 0))
      let stop = false
      const writing = (async () => {
        for (let i = 1; !stop; i++) {
          await store.commit(set('a', String(i)), hset('h', 'f', String(i)), zadd('z', 'm', i))
        }
      })()
      for (let i = 0; i < 50; i++) {
        const seen = await store.snapshot(async reads => [
          Number(await reads.get('a')),
          Number(await reads.hget('h', 'f')),
          await reads.zscore('z', 'm'),
          Number((await reads.range(EVERYTHING))[0]![1])
        ])
        expect(new Set(seen).size).toBe(1)
      }
      stop = true
      await writing
    }))

  it('is read again at once, so that what changes while it is read does not matter', () =>
    using(async store => {
      let times = 0
      const read = store.snapshot(async reads => {
        const before = await reads.get('a')
        await store.commit(set('a', String(++times)), set('b', String(times)))
        return [before, await reads.get('b')]
      })
      expect(await read).toEqual(['1', '1'])
      expect(times).toBe(2)
    }))

  it('of other things each time is given up with ERR_STORE_BUSY', () =>
    using(async store => {
      let times = 0
      const reading = store.snapshot(async reads => {
        const key = `a${times++}`
        const value = await reads.get(key)
        await store.commit(set(key, 'changed'))
        return value
      })
      await expect(reading).rejects.toMatchObject({ code: 'ERR_STORE_BUSY' })
      expect(times).toBe(10)
    }))

  it('throws what its reader throws, once', () =>
    using(async store => {
      let times = 0
      const reading = store.snapshot(async reads => {
        await reads.get('a')
        times++
        throw new Error('of the reader')
      })
      await expect(reading).rejects.toThrow('of the reader')
      expect(times).toBe(1)
      expect(await store.snapshot(reads => reads.get('a'))).toBeUndefined()
    }))
})

describe('queues', () => {
  it('leave nothing behind', () =>
    using(async store => {
      const empty = await keys()
      await store.commit(
        enqueue('q', 'a', 1, 1),
        enqueue('q', 'b', 1, 1),
        lease('q', 'tokentok', 9, 50, 9, 10)
      )
      await store.commit(wait('q', 'a', 'c', 'r', 'dep', 60))
      expect(await keys()).toBe(empty + 4)
      await store.commit(remove('q', 'a'), remove('q', 'b'))
      expect(await keys()).toBe(empty)
    }))
})
