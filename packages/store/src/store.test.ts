/** The store: its conveniences do what they say, its options are checked, its snapshots stand still. */
import { describe, expect, it } from 'vitest'
import { bytes } from '../../store-contract/src/steps.ts'
import type { KeyValue, ScoredMember } from './engine.ts'
import { openEngine } from './open.ts'
import { openStore, Store } from './store.ts'
import { describeStores, latin1, newKey } from './stores.testing.ts'

const open = (): Promise<Store> => openStore('memory:')
const row = (member: string, score: number): ScoredMember => ({ member: bytes(member), score })
const rowsShown = (rows: readonly ScoredMember[]): string =>
  rows.map(({ member, score }) => `${latin1(member)}@${score}`).join(' ')
const keysShown = (entries: readonly { readonly key: Uint8Array }[]): string =>
  entries.map(({ key }) => latin1(key)).join(' ')
const shown = (value: Uint8Array | undefined): string | undefined => value && latin1(value)

describe('single writes', () => {
  it('are batches of one: values', async () => {
    const store = await open()
    await store.set(bytes('a'), bytes('1'))
    await store.set(bytes('a'), bytes('2'))
    expect(shown(await store.get(bytes('a')))).toBe('2')
    await store.del(bytes('a'))
    expect(await store.get(bytes('a'))).toBeUndefined()
  })

  it('hashes', async () => {
    const store = await open()
    const key = bytes('h')
    await store.hset(key, bytes('b'), bytes('2'))
    await store.hmset(
      key,
      new Map([
        [bytes('a'), bytes('1')],
        [bytes('c'), bytes('3')]
      ])
    )
    await store.hmset(key, [])
    expect((await store.hgetall(key)).map(({ field, value }) => latin1(field) + latin1(value))).toStrictEqual(
      ['a1', 'b2', 'c3']
    )
    expect(shown(await store.hget(key, bytes('b')))).toBe('2')
    expect(
      (await store.hmget(key, [bytes('c'), bytes('x'), bytes('a'), bytes('c')])).map(shown)
    ).toStrictEqual(['3', undefined, '1', '3'])
    expect(await store.hmget(key, [])).toStrictEqual([])
    await store.hdel(key, bytes('a'), bytes('c'), bytes('x'))
    await store.hdel(key)
    expect(await store.hgetall(key)).toHaveLength(1)
  })

  it('sets', async () => {
    const store = await open()
    const key = bytes('s')
    await store.sadd(key, bytes('b'), bytes('a'), bytes('b'))
    expect((await store.smembers(key)).map(latin1)).toStrictEqual(['a', 'b'])
    expect(await store.sismember(key, bytes('a'))).toBe(true)
    await store.srem(key, bytes('a'), bytes('x'))
    expect(await store.sismember(key, bytes('a'))).toBe(false)
  })

  it('sorted sets', async () => {
    const store = await open()
    const key = bytes('z')
    await store.zadd(key, row('a', 1), row('b', 2), row('a', 3))
    expect(rowsShown(await store.zrange(key))).toBe('b@2 a@3')
    expect(await store.zincrby(key, bytes('b'), 1.5)).toBe(3.5)
    expect(await store.zincrby(key, bytes('new'), -1)).toBe(-1)
    expect(await store.zscore(key, bytes('b'))).toBe(3.5)
    expect(await store.zscore(key, bytes('x'))).toBeUndefined()
    expect(await store.zmscore(key, [bytes('x'), bytes('b'), bytes('b')])).toEqual([undefined, 3.5, 3.5])
    expect(await store.zmscore(key, [])).toEqual([])
    expect(await store.zcard(key)).toBe(3)
    expect(await store.zsum(key)).toBe(5.5)
    await store.zcounter(key, bytes('new'), 3)
    expect(await store.zscore(key, bytes('new'))).toBe(2)
    await store.zcounter(key, bytes('new'), -2)
    expect(await store.zscore(key, bytes('new'))).toBeUndefined()
    await store.zrem(key, bytes('a'), bytes('new'), bytes('x'))
    expect(rowsShown(await store.zrange(key))).toBe('b@3.5')
  })
})

