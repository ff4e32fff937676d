/** Which rows of a sorted set a read gives, and in which order: by score, then by the bytes of the member. */
import { deepStrictEqual as same } from 'node:assert/strict'
import type { Cases } from './index.ts'
import { zadd, zrem } from './steps.ts'
import type { Pair, TextPlace } from './subject.ts'

const membersOf = (rows: readonly Pair<number>[]): string => rows.map(([member]) => member).join(' ')

const FIVE = [zadd('z', 'a', 1), zadd('z', 'b', 2), zadd('z', 'c', 2), zadd('z', 'd', 2), zadd('z', 'e', 3)]

export const rows: Cases = {
  'rows are in the order of scores, from -Infinity to Infinity': async store => {
    const scores = [
      -Infinity,
      -Number.MAX_VALUE,
      -(2 ** 53),
      -1.5,
      -1,
      -2.3e-308,
      -5e-324,
      0,
      5e-324,
      2.3e-308,
      0.1,
      0.30000000000000004,
      1,
      1 + Number.EPSILON,
      2,
      10,
      850000.000000123,
      1703097600.1234567,
      2 ** 53,
      Number.MAX_VALUE,
      Infinity
    ]
    const inOrder = scores.map((score, i) => [String.fromCharCode(200 - i), score] as const)
    const shuffled = inOrder.map((_, i) => inOrder[(i * 8) % inOrder.length]!)
    await store.commit(...shuffled.map(([member, score]) => zadd('z', member, score)))
    same(await store.zrows('z'), inOrder)
    same(await store.zrows('z', { reverse: true }), inOrder.toReversed())
  },
  'rows of one score are in the order of the bytes of their members': async store => {
    const members = ['', '\0', '\0\0', '\0\x01', '\x01', 'A', 'a', 'a\0', 'aa', 'b', '\x7f', '\x80', '\xff']
    await store.commit(...members.toReversed().map(member => zadd('z', member, 5)))
    const all = members.map(member => [member, 5])
    same(await store.zrows('z'), all)
    same(await store.zrows('z', { reverse: true }), all.toReversed())
  },
  'the score -0 is 0': async store => {
    await store.commit(zadd('z', 'b', -0), zadd('z', 'a', 0), zadd('z', 'c', 0), zadd('z', 'd', -1))
    same(await store.zscore('z', 'b'), 0)
    same(await store.zrows('z'), [
      ['d', -1],
      ['a', 0],
      ['b', 0],
      ['c', 0]
    ])
    for (const score of [0, -0]) {
      same(membersOf(await store.zrows('z', { min: { score } })), 'a b c')
      same(membersOf(await store.zrows('z', { max: { score } })), 'd a b c')
      same(membersOf(await store.zrows('z', { min: { score, exclusive: true } })), '')
      same(membersOf(await store.zrows('z', { max: { score, exclusive: true } })), 'd')
      same(membersOf(await store.zrows('z', { min: { score, member: 'b' } })), 'b c')
      same(membersOf(await store.zrows('z', { max: { score, member: 'b' } })), 'd a b')
    }
  },
  'a bound without a member stands for all rows of its score': async store => {
    await store.commit(...FIVE)
    const get = async (min: TextPlace, max: TextPlace) => membersOf(await store.zrows('z', { min, max }))
    const at = (score: number): TextPlace => ({ score })
    const but = (score: number): TextPlace => ({ score, exclusive: true })
    same(await get(at(2), at(2)), 'b c d')
    same(await get(at(1), at(2)), 'a b c d')
    same(await get(but(1), at(2)), 'b c d')
    same(await get(at(1), but(2)), 'a')
    same(await get(but(2), at(3)), 'e')
    same(await get(but(2), but(2)), '')
    same(await get(at(2), but(2)), '')
    same(await get(but(1), but(3)), 'b c d')
    same(await get(at(1.5), at(2.5)), 'b c d')
    same(await get(at(3), at(1)), '')
  },
  'a bound with a member stands for one place, whether or not there is a row': async store => {
    await store.commit(...FIVE)
    const from = async (min: TextPlace) => membersOf(await store.zrows('z', { min }))
    const to = async (max: TextPlace) => membersOf(await store.zrows('z', { max }))
    same(await from({ score: 2, member: 'c' }), 'c d e')
    same(await from({ score: 2, member: 'c', exclusive: true }), 'd e')
    same(await to({ score: 2, member: 'c' }), 'a b c')
    same(await to({ score: 2, member: 'c', exclusive: true }), 'a b')
    same(await from({ score: 2, member: 'bb' }), 'c d e')
    same(await to({ score: 2, member: 'bb', exclusive: true }), 'a b')
    same(await from({ score: 1, member: 'z' }), 'b c d e')
    same(await from({ score: 2, member: '' }), 'b c d e')
    same(await to({ score: 2, member: '' }), 'a')
    same(await from({ score: 2, member: 'd', exclusive: true }), 'e')
  },
  'infinite bounds are bounds like others': async store => {
    await store.commit(zadd('z', 'low', -Infinity), zadd('z', 'mid', 0), zadd('z', 'top', Infinity))
    const get = async (min: TextPlace, max: TextPlace) => membersOf(await store.zrows('z', { min, max }))
    same(await get({ score: -Infinity }, { score: Infinity }), 'low mid top')
    same(await get({ score: -Infinity, exclusive: true }, { score: Infinity, exclusive: true }), 'mid')
    same(await get({ score: -Infinity, member: 'm' }, { score: Infinity, member: 'm' }), 'mid')
    same(await get({ score: Infinity }, { score: Infinity }), 'top')
    same(await get({ score: -Infinity }, { score: -Infinity }), 'low')
  },
  'of all bounds, the rows between them are given, and reverse is the exact mirror': async store => {
    const inOrder = [1, 2, 3].flatMap(score =>
      ['', 'b', 'b\0'].map(rest => [`${score}${rest}`, score] as const)
    )
    await store.commit(...inOrder.map(([member, score]) => zadd('z', member, score)))
    const places = [1, 2].flatMap(score =>
      [undefined, `${score}`, `${score}a`, `${score}b`].flatMap(member =>
        [false, true].map(exclusive => ({ score, ...(member === undefined ? {} : { member }), exclusive }))
      )
    )
    const order = ([member, score]: Pair<number>, place: TextPlace): number =>
      score - place.score || (place.member === undefined ? 0 : compare(member, place.member))
    for (const min of [undefined, ...places]) {
      for (const max of [undefined, ...places]) {
        const expected = inOrder.filter(
          row =>
            (min === undefined || order(row, min) > (min.exclusive ? 0 : -1)) &&
            (max === undefined || order(row, max) < (max.exclusive ? 0 : 1))
        )
        const bounds = { ...(min ? { min } : {}), ...(max ? { max } : {}) }
        same(await store.zrows('z', bounds), expected, JSON.stringify(bounds))
        same(await store.zrows('z', { ...bounds, reverse: true }), expected.toReversed())
      }
    }
  },
  'offset and count are counted in the direction of the walk, within the bounds': async store => {
    await store.commit(...FIVE)
    const get = async (rows: object) => membersOf(await store.zrows('z', rows))
    same(await get({ count: 2 }), 'a b')
    same(await get({ count: 2, reverse: true }), 'e d')
    same(await get({ offset: 2 }), 'c d e')
    same(await get({ offset: 2, reverse: true }), 'c b a')
    same(await get({ offset: 1, count: 2 }), 'b c')
    same(await get({ offset: 1, count: 2, reverse: true }), 'd c')
    same(await get({ min: { score: 2 }, max: { score: 2 }, offset: 1, count: 1 }), 'c')
    same(await get({ min: { score: 2 }, max: { score: 2 }, offset: 2, count: 5, reverse: true }), 'b')
    same(await get({ offset: 5 }), '')
    same(await get({ offset: 9, count: 1, reverse: true }), '')
    same(await get({ count: 0 }), '')
    same(await get({ offset: 1, count: 0, reverse: true }), '')
    same(await get({ count: 99 }), 'a b c d e')
    same(await get({ offset: 0, count: undefined, min: undefined, max: undefined }), 'a b c d e')
  },
  'a walk that resumes after its last row sees every row once, both ways': async store => {
    const members = Array.from({ length: 25 }, (_, i) => String.fromCharCode(97 + i))
    await store.commit(...members.map((member, i) => zadd('z', member, Math.floor(i / 10))))
    for (const reverse of [false, true]) {
      const seen: string[] = []
      let place: TextPlace | undefined
      // Seven pages have all rows; a repeated row shows in them.
      for (let page = 0; page < 7; page++) {
        const bound = place ? (reverse ? { max: place } : { min: place }) : {}
        const rows = await store.zrows('z', { ...bound, reverse, count: 4 })
        seen.push(...rows.map(([member]) => member))
        const [member, score] = rows.at(-1) ?? ['', 0]
        place = { member, score, exclusive: true }
      }
      same(seen, reverse ? members.toReversed() : members)
    }
  },
  'rows of a set are those of no other, whatever the keys': async store => {
    const keys = ['', 'z', 'z\0', 'zz', 'y\xff', 'z\xff', '\xff']
    await store.commit(...keys.flatMap(key => [zadd(key, `in ${key}`, 1), zadd(key, 'gone', 2)]))
    await store.commit(...keys.map(key => zrem(key, 'gone')))
    for (const key of keys) {
      for (const reverse of [false, true]) same(await store.zrows(key, { reverse }), [[`in ${key}`, 1]])
    }
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
