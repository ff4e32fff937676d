/** Limits: the longest names, the empty ones, and structures that are large but ordinary. */
import { deepStrictEqual as same } from 'node:assert/strict'
import { MAX_KEY } from '@quoin/store'
import type { Cases } from './index.ts'
import {
  append,
  type BatchStep,
  batchOf,
  bury,
  bytes,
  enqueue,
  fieldIs,
  hdel,
  hset,
  lease,
  leaseHeld,
  memberPresent,
  remove,
  renew,
  sadd,
  scoreIs,
  set,
  srem,
  valueIs,
  wait,
  wake,
  zadd,
  zcounter,
  zincrby,
  zrem
} from './steps.ts'
import { between, EVERYTHING, refused, type TextPlace, under } from './subject.ts'

const LONG = 'k'.repeat(MAX_KEY)
/** Three that differ in the last byte only, in their order. */
const LONGEST = ['\0', 'a', '\xff'].map(last => LONG.slice(1) + last)
const [FIRST, SECOND, THIRD] = LONGEST as [string, string, string]

export const limits: Cases = {
  [`names have up to ${MAX_KEY} bytes, each by itself: key-values`]: async store => {
    await store.commit(...LONGEST.map(key => set(key, key)))
    for (const key of LONGEST) same(await store.get(key), key)
    same(
      (await store.range(EVERYTHING)).map(([key]) => key),
      LONGEST
    )
    same(await store.range(between(SECOND, THIRD)), [[SECOND, SECOND]])
    await store.commit(valueIs(FIRST, FIRST), set(FIRST, 'again'))
    same(await store.get(FIRST), 'again')
  },
  'the longest fields of the longest hashes': async store => {
    await store.commit(...LONGEST.flatMap(key => LONGEST.map(field => hset(key, field, key + field))))
    for (const key of LONGEST) {
      same(await store.hget(key, SECOND), key + SECOND)
      same(
        await store.hgetall(key),
        LONGEST.map(field => [field, key + field])
      )
    }
    same(
      (await store.hrange(between(SECOND, null, true))).map(([key]) => key),
      [THIRD, SECOND]
    )
    await store.commit(fieldIs(SECOND, THIRD, SECOND + THIRD), hdel(SECOND, THIRD))
    same(
      (await store.hgetall(SECOND)).map(([field]) => field),
      [FIRST, SECOND]
    )
  },
  'the longest members of the longest sets': async store => {
    await store.commit(...LONGEST.flatMap(key => LONGEST.map(member => sadd(key, member))))
    await store.commit(memberPresent(SECOND, FIRST), srem(SECOND, FIRST))
    same(await store.smembers(FIRST), LONGEST)
    same(await store.smembers(SECOND), [SECOND, THIRD])
    same(await store.sismember(THIRD, THIRD), true)
  },
  'the longest members of the longest sorted sets': async store => {
    await store.commit(...LONGEST.flatMap(key => LONGEST.toReversed().map(member => zadd(key, member, 5))))
    for (const key of LONGEST) {
      same(
        await store.zrows(key),
        LONGEST.map(member => [member, 5])
      )
    }
    same(await store.zkeys(LONG.slice(1)), LONGEST)
    const rows = async (min: TextPlace) => (await store.zrows(SECOND, { min })).map(([member]) => member)
    same(await rows({ score: 5, member: SECOND }), [SECOND, THIRD])
    same(await rows({ score: 5, member: SECOND, exclusive: true }), [THIRD])
    await store.commit(scoreIs(SECOND, SECOND, 5), zincrby(SECOND, SECOND, 1), zrem(SECOND, FIRST))
    same(await store.zrows(SECOND), [
      [THIRD, 5],
      [SECOND, 6]
    ])
  },
  'the longest entries of the longest logs': async store => {
    await store.commit(...LONGEST.flatMap(key => LONGEST.toReversed().map(entry => append(key, entry))))
    for (const key of LONGEST) {
      same(await store.zrows(key), [
        [THIRD, 1],
        [SECOND, 2],
        ['', 3],
        [FIRST, 3]
      ])
    }
  },
  'the longest items of the longest queues, waiting for the longest dependency': async store => {
    const at = (state: 'due' | 'leased' | 'waiting' | 'dead') => store.qlist(SECOND, state)
    await store.commit(...LONGEST.toReversed().map(item => enqueue(SECOND, item, 5, 1)))
    same(
      (await at('due')).map(({ item }) => item),
      LONGEST
    )
    await store.commit(lease(SECOND, 'tokentok', 3, 100, 9, 50), renew(SECOND, FIRST, 110))
    await store.commit(
      leaseHeld(SECOND, THIRD, 'tokentok'),
      wait(SECOND, THIRD, 'c', 'r', LONG, 200),
      wait(SECOND, SECOND, 'c', 'r', FIRST, 200),
      bury(SECOND, FIRST, 'c', 'r', 60)
    )
    await store.commit(wake(SECOND, LONG))
    same((await at('due'))[0]?.item, THIRD)
    same((await at('waiting'))[0]?.item, SECOND)
    same((await at('dead'))[0]?.item, FIRST)
    await store.commit(...LONGEST.map(item => remove(SECOND, item)))
    same(await store.qcounts(SECOND), { due: 0, leased: 0, waiting: 0, dead: 0, headEnqueued: undefined })
  },
  'a name that is one byte longer is refused before it gets to the engine': async () => {
    const over = `${LONG}k`
    const steps: (() => BatchStep)[] = [
      () => set(over, ''),
      () => hset(over, 'f', ''),
      () => hset('h', over, ''),
      () => sadd('s', over),
      () => zadd('z', over, 1),
      () => zcounter('z', over, 1),
      () => append('l', over),
      () => enqueue('q', over, 1, 1),
      () => wake('q', over),
      () => valueIs(over, '')
    ]
    for (const step of steps) await refused(() => batchOf([step()]), 'ERR_STORE_KEY')
    batchOf([set('k', over)])
  },
  'an entry of a log that is empty is refused before it gets to the engine': async () => {
    await refused(() => batchOf([append('l', '')]), 'ERR_STORE_KEY')
    batchOf([append('', 'e')])
  },
  'names may be empty': async store => {
    await store.commit(
      set('', 'value'),
      hset('', '', 'field'),
      sadd('', ''),
      zadd('', '', 1),
      enqueue('', '', 1, 1)
    )
    same(await store.get(''), 'value')
    same(await store.range(under('')), [['', 'value']])
    same(await store.hrange(under('')), [['', [['', 'field']]]])
    same(await store.sismember('', ''), true)
    same(await store.smembers(''), [''])
    same(await store.zscore('', ''), 1)
    same(await store.zrows('', { min: { score: 1, member: '' }, max: { score: 1, member: '' } }), [['', 1]])
    same(await store.zkeys(''), [''])
    same((await store.leased(lease('', 'tokentok', 1, 9, 3, 1)))[0]?.item, '')
    await store.commit(leaseHeld('', '', 'tokentok'), wait('', '', '', '', '', 99))
    await store.commit(wake('', ''))
    same((await store.qcounts('')).due, 1)
  },
  'a value of 20 MB': async store => {
    const value = new Uint8Array(20 * 1024 * 1024)
    for (let i = 0; i < value.length; i++) value[i] = (i * 31 + (i >> 8)) & 0xff
    const program = batchOf([
      { name: 'set', args: [bytes('large'), value] },
      { name: 'hset', args: [bytes('h'), bytes('large'), value] },
      set('m', 'small')
    ])
    await store.engine.commit(program)
    const isValue = (found: Uint8Array | undefined): boolean => Buffer.compare(found!, value) === 0
    same(isValue(await store.engine.reads.get(bytes('large'))), true)
    same(isValue(await store.engine.reads.hget(bytes('h'), bytes('large'))), true)
    const pairs = await store.engine.reads.range(EVERYTHING)
    same(pairs.length, 2)
    same(isValue(pairs[0]?.value), true)
    await store.commit({ name: 'valueIs', args: [bytes('large'), value] }, set('large', 'replaced'))
    same(await store.get('large'), 'replaced')
  },
  'a hash with 5,000 fields': async store => {
    const fields = Array.from({ length: 5000 }, (_, i) => `field ${String(i).padStart(4, '0')}`)
    await store.commit(
      ...fields.toReversed().map(field => hset('h', field, `of ${field}`)),
      hset('i', 'f', '1')
    )
    const all = fields.map(field => [field, `of ${field}`])
    same(await store.hgetall('h'), all)
    same(await store.hmget('h', fields.toReversed()), all.map(([, value]) => value).toReversed())
    same(await store.hrange(EVERYTHING), [
      ['h', all],
      ['i', [['f', '1']]]
    ])
    await store.commit(...fields.slice(1).map(field => hdel('h', field)))
    same(await store.hgetall('h'), [all[0]])
  },
  'a set with 5,000 members': async store => {
    const members = Array.from({ length: 5000 }, (_, i) => `member ${String(i).padStart(4, '0')}`)
    await store.commit(...members.toReversed().map(member => sadd('s', member)))
    same(await store.smembers('s'), members)
  },
  'a member of 500 sorted sets': async store => {
    const keys = Array.from({ length: 500 }, (_, i) => `z:${String(i).padStart(3, '0')}`)
    await store.commit(...keys.flatMap((key, i) => [zadd(key, 'm', i), zadd(key, 'other', 1)]))
    same(await store.zkeys('z:'), keys)
    same(await store.zscores(keys, ['m']), [keys.map((_, i) => i)])
    await store.commit(...keys.map(key => zrem(key, 'm')), ...keys.slice(1).map(key => zrem(key, 'other')))
    same(await store.zkeys('z:'), [keys[0]])
    same(new Set((await store.zscores(keys, ['m']))[0]), new Set([undefined]))
  },
  'a sorted set with 20,000 members': async store => {
    const members = Array.from({ length: 20_000 }, (_, i) => `member ${String(i).padStart(5, '0')}`)
    const scoreOf = (i: number): number => Math.floor(i / 100)
    await store.commit(...members.map((member, i) => zadd('z', member, scoreOf(i))))
    same(await store.zcard('z'), 20_000)
    same(await store.zsum('z'), ((199 * 200) / 2) * 100)
    const names = async (rows: object) => (await store.zrows('z', rows)).map(([member]) => member)
    same(await names({}), members)
    same(await names({ reverse: true }), members.toReversed())
    same(await names({ min: { score: 150 }, max: { score: 150 } }), members.slice(15_000, 15_100))
    same(await names({ offset: 12_345, count: 5 }), members.slice(12_345, 12_350))
    same(
      await names({
        max: { score: scoreOf(12_345), member: members[12_345], exclusive: true },
        reverse: true,
        count: 3
      }),
      [members[12_344], members[12_343], members[12_342]]
    )
    await store.commit(...members.filter((_, i) => i % 2).map(member => zrem('z', member)))
    same(await store.zcard('z'), 10_000)
    same(
      await names({}),
      members.filter((_, i) => i % 2 === 0)
    )
  }
}