describe('ranges of keys', () => {
  const KEYS = ['a', 'a\0', 'a\xff', 'ab', 'b', '\xff', '\xff\xff']
  const filled = async (): Promise<Store> => {
    const store = await open()
    const batch = store.batch()
    for (const key of KEYS) batch.set(bytes(key), bytes('')).hset(bytes(key), bytes('f'), bytes(''))
    for (const key of KEYS) batch.zadd(bytes(key), row('m', 1))
    await batch.commit()
    return store
  }

  it('begin with a prefix, in the order of bytes or in the mirror of it', async () => {
    const store = await filled()
    for (const read of ['range', 'hrange'] as const) {
      const keys = async (...args: Parameters<Store['range']>) =>
        (await (store[read](...args) as Promise<readonly Pick<KeyValue, 'key'>[]>)).map(({ key }) =>
          latin1(key)
        )
      expect(await keys(bytes('a'))).toStrictEqual(['a', 'a\0', 'ab', 'a\xff'])
      expect(await keys(bytes('a'), { reverse: true })).toStrictEqual(['a\xff', 'ab', 'a\0', 'a'])
      expect(await keys(bytes('a'), { limit: 2 })).toStrictEqual(['a', 'a\0'])
      expect(await keys(bytes('a'), { limit: 1, reverse: true })).toStrictEqual(['a\xff'])
      expect(await keys(bytes('a'), { limit: 0 })).toStrictEqual([])
      expect(await keys(bytes('\xff'))).toStrictEqual(['\xff', '\xff\xff'])
      expect(await keys(bytes(''))).toHaveLength(KEYS.length)
    }
  })

  it('are as given, and in the direction asked for if one is', async () => {
    const store = await filled()
    const range = { start: bytes('ab'), end: bytes('\xff'), reverse: true }
    expect(keysShown(await store.range(range))).toBe('b a\xff ab')
    expect(keysShown(await store.range(range, { reverse: false }))).toBe('ab a\xff b')
    expect(keysShown(await store.hrange({ ...range, reverse: false }, { reverse: true, limit: 1 }))).toBe('b')
  })

  it('of sorted sets are their keys', async () => {
    const store = await filled()
    const keys = async (...args: Parameters<Store['zkeys']>) => (await store.zkeys(...args)).map(latin1)
    expect(await keys(bytes('a'))).toStrictEqual(['a', 'a\0', 'ab', 'a\xff'])
    expect(await keys(bytes('a'), { limit: 2, reverse: true })).toStrictEqual(['a\xff', 'ab'])
    expect(await keys({ start: bytes('ab'), end: bytes('b'), reverse: false })).toStrictEqual(['ab', 'a\xff'])
  })
})

describe('ranges of scores', () => {
  it('have bounds that belong to them or do not, an offset and a count, and a mirror', async () => {
    const store = await open()
    const key = bytes('z')
    await store.zadd(key, row('a', 1), row('b', 2), row('c', 2), row('d', 3))
    const range = async (given?: Parameters<Store['zrange']>[1]) => rowsShown(await store.zrange(key, given))
    const mirror = async (given?: Parameters<Store['zrange']>[1]) =>
      rowsShown(await store.zrevrange(key, given))
    expect(await range()).toBe('a@1 b@2 c@2 d@3')
    expect(await mirror()).toBe('d@3 c@2 b@2 a@1')
    expect(await range({ min: 2 })).toBe('b@2 c@2 d@3')
    expect(await range({ min: 2, minExclusive: true })).toBe('d@3')
    expect(await range({ max: 2 })).toBe('a@1 b@2 c@2')
    expect(await range({ max: 2, maxExclusive: true })).toBe('a@1')
    expect(await mirror({ min: 2, max: 3, maxExclusive: true })).toBe('c@2 b@2')
    expect(await range({ min: 2, offset: 1, count: 1 })).toBe('c@2')
    expect(await mirror({ offset: 1, count: 2 })).toBe('c@2 b@2')
    expect(await range({ count: 0 })).toBe('')
    expect(await range({ min: -Infinity, max: Infinity })).toBe('a@1 b@2 c@2 d@3')
  })
})

