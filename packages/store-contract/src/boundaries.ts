/**
 * Structures and keys are apart: nothing that is written at one place is found at another, however the bytes of keys
 * and names add up.
 */
import { deepStrictEqual as same } from 'node:assert/strict'
import type { Cases } from './index.ts'
import { del, enqueue, hdel, hset, lease, remove, sadd, set, srem, zadd, zrem } from './steps.ts'
import { EVERYTHING, under } from './subject.ts'

/** An engine that joins a key and a name by a delimiter, an escape or a length confuses two of these. */
const AWKWARD = [
  '',
  '\0',
  '\0\0',
  '\0\x01',
  '\0\xff',
  '\x01',
  '\x01\0',
  ':',
  'a',
  'a:',
  'a\0',
  'aa',
  '{a}',
  '}',
  '\xff',
  '\xff\0',
  '\xff\xff'
]
const EVERY_BYTE = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte))
const inOrder = [...AWKWARD].sort()
const scoreOf = (key: string, name: string): number => inOrder.indexOf(key) * 100 + inOrder.indexOf(name)

export const boundaries: Cases = {
  'one key names a structure of each kind, and each has its own contents': async store => {
    await store.commit(
      set('a', 'value'),
      hset('a', 'm', 'field'),
      sadd('a', 'm'),
      zadd('a', 'm', 1),
      enqueue('a', 'm', 2, 3)
    )
    const check = async (has: { value: boolean; hash: boolean; set: boolean; zset: boolean }) => {
      same(await store.get('a'), has.value ? 'value' : undefined)
      same(await store.range(EVERYTHING), has.value ? [['a', 'value']] : [])
      same(await store.hgetall('a'), has.hash ? [['m', 'field']] : [])
      same(await store.smembers('a'), has.set ? ['m'] : [])
      same(await store.zrows('a'), has.zset ? [['m', 1]] : [])
      same(await store.zkeys(''), has.zset ? ['a'] : [])
      same((await store.qcounts('a')).due, 1)
    }
    await check({ value: true, hash: true, set: true, zset: true })
    await store.commit(del('a'))
    await check({ value: false, hash: true, set: true, zset: true })
    await store.commit(zrem('a', 'm'))
    await check({ value: false, hash: true, set: true, zset: false })
    await store.commit(hdel('a', 'm'))
    await check({ value: false, hash: false, set: true, zset: false })
    await store.commit(srem('a', 'm'))
    await check({ value: false, hash: false, set: false, zset: false })
    await store.commit(remove('a', 'm'))
    same((await store.qcounts('a')).due, 0)
  },
  'a queue shows in no other structure': async store => {
    await store.commit(enqueue('q', 'a', 1, 1), enqueue('q', 'b', 1, 1), lease('q', 'tokentok', 1, 9, 3, 1))
    same(await store.range(EVERYTHING), [])
    same(await store.hrange(EVERYTHING), [])
    same(await store.zkeys(''), [])
    same(await store.smembers('q'), [])
  },
  'hashes: every pair of key and field has its own value': async store => {
    const all = AWKWARD.flatMap(key => AWKWARD.map(field => [key, field, `${scoreOf(key, field)}`] as const))
    await store.commit(...all.map(pair => hset(...pair)))
    for (const [key, field, value] of all) same(await store.hget(key, field), value)
    for (const key of AWKWARD) {
      same(
        await store.hgetall(key),
        inOrder.map(field => [field, `${scoreOf(key, field)}`])
      )
    }
    same(
      (await store.hrange(EVERYTHING)).map(([key]) => key),
      inOrder
    )
  },
  'sets: every pair of key and member is its own': async store => {
    const odd = (key: string, member: string): boolean => scoreOf(key, member) % 2 === 1
    await store.commit(...AWKWARD.flatMap(key => AWKWARD.map(member => sadd(key, member))))
    await store.commit(
      ...AWKWARD.flatMap(key => AWKWARD.filter(member => odd(key, member)).map(member => srem(key, member)))
    )
    for (const key of AWKWARD) {
      same(
        await store.smembers(key),
        inOrder.filter(member => !odd(key, member))
      )
    }
  },
  'sorted sets: every pair of key and member has its own score': async store => {
    await store.commit(
      ...AWKWARD.flatMap(key => AWKWARD.map(member => zadd(key, member, scoreOf(key, member) % 3)))
    )
    for (const key of AWKWARD) {
      const rows = inOrder.map(member => [member, scoreOf(key, member) % 3] as const)
      same(
        await store.zrows(key),
        [0, 1, 2].flatMap(score => rows.filter(row => row[1] === score))
      )
      same(await store.zcard(key), AWKWARD.length)
      same(
        await store.zkeys(key),
        inOrder.filter(each => each.startsWith(key))
      )
    }
  },
  'queues: every pair of key and item is its own': async store => {
    await store.commit(
      ...AWKWARD.flatMap(key => AWKWARD.map(item => enqueue(key, item, scoreOf(key, item), 7)))
    )
    for (const key of AWKWARD) {
      const items = await store.leased(lease(key, 'tokentok', 1000, 1e6, 3, 1e5))
      same(
        items.map(({ item, score }) => [item, score]),
        inOrder.map(item => [item, scoreOf(key, item)])
      )
    }
  },
  'every byte can be in a key': async store => {
    for (const make of [(byte: string) => byte, (byte: string) => `k${byte}k`]) {
      const keys = EVERY_BYTE.map(make)
      await store.commit(
        ...keys.flatMap(key => [set(key, key), hset(key, 'f', key), sadd(key, key), zadd(key, key, 1)])
      )
      for (const key of keys) {
        same(await store.get(key), key)
        same(await store.hgetall(key), [['f', key]])
        same(await store.smembers(key), [key])
        same(await store.zrows(key), [[key, 1]])
      }
    }
    same(
      (await store.range(under('k'))).map(([key]) => key),
      ['k', ...EVERY_BYTE.map(byte => `k${byte}k`)]
    )
  },
  'every byte can be in a field, a member, an item and a value': async store => {
    await store.commit(
      ...EVERY_BYTE.toReversed().flatMap(byte => [
        hset('h', byte, EVERY_BYTE.join('')),
        sadd('s', byte),
        zadd('z', byte, 1),
        enqueue('q', byte, 1, 1)
      ])
    )
    same(
      await store.hgetall('h'),
      EVERY_BYTE.map(byte => [byte, EVERY_BYTE.join('')])
    )
    same(await store.smembers('s'), EVERY_BYTE)
    same(
      await store.zrows('z'),
      EVERY_BYTE.map(byte => [byte, 1])
    )
    same(
      (await store.qlist('q', 'due')).map(({ item }) => item),
      EVERY_BYTE
    )
  }
}
