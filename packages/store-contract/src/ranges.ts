/** Ranges of keys: key-values, hashes and sorted sets whose keys are in it, all of them, nothing else, in its direction. */
import { deepStrictEqual as same } from 'node:assert/strict'
import { MAX_KEY } from '@quoin/store'
import type { Cases } from './index.ts'
import { del, hdel, hset, sadd, set, zadd } from './steps.ts'
import { between, EVERYTHING, under } from './subject.ts'

const KEYS = ['', '\0', 'a', 'a\0', 'a\0b', 'a:', 'aa', 'b', 'b\xff', 'b\xff\xff', 'c', '\xff', '\xff\xff']
const valuesAt = (keys: readonly string[]) => keys.map(key => set(key, `at ${key}`))
const pairs = (keys: readonly string[]) => keys.map(key => [key, `at ${key}`])
const hashesAt = (keys: readonly string[]) =>
  keys.flatMap(key => [hset(key, 'y', `at ${key}`), hset(key, 'x', '')])
const entries = (keys: readonly string[]) =>
  keys.map(key => [
    key,
    [
      ['x', ''],
      ['y', `at ${key}`]
    ]
  ])

const setsAt = (keys: readonly string[]) => keys.map(key => zadd(key, 'm', 1))

export const ranges: Cases = {
  'a range is from its start up to but not including its end': async store => {
    const keys = KEYS.toReversed()
    await store.commit(...valuesAt(keys), ...hashesAt(keys), ...setsAt(keys))
    const bounds = ['', '\0', '\x01', 'a', 'a\0', 'aaa', 'b', 'b\xff', 'c', 'd', '\xff', '\xff\xff\xff']
    for (const start of bounds) {
      for (const end of [...bounds, null]) {
        const expected = KEYS.filter(key => key >= start && (end === null || key < end))
        same(await store.range(between(start, end)), pairs(expected), `${start} ${end}`)
        same(await store.range(between(start, end, true)), pairs(expected.toReversed()))
        same(await store.hrange(between(start, end)), entries(expected))
        same(await store.hrange(between(start, end, true)), entries(expected.toReversed()))
        same(await store.zkeys(between(start, end)), expected)
        same(await store.zkeys(between(start, end, true)), expected.toReversed())
      }
    }
  },
  'the range of a prefix has the keys that begin with its bytes': async store => {
    await store.commit(...valuesAt(KEYS), ...hashesAt(KEYS), ...setsAt(KEYS))
    for (const prefix of ['', 'a', 'a\0', 'a:', 'b\xff', '\xff', '\xff\xff', 'd']) {
      const expected = KEYS.filter(key => key.startsWith(prefix))
      same(await store.range(under(prefix)), pairs(expected))
      same(await store.range(under(prefix, true)), pairs(expected.toReversed()))
      same(await store.hrange(under(prefix)), entries(expected))
      same(await store.hrange(under(prefix, true)), entries(expected.toReversed()))
      same(await store.zkeys(under(prefix)), expected)
      same(await store.zkeys(under(prefix, true)), expected.toReversed())
    }
  },
  'a limit takes the first in the direction of the range': async store => {
    await store.commit(...valuesAt(KEYS), ...hashesAt(KEYS), ...setsAt(KEYS))
    const inA = KEYS.filter(key => key.startsWith('a'))
    for (const limit of [0, 1, 3, inA.length, 100]) {
      same(await store.range(under('a'), limit), pairs(inA.slice(0, limit)))
      same(await store.range(under('a', true), limit), pairs(inA.toReversed().slice(0, limit)))
      same(await store.hrange(under('a'), limit), entries(inA.slice(0, limit)))
      same(await store.hrange(under('a', true), limit), entries(inA.toReversed().slice(0, limit)))
      same(await store.zkeys(under('a'), limit), inA.slice(0, limit))
      same(await store.zkeys(under('a', true), limit), inA.toReversed().slice(0, limit))
    }
  },
  'deleted keys are not in a range, and new ones are': async store => {
    await store.commit(...valuesAt(['a', 'b', 'c']), ...hashesAt(['a', 'b', 'c']))
    await store.commit(del('b'), set('bb', 'at bb'), hdel('b', 'x'), hdel('b', 'y'), ...hashesAt(['bb']))
    same(await store.range(EVERYTHING), pairs(['a', 'bb', 'c']))
    same(await store.hrange(EVERYTHING), entries(['a', 'bb', 'c']))
  },
  'a range has one structure only': async store => {
    await store.commit(set('a', '1'), hset('b', 'f', '2'), sadd('c', 'm'), zadd('d', 'm', 1))
    same(await store.range(EVERYTHING), [['a', '1']])
    same(await store.hrange(EVERYTHING), [['b', [['f', '2']]]])
  },
  'fields of each hash are in the order of their bytes, also in reverse': async store => {
    await store.commit(hset('a', '\xff', '3'), hset('a', '', '1'), hset('a', 'f', '2'), hset('b', 'f', '4'))
    same(await store.hrange(between('', null, true)), [
      ['b', [['f', '4']]],
      [
        'a',
        [
          ['', '1'],
          ['f', '2'],
          ['\xff', '3']
        ]
      ]
    ])
  },
  'h:{txid} finds the outputs of a transaction in order, and no others': async store => {
    const txid = `${'\xab'.repeat(31)}\xff`
    const outputs = ['\0\0\0\0', '\0\0\0\x01', '\0\0\0\xff', '\0\0\x01\0', '\xff\xff\xff\xff']
    const neighbours = [
      `h:${'\xab'.repeat(31)}\xfe\xff\xff\xff\xff`,
      `h:${'\xab'.repeat(30)}\xac\0\0\0\0\0`,
      'h:sats'
    ]
    await store.commit(
      ...[...outputs.map(vout => `h:${txid}${vout}`), ...neighbours].map(key => hset(key, 'ev', '[]'))
    )
    const found = await store.hrange(under(`h:${txid}`))
    same(
      found,
      outputs.map(vout => [`h:${txid}${vout}`, [['ev', '[]']]])
    )
    same(await store.hrange(under(`h:${txid}`, true)), found.toReversed())
  },
  'a range resumes after a key, be it the longest': async store => {
    const keys = ['a', 'b'.repeat(MAX_KEY), 'c']
    await store.commit(...valuesAt(keys), ...hashesAt(keys))
    for (const [i, key] of keys.entries()) {
      same(await store.range(between(`${key}\0`, null)), pairs(keys.slice(i + 1)))
      same(await store.hrange(between(`${key}\0`, null)), entries(keys.slice(i + 1)))
      same(await store.range(between('', `${key}\0`, true)), pairs(keys.slice(0, i + 1).toReversed()))
      same(await store.hrange(between('', `${key}\0`, true)), entries(keys.slice(0, i + 1).toReversed()))
    }
  },
  'bounds of any length are bounds': async store => {
    await store.commit(set('a', 'at a'), set('b', 'at b'), hset('a', 'f', '1'), hset('b', 'f', '2'))
    const long = 'a'.repeat(3 * MAX_KEY)
    same(await store.range(between(long, null)), [['b', 'at b']])
    same(await store.range(between('', long, true)), [['a', 'at a']])
    same(await store.hrange(between(long, `b${long}`)), [['b', [['f', '2']]]])
    same(await store.hrange(between('', long)), [['a', [['f', '1']]]])
  }
}
