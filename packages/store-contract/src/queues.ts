/** Queues: the states of an item, and the operations that move it between them. */
import { deepStrictEqual as same } from 'node:assert/strict'
import type { Cases } from './index.ts'
import { type BatchStep, bury, enqueue, lease, remove, renew, retry, revive, wait, wake } from './steps.ts'
import type { Subject } from './subject.ts'

const STATES = ['due', 'leased', 'waiting', 'dead'] as const
const TOKEN = 'tokenAAA'
/** All that are due at the time, leased until 1000 and allowed ten attempts. */
const leaseAt = (now: number, count = 100): BatchStep => lease('q', TOKEN, count, 1000, 10, now)

/** Where the items of `q` are: `due: a@1 b@2, leased: c@60`. */
const where = async (store: Subject): Promise<string> => {
  const counts = await store.qcounts('q')
  const lists: string[] = []
  for (const state of STATES) {
    const items = await store.qlist('q', state)
    same(items.length, counts[state])
    if (items.length) lists.push(`${state}: ${items.map(({ item, at }) => `${item}@${at}`).join(' ')}`)
  }
  return lists.join(', ')
}

/** One item in each state: `due`, `leased`, `waiting` for `dep`, and `dead`; all enqueued at 1 with score 5. */
const inEachState = async (store: Subject): Promise<void> => {
  await store.commit(
    ...['leased', 'waiting', 'dead'].map(item => enqueue('q', item, 5, 1)),
    leaseAt(50),
    enqueue('q', 'due', 5, 1),
    wait('q', 'waiting', 'missing', 'no parent', 'dep', 500),
    bury('q', 'dead', 'invalid', 'bad script', 60)
  )
  same(await where(store), 'due: due@5, leased: leased@1000, waiting: waiting@500, dead: dead@60')
}

const only = async (store: Subject, state: (typeof STATES)[number]) => {
  const [item] = await store.qlist('q', state)
  return item!
}