describe('what is wrong is refused, by a promise that rejects', () => {
  const LONG = new Uint8Array(1901)
  const cases: [string, string, (store: Store) => Promise<unknown>][] = [
    ['limit', 'ERR_STORE_OPTION', store => store.range(bytes(''), { limit: -1 })],
    ['limit', 'ERR_STORE_OPTION', store => store.hrange(bytes(''), { limit: 1.5 })],
    ['limit', 'ERR_STORE_OPTION', store => store.zkeys(bytes(''), { limit: -1 })],
    ['offset', 'ERR_STORE_OPTION', store => store.zrange(bytes('z'), { offset: -1 })],
    ['count', 'ERR_STORE_OPTION', store => store.zrevrange(bytes('z'), { count: NaN })],
    ['min', 'ERR_STORE_SCORE', store => store.zrange(bytes('z'), { min: NaN })],
    ['max', 'ERR_STORE_SCORE', store => store.zrange(bytes('z'), { max: '1' as never })],
    ['get', 'ERR_STORE_KEY', store => store.get(LONG)],
    ['get', 'ERR_STORE_KEY', store => store.get('text' as never)],
    ['range', 'ERR_STORE_KEY', store => store.range(LONG)],
    ['hget', 'ERR_STORE_KEY', store => store.hget(bytes('h'), LONG)],
    ['hmget', 'ERR_STORE_KEY', store => store.hmget(bytes('h'), [LONG])],
    ['hgetall', 'ERR_STORE_KEY', store => store.hgetall(LONG)],
    ['mget', 'ERR_STORE_KEY', store => store.mget([bytes('a'), LONG])],
    ['mhgetall', 'ERR_STORE_KEY', store => store.mhgetall([LONG])],
    ['mhexists', 'ERR_STORE_KEY', store => store.mhexists([LONG])],
    ['sismember', 'ERR_STORE_KEY', store => store.sismember(bytes('s'), LONG)],
    ['smembers', 'ERR_STORE_KEY', store => store.smembers(LONG)],
    ['zscore', 'ERR_STORE_KEY', store => store.zscore(bytes('z'), LONG)],
    ['zmscore', 'ERR_STORE_KEY', store => store.zmscore(bytes('z'), [LONG])],
    ['zcard', 'ERR_STORE_KEY', store => store.zcard(LONG)],
    ['zsum', 'ERR_STORE_KEY', store => store.zsum(LONG)],
    ['zkeys', 'ERR_STORE_KEY', store => store.zkeys(LONG)],
    ['set', 'ERR_STORE_KEY', store => store.set(LONG, bytes(''))],
    ['set', 'ERR_STORE_VALUE', store => store.set(bytes('a'), 'text' as never)],
    ['del', 'ERR_STORE_KEY', store => store.del(LONG)],
    ['hset', 'ERR_STORE_KEY', store => store.hset(bytes('h'), LONG, bytes(''))],
    ['hmset', 'ERR_STORE_VALUE', store => store.hmset(bytes('h'), [[bytes('f'), 5 as never]])],
    ['hdel', 'ERR_STORE_KEY', store => store.hdel(bytes('h'), LONG)],
    ['sadd', 'ERR_STORE_KEY', store => store.sadd(bytes('s'), LONG)],
    ['srem', 'ERR_STORE_KEY', store => store.srem(bytes('s'), LONG)],
    ['zadd', 'ERR_STORE_SCORE', store => store.zadd(bytes('z'), row('m', NaN))],
    ['zrem', 'ERR_STORE_KEY', store => store.zrem(bytes('z'), LONG)],
    ['zincrby', 'ERR_STORE_SCORE', store => store.zincrby(bytes('z'), bytes('m'), Infinity)],
    ['zcounter', 'ERR_STORE_SCORE', store => store.zcounter(bytes('z'), bytes('m'), NaN)],
    ['zcounter', 'ERR_STORE_KEY', store => store.zcounter(bytes('z'), LONG, 1)]
  ]
  it.each(cases)('%s: %s', async (_, code, call) => {
    const store = await open()
    // A call that throws instead of rejecting fails the test here.
    const answer = call(store)
    await expect(answer).rejects.toMatchObject({ name: 'QuoinError', code })
  })
})

