/** Batches: all operations are done, in order, with their answers. */
import { deepStrictEqual as same } from 'node:assert/strict'
import type { Cases } from './index.ts'
import {
  batchOf,
  bury,
  del,
  enqueue,
  hdel,
  hset,
  lease,
  remove,
  retry,
  revive,
  sadd,
  set,
  srem,
  valueAbsent,
  wait,
  wake,
  zadd,
  zincrby,
  zrem
} from './steps.ts'
import { EVERYTHING, refused } from './subject.ts'

export const batches: Cases = {
  'an empty batch answers nothing and changes nothing': async store => {
    await store.commit(set('a', '1'))
    same(await store.commit(), [])
    same(await store.range(EVERYTHING), [['a', '1']])
  },
  'a batch of checks only writes nothing': async store => {
    same(await store.commit(valueAbsent('a')), [])
    same(await store.range(EVERYTHING), [])
  },
  'operations on one key are done in order': async store => {
    await store.commit(set('a', '1'), set('a', '2'), set('b', '1'), del('b'), del('c'), set('c', '1'))
    same(await store.range(EVERYTHING), [
      ['a', '2'],
      ['c', '1']
    ])
    await store.commit(del('a'), set('a', '3'), del('a'), set('c', '2'), del('c'), set('c', '3'))
    same(await store.range(EVERYTHING), [['c', '3']])
  },
  'operations on one field or member are done in order': async store => {
    await store.commit(
      hset('h', 'f', '1'),
      hdel('h', 'f'),
      hset('h', 'f', '2'),
      hset('h', 'g', '1'),
      hdel('h', 'g')
    )
    same(await store.hrange(EVERYTHING), [['h', [['f', '2']]]])
    await store.commit(sadd('s', 'a'), srem('s', 'a'), srem('s', 'b'), sadd('s', 'b'))
    same(await store.smembers('s'), ['b'])
    await store.commit(
      zadd('z', 'a', 1),
      zrem('z', 'a'),
      zadd('z', 'a', 2),
      zadd('z', 'a', 3),
      zadd('z', 'b', 1)
    )
    same(await store.zrows('z'), [
      ['b', 1],
      ['a', 3]
    ])
    await store.commit(zrem('z', 'a'), zadd('z', 'a', 0), zrem('z', 'b'), zadd('z', 'c', 1), zrem('z', 'c'))
    same(await store.zrows('z'), [['a', 0]])
    same(await store.zcard('z'), 1)
  },
  'a structure that ends and begins again within a batch has only what came after': async store => {
    await store.commit(hset('h', 'f', '1'), zadd('z', 'a', 1), sadd('s', 'a'))
    await store.commit(
      hdel('h', 'f'),
      hset('h', 'g', '2'),
      zrem('z', 'a'),
      zadd('z', 'b', 2),
      srem('s', 'a'),
      sadd('s', 'b')
    )
    same(await store.hrange(EVERYTHING), [['h', [['g', '2']]]])
    same(await store.zrows('z'), [['b', 2]])
    same(await store.zkeys(''), ['z'])
    same(await store.smembers('s'), ['b'])
  },
  'an increment sees what the batch did before it': async store => {
    const answers = await store.commit(
      zadd('z', 'a', 10),
      zincrby('z', 'a', 1),
      zincrby('z', 'a', 1),
      zrem('z', 'a'),
      zincrby('z', 'a', 5),
      zincrby('z', 'b', 7)
    )
    same(answers, [11, 12, 5, 7])
    same(await store.zrows('z'), [
      ['a', 5],
      ['b', 7]
    ])
  },
  'a lease sees what the batch did before it': async store => {
    const [first, second] = await store.commit(
      enqueue('q', 'a', 1, 1),
      enqueue('q', 'b', 2, 1),
      lease('q', 'tokentok', 1, 100, 3, 50),
      remove('q', 'b'),
      lease('q', 'tokentok', 1, 100, 3, 50)
    )
    same((first as { item: string }[])[0]?.item, 'a')
    same(second, [])
    const [again] = await store.commit(
      bury('q', 'a', 'c', 'r', 60),
      revive('q', 'a'),
      lease('q', 'tokentok', 1, 100, 3, 60),
      retry('q', 'a', 'c2', 'r2', 70)
    )
    same(again, [{ item: 'a', score: 1, enqueued: 1, attempts: 1, errorClass: 'c', reason: 'r' }])
    same((await store.qlist('q', 'due'))[0]?.at, 70)
  },
  'each lease of a batch goes on where the one before it stopped': async store => {
    await store.commit(...['a', 'b', 'c', 'd', 'e'].map(item => enqueue('q', item, 1, 1)))
    const take = (count: number, until = 100) => lease('q', 'tokentok', count, until, 9, 50)
    const names = (answers: readonly unknown[]) =>
      answers.map(answer => (answer as { item: string }[]).map(({ item }) => item).join(' '))
    same(names(await store.commit(take(0), take(2), take(1), take(0), take(9), take(9))), [
      '',
      'a b',
      'c',
      '',
      'd e',
      ''
    ])
    // Leases that are over at once come back, and are leased again.
    await store.commit(...['a', 'b', 'c', 'd', 'e'].map(item => retry('q', item, '', '', 1)))
    same(names(await store.commit(take(2, 50), take(3, 50), take(1))), ['a b', 'a b c', 'a'])
  },
  'answers come in the order of the operations that have one': async store => {
    const answers = await store.commit(
      set('a', '1'),
      lease('q', 'tokentok', 5, 100, 3, 50),
      zincrby('z', 'a', 1),
      enqueue('q', 'a', 1, 1),
      hset('h', 'f', '1'),
      zincrby('z', 'a', 1),
      lease('q', 'tokentok', 5, 100, 3, 50)
    )
    const item = { item: 'a', score: 1, enqueued: 1, attempts: 1, errorClass: '', reason: '' }
    same(answers, [[], 1, 2, [item]])
  },
  'a batch of many operations is one batch': async store => {
    const names = Array.from({ length: 3000 }, (_, i) => String(i).padStart(5, '0'))
    await store.commit(
      ...names.flatMap(name => [set(name, name), hset(name, 'f', name), zadd('z', name, 1)]),
      ...names.filter((_, i) => i % 2).flatMap(name => [del(name), hdel(name, 'f'), zrem('z', name)])
    )
    const even = names.filter((_, i) => i % 2 === 0)
    same(
      await store.range(EVERYTHING),
      even.map(name => [name, name])
    )
    same((await store.hrange(EVERYTHING)).length, even.length)
    same(await store.zcard('z'), even.length)
  },
  'a batch can be overwritten once it is committed': async store => {
    const batch = batchOf([
      set('a', 'kept'),
      hset('h', 'field', 'kept'),
      zadd('z', 'member', 1),
      sadd('s', 'm'),
      enqueue('q', 'item', 1, 1)
    ])
    await store.engine.commit(batch)
    batch.fill(0)
    same(await store.range(EVERYTHING), [['a', 'kept']])
    same(await store.hrange(EVERYTHING), [['h', [['field', 'kept']]]])
    same(await store.zrows('z'), [['member', 1]])
    same(await store.smembers('s'), ['m'])
    same((await store.qlist('q', 'due'))[0]?.item, 'item')
  },
  'many batches are committed in their order': async store => {
    await store.engine.commitMany([])
    await store.engine.commitMany(
      Array.from({ length: 500 }, (_, i) =>
        batchOf([set('last', `${i}`), zincrby('z', 'sum', i), set(`${i}`, '')])
      )
    )
    same(await store.get('last'), '499')
    same(await store.zscore('z', 'sum'), (499 * 500) / 2)
    same((await store.range(EVERYTHING)).length, 501)
  },
  'each of many batches sees what those before it did': async store => {
    const batches = [
      [enqueue('q', 'a', 1, 1), enqueue('q', 'b', 2, 1), zadd('z', 'm', 5)],
      [lease('q', 'tokentok', 1, 60, 1, 50), zincrby('z', 'm', 1)],
      [wait('q', 'a', 'c', 'r', 'dep', 500), zincrby('z', 'm', 1)],
      [lease('q', 'tokentok', 9, 70, 1, 50), wake('q', 'dep'), zrem('z', 'm')],
      [lease('q', 'tokentok', 9, 80, 1, 70), zincrby('z', 'm', 1)]
    ]
    await store.engine.commitMany(batches.map(batchOf))
    const listed = async (state: 'due' | 'leased' | 'waiting' | 'dead') =>
      (await store.qlist('q', state)).map(({ item, at, attempts }) => [item, at, attempts])
    same(await listed('leased'), [['a', 80, 1]])
    same(await listed('dead'), [['b', 70, 1]])
    same(await listed('due'), [])
    same(await listed('waiting'), [])
    same(await store.zrows('z'), [['m', 1]])
  },
  'a batch among many that is refused writes nothing and refuses the call': async store => {
    await store.commit(set('a', '1'))
    await refused(
      () => store.engine.commitMany([batchOf([valueAbsent('a'), set('a', '2'), set('b', '2')])]),
      'ERR_STORE_PRECONDITION'
    )
    same(await store.range(EVERYTHING), [['a', '1']])
  }
}