export const queues: Cases = {
  'a queue that was never written is empty': async store => {
    same(await store.qcounts('q'), { due: 0, leased: 0, waiting: 0, dead: 0, headEnqueued: undefined })
    same(await where(store), '')
    same(await store.leased(leaseAt(50)), [])
  },
  'an item that the queue does not have becomes due at its score': async store => {
    await store.commit(enqueue('q', 'b', 7.5, 3), enqueue('q', 'a', 9, 4))
    same(await store.qlist('q', 'due'), [
      { item: 'b', score: 7.5, enqueued: 3, attempts: 0, errorClass: '', reason: '', at: 7.5 },
      { item: 'a', score: 9, enqueued: 4, attempts: 0, errorClass: '', reason: '', at: 9 }
    ])
    same(await store.qcounts('q'), { due: 2, leased: 0, waiting: 0, dead: 0, headEnqueued: 3 })
    same(await store.qcounts('other'), { due: 0, leased: 0, waiting: 0, dead: 0, headEnqueued: undefined })
  },
  'an item that is due and was never tried moves to the new score': async store => {
    await store.commit(enqueue('q', 'a', 5, 1), enqueue('q', 'b', 6, 2))
    await store.commit(enqueue('q', 'a', 7, 99))
    same(await where(store), 'due: b@6 a@7')
    const [, a] = await store.qlist('q', 'due')
    same(a, { item: 'a', score: 7, enqueued: 1, attempts: 0, errorClass: '', reason: '', at: 7 })
    await store.commit(enqueue('q', 'a', -7, 99))
    same(await where(store), 'due: a@-7 b@6')
  },
  'an item that was tried, or is leased, waiting or dead, stays as it is when enqueued': async store => {
    await inEachState(store)
    await store.commit(...STATES.map(item => enqueue('q', item, 8, 99)))
    same(await where(store), 'due: due@8, leased: leased@1000, waiting: waiting@500, dead: dead@60')
    same((await only(store, 'leased')).score, 5)
    await store.commit(retry('q', 'leased', 'c', 'r', 70))
    const before = await store.qlist('q', 'due')
    await store.commit(enqueue('q', 'leased', 1, 99))
    same(await store.qlist('q', 'due'), before)
  },
  'the head is the item that stands first among those due': async store => {
    await store.commit(enqueue('q', 'b', 5, 11), enqueue('q', 'a', 5, 12), enqueue('q', 'c', 4, 13))
    same((await store.qcounts('q')).headEnqueued, 13)
    await store.commit(remove('q', 'c'))
    same((await store.qcounts('q')).headEnqueued, 12)
    await store.commit(leaseAt(50, 1))
    same((await store.qcounts('q')).headEnqueued, 11)
    await store.commit(leaseAt(50, 1))
    same((await store.qcounts('q')).headEnqueued, undefined)
  },
  'a retried item becomes due at the time given, and remembers why': async store => {
    await store.commit(enqueue('q', 'a', 5, 1), leaseAt(50), retry('q', 'a', 'network', 'timed out', 80))
    same(await store.qlist('q', 'due'), [
      { item: 'a', score: 5, enqueued: 1, attempts: 1, errorClass: 'network', reason: 'timed out', at: 80 }
    ])
    same(await store.leased(leaseAt(79)), [])
    same(await store.leased(leaseAt(80)), [
      { item: 'a', score: 5, enqueued: 1, attempts: 2, errorClass: 'network', reason: 'timed out' }
    ])
    await store.commit(retry('q', 'a', 'disk', 'full', 90))
    same(await store.qlist('q', 'due'), [
      { item: 'a', score: 5, enqueued: 1, attempts: 2, errorClass: 'disk', reason: 'full', at: 90 }
    ])
  },
  'a buried item is dead since then, and remembers why': async store => {
    await store.commit(enqueue('q', 'a', 5, 1), leaseAt(50), bury('q', 'a', 'invalid', 'bad script', 60))
    same(await store.qlist('q', 'dead'), [
      { item: 'a', score: 5, enqueued: 1, attempts: 1, errorClass: 'invalid', reason: 'bad script', at: 60 }
    ])
    same(await store.leased(leaseAt(1e9)), [])
  },
  'a revived item becomes due at its score, as if never tried': async store => {
    await inEachState(store)
    await store.commit(revive('q', 'dead'))
    same((await store.qlist('q', 'due'))[0], {
      item: 'dead',
      score: 5,
      enqueued: 1,
      attempts: 0,
      errorClass: 'invalid',
      reason: 'bad script',
      at: 5
    })
    await store.commit(enqueue('q', 'dead', 9, 99))
    same(await where(store), 'due: due@5 dead@9, leased: leased@1000, waiting: waiting@500')
  },
  'a waiting item remembers why, and that was not an attempt': async store => {
    await inEachState(store)
    same(await only(store, 'waiting'), {
      item: 'waiting',
      score: 5,
      enqueued: 1,
      attempts: 0,
      errorClass: 'missing',
      reason: 'no parent',
      at: 500
    })
    await store.commit(wake('q', 'dep'), leaseAt(60), retry('q', 'waiting', 'c', 'r', 70), leaseAt(80))
    same((await store.qlist('q', 'leased')).find(({ item }) => item === 'waiting')?.attempts, 2)
    await store.commit(wait('q', 'waiting', 'again', 'once more', 'dep', 600))
    const { attempts, errorClass, at } = await only(store, 'waiting')
    same([attempts, errorClass, at], [1, 'again', 600])
  },
  'a wait may have no end but its dependency': async store => {
    await store.commit(enqueue('q', 'a', 5, 1), leaseAt(50), wait('q', 'a', 'c', 'r', 'dep', Infinity))
    same(await store.leased(leaseAt(1e12)), [])
    same(await where(store), 'waiting: a@Infinity')
    await store.commit(wake('q', 'dep'))
    same(await where(store), 'due: a@5')
  },
  'waking a dependency makes those due that wait for it, at their scores, and no others': async store => {
    await store.commit(
      ...['a', 'b', 'c', 'd'].map((item, i) => enqueue('q', item, i, 1)),
      leaseAt(50),
      wait('q', 'a', 'c', 'r', 'dep', 500),
      wait('q', 'b', 'c', 'r', 'dep', 600),
      wait('q', 'c', 'c', 'r', 'dep2', 500),
      wait('q', 'd', 'c', 'r', '', 500),
      enqueue('other', 'a', 1, 1)
    )
    await store.commit(wake('q', 'de'), wake('q', 'dep\0'), wake('other', 'dep'))
    same(await where(store), 'waiting: a@500 c@500 d@500 b@600')
    await store.commit(wake('q', 'dep'))
    same(await where(store), 'due: a@0 b@1, waiting: c@500 d@500')
    await store.commit(wake('q', ''))
    same(await where(store), 'due: a@0 b@1 d@3, waiting: c@500')
  },
  'an item waits for its last dependency only': async store => {
    await store.commit(enqueue('q', 'a', 5, 1), leaseAt(50), wait('q', 'a', 'c', 'r', 'first', 500))
    await store.commit(wake('q', 'first'), leaseAt(50), wait('q', 'a', 'c', 'r', 'second', 500))
    await store.commit(wake('q', 'first'))
    same(await where(store), 'waiting: a@500')
    await store.commit(wake('q', 'second'), leaseAt(50))
    await store.commit(wake('q', 'first'), wake('q', 'second'))
    same(await where(store), 'leased: a@1000')
    await store.commit(bury('q', 'a', 'c', 'r', 60))
    await store.commit(wake('q', 'first'), wake('q', 'second'))
    same(await where(store), 'dead: a@60')
    await store.commit(revive('q', 'a'), leaseAt(50), wait('q', 'a', 'c', 'r', 'third', 500))
    await store.commit(remove('q', 'a'), enqueue('q', 'a', 6, 2), leaseAt(50))
    await store.commit(wake('q', 'third'))
    same(await where(store), 'leased: a@1000')
  },
  'a removed item is gone, whatever its state': async store => {
    await inEachState(store)
    for (const item of STATES) await store.commit(remove('q', item))
    same(await where(store), '')
    await store.commit(remove('q', 'due'), wake('q', 'dep'), revive('q', 'dead'))
    same(await where(store), '')
    same(await store.leased(leaseAt(1e9)), [])
    await store.commit(...STATES.map(item => enqueue('q', item, 6, 2)))
    for (const listed of await store.qlist('q', 'due')) {
      const { item, ...rest } = listed
      same(rest, { score: 6, enqueued: 2, attempts: 0, errorClass: '', reason: '', at: 6 }, item)
    }
  },
  'only a leased item is renewed, retried, buried or made to wait': async store => {
    await inEachState(store)
    const before = await where(store)
    for (const item of ['due', 'waiting', 'dead', 'unknown']) {
      await store.commit(
        renew('q', item, 2000),
        retry('q', item, 'c', 'r', 7),
        bury('q', item, 'c', 'r', 7),
        wait('q', item, 'c', 'r', 'd', 7)
      )
      same(await where(store), before, item)
    }
    same((await only(store, 'dead')).errorClass, 'invalid')
    same((await only(store, 'waiting')).errorClass, 'missing')
    same((await only(store, 'due')).errorClass, '')
  },
  'only a dead item is revived, and only a waiting one woken': async store => {
    await inEachState(store)
    const before = await where(store)
    for (const item of ['due', 'leased', 'waiting', 'unknown']) await store.commit(revive('q', item))
    await store.commit(wake('q', 'due'), wake('q', 'leased'), wake('q', 'waiting'))
    same(await where(store), before)
    same((await only(store, 'leased')).attempts, 1)
  },
  'items are listed by time and item, between places, in both directions': async store => {
    await store.commit(
      ...['d', 'b', 'a'].map(item => enqueue('q', item, 5, 1)),
      enqueue('q', 'c', 4, 1),
      enqueue('q', 'e', 6, 1)
    )
    const get = async (rows: object) =>
      (await store.qlist('q', 'due', rows)).map(({ item }) => item).join(' ')
    same(await get({}), 'c a b d e')
    same(await get({ reverse: true }), 'e d b a c')
    same(await get({ count: 2 }), 'c a')
    same(await get({ count: 0 }), '')
    same(await get({ offset: 1, count: 2 }), 'a b')
    same(await get({ min: { score: 5, member: 'a', exclusive: true } }), 'b d e')
    same(await get({ min: { score: 5, member: 'a', exclusive: true }, count: 1 }), 'b')
    same(await get({ max: { score: 5, member: 'b' }, reverse: true }), 'b a c')
    same(await get({ min: { score: 5 }, max: { score: 5 } }), 'a b d')
    same(await get({ min: { score: 5, exclusive: true } }), 'e')
  },
  'a class and a reason are any text': async store => {
    const texts = ['', '\ufeffwith a mark', 'ü€😀', 'a\0b', '{"json": [1]}', '\r\n', 'x'.repeat(1000)]
    const utf8 = (text: string): string => Buffer.from(text).toString('latin1')
    for (const text of texts) {
      await store.commit(
        enqueue('q', 'a', 5, 1),
        leaseAt(50),
        bury('q', 'a', utf8(text), utf8(`r${text}`), 60)
      )
      const { errorClass, reason } = await only(store, 'dead')
      same([errorClass, reason], [text, `r${text}`])
      await store.commit(remove('q', 'a'))
    }
  }
}
