/** Concurrency: batches take effect one after the other, in some order. */
import { deepStrictEqual as same } from 'node:assert/strict'
import type { QuoinError } from '@quoin/primitives'
import type { Cases } from './index.ts'
import { append, enqueue, hset, lease, set, valueAbsent, valueIs, zcounter, zincrby } from './steps.ts'
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
  'of 400 tallies at once that take each other back none is left': async store => {
    await many(400, i => store.commit(zcounter('z', `m${(i >> 1) % 7}`, i % 2 ? -3 : 3)))
    same(await store.zrows('z'), [])
    same(await store.zkeys(''), [])
  },
  'of 200 batches that append each has positions of its own, in its order and without gaps': async store => {
    await many(200, i =>
      store.commit(append('l', `${i} first`), append('l', `${i % 50} common`), append('l', `${i} last`))
    )
    const rows = (await store.zrows('l')).filter(([entry]) => entry !== '')
    same(
      rows.map(([, position]) => position),
      Array.from({ length: 450 }, (_, i) => i + 1)
    )
    same(await store.zscore('l', ''), 450)
    const positions = new Map(rows)
    for (let i = 0; i < 200; i++) {
      const between = positions.get(`${i} last`)! - positions.get(`${i} first`)!
      same(between === 1 || between === 2, true)
    }
  },
  'who reads a log on from the last position misses nothing, while others append': async store => {
    const found: string[] = []
    let isDone = false
    const appending = many(20, async writer => {
      for (let i = 0; i < 20; i++) await store.commit(append('l', `${writer} ${i}`))
    }).finally(() => {
      isDone = true
    })
    for (let after = 0, isLast = false; !isLast; ) {
      isLast = isDone
      const rows = await store.zrows('l', { min: { score: after, exclusive: true } })
      const entries = rows.filter(([entry]) => entry !== '')
      same(
        entries.map(([, position]) => position),
        entries.map((_, i) => after + 1 + i)
      )
      found.push(...entries.map(([entry]) => entry))
      after += entries.length
      await new Promise(resolve => setTimeout(resolve, 1))
    }
    await appending
    same(found.length, 400)
    same(new Set(found).size, 400)
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
