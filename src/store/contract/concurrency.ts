/** Concurrency: batches take effect one after the other, in some order. */
import { deepStrictEqual as same } from 'node:assert/strict'
import type { QuoinError } from '../../keyspace/index.ts'
import type { Cases } from './index.ts'
import { enqueue, hset, lease, set, valueAbsent, valueIs, zincrby } from './steps.ts'
import { failureOf } from './subject.ts'

const many = <T>(count: number, make: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => make(i)))

export const concurrency: Cases = {
  'of 200 batches that need a key to be absent, exactly one wins': async store => {
    const failures = await many(200, i =>
      failureOf(() => store.commit(valueAbsent('lock'), set('lock', `${i}`), hset('won', `${i}`, '')))
    )
    const winners = failures.flatMap((failure, i) => (failure === undefined ? [`${i}`] : []))
    same(winners.length, 1)
    same(await store.get('lock'), winners[0])
    same(await store.hgetall('won'), [[winners[0], '']])
    for (const failure of failures) {
      if (failure) same((failure as QuoinError).code, 'ERR_STORE_PRECONDITION')
    }
  },
  'of 200 batches that replace the value they read, each that wins saw the one before': async store => {
    await store.commit(set('n', '0'))
    let won = 0
    await many(20, async () => {
      for (let tries = 0; tries < 10; tries++) {
        const seen = await store.get('n')
        const failure = await failureOf(() =>
          store.commit(valueIs('n', seen!), set('n', `${Number(seen) + 1}`))
        )
        if (failure === undefined) won++
        else same((failure as QuoinError).code, 'ERR_STORE_PRECONDITION')
      }
    })
    same(won > 0, true)
    same(await store.get('n'), `${won}`)
  },
  'of 200 increments none is lost and each answers its own sum': async store => {
    const answers = await many(200, async () => (await store.commit(zincrby('z', 'm', 1)))[0] as number)
    same(
      answers.sort((a, b) => a - b),
      Array.from({ length: 200 }, (_, i) => i + 1)
    )
    same(await store.zscore('z', 'm'), 200)
  },
  'a read sees all of a batch or nothing of it': async store => {
    await store.commit(hset('h', 'a', '0'), hset('h', 'b', '0'))
    const [found] = await Promise.all([
      many(50, () => store.hmget('h', ['a', 'b'])),
      many(50, i => store.commit(hset('h', 'a', `${i}`), hset('h', 'b', `${i}`)))
    ])
    for (const [a, b] of found) same(a, b)
  },
  'what was committed is read': async store => {
    await many(50, async i => {
      await store.commit(set(`k${i}`, `${i}`))
      same(await store.get(`k${i}`), `${i}`)
    })
  },
  'two leases never give the same item': async store => {
    const items = Array.from({ length: 100 }, (_, i) => `item ${String(i).padStart(3, '0')}`)
    await store.commit(...items.map(item => enqueue('q', item, 1, 1)))
    const given = await many(40, i => store.leased(lease('q', `token ${10 + i}`, 3, 100, 5, 10)))
    same(
      given
        .flat()
        .map(({ item }) => item)
        .sort(),
      items
    )
    same((await store.qcounts('q')).leased, 100)
  }
}
