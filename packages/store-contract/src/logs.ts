/** Logs: the commit gives an entry its position, and the last position given outlives the entries. */
import { deepStrictEqual as same } from 'node:assert/strict'
import type { Cases } from './index.ts'
import {
  append,
  appendDeferred,
  batchOf,
  bytes,
  enqueue,
  lease,
  scoreIs,
  set,
  valueAbsent,
  zadd,
  zincrby,
  zrem
} from './steps.ts'
import { type Pair, refused, type TextReads } from './subject.ts'

/** The last position given, and the entries with theirs, in order. */
const logOf = async (store: TextReads, key: string): Promise<{ last: number; entries: Pair<number>[] }> => {
  const rows = await store.zrows(key)
  const [last, ...more] = rows.filter(([member]) => member === '')
  same(more, [])
  return { last: last?.[1] ?? 0, entries: rows.filter(([member]) => member !== '') }
}

const numbered = (entries: readonly string[], from = 1): Pair<number>[] =>
  entries.map((entry, i) => [entry, from + i])

export const logs: Cases = {
  'the first entry has position 1, and each further one the next, in the order of the batch': async store => {
    same(await store.commit(append('l', 'b')), [])
    await store.commit(append('l', 'c'), append('l', 'a'))
    await store.commit(append('l', '\0'))
    same(await logOf(store, 'l'), { last: 4, entries: numbered(['b', 'c', 'a', '\0']) })
    same(await store.zscore('l', ''), 4)
    same(await store.zcard('l'), 5)
    same(await store.zkeys(''), ['l'])
  },
  'an entry that the log has stays where it is, and takes no position': async store => {
    await store.commit(append('l', 'a'), append('l', 'b'), append('l', 'a'))
    await store.commit(append('l', 'b'))
    await store.commit(append('l', 'b'), append('l', 'c'), append('l', 'a'))
    same(await logOf(store, 'l'), { last: 3, entries: numbered(['a', 'b', 'c']) })
  },
  'a batch that is committed again changes nothing': async store => {
    const batch = batchOf([append('l', 'a'), append('l', 'b')])
    await store.engine.commit(batch)
    await store.commit(append('l', 'c'))
    await store.engine.commit(batch)
    await store.engine.commitMany([batch, batch])
    same(await logOf(store, 'l'), { last: 3, entries: numbered(['a', 'b', 'c']) })
  },
  'a batch that is refused gives no position': async store => {
    await store.commit(set('a', '1'), append('l', 'a'))
    await refused(() => store.commit(valueAbsent('a'), append('l', 'b')), 'ERR_STORE_PRECONDITION')
    await store.commit(scoreIs('l', 'a', 1), scoreIs('l', '', 1), append('l', 'c'))
    same(await logOf(store, 'l'), { last: 2, entries: numbered(['a', 'c']) })
  },
  'each log counts for itself, one or a hundred of them': async store => {
    const keys = Array.from({ length: 100 }, (_, i) => `l${String(i).padStart(2, '0')}`)
    await store.commit(...keys.map(key => append(key, key)))
    await store.commit(
      ...keys.map(key => append(key, 'common')),
      ...keys.filter((_, i) => i % 3 === 0).map(key => append(key, 'more'))
    )
    for (const [i, key] of keys.entries()) {
      const entries = i % 3 === 0 ? [key, 'common', 'more'] : [key, 'common']
      same(await logOf(store, key), { last: entries.length, entries: numbered(entries) })
    }
    same(await store.zkeys('l'), keys)
  },
  'positions go on when entries are removed, one or all': async store => {
    await store.commit(append('l', 'a'), append('l', 'b'), append('l', 'c'))
    await store.commit(zrem('l', 'a'), zrem('l', 'b'))
    same(await logOf(store, 'l'), { last: 3, entries: [['c', 3]] })
    await store.commit(zrem('l', 'c'))
    same(await logOf(store, 'l'), { last: 3, entries: [] })
    same(await store.zkeys(''), ['l'])
    await store.commit(append('l', 'd'))
    same(await logOf(store, 'l'), { last: 4, entries: [['d', 4]] })
  },
  'an entry that was removed gets a position as if it had never been there': async store => {
    await store.commit(append('l', 'a'), append('l', 'b'))
    await store.commit(zrem('l', 'a'), append('l', 'a'), zrem('l', 'b'))
    same(await logOf(store, 'l'), { last: 3, entries: [['a', 3]] })
  },
  'a log whose last position is removed too is gone, and begins again': async store => {
    await store.commit(append('l', 'a'), append('l', 'b'))
    await store.commit(zrem('l', 'a'), zrem('l', 'b'), zrem('l', ''))
    same(await store.zkeys(''), [])
    await store.commit(append('l', 'b'))
    same(await logOf(store, 'l'), { last: 1, entries: [['b', 1]] })
  },
  'positions are exact up to 2^53': async store => {
    await store.commit(zadd('l', '', 2 ** 53 - 3), append('l', 'a'), append('l', 'b'))
    await store.commit(append('l', 'c'))
    same(await logOf(store, 'l'), {
      last: 2 ** 53,
      entries: numbered(['a', 'b', 'c'], 2 ** 53 - 2)
    })
  },
  'a log is a sorted set: members of it are entries, and its last position is what the score says':
    async store => {
      await store.commit(zadd('z', 'a', 7), append('z', 'a'))
      same(await store.zrows('z'), [['a', 7]])
      await store.commit(append('z', 'b'))
      same(await logOf(store, 'z'), {
        last: 1,
        entries: [
          ['b', 1],
          ['a', 7]
        ]
      })
      same(await store.commit(zincrby('z', '', 9.5), append('z', 'c'), zincrby('z', 'c', 0)), [10.5, 11.5])
      await store.commit(
        zadd('z', '', -Infinity),
        append('z', 'd'),
        zadd('z', '', Infinity),
        append('z', 'e')
      )
      same(await store.zscores(['z'], ['d', 'e', '']), [[-Infinity], [Infinity], [Infinity]])
    },
  'appending goes with anything else in a batch': async store => {
    const answers = await store.commit(
      enqueue('q', 'item', 1, 1),
      append('l', 'a'),
      lease('q', 'tokentok', 1, 100, 3, 50),
      zincrby('l', '', 0),
      append('l', 'b'),
      zincrby('l', '', 0)
    )
    same(answers.length, 3)
    same(answers.slice(1), [1, 2])
  },
  'many batches append in their order': async store => {
    const entries = Array.from({ length: 500 }, (_, i) => `entry ${i}`)
    await store.engine.commitMany(entries.map(entry => batchOf([append('l', entry), set(entry, '')])))
    same(await logOf(store, 'l'), { last: 500, entries: numbered(entries) })
  },
  'a batch of thousands of entries, among additions to other sets': async store => {
    const entries = Array.from({ length: 3000 }, (_, i) => `entry ${i * 7919}`)
    await store.commit(
      ...entries.flatMap((entry, i) => [
        zadd('z', entry, i),
        append('l', entry),
        append('m', `${entry}, too`)
      ])
    )
    same(await logOf(store, 'l'), { last: 3000, entries: numbered(entries) })
    same((await logOf(store, 'm')).entries, numbered(entries.map(entry => `${entry}, too`)))
    same(await store.zrows('z', { reverse: true, count: 1 }), [[entries.at(-1), 2999]])
  },
  'deferred appends have the next positions soon after their commits, in the order of these': async store => {
    await store.commit(append('l', 'a'), append('l', 'b'))
    await store.engine.commit(
      batchOf([appendDeferred('l', 'c'), set('beside', '1'), appendDeferred('l', 'd')])
    )
    await store.engine.commit(batchOf([appendDeferred('l', 'e'), appendDeferred('m', 'a')]))
    same(await store.get('beside'), '1')
    await store.engine.deferred?.settled()
    await store.commit(append('l', 'f'))
    same(await logOf(store, 'l'), { last: 6, entries: numbered(['a', 'b', 'c', 'd', 'e', 'f']) })
    same(await store.zscore('m', 'a'), 1)
  },
  'a deferred append of an entry that the log has changes nothing': async store => {
    await store.commit(append('l', 'a'), append('l', 'b'))
    await store.commit(appendDeferred('l', 'a'), appendDeferred('l', 'c'), appendDeferred('l', 'c'))
    await store.commit(appendDeferred('l', 'b'), appendDeferred('l', 'd'))
    same(await store.zscore('l', ''), 4)
    same(await store.zscore('l', 'c'), 3)
    same(await store.zscore('l', 'd'), 4)
  },
  'of a batch that is refused, nothing is appended later': async store => {
    await store.commit(set('a', '1'))
    await refused(() => store.commit(valueAbsent('a'), appendDeferred('l', 'a')), 'ERR_STORE_PRECONDITION')
    await store.commit(appendDeferred('l', 'b'))
    same(await store.zscore('l', 'a'), undefined)
    same(await store.zscore('l', 'b'), 1)
  },
  'watchers of a log are called after its deferred appends': async store => {
    const { deferred } = store.engine
    if (!deferred) return
    let [calls, unwatch] = [0, () => {}]
    const seen = new Promise<void>(resolve => {
      unwatch = deferred.watch(bytes('l'), async () => {
        calls++
        if ((await store.zscore('l', 'b')) !== undefined) resolve()
      })
    })
    await store.commit(appendDeferred('l', 'a'))
    await store.commit(appendDeferred('other', 'a'), appendDeferred('l', 'b'))
    await seen
    unwatch()
    const before = calls
    await store.commit(appendDeferred('l', 'c'))
    same(calls, before)
  }
}
