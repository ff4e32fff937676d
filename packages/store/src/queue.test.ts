/** Queues on every engine, by a clock that the tests set. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bytes } from '../../store-contract/src/steps.ts'
import type { ListedItem, QueueState } from './engine.ts'
import { openEngine } from './open.ts'
import type { Failure, Lease, Queue, QueueOptions } from './queue.ts'
import { Store } from './store.ts'
import { describeStores, EVERY_ENGINE, latin1, newKey, type Opened } from './stores.testing.ts'

const LOST = { name: 'QuoinError', code: 'ERR_STORE_LEASE_LOST' }
const RETRY: Failure = { outcome: 'retry', errorClass: 'network', reason: 'timed out' }

/** A queue of its own, and its clock, which begins at 1000. */
const newQueue = ({ store }: Opened, options: QueueOptions = {}) => {
  const clock = { now: 1000 }
  const queue = store.queue(newKey(), { now: () => clock.now, ...options })
  return { clock, queue }
}

const enqueue = async (queue: Queue, ...items: readonly string[]): Promise<void> => {
  for (const [i, item] of items.entries()) await queue.enqueue(bytes(item), i)
}
const names = (items: readonly { readonly item: Uint8Array }[]): string =>
  items.map(({ item }) => latin1(item)).join(' ')
/** As plain data: the item as text. */
const shown = <T extends { readonly item: Uint8Array }>(each: T) => ({ ...each, item: latin1(each.item) })
const textAt = async ({ store }: Opened, key: Uint8Array): Promise<string> => latin1((await store.get(key))!)
const one = async (queue: Queue, forSeconds = 30): Promise<Lease> => {
  const [lease] = await queue.lease(1, forSeconds)
  return lease!
}
const listed = async (queue: Queue, state: QueueState): Promise<readonly ListedItem[]> =>
  (await queue.list(state)).items
const STATES = ['due', 'leased', 'waiting', 'dead'] as const
const counts = async (queue: Queue): Promise<string> => {
  const stats = await queue.stats()
  return STATES.map(state => stats[state]).join(' ')
}

