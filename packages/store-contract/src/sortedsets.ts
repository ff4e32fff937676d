/** Sorted sets: members with scores, their number, their sum, and which sets there are. */
import assert, { deepStrictEqual as same } from 'node:assert/strict'
import type { Cases } from './index.ts'
import { hset, sadd, set, zadd, zcounter, zincrby, zrem } from './steps.ts'

export const sortedSets: Cases = {
  'a sorted set that was never written is empty': async store => {
    same(await store.zscore('z', 'a'), undefined)
    same(await store.zcard('z'), 0)
    same(await store.zrows('z'), [])
    same(await store.zsum('z'), 0)
    same(await store.zkeys(''), [])
    same(await store.zscores(['z', 'y'], ['a']), [[undefined, undefined]])
  },
  'a member has the score it was added with, in its set only': async store => {
    await store.commit(zadd('z', 'a', 1.5), zadd('z', 'b', -2), zadd('y', 'a', 7))
    same(await store.zscore('z', 'a'), 1.5)
    same(await store.zscore('z', 'b'), -2)
    same(await store.zscore('y', 'a'), 7)
    same(await store.zscore('y', 'b'), undefined)
  },
  'adding a member again moves its row': async store => {
    await store.commit(zadd('z', 'a', 1), zadd('z', 'b', 2), zadd('z', 'c', 3))
    await store.commit(zadd('z', 'a', 9))
    same(await store.zrows('z'), [
      ['b', 2],
      ['c', 3],
      ['a', 9]
    ])
    same(await store.zscore('z', 'a'), 9)
    same(await store.zcard('z'), 3)
    await store.commit(zadd('z', 'c', -3))
    same(await store.zrows('z', { reverse: true }), [
      ['a', 9],
      ['b', 2],
      ['c', -3]
    ])
  },
  'adding a member again with its score changes nothing': async store => {
    await store.commit(zadd('z', 'a', 1))
    await store.commit(zadd('z', 'a', 1))
    same(await store.zrows('z'), [['a', 1]])
    same(await store.zcard('z'), 1)
  },
  'a removed member is gone, and removing it again does nothing': async store => {
    await store.commit(zadd('z', 'a', 1), zadd('z', 'b', 2), zadd('y', 'a', 1))
    await store.commit(zrem('z', 'a'))
    await store.commit(zrem('z', 'a'), zrem('x', 'a'))
    same(await store.zrows('z'), [['b', 2]])
    same(await store.zscore('z', 'a'), undefined)
    same(await store.zcard('z'), 1)
    same(await store.zcard('y'), 1)
  },
  'the count follows additions, moves and removals within a batch': async store => {
    await store.commit(
      zadd('z', 'a', 1),
      zadd('z', 'a', 2),
      zadd('z', 'b', 1),
      zrem('z', 'a'),
      zrem('z', 'a'),
      zadd('z', 'a', 3),
      zincrby('z', 'c', 1),
      zincrby('z', 'c', 1)
    )
    same(await store.zcard('z'), 3)
    await store.commit(zrem('z', 'a'), zrem('z', 'b'), zrem('z', 'c'), zrem('z', 'd'))
    same(await store.zcard('z'), 0)
  },
  'incrementing begins at 0, adds to the score, moves the row and answers the score': async store => {
    await store.commit(zadd('z', 'other', 3))
    same(await store.commit(zincrby('z', 'a', 2)), [2])
    same(await store.commit(zincrby('z', 'a', 2.5)), [4.5])
    same(await store.zscore('z', 'a'), 4.5)
    same(await store.zrows('z'), [
      ['other', 3],
      ['a', 4.5]
    ])
    same(await store.commit(zincrby('z', 'a', -10)), [-5.5])
    same(await store.zrows('z'), [
      ['a', -5.5],
      ['other', 3]
    ])
  },
  'an increment of 0 makes the member': async store => {
    same(await store.commit(zincrby('z', 'a', 0), zincrby('z', 'b', -0)), [0, 0])
    same(await store.zrows('z'), [
      ['a', 0],
      ['b', 0]
    ])
  },
  'scores are added as doubles are, and may become infinite': async store => {
    same(await store.commit(zadd('z', 'a', 0.1), zincrby('z', 'a', 0.2)), [0.30000000000000004])
    same(await store.commit(zadd('z', 'b', 2 ** 53), zincrby('z', 'b', 1)), [2 ** 53])
    const { MAX_VALUE } = Number
    same(await store.commit(zadd('z', 'c', MAX_VALUE), zincrby('z', 'c', MAX_VALUE)), [Infinity])
    same(await store.commit(zadd('z', 'd', -Infinity), zincrby('z', 'd', 5)), [-Infinity])
    same(await store.zscore('z', 'c'), Infinity)
    same(await store.commit(zadd('z', 'e', 5), zincrby('z', 'e', -5)), [0])
  },
  'a tally adds to the score, moves the row and answers nothing': async store => {
    await store.commit(zadd('z', 'other', 3))
    same(await store.commit(zcounter('z', 'a', 2), zcounter('z', 'a', 2.5)), [])
    same(await store.zrows('z'), [
      ['other', 3],
      ['a', 4.5]
    ])
    await store.commit(zcounter('z', 'a', -10), zcounter('y', 'b', -1))
    same(await store.zrows('z'), [
      ['a', -5.5],
      ['other', 3]
    ])
    same(await store.zrows('y'), [['b', -1]])
    same(await store.zkeys(''), ['y', 'z'])
  },
  'a member whose tally becomes 0 is gone, and its set with the last': async store => {
    await store.commit(zcounter('z', 'a', 5), zcounter('z', 'b', -0.5), zadd('y', 'a', 5))
    await store.commit(zcounter('z', 'a', -5))
    same(await store.zscore('z', 'a'), undefined)
    same(await store.zrows('z'), [['b', -0.5]])
    same(await store.zcard('z'), 1)
    same(await store.zscore('y', 'a'), 5)
    await store.commit(zcounter('z', 'b', 0.5))
    same(await store.zcard('z'), 0)
    same(await store.zkeys(''), ['y'])
    await store.commit(zcounter('z', 'a', 1))
    same(await store.zrows('z'), [['a', 1]])
  },
  'a tally of 0 makes no member, leaves one that has a score, and takes away one that has 0': async store => {
    await store.commit(zadd('z', 'a', 0), zadd('z', 'b', 1), zincrby('y', 'a', 0))
    await store.commit(...['a', 'b', 'c'].map(member => zcounter('z', member, 0)), zcounter('y', 'a', -0))
    same(await store.zrows('z'), [['b', 1]])
    same(await store.zkeys(''), ['z'])
    await store.commit(zcounter('x', 'a', 0), zcounter('x', 'a', -0))
    same(await store.zkeys(''), ['z'])
  },
  'tallies that are taken back leave nothing behind, whatever their order': async store => {
    const orders = [
      [2, 3, -5],
      [2, -5, 3],
      [3, 2, -5],
      [3, -5, 2],
      [-5, 2, 3],
      [-5, 3, 2]
    ]
    for (const [i, by] of orders.entries())
      await store.commit(...by.map(each => zcounter('z', `m${i}`, each)))
    same(await store.zkeys(''), [])
    for (let turn = 0; turn < 3; turn++) {
      await store.commit(...orders.map((by, i) => zcounter('z', `m${i}`, by[turn]!)))
      same(await store.zcard('z'), turn < 2 ? 6 : 0)
    }
    same(await store.zkeys(''), [])
  },
  'a tally sees what the batch did before it, and is seen by what comes after': async store => {
    const answers = await store.commit(
      zadd('z', 'a', 10),
      zcounter('z', 'a', -10),
      zincrby('z', 'a', 3),
      zcounter('z', 'a', 1),
      zincrby('z', 'a', 0),
      zcounter('z', 'b', 1),
      zcounter('z', 'b', -1),
      zrem('z', 'b'),
      zcounter('z', 'c', 1),
      zrem('z', 'c'),
      zcounter('z', 'c', 2),
      zadd('z', 'd', 1),
      zcounter('z', 'd', 1)
    )
    same(answers, [3, 4])
    same(await store.zrows('z'), [
      ['c', 2],
      ['d', 2],
      ['a', 4]
    ])
    same(await store.zcard('z'), 3)
  },
  'tallies are added as doubles are: only what is exactly 0 is gone': async store => {
    const { MAX_VALUE } = Number
    await store.commit(zcounter('z', 'a', 0.1), zcounter('z', 'a', 0.2), zcounter('z', 'a', -0.3))
    same(await store.zscore('z', 'a'), 0.1 + 0.2 - 0.3)
    await store.commit(zcounter('z', 'b', 5e-324), zcounter('z', 'c', 5e-324), zcounter('z', 'c', -5e-324))
    same(await store.zscores(['z'], ['b', 'c']), [[5e-324], [undefined]])
    await store.commit(
      zcounter('z', 'd', MAX_VALUE),
      zcounter('z', 'd', MAX_VALUE),
      zcounter('z', 'd', -MAX_VALUE)
    )
    same(await store.zscore('z', 'd'), Infinity)
    await store.commit(zcounter('z', 'e', 2 ** 53), zcounter('z', 'e', 1), zcounter('z', 'e', -(2 ** 53)))
    same(await store.zscore('z', 'e'), undefined)
  },
  'the sum adds all scores in the order of the set': async store => {
    await store.commit(zadd('z', 'a', 1), zadd('z', 'b', -2.5), zadd('z', 'c', 4))
    same(await store.zsum('z'), 2.5)
    // In another order the first two of these overflow.
    await store.commit(zadd('y', 'a', 1e308), zadd('y', 'b', 1e308), zadd('y', 'c', -1e308))
    same(await store.zsum('y'), 1e308)
    await store.commit(zadd('x', 'c', 0.1), zadd('x', 'b', 0.2), zadd('x', 'a', 0.3))
    same(await store.zsum('x'), 0.1 + 0.2 + 0.3)
    assert.notEqual(await store.zsum('x'), 0.3 + 0.2 + 0.1)
  },
  'the sum is infinite with an infinite score, and NaN with both': async store => {
    await store.commit(zadd('z', 'a', Infinity), zadd('z', 'b', 1))
    same(await store.zsum('z'), Infinity)
    await store.commit(zadd('z', 'c', -Infinity))
    same(await store.zsum('z'), Number.NaN)
  },
  'the scores of members in several sets come by member, then by set': async store => {
    await store.commit(zadd('x', 'a', 1), zadd('y', 'a', 2), zadd('y', 'b', 3))
    same(await store.zscores(['x', 'y', 'z', 'y'], ['b', 'a', 'c']), [
      [undefined, 3, undefined, 3],
      [1, 2, undefined, 2],
      [undefined, undefined, undefined, undefined]
    ])
    same(await store.zscores([], ['a', 'b']), [[], []])
    same(await store.zscores(['x'], []), [])
  },
  'the keys of sorted sets come in the order of their bytes, those with the prefix only': async store => {
    const keys = ['z:b', 'z:', '\xff\xff', 'z', 'z:a', '', 'z;', 'z:a\0', '\xff', 'y', 'z:\xff']
    await store.commit(...keys.map(key => zadd(key, 'm', 1)))
    same(await store.zkeys('z:'), ['z:', 'z:a', 'z:a\0', 'z:b', 'z:\xff'])
    same(await store.zkeys(''), [
      '',
      'y',
      'z',
      'z:',
      'z:a',
      'z:a\0',
      'z:b',
      'z:\xff',
      'z;',
      '\xff',
      '\xff\xff'
    ])
    same(await store.zkeys('\xff'), ['\xff', '\xff\xff'])
    same(await store.zkeys('z:a\0\0'), [])
  },
  'a prefix is bytes, not a pattern': async store => {
    const keys = ['a*', 'ab', 'a?c', 'a[b]', 'a\\*', 'a\\', '*', '{a}', '{b}']
    await store.commit(...keys.map(key => zadd(key, 'm', 1)))
    same(await store.zkeys('a*'), ['a*'])
    same(await store.zkeys('a?'), ['a?c'])
    same(await store.zkeys('a[b'), ['a[b]'])
    same(await store.zkeys('a\\'), ['a\\', 'a\\*'])
    same(await store.zkeys('*'), ['*'])
    same(await store.zkeys('{'), ['{a}', '{b}'])
  },
  'a sorted set is listed once however many members it has, and not after its last is gone': async store => {
    await store.commit(zadd('z', 'a', 1), zadd('z', 'b', 1), zadd('y', 'a', 1), zadd('x', 'a', 1))
    await store.commit(zrem('y', 'a'), zrem('z', 'a'))
    same(await store.zkeys(''), ['x', 'z'])
    await store.commit(zrem('z', 'b'), zadd('y', 'a', 2))
    same(await store.zkeys(''), ['x', 'y'])
    same(await store.zrows('z'), [])
    same(await store.zsum('z'), 0)
  },
  'other structures are not listed as sorted sets': async store => {
    await store.commit(set('a', '1'), hset('b', 'f', '1'), sadd('c', 'm'))
    same(await store.zkeys(''), [])
  }
}
