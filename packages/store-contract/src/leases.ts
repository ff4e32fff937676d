/** Leases: the items that a worker gets, the end of their time, and the loss of a lease. */
import { deepStrictEqual as same } from 'node:assert/strict'
import { EXPIRE_LIMIT, EXPIRED_CLASS, EXPIRED_REASON } from '@quoin/store/engine'
import type { Cases } from './index.ts'
import { bury, enqueue, lease, leaseHeld, remove, renew, retry, set, wait } from './steps.ts'
import { refused, type Subject } from './subject.ts'

const A = 'tokenAAA'
const B = 'tokenBBB'
const ALLOWED = 10

const items = (leased: readonly { item: string }[]): string => leased.map(({ item }) => item).join(' ')
const listed = async (store: Subject, state: 'due' | 'leased' | 'waiting' | 'dead') =>
  (await store.qlist('q', state)).map(({ item, at }) => `${item}@${at}`).join(' ')
const many = (count: number, make: (i: number) => string) => Array.from({ length: count }, (_, i) => make(i))
const numbered = (prefix: string) => (i: number) => `${prefix}${String(i).padStart(5, '0')}`

export const leases: Cases = {
  'a lease gives the first items that are due, as they are after it': async store => {
    await store.commit(
      ...['d', 'b', 'a'].map(item => enqueue('q', item, 5, 1)),
      enqueue('q', 'c', 4, 2),
      enqueue('q', 'late', 51, 1)
    )
    same(await store.leased(lease('q', A, 3, 100, ALLOWED, 50)), [
      { item: 'c', score: 4, enqueued: 2, attempts: 1, errorClass: '', reason: '' },
      { item: 'a', score: 5, enqueued: 1, attempts: 1, errorClass: '', reason: '' },
      { item: 'b', score: 5, enqueued: 1, attempts: 1, errorClass: '', reason: '' }
    ])
    same(await listed(store, 'leased'), 'a@100 b@100 c@100')
    same(await listed(store, 'due'), 'd@5 late@51')
    same((await store.qlist('q', 'leased'))[0], {
      item: 'a',
      score: 5,
      enqueued: 1,
      attempts: 1,
      errorClass: '',
      reason: '',
      at: 100
    })
  },
  'an item is due when its score is not after now': async store => {
    await store.commit(
      enqueue('q', 'a', 50, 1),
      enqueue('q', 'b', -Infinity, 1),
      enqueue('q', 'c', Infinity, 1)
    )
    same(items(await store.leased(lease('q', A, 5, 100, ALLOWED, 49.999))), 'b')
    same(items(await store.leased(lease('q', A, 5, 100, ALLOWED, 50))), 'a')
    same(items(await store.leased(lease('q', A, 5, 2e9, ALLOWED, 99))), '')
    same(await listed(store, 'due'), 'c@Infinity')
  },
  'a lease of no items gives none': async store => {
    await store.commit(enqueue('q', 'a', 5, 1))
    same(await store.leased(lease('q', A, 0, 100, ALLOWED, 50)), [])
    same(await listed(store, 'due'), 'a@5')
  },
  'a leased item is not leased again before its time is over': async store => {
    await store.commit(enqueue('q', 'a', 5, 1), lease('q', A, 1, 100, ALLOWED, 50))
    same(await store.leased(lease('q', B, 1, 200, ALLOWED, 99)), [])
    const [again] = await store.leased(lease('q', B, 1, 200, ALLOWED, 100))
    same([again?.item, again?.attempts, again?.errorClass], ['a', 2, ''])
    same(await listed(store, 'leased'), 'a@200')
  },
  'an item whose lease is over stands at its score again': async store => {
    await store.commit(
      enqueue('q', 'a', 5, 1),
      lease('q', A, 1, 60, ALLOWED, 50),
      retry('q', 'a', 'c', 'r', 70),
      lease('q', A, 1, 80, ALLOWED, 75),
      enqueue('q', 'b', 6, 1)
    )
    same(await store.leased(lease('q', B, 0, 200, ALLOWED, 80)), [])
    same(await listed(store, 'due'), 'a@5 b@6')
    const [a] = await store.qlist('q', 'due')
    same([a?.attempts, a?.errorClass, a?.reason], [2, 'c', 'r'])
  },
  'an item whose lease is over dies when it was leased as often as allowed': async store => {
    await store.commit(enqueue('q', 'a', 5, 1), enqueue('q', 'b', 6, 1))
    await store.commit(lease('q', A, 1, 60, 2, 50))
    same(items(await store.leased(lease('q', A, 1, 80, 2, 70))), 'a')
    same(items(await store.leased(lease('q', A, 5, 100, 2, 90.5))), 'b')
    same(await store.qlist('q', 'dead'), [
      {
        item: 'a',
        score: 5,
        enqueued: 1,
        attempts: 2,
        errorClass: EXPIRED_CLASS,
        reason: EXPIRED_REASON,
        at: 90.5
      }
    ])
  },
  'attempts allowed are those of the lease that finds it over': async store => {
    await store.commit(enqueue('q', 'a', 5, 1), lease('q', A, 1, 60, 1, 50))
    same(items(await store.leased(lease('q', A, 1, 80, 2, 70))), 'a')
    same(items(await store.leased(lease('q', A, 1, 100, 2, 90))), '')
    same(await listed(store, 'dead'), 'a@90')
  },
  'an item that failed more often than allowed is still leased': async store => {
    await store.commit(enqueue('q', 'a', 5, 1))
    for (let now = 10; now < 15; now++) {
      const [a] = await store.leased(lease('q', A, 1, 100, 2, now))
      same(a?.attempts, now - 9)
      await store.commit(retry('q', 'a', 'c', 'r', now))
    }
  },
  'a renewed lease lasts until its new end, be it earlier': async store => {
    await store.commit(enqueue('q', 'a', 5, 1), lease('q', A, 1, 60, ALLOWED, 50), renew('q', 'a', 90))
    same(await store.leased(lease('q', B, 1, 200, ALLOWED, 89)), [])
    await store.commit(renew('q', 'a', 70), leaseHeld('q', 'a', A))
    same(await listed(store, 'leased'), 'a@70')
    same(items(await store.leased(lease('q', B, 1, 200, ALLOWED, 70))), 'a')
  },
  'a lease whose time is over is held until someone takes the item': async store => {
    await store.commit(enqueue('q', 'a', 5, 1), lease('q', A, 1, 60, ALLOWED, 50))
    await store.commit(leaseHeld('q', 'a', A), set('late', 'but still'))
    same(await store.leased(lease('q', B, 0, 200, ALLOWED, 60)), [])
    await refused(() => store.commit(leaseHeld('q', 'a', A), remove('q', 'a')), 'ERR_STORE_LEASE_LOST', 0)
    await store.commit(lease('q', B, 1, 200, ALLOWED, 60))
    await refused(() => store.commit(leaseHeld('q', 'a', A), remove('q', 'a')), 'ERR_STORE_LEASE_LOST', 0)
    await store.commit(leaseHeld('q', 'a', B), remove('q', 'a'))
    same((await store.qcounts('q')).leased, 0)
  },
  'a lease is lost with every other state of the item': async store => {
    const ends = [
      remove('q', 'a'),
      retry('q', 'a', 'c', 'r', 5),
      bury('q', 'a', 'c', 'r', 5),
      wait('q', 'a', 'c', 'r', 'd', 5)
    ]
    for (const end of ends) {
      await store.commit(enqueue('q', 'a', 5, 1), lease('q', A, 1, 60, ALLOWED, 50))
      await store.commit(leaseHeld('q', 'a', A), end)
      await refused(() => store.commit(leaseHeld('q', 'a', A)), 'ERR_STORE_LEASE_LOST', 0)
      await store.commit(remove('q', 'a'))
    }
  },
  'a wait that is over ends when something is leased: the item is due at its score': async store => {
    await store.commit(
      enqueue('q', 'a', 5, 1),
      lease('q', A, 1, 60, ALLOWED, 50),
      wait('q', 'a', 'c', 'r', 'dep', 80)
    )
    same(await store.leased(lease('q', B, 1, 200, ALLOWED, 79)), [])
    same(await listed(store, 'waiting'), 'a@80')
    same(await store.leased(lease('q', B, 1, 200, 0, 80)), [
      { item: 'a', score: 5, enqueued: 1, attempts: 1, errorClass: 'c', reason: 'r' }
    ])
  },
  'items freed by a lease stand in line with the others': async store => {
    await store.commit(
      enqueue('q', 'b', 5, 1),
      enqueue('q', 'd', 5, 1),
      lease('q', A, 2, 60, ALLOWED, 50),
      wait('q', 'd', 'c', 'r', 'dep', 60),
      enqueue('q', 'a', 5, 1),
      enqueue('q', 'c', 5, 1),
      enqueue('q', 'e', 5, 1)
    )
    same(items(await store.leased(lease('q', B, 4, 200, ALLOWED, 60))), 'a b c d')
  },
  [`one lease takes up ${EXPIRE_LIMIT} ended leases, those that ended first`]: async store => {
    const all = many(EXPIRE_LIMIT + 3, numbered('i'))
    await store.commit(
      ...all.map(item => enqueue('q', item, 5, 1)),
      lease('q', A, all.length, 60, ALLOWED, 50),
      ...all.slice(0, 3).map(item => renew('q', item, 61))
    )
    const first = await store.leased(lease('q', B, 2 * all.length, 200, ALLOWED, 100))
    same(items(first), all.slice(3).join(' '))
    same(
      items(await store.leased(lease('q', B, 2 * all.length, 200, ALLOWED, 100))),
      all.slice(0, 3).join(' ')
    )
  },
  [`one lease takes up ${EXPIRE_LIMIT} ended waits besides, equal times by item`]: async store => {
    const waiting = many(EXPIRE_LIMIT + 2, numbered('w'))
    const leased = many(EXPIRE_LIMIT + 1, numbered('l'))
    await store.commit(
      ...[...waiting, ...leased].map(item => enqueue('q', item, 5, 1)),
      lease('q', A, 5000, 60, ALLOWED, 50),
      ...waiting.map(item => wait('q', item, 'c', 'r', 'dep', 60))
    )
    const given = await store.leased(lease('q', B, 5000, 200, 1, 60))
    same(items(given), waiting.slice(0, EXPIRE_LIMIT).join(' '))
    same(await store.qcounts('q'), {
      due: 0,
      leased: 1 + EXPIRE_LIMIT,
      waiting: 2,
      dead: EXPIRE_LIMIT,
      headEnqueued: undefined
    })
    same(items(await store.qlist('q', 'waiting')), waiting.slice(EXPIRE_LIMIT).join(' '))
    same(items(await store.qlist('q', 'leased', { max: { score: 60 } })), leased.at(-1))
  },
  'leases of other queues are left alone': async store => {
    await store.commit(
      ...['p', 'q', 'qq'].flatMap(key => [enqueue(key, 'a', 5, 1), lease(key, A, 1, 60, ALLOWED, 50)])
    )
    same(items(await store.leased(lease('q', B, 9, 200, ALLOWED, 100))), 'a')
    await store.commit(leaseHeld('p', 'a', A))
    await store.commit(leaseHeld('qq', 'a', A))
  }
}