describeStores(EVERY_ENGINE, opened => {
  describe('order', () => {
    it('is that of scores, and of bytes where they are the same; a lease takes the first', async () => {
      const { queue } = newQueue(opened)
      for (const [item, score] of [
        ['c', 2],
        ['b', 1],
        ['a', 2],
        ['d', -5]
      ] as const) {
        await queue.enqueue(bytes(item), score)
      }
      expect(names(await queue.lease(3, 10))).toBe('d b a')
      expect(names(await queue.lease(3, 10))).toBe('c')
      expect(await queue.lease(3, 10)).toStrictEqual([])
    })

    it('an item is due when its score has come', async () => {
      const { clock, queue } = newQueue(opened)
      await queue.enqueue(bytes('later'), 1060)
      clock.now = 1059.999
      expect(await queue.lease(1, 10)).toStrictEqual([])
      clock.now = 1060
      expect(names(await queue.lease(1, 10))).toBe('later')
    })

    it('an item is one thing: added again it moves while it is untried, then stays', async () => {
      const { clock, queue } = newQueue(opened)
      await enqueue(queue, 'a', 'b')
      await queue.enqueue(bytes('a'), 7)
      expect(names(await listed(queue, 'due'))).toBe('b a')
      const lease = await one(queue)
      await queue.enqueue(lease.item, 500)
      expect(await counts(queue)).toBe('1 1 0 0')
      await queue.fail(lease, RETRY)
      await queue.enqueue(lease.item, 500)
      const [, tried] = await listed(queue, 'due')
      expect(tried).toMatchObject({ score: 1, enqueued: 1000, attempts: 1 })
      expect(tried!.at).toBeGreaterThan(clock.now)
    })
  })

  describe('a lease', () => {
    it('says what it holds, since when, for how long', async () => {
      const { clock, queue } = newQueue(opened)
      await queue.enqueue(bytes('a'), 5)
      clock.now = 1010
      expect((await queue.lease(5, 30)).map(shown)).toStrictEqual([
        {
          item: 'a',
          score: 5,
          enqueued: 1000,
          attempts: 1,
          errorClass: '',
          reason: '',
          token: expect.any(Uint8Array),
          until: 1040
        }
      ])
      expect(await listed(queue, 'leased')).toMatchObject([{ at: 1040 }])
    })

    it('is acknowledged in the same commit as the writes of the work', async () => {
      const { queue } = newQueue(opened)
      const [value, index] = [newKey(), newKey()]
      await enqueue(queue, 'a', 'b')
      const [a, b] = await queue.lease(2, 30)
      const batch = opened.store.batch().set(value, bytes('done')).zadd(index, { member: a!.item, score: 1 })
      queue.acknowledgeIn(batch, a!)
      queue.acknowledgeIn(batch, b!)
      await batch.commit()
      expect(await textAt(opened, value)).toBe('done')
      expect(await opened.store.zcard(index)).toBe(1)
      expect(await counts(queue)).toBe('0 0 0 0')
    })

    it('that was lost refuses the whole batch', async () => {
      const { clock, queue } = newQueue(opened)
      const value = newKey()
      await enqueue(queue, 'a', 'b')
      const [a, b] = await queue.lease(2, 30)
      clock.now += 30
      await one(queue)
      const batch = opened.store.batch().set(value, bytes('done'))
      queue.acknowledgeIn(batch, b!)
      queue.acknowledgeIn(batch, a!)
      queue.enqueueIn(batch, bytes('c'), 1)
      await expect(batch.commit()).rejects.toMatchObject(LOST)
      expect(await opened.store.get(value)).toBeUndefined()
      expect(await counts(queue)).toBe('1 1 0 0')
    })

    it('that ended goes to another worker, and then the first can do nothing with it', async () => {
      const { clock, queue } = newQueue(opened)
      await enqueue(queue, 'a')
      const first = await one(queue, 30)
      clock.now = 1029.999
      expect(await queue.lease(1, 30)).toStrictEqual([])
      clock.now = 1030
      const second = await one(queue, 30)
      expect(shown(second)).toMatchObject({ item: 'a', attempts: 2, until: 1060 })
      expect(second.token).not.toStrictEqual(first.token)
      await expect(queue.acknowledge(first)).rejects.toMatchObject(LOST)
      await expect(queue.renew(first, 30)).rejects.toMatchObject(LOST)
      for (const outcome of ['retry', 'dead'] as const) {
        await expect(queue.fail(first, { outcome, reason: '' })).rejects.toMatchObject(LOST)
      }
      const wait: Failure = { outcome: 'wait', reason: '', dependency: bytes('d') }
      await expect(queue.fail(first, wait)).rejects.toMatchObject(LOST)
      expect(await listed(queue, 'leased')).toMatchObject([{ at: 1060, attempts: 2 }])
      await queue.acknowledge(second)
      await expect(queue.acknowledge(second)).rejects.toMatchObject(LOST)
      expect(await counts(queue)).toBe('0 0 0 0')
    })

    it('that ended and that nobody took is still good', async () => {
      const { clock, queue } = newQueue(opened)
      await enqueue(queue, 'a')
      const lease = await one(queue)
      clock.now += 1000
      await queue.acknowledge(lease)
      expect(await counts(queue)).toBe('0 0 0 0')
    })

    it('is renewed from now on, be it for less', async () => {
      const { clock, queue } = newQueue(opened)
      await enqueue(queue, 'a')
      const lease = await one(queue, 30)
      clock.now = 1020
      const renewed = await queue.renew(lease, 30)
      expect(renewed).toStrictEqual({ ...lease, until: 1050 })
      clock.now = 1049
      expect(await queue.lease(1, 30)).toStrictEqual([])
      expect(await queue.renew(renewed, 0.5)).toMatchObject({ until: 1049.5 })
      clock.now = 1049.5
      expect(names(await queue.lease(1, 30))).toBe('a')
    })

    it('of an item that was removed and added again is lost', async () => {
      const { queue } = newQueue(opened)
      await enqueue(queue, 'a')
      const lease = await one(queue)
      await queue.remove(lease.item)
      await enqueue(queue, 'a')
      await expect(queue.acknowledge(lease)).rejects.toMatchObject(LOST)
      await one(queue)
      await expect(queue.acknowledge(lease)).rejects.toMatchObject(LOST)
      expect(await counts(queue)).toBe('0 1 0 0')
    })

    it('that ends without the work being done is an attempt, and the last one kills', async () => {
      const { clock, queue } = newQueue(opened, { attempts: 2 })
      await enqueue(queue, 'a')
      await one(queue)
      clock.now += 30
      expect(await one(queue)).toMatchObject({ attempts: 2 })
      clock.now += 30
      expect(await queue.lease(1, 30)).toStrictEqual([])
      expect(await listed(queue, 'dead')).toMatchObject([
        { errorClass: 'expired', attempts: 2, at: 1060, reason: 'the lease ended before the work was done' }
      ])
    })
  })

  describe('failure', () => {
    it('brings an item back later and later, up to the limit, each time by half of it at random', async () => {
      const { clock, queue } = newQueue(opened, { attempts: 20, backoff: 2, backoffLimit: 100 })
      await enqueue(queue, 'a')
      for (let attempt = 1; attempt < 10; attempt++) {
        const lease = await one(queue)
        expect(lease.attempts).toBe(attempt)
        await queue.fail(lease, RETRY)
        const [item] = await listed(queue, 'due')
        expect(item).toMatchObject({
          attempts: attempt,
          errorClass: 'network',
          reason: 'timed out',
          score: 0
        })
        const full = Math.min(100, 2 * 2 ** (attempt - 1))
        expect(item!.at - clock.now).toBeGreaterThanOrEqual(full * 0.5)
        expect(item!.at - clock.now).toBeLessThanOrEqual(full)
        clock.now = item!.at - 0.001
        expect(await queue.lease(1, 30)).toStrictEqual([])
        clock.now = item!.at
      }
    })

    it('of the last attempt is death, with the reason kept', async () => {
      const { clock, queue } = newQueue(opened, { attempts: 3, backoff: 0 })
      await enqueue(queue, 'a')
      for (let attempt = 1; attempt <= 3; attempt++) {
        await queue.fail(await one(queue), { ...RETRY, reason: `reason ${attempt}` })
      }
      clock.now += 1e6
      expect(await queue.lease(1, 30)).toStrictEqual([])
      expect((await listed(queue, 'dead')).map(shown)).toStrictEqual([
        {
          item: 'a',
          score: 0,
          enqueued: 1000,
          attempts: 3,
          errorClass: 'network',
          reason: 'reason 3',
          at: 1000
        }
      ])
    })

    it('for good is death at once; the class is the outcome unless one is given', async () => {
      const { queue } = newQueue(opened)
      await enqueue(queue, 'a')
      await queue.fail(await one(queue), { outcome: 'dead', reason: 'not a transaction' })
      const reason = { errorClass: 'dead', reason: 'not a transaction', attempts: 1, at: 1000 }
      expect(await listed(queue, 'dead')).toMatchObject([reason])
    })

    it('can be part of a batch, by the clock of the queue', async () => {
      const { clock, queue } = newQueue(opened, { backoff: 10 })
      const value = newKey()
      await enqueue(queue, 'a')
      const lease = await one(queue)
      const batch = opened.store.batch().set(value, bytes('noted'))
      queue.failIn(batch, lease, RETRY)
      queue.enqueueIn(batch, bytes('b'), 5)
      await batch.commit()
      const [b, a] = await listed(queue, 'due')
      expect(b!.enqueued).toBe(1000)
      expect(a!.at).toBeGreaterThanOrEqual(1005)
      expect(a!.at).toBeLessThanOrEqual(1010)
      const again = opened.store.batch().set(value, bytes('not noted'))
      queue.failIn(again, lease, RETRY, clock.now)
      await expect(again.commit()).rejects.toMatchObject(LOST)
      expect(await textAt(opened, value)).toBe('noted')
    })

    it('keeps as much of a long reason as fits, in whole characters', async () => {
      const { queue } = newQueue(opened)
      const cases = [
        ['x'.repeat(5000), 'x'.repeat(1000)],
        [`x${'ü'.repeat(5000)}`, `x${'ü'.repeat(499)}`],
        ['€'.repeat(5000), '€'.repeat(333)],
        ['😀'.repeat(5000), '😀'.repeat(250)],
        ['short ü', 'short ü'],
        ['', '']
      ] as const
      for (const [given, kept] of cases) {
        await enqueue(queue, 'a')
        await queue.fail(await one(queue), { outcome: 'dead', errorClass: given, reason: given })
        const [dead] = await listed(queue, 'dead')
        expect(dead!.reason).toBe(kept)
        expect(given.startsWith(dead!.errorClass)).toBe(true)
        expect(Buffer.byteLength(dead!.errorClass)).toBeLessThanOrEqual(100)
        await queue.remove(bytes('a'))
      }
    })
  })

  describe('waiting', () => {
    const missing = (dependency: string, atMost?: number): Failure => ({
      outcome: 'wait',
      errorClass: 'missing',
      reason: 'its parent is not known',
      dependency: bytes(dependency),
      ...(atMost === undefined ? {} : { atMost })
    })

    it('lasts until the dependency is there, and is no attempt', async () => {
      const { clock, queue } = newQueue(opened, { attempts: 1 })
      await enqueue(queue, 'a', 'b', 'c')
      for (const dependency of ['p', 'q', 'p']) await queue.fail(await one(queue), missing(dependency))
      expect(await counts(queue)).toBe('0 0 3 0')
      clock.now += 1e9
      expect(await queue.lease(9, 30)).toStrictEqual([])
      await queue.wake(bytes('p'))
      expect(await counts(queue)).toBe('2 0 1 0')
      const again = await queue.lease(9, 30)
      expect(names(again)).toBe('a c')
      expect(again).toMatchObject([
        { attempts: 1, errorClass: 'missing' },
        { attempts: 1, score: 2 }
      ])
      await queue.wake(bytes('p'))
      expect(await counts(queue)).toBe('0 2 1 0')
    })

    it('is not kept up for longer than it may', async () => {
      const { clock, queue } = newQueue(opened)
      await enqueue(queue, 'a')
      await queue.fail(await one(queue), missing('p', 60))
      expect(await listed(queue, 'waiting')).toMatchObject([{ at: 1060 }])
      clock.now = 1059
      expect(await queue.lease(1, 30)).toStrictEqual([])
      clock.now = 1060
      expect(shown(await one(queue))).toMatchObject({
        item: 'a',
        attempts: 1,
        reason: 'its parent is not known'
      })
    })

    it('ends in the same commit as what brings the dependency', async () => {
      const { queue } = newQueue(opened)
      const parent = newKey()
      await enqueue(queue, 'a')
      await queue.fail(await one(queue), missing('p'))
      const batch = opened.store.batch().set(parent, bytes('here'))
      queue.wakeIn(batch, bytes('p'))
      await batch.commit()
      expect(await textAt(opened, parent)).toBe('here')
      expect(names(await queue.lease(1, 30))).toBe('a')
    })
  })

  describe('an operator', () => {
    it('revives what is dead, with all its attempts', async () => {
      const { queue } = newQueue(opened, { attempts: 1 })
      await enqueue(queue, 'a')
      await queue.fail(await one(queue), RETRY)
      expect(await counts(queue)).toBe('0 0 0 1')
      await queue.revive(bytes('a'))
      const again = await one(queue)
      expect(again).toMatchObject({ attempts: 1, score: 0 })
      await queue.revive(bytes('a'))
      await queue.revive(bytes('unknown'))
      expect(await counts(queue)).toBe('0 1 0 0')
    })

    it('removes an item in any state', async () => {
      const { queue } = newQueue(opened)
      await enqueue(queue, 'dead', 'waiting', 'leased', 'due')
      await queue.fail(await one(queue), { outcome: 'dead', reason: '' })
      await queue.fail(await one(queue), { outcome: 'wait', reason: '', dependency: bytes('d') })
      const lease = await one(queue)
      expect(await counts(queue)).toBe('1 1 1 1')
      for (const state of STATES) {
        await queue.remove(bytes(state))
        expect(await listed(queue, state)).toStrictEqual([])
      }
      await expect(queue.acknowledge(lease)).rejects.toMatchObject(LOST)
      await queue.wake(bytes('d'))
      expect(await counts(queue)).toBe('0 0 0 0')
    })

    it('lists the items of a state page by page, each once, be their times the same', async () => {
      const { queue } = newQueue(opened)
      const items = Array.from({ length: 25 }, (_, i) => `item ${String(i).padStart(2, '0')}`)
      const pages = async (state: QueueState): Promise<string[]> => {
        const found: string[] = []
        for (let cursor: string | undefined; ; ) {
          const page = await queue.list(state, { limit: 10, ...(cursor === undefined ? {} : { cursor }) })
          found.push(...page.items.map(({ item }) => latin1(item)))
          cursor = page.cursor
          if (cursor === undefined) return found
          expect(page.items).toHaveLength(10)
        }
      }
      const batch = opened.store.batch()
      for (const item of items) queue.enqueueIn(batch, bytes(item), 3, 1000)
      await batch.commit()
      expect(await pages('due')).toStrictEqual(items)
      const leases = await queue.lease(25, 30)
      expect(await pages('leased')).toStrictEqual(items)
      for (const lease of leases) {
        await queue.fail(lease, { outcome: 'wait', reason: '', dependency: bytes('d') })
      }
      expect(await pages('waiting')).toStrictEqual(items)
      await queue.wake(bytes('d'))
      for (const lease of await queue.lease(25, 30)) await queue.fail(lease, { outcome: 'dead', reason: '' })
      expect(await pages('dead')).toStrictEqual(items)
      expect(await pages('due')).toStrictEqual([])
      expect((await queue.list('dead')).items).toHaveLength(25)
    })

    it('sees how much there is in each state, and how long the first has stood there', async () => {
      const { clock, queue } = newQueue(opened)
      expect(await queue.stats()).toStrictEqual({ due: 0, leased: 0, waiting: 0, dead: 0, age: undefined })
      await queue.enqueue(bytes('b'), 2)
      clock.now = 1010
      await queue.enqueue(bytes('a'), 1)
      clock.now = 1015
      expect(await queue.stats()).toStrictEqual({ due: 2, leased: 0, waiting: 0, dead: 0, age: 5 })
      await one(queue)
      expect(await queue.stats()).toStrictEqual({ due: 1, leased: 1, waiting: 0, dead: 0, age: 15 })
      clock.now = 900
      expect(await queue.stats()).toMatchObject({ age: 0 })
    })
  })

  it('queues with different keys have nothing to do with each other', async () => {
    const [a, b] = [newQueue(opened).queue, newQueue(opened).queue]
    await enqueue(a, 'item')
    expect(await b.lease(1, 30)).toStrictEqual([])
    await enqueue(b, 'item')
    const lease = await one(a)
    await expect(b.acknowledge(lease)).rejects.toMatchObject(LOST)
    expect(await counts(b)).toBe('1 0 0 0')
  })

  it('by the clock of the store, leases end and items come due', async () => {
    const queue = opened.store.queue(newKey(), { backoff: 0 })
    await queue.enqueue(bytes('a'), 0)
    await queue.enqueue(bytes('far'), Date.now() / 1000 + 3600)
    const lease = await one(queue, 3600)
    expect(lease.until).toBeGreaterThan(Date.now() / 1000 + 3500)
    expect(await queue.lease(2, 1)).toStrictEqual([])
    await queue.renew(lease, 0)
    expect(names(await queue.lease(2, 0))).toBe('a')
    expect((await queue.stats()).age).toBeGreaterThanOrEqual(0)
    const batch = opened.store.batch()
    queue.failIn(batch, await one(queue), RETRY)
    await batch.commit()
    expect(await listed(queue, 'due')).toMatchObject([{ at: expect.closeTo(Date.now() / 1000, -2) }, {}])
  })

  it('a poison item never holds up those behind it', async () => {
    const { clock, queue } = newQueue(opened, { attempts: 1000, backoff: 1, backoffLimit: 1 })
    const items = Array.from({ length: 200 }, (_, i) => `item ${i}`)
    const batch = opened.store.batch()
    queue.enqueueIn(batch, bytes('poison'), -1, clock.now)
    // They come due while it is tried again and again, so that it stands in front of most of them.
    items.forEach((item, i) => {
      queue.enqueueIn(batch, bytes(item), clock.now + i / 10, clock.now)
    })
    await batch.commit()
    const done = new Set<string>()
    let failures = 0
    for (let turns = 0; done.size < items.length; turns++) {
      expect(turns).toBeLessThan(100)
      for (const lease of await queue.lease(10, 30)) {
        const item = latin1(lease.item)
        if (item === 'poison') {
          failures++
          await queue.fail(lease, RETRY)
        } else {
          await queue.acknowledge(lease)
          done.add(item)
        }
      }
      clock.now += 1
    }
    expect(done.size).toBe(200)
    expect(failures).toBeGreaterThan(10)
    expect(await counts(queue)).toBe('1 0 0 0')
  })

  it('nothing is lost, leased twice or held up when the clock goes backwards', async () => {
    const { clock, queue } = newQueue(opened)
    await enqueue(queue, 'a', 'b')
    await one(queue, 30)
    clock.now = 500
    expect(names(await queue.lease(5, 30))).toBe('b')
    clock.now = 529
    expect(await queue.lease(5, 30)).toStrictEqual([])
    clock.now = 530
    const [a, b] = await queue.lease(5, 30)
    expect([a, b].map(each => shown(each!))).toMatchObject([
      { item: 'a', attempts: 2 },
      { item: 'b', attempts: 2 }
    ])
    await queue.fail(b!, RETRY)
    clock.now = 100
    await queue.enqueue(bytes('c'), 100)
    expect(names(await queue.lease(5, 30))).toBe('c')
    expect(await queue.renew(a!, 25)).toMatchObject({ until: 125 })
    clock.now = 102
    expect(names(await queue.lease(5, 30))).toBe('b')
    clock.now = 125
    expect(names(await queue.lease(5, 30))).toBe('a')
  })

  it('what was queued while the clock was ahead is due when it is right again', async () => {
    const { clock, queue } = newQueue(opened)
    clock.now = 1e6
    await queue.enqueue(bytes('a'), 1e6)
    await queue.enqueue(bytes('b'), 1e6)
    await queue.fail(await one(queue), { outcome: 'wait', reason: '', dependency: bytes('d'), atMost: 20 })
    clock.now = 1000
    expect(names(await queue.lease(5, 30))).toBe('b')
    expect((await queue.stats()).age).toBeUndefined()
    clock.now = 1020
    expect(await queue.lease(5, 30)).toMatchObject([{ item: bytes('a'), score: 1020, enqueued: 1020 }])
  })

  it('many workers at once get each item once', async () => {
    const { queue } = newQueue(opened)
    const batch = opened.store.batch()
    for (let i = 0; i < 100; i++) queue.enqueueIn(batch, bytes(`item ${100 + i}`), 0, 1)
    await batch.commit()
    const leased = (await Promise.all(Array.from({ length: 30 }, () => queue.lease(7, 30)))).flat()
    expect(leased).toHaveLength(100)
    expect(new Set(leased.map(({ item }) => latin1(item))).size).toBe(100)
    await Promise.all(leased.map(lease => queue.acknowledge(lease)))
    expect(await counts(queue)).toBe('0 0 0 0')
  })
})