describe('a store', () => {
  it('says what it runs on, and how large it is', async () => {
    const store = await open()
    expect(store.engine).toBe('memory')
    expect(await store.stats()).toMatchObject({ engine: 'memory', bytes: expect.any(Number) })
  })

  it('is not there when it is closed', async () => {
    const store = await open()
    await store.close()
    await store.close()
    await expect(store.set(bytes('a'), bytes(''))).rejects.toMatchObject({ code: 'ERR_STORE_CLOSED' })
  })

  it('is named by a URL that there is', async () => {
    for (const url of ['', 'sqlite:x', 'memory', 'memory:x', 'lmdb:', 'level:?read-only', 'lmdb:x?write']) {
      await expect(openStore(url)).rejects.toMatchObject({ code: 'ERR_STORE_URL' })
    }
  })

  it('is the same to all who use its engine', async () => {
    const engine = await openEngine('memory:')
    const [one, other] = [new Store(engine), new Store(engine)]
    await one.set(bytes('a'), bytes('1'))
    expect(shown(await other.get(bytes('a')))).toBe('1')
  })
})

describeStores(['memory', 'lmdb', 'level', 'redis', 'postgres'], opened => {
  it('a snapshot sees one state over several calls while writes go on', async () => {
    const { store } = opened
    const [value, hash, set, sorted] = [newKey(), newKey(), newKey(), newKey()]
    const write = (round: number): Promise<void> =>
      store
        .batch()
        .set(value, bytes(`${round}`))
        .hset(hash, bytes('round'), bytes(`${round}`))
        .srem(set, bytes(`${round - 1}`))
        .sadd(set, bytes(`${round}`))
        .zadd(sorted, row('round', round))
        .commit()
    await write(0)
    let goesOn = true
    const writer = (async () => {
      for (let round = 1; goesOn; round++) {
        await write(round)
        await new Promise(resolve => setTimeout(resolve, 8))
      }
    })()
    try {
      let seen = 0
      for (let i = 0; i < 20; i++) {
        const state = store.snapshot(async reads => {
          const first = shown(await reads.get(value))
          await new Promise(resolve => setTimeout(resolve, i % 4))
          const page = await reads.search({ keys: [sorted] })
          return [
            first,
            shown(await reads.hget(hash, bytes('round'))),
            (await reads.smembers(set)).map(latin1).join(),
            String(await reads.zscore(sorted, bytes('round'))),
            String(page.rows[0]?.score),
            shown(await reads.get(value))
          ]
        })
        // An engine that reads again what has changed may give up, and says so.
        const found = await state.catch(error => {
          expect(error).toMatchObject({ code: 'ERR_STORE_BUSY' })
          return undefined
        })
        if (!found) continue
        seen++
        expect(new Set(found).size).toBe(1)
      }
      expect(seen).toBeGreaterThan(0)
    } finally {
      goesOn = false
      await writer
    }
  })

  it('what a snapshot gives is given, and what it throws is thrown', async () => {
    const failure = new Error('of the reader')
    expect(await opened.store.snapshot(async () => 'given')).toBe('given')
    await expect(opened.store.snapshot(() => Promise.reject(failure))).rejects.toBe(failure)
  })
})
