/** Fast clocks: times that they wrote into a queue delay no item longer than intended. */
import { deepStrictEqual as same } from 'node:assert/strict'
import { CLOCK_REPAIRS, EXPIRED_CLASS } from '@quoin/store/engine'
import type { Cases } from './index.ts'
import { enqueue, lease, leaseHeld, remove, renew, retry, wait, wake } from './steps.ts'
import { refused, type Subject } from './subject.ts'

const A = 'tokenAAA'
const B = 'tokenBBB'
const ALLOWED = 10
/** The clock that was ahead, and the one that is right. */
const AHEAD = 1_000_000
const NOW = 50

const items = (leased: readonly { item: string }[]): string => leased.map(({ item }) => item).join(' ')
const listed = async (store: Subject, state: 'due' | 'leased' | 'waiting') =>
  (await store.qlist('q', state)).map(({ item, at }) => `${item}@${at}`).join(' ')
/** A look at the queue that takes nothing. */
const look = (now = NOW, clock = now) => lease('q', B, 0, 2 * AHEAD, ALLOWED, now, clock)

export const clocks: Cases = {
  'a lease from a clock that was ahead ends after its own length': async store => {
    await store.commit(enqueue('q', 'a', 5, 1), lease('q', A, 1, AHEAD + 60, ALLOWED, AHEAD))
    same(await store.leased(lease('q', B, 1, 200, ALLOWED, NOW)), [])
    same(await listed(store, 'leased'), `a@${NOW + 60}`)
    await store.commit(leaseHeld('q', 'a', A))
    same(await store.leased(lease('q', B, 1, 200, ALLOWED, NOW + 59)), [])
    same(items(await store.leased(lease('q', B, 1, 200, ALLOWED, NOW + 60))), 'a')
    await refused(() => store.commit(leaseHeld('q', 'a', A), remove('q', 'a')), 'ERR_STORE_LEASE_LOST', 0)
  },
  'so does one that such a clock renewed': async store => {
    await store.commit(enqueue('q', 'a', 5, 1), lease('q', A, 1, 60, ALLOWED, NOW))
    await store.commit(renew('q', 'a', AHEAD + 30, AHEAD), look())
    same(await listed(store, 'leased'), `a@${NOW + 30}`)
  },
  'a lease that is renewed begins again': async store => {
    await store.commit(enqueue('q', 'a', 5, 1), lease('q', A, 1, AHEAD + 60, ALLOWED, AHEAD))
    await store.commit(renew('q', 'a', 100, NOW), look())
    same(await listed(store, 'leased'), 'a@100')
  },
  'a lease that a clock which was ahead took too often dies when it ends': async store => {
    await store.commit(enqueue('q', 'a', 5, 1), lease('q', A, 1, AHEAD + 60, 1, AHEAD))
    await store.commit(lease('q', B, 1, 200, 1, NOW), lease('q', B, 1, 200, 1, NOW + 60))
    const [dead] = await store.qlist('q', 'dead')
    same([dead?.item, dead?.errorClass, dead?.at], ['a', EXPIRED_CLASS, NOW + 60])
  },
  'leases have a clock of their own': async store => {
    await store.commit(enqueue('q', 'a', 5, 1), lease('q', A, 1, 160, ALLOWED, NOW, 100))
    same(items(await store.leased(lease('q', B, 1, 200, ALLOWED, AHEAD, 159))), '')
    same(await listed(store, 'leased'), 'a@160')
    same(items(await store.leased(lease('q', B, 1, 200, ALLOWED, NOW, 160))), 'a')
  },
  'a retry from a clock that was ahead is delayed from now on': async store => {
    await store.commit(enqueue('q', 'a', 5, 1), lease('q', A, 1, AHEAD + 60, ALLOWED, AHEAD))
    await store.commit(retry('q', 'a', 'network', 'timed out', AHEAD + 8, AHEAD))
    same(await store.leased(lease('q', B, 1, 200, ALLOWED, NOW)), [])
    same(await listed(store, 'due'), `a@${NOW + 8}`)
    const [a] = await store.leased(lease('q', B, 1, 200, ALLOWED, NOW + 8))
    same([a?.item, a?.score, a?.attempts, a?.reason], ['a', 5, 2, 'timed out'])
  },
  'a wait from a clock that was ahead lasts as long from now on': async store => {
    await store.commit(
      ...['a', 'b'].map(item => enqueue('q', item, 5, 1)),
      lease('q', A, 2, AHEAD + 60, ALLOWED, AHEAD),
      wait('q', 'a', 'c', 'r', 'dep', AHEAD + 20, AHEAD),
      wait('q', 'b', 'c', 'r', 'dep', Infinity, AHEAD)
    )
    same(await store.leased(lease('q', B, 2, 200, ALLOWED, NOW)), [])
    same(await listed(store, 'waiting'), `a@${NOW + 20} b@Infinity`)
    same(items(await store.leased(lease('q', B, 2, 200, ALLOWED, NOW + 20))), 'a')
    await store.commit(wake('q', 'dep'))
    same(await listed(store, 'due'), 'b@5')
  },
  'an item that was due by a clock which was ahead is due now, in its order': async store => {
    await store.commit(
      enqueue('q', 'a', AHEAD, AHEAD),
      enqueue('q', 'b', AHEAD - 2, AHEAD),
      enqueue('q', 'c', 7, AHEAD)
    )
    const leased = await store.leased(lease('q', A, 5, 100, ALLOWED, NOW))
    same(
      leased.map(({ item, score, enqueued }) => [item, score, enqueued]),
      [
        ['c', 7, AHEAD],
        ['b', NOW - 2, NOW],
        ['a', NOW, NOW]
      ]
    )
  },
  'an item that was enqueued for later keeps its time': async store => {
    await store.commit(enqueue('q', 'a', AHEAD + 1, AHEAD), enqueue('q', 'b', AHEAD, AHEAD), look())
    same(await listed(store, 'due'), `b@${NOW} a@${AHEAD + 1}`)
  },
  'an item that comes back from a lease or a wait is due by the clock that is right': async store => {
    await store.commit(
      enqueue('q', 'a', AHEAD, AHEAD),
      enqueue('q', 'b', AHEAD, AHEAD),
      lease('q', A, 2, AHEAD + 10, ALLOWED, AHEAD),
      wait('q', 'b', 'c', 'r', 'dep', AHEAD + 10, AHEAD)
    )
    await store.commit(look())
    same(items(await store.leased(lease('q', B, 2, 200, ALLOWED, NOW + 10))), 'a b')
  },
  'times that were right stay as they are, and end the search': async store => {
    await store.commit(
      ...['a', 'b', 'c'].map(item => enqueue('q', item, 5, 1)),
      lease('q', A, 1, 900, ALLOWED, NOW),
      lease('q', A, 1, 800, ALLOWED, 700),
      lease('q', A, 1, 1000, ALLOWED, 700)
    )
    await store.commit(look())
    same(await listed(store, 'leased'), `c@${NOW + 300} b@800 a@900`)
  },
  [`one look mends ${CLOCK_REPAIRS} times, the latest first`]: async store => {
    const all = Array.from({ length: 11 * CLOCK_REPAIRS }, (_, i) => `i${String(i).padStart(5, '0')}`)
    const [last, others] = [all.slice(-CLOCK_REPAIRS), all.slice(0, -CLOCK_REPAIRS)]
    await store.commit(
      ...all.map(item => enqueue('q', item, 5, 1)),
      lease('q', A, all.length, AHEAD + 60, ALLOWED, AHEAD),
      ...last.map(item => renew('q', item, AHEAD + 61, AHEAD))
    )
    await store.commit(look())
    const [mended, left] = [
      last.map(item => `${item}@${NOW + 61}`),
      others.map(item => `${item}@${AHEAD + 60}`)
    ]
    same(await listed(store, 'leased'), [...mended, ...left].join(' '))
    for (let i = 0; i < 10; i++) await store.commit(look())
    same(items(await store.leased(lease('q', B, all.length, 200, ALLOWED, NOW + 60))), others.join(' '))
    same(items(await store.leased(lease('q', B, all.length, 200, ALLOWED, NOW + 61))), last.join(' '))
  }
}