/** What workers do, one step of some worker after the other. */
type Step =
  | { readonly do: 'enqueue'; readonly item: number; readonly delay: number }
  | { readonly do: 'lease'; readonly worker: number; readonly limit: number; readonly seconds: number }
  | {
      readonly do: 'acknowledge' | 'fail' | 'bury' | 'wait' | 'renew'
      readonly worker: number
      readonly pick: number
    }
  | { readonly do: 'crash'; readonly worker: number }
  | { readonly do: 'wake' }
  | { readonly do: 'tick'; readonly seconds: number }

const ITEMS = ['a', 'b', 'c', 'd', 'e', 'f']
const WORKERS = 4

const steps = (ticks: fc.Arbitrary<number>): fc.Arbitrary<Step[]> => {
  const worker = fc.nat(WORKERS - 1)
  const seconds = fc.integer({ min: 0, max: 20 })
  const step = (weight: number, arbitrary: fc.Arbitrary<Step>) => ({ weight, arbitrary })
  return fc.array(
    fc.oneof(
      step(3, fc.record({ do: fc.constant('enqueue'), item: fc.nat(ITEMS.length - 1), delay: fc.nat(9) })),
      step(
        6,
        fc.record({ do: fc.constant('lease'), worker, limit: fc.integer({ min: 1, max: 3 }), seconds })
      ),
      step(4, fc.record({ do: fc.constant('acknowledge'), worker, pick: fc.nat(5) })),
      step(4, fc.record({ do: fc.constantFrom('fail', 'bury', 'wait', 'renew'), worker, pick: fc.nat(5) })),
      step(1, fc.record({ do: fc.constant('crash'), worker })),
      step(1, fc.constant({ do: 'wake' })),
      step(
        4,
        ticks.map(each => ({ do: 'tick', seconds: each }))
      )
    ),
    { maxLength: 120, size: 'max' }
  )
}

/** Runs the steps, then all that is left over, and compares what was done with what was asked for. */
const runWorkers = async (store: Store, program: readonly Step[]): Promise<void> => {
  const clock = { now: 1000 }
  const queue = store.queue(newKey(), { now: () => clock.now, attempts: 3, backoff: 2, backoffLimit: 8 })
  const [done, dependency] = [newKey(), bytes('dependency')]
  const asked = new Map<string, number>()
  const present = new Set<string>()
  /** Whose lease of an item is good, and until when. */
  const held = new Map<string, Lease & { readonly since: number }>()
  const hold = (of: Lease): void => {
    held.set(latin1(of.item), { ...of, since: clock.now })
  }
  /** Leases from a clock that was ahead end after their length; the latest that is not of those ends the search. */
  const mend = (): void => {
    const latestFirst = [...held].sort(([a, { until: m }], [b, { until: n }]) => n - m || (a < b ? 1 : -1))
    for (const [item, { since, until, ...rest }] of latestFirst) {
      if (since <= clock.now) return
      held.set(item, { ...rest, since: clock.now, until: clock.now + (until - since) })
    }
  }
  const hands: Lease[][] = Array.from({ length: WORKERS }, () => [])

  const lease = async (limit: number, seconds: number): Promise<Lease[]> => {
    const leases = await queue.lease(limit, seconds)
    mend()
    for (const [item, { until }] of held) if (until <= clock.now) held.delete(item)
    for (const each of leases) {
      expect(held.get(latin1(each.item))).toBeUndefined()
      hold(each)
    }
    return leases
  }
  /** Does something with a lease: it has to work exactly when the lease is good. */
  const act = async (of: Lease, action: () => Promise<unknown>): Promise<boolean> => {
    const isGood = held.get(latin1(of.item))?.token === of.token
    if (isGood) await action()
    else await expect(action()).rejects.toMatchObject(LOST)
    return isGood
  }
  const acknowledge = async (of: Lease): Promise<void> => {
    const batch = store.batch().zincrby(done, of.item, 1)
    queue.acknowledgeIn(batch, of)
    if (!(await act(of, () => batch.commit()))) return
    held.delete(latin1(of.item))
    present.delete(latin1(of.item))
  }
  const failures: Record<'fail' | 'bury' | 'wait', Failure> = {
    fail: RETRY,
    bury: { outcome: 'dead', reason: 'no good' },
    wait: { outcome: 'wait', reason: 'not yet', dependency, atMost: 15 }
  }

  for (const step of program) {
    switch (step.do) {
      case 'enqueue': {
        const item = ITEMS[step.item]!
        if (!present.has(item)) asked.set(item, (asked.get(item) ?? 0) + 1)
        present.add(item)
        await queue.enqueue(bytes(item), clock.now + step.delay)
        break
      }
      case 'lease':
        hands[step.worker]!.push(...(await lease(step.limit, step.seconds)))
        break
      case 'crash':
        hands[step.worker] = []
        break
      case 'wake':
        await queue.wake(dependency)
        break
      case 'tick':
        clock.now += step.seconds
        break
      default: {
        const hand = hands[step.worker]!
        const [of] = hand.splice(step.pick % (hand.length || 1), 1)
        if (!of) break
        if (step.do === 'acknowledge') await acknowledge(of)
        else if (step.do === 'renew') {
          await act(of, async () => {
            const renewed = await queue.renew(of, 10)
            hold(renewed)
            hand.push(renewed)
          })
        } else {
          const failure = failures[step.do]
          if (await act(of, () => queue.fail(of, failure))) held.delete(latin1(of.item))
        }
      }
    }
    const { due, leased, waiting, dead } = await queue.stats()
    expect(due + leased + waiting + dead).toBe(present.size)
  }

  for (let turn = 0; present.size > 0; turn++) {
    expect(turn).toBeLessThan(20)
    clock.now = Math.max(clock.now, 1000) + 10_000
    for (const { item } of await listed(queue, 'dead')) await queue.revive(item)
    for (const each of await lease(ITEMS.length, 10)) await acknowledge(each)
  }
  expect(await counts(queue)).toBe('0 0 0 0')
  const rows = await store.zrange(done)
  expect(new Map(rows.map(({ member, score }) => [latin1(member), score]))).toStrictEqual(
    new Map([...asked].sort(byScore))
  )
}
const byScore = ([a, m]: [string, number], [b, n]: [string, number]): number => m - n || (a < b ? -1 : 1)

const RUNS: Record<string, number> = { memory: 150, lmdb: 6, level: 6, redis: 15, postgres: 4 }

describeStores(Object.keys(RUNS), (opened, engineName) => {
  const numRuns = RUNS[engineName]!

  it('workers that crash, fail and are late do each item exactly once, one at a time', async () => {
    await fc.assert(
      fc.asyncProperty(steps(fc.integer({ min: 0, max: 15 })), program => runWorkers(opened.store, program)),
      { numRuns }
    )
  })

  it('so they do when the clock goes backwards', async () => {
    await fc.assert(
      fc.asyncProperty(steps(fc.integer({ min: -15, max: 15 })), program =>
        runWorkers(opened.store, program)
      ),
      { numRuns }
    )
  })
})

describe('options', () => {
  const open = async () => new Store(await openEngine('memory:'))
  const OPTION = { name: 'QuoinError', code: 'ERR_STORE_OPTION' }

  it.each([0, -1, 1.5, NaN, Infinity, '3' as never])('%s attempts are refused', async attempts => {
    const store = await open()
    expect(() => store.queue(newKey(), { attempts })).toThrow(expect.objectContaining(OPTION))
  })

  it.each([-1, NaN, Infinity, '3' as never])('%s seconds are refused', async seconds => {
    const store = await open()
    expect(() => store.queue(newKey(), { backoff: seconds })).toThrow(expect.objectContaining(OPTION))
    expect(() => store.queue(newKey(), { backoffLimit: seconds })).toThrow(expect.objectContaining(OPTION))
    const queue = store.queue(newKey())
    await enqueue(queue, 'a')
    await expect(queue.lease(1, seconds)).rejects.toMatchObject(OPTION)
    const lease = await one(queue)
    await expect(queue.renew(lease, seconds)).rejects.toMatchObject(OPTION)
    const wait: Failure = { outcome: 'wait', reason: '', dependency: bytes('d'), atMost: seconds }
    await expect(queue.fail(lease, wait)).rejects.toMatchObject(OPTION)
    expect(await counts(queue)).toBe('0 1 0 0')
  })

  it.each([0, -1, 1.5, NaN, Infinity])('a limit of %s is refused', async limit => {
    const queue = (await open()).queue(newKey())
    await expect(queue.lease(limit, 1)).rejects.toMatchObject(OPTION)
    await expect(queue.list('due', { limit })).rejects.toMatchObject(OPTION)
  })

  it('a key, an item, a score and a cursor are what they should be', async () => {
    const store = await open()
    expect(() => store.queue('text' as never)).toThrow(expect.objectContaining({ code: 'ERR_STORE_KEY' }))
    const queue = store.queue(newKey())
    await expect(queue.enqueue(new Uint8Array(1901), 1)).rejects.toMatchObject({ code: 'ERR_STORE_KEY' })
    await expect(queue.enqueue(bytes('a'), NaN)).rejects.toMatchObject({ code: 'ERR_STORE_SCORE' })
    await expect(queue.list('due', { cursor: 'x' })).rejects.toMatchObject({ code: 'ERR_STORE_CURSOR' })
  })

  it('ten attempts, after a second at first and an hour at most, unless given', async () => {
    const store = await open()
    const clock = { now: 1000 }
    const queue = store.queue(newKey(), { now: () => clock.now })
    await enqueue(queue, 'a')
    const delays: number[] = []
    for (let attempt = 1; attempt < 10; attempt++) {
      await queue.fail(await one(queue), RETRY)
      const [item] = await listed(queue, 'due')
      delays.push((item!.at - clock.now) / 2 ** (attempt - 1))
      clock.now = item!.at
    }
    for (const delay of delays) {
      expect(delay).toBeGreaterThanOrEqual(0.5)
      expect(delay).toBeLessThanOrEqual(1)
    }
    expect(new Set(delays).size).toBeGreaterThan(5)
    await queue.fail(await one(queue), RETRY)
    expect(await counts(queue)).toBe('0 0 0 1')
  })

  it('without a backoff an item is due again at once, after any number of attempts', async () => {
    const queue = (await open()).queue(newKey(), { attempts: 1e6, backoff: 0, now: () => 1000 })
    await enqueue(queue, 'a')
    const lease = await one(queue)
    await queue.fail({ ...lease, attempts: 5000 }, RETRY)
    expect(await listed(queue, 'due')).toMatchObject([{ at: 1000 }])
  })

  it('an hour is the longest wait unless given, after any number of attempts', async () => {
    const queue = (await open()).queue(newKey(), { attempts: 1e6, now: () => 1000 })
    await enqueue(queue, 'a')
    await queue.fail({ ...(await one(queue)), attempts: 5000 }, RETRY)
    const [item] = await listed(queue, 'due')
    expect(item!.at).toBeGreaterThanOrEqual(1000 + 1800)
    expect(item!.at).toBeLessThanOrEqual(1000 + 3600)
  })
})
