/** Reads of the journal's reader and its subscribers. */

import { createHook } from 'node:async_hooks'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { LiveChange } from './journal-changes.ts'
import {
  type FollowOptions,
  JournalReader,
  type JournalSource,
  JournalSubscription,
  PAGE
} from './journal-reader.ts'

/** A journal in memory that counts its reads. */
class CountedJournal implements JournalSource {
  readonly changes: LiveChange[] = []
  reads = 0
  error: Error | undefined
  /** The next read resolves after it, with the changes of before. */
  delay: Promise<void> | undefined
  readonly reader = new JournalReader(this, 100_000)

  async read(after: number): Promise<readonly LiveChange[]> {
    this.reads++
    if (this.error) throw this.error
    const page = this.changes.slice(after, after + PAGE)
    const { delay } = this
    this.delay = undefined
    await delay
    return page
  }

  readonly watchers = new Set<() => void>()
  watch(listener: () => void): () => void {
    this.watchers.add(listener)
    return () => this.watchers.delete(listener)
  }

  async last(): Promise<number> {
    return this.changes.length
  }

  commit(count: number, events: readonly string[] = ['a'], outputs = 1): void {
    this.commitElsewhere(count, events, outputs)
    this.reader.wake()
  }

  /** In another process. */
  commitElsewhere(count: number, events: readonly string[] = ['a'], outputs = 1): void {
    for (let i = 0; i < count; i++) {
      const position = this.changes.length + 1
      this.changes.push({
        kind: 'saved',
        txid: String(position),
        score: position,
        outputs: Array.from({ length: outputs }, (_, vout) => ({ vout, events, topics: [] })),
        spends: [],
        position
      })
    }
  }

  follow(options: FollowOptions = {}): JournalSubscription {
    const subscription = new JournalSubscription(this.reader, this, options)
    open.push(subscription)
    return subscription
  }
}

const open: JournalSubscription[] = []
afterEach(async () => {
  for (const subscription of open.splice(0)) await subscription.return()
})

const settled = (): Promise<void> => new Promise(resolve => setTimeout(resolve, 5))
const receive = async (subscription: JournalSubscription, count: number): Promise<number[]> => {
  const positions: number[] = []
  while (positions.length < count) positions.push((await subscription.next()).value!.position)
  return positions
}
const upTo = (last: number, first = 1): number[] =>
  Array.from({ length: last - first + 1 }, (_, i) => first + i)

describe('the reader of a journal', () => {
  it('reads as often for fifty subscribers as for one', async () => {
    const readsOf = async (count: number): Promise<number> => {
      const journal = new CountedJournal()
      const subscriptions = Array.from({ length: count }, () => journal.follow({ after: 0 }))
      const received = subscriptions.map(each => receive(each, 100))
      await settled()
      journal.reads = 0
      for (let i = 0; i < 100; i++) {
        journal.commit(1)
        await settled()
      }
      for (const positions of await Promise.all(received)) expect(positions).toEqual(upTo(100))
      return journal.reads
    }
    const one = await readsOf(1)
    expect(await readsOf(50)).toBe(one)
    expect(one).toBeLessThanOrEqual(101)
  })

  it('creates as many promises for fifty subscribers as for one, if their filters do not match', async () => {
    let promises = 0
    const hook = createHook({ init: (_, type) => void (type === 'PROMISE' && promises++) }).enable()
    const promisesOf = async (count: number): Promise<number> => {
      const journal = new CountedJournal()
      const received = Array.from({ length: count }, () => journal.follow({ after: 0, events: ['b'] }).next())
      await settled()
      const counts: number[] = []
      for (let i = 0; i < 10; i++) {
        const before = promises
        journal.commit(1)
        await settled()
        counts.push(promises - before)
      }
      journal.commit(1, ['b'])
      await Promise.all(received)
      // Other work of the process adds to some of the counts.
      return Math.min(...counts)
    }
    const one = await promisesOf(1)
    expect(await promisesOf(50)).toBe(one)
    hook.disable()
  })

  it('wakes only subscribers whose filter matches, and moves the others on', async () => {
    const journal = new CountedJournal()
    const subscription = journal.follow({ after: 0, events: ['b'] })
    const next = vi.fn()
    const received = subscription.next().then(next)
    await settled()
    journal.commit(5, ['a'])
    await settled()
    expect([next.mock.calls.length, subscription.position]).toEqual([0, 5])
    journal.commit(1, ['b'])
    await received
    expect(next.mock.calls[0]![0].value.position).toBe(6)
  })

  it('asks no filter of subscribers that a change does not touch, and knows their position', async () => {
    const journal = new CountedJournal()
    const asked = { events: vi.fn(() => true), topics: vi.fn(() => true) }
    const subscriptions = [
      journal.follow({ after: 0, events: ['b'], matches: asked.events }),
      journal.follow({ after: 0, topics: ['b'], matches: asked.topics })
    ]
    const [received, never] = subscriptions.map(each => each.next())
    await settled()
    journal.commit(3, ['a'])
    await settled()
    expect([asked.events, asked.topics].map(each => each.mock.calls.length)).toEqual([0, 0])
    expect(subscriptions.map(each => each.position)).toEqual([3, 3])
    journal.commit(1, ['b'])
    expect((await received!).value).toMatchObject({ position: 4 })
    expect([asked.events, asked.topics].map(each => each.mock.calls.length)).toEqual([1, 0])
    await subscriptions[1]!.return()
    expect([await never, subscriptions[1]!.position]).toEqual([{ done: true, value: undefined }, 4])
  })

  it('asks a filter once for each change, in order', async () => {
    const journal = new CountedJournal()
    journal.commit(PAGE + 10)
    const seen: number[] = []
    const subscription = journal.follow({
      after: 0,
      matches: ({ position }) => seen.push(position) > 0 && position % 100 === 0
    })
    expect(await receive(subscription, 2)).toEqual([100, 200])
    const third = receive(subscription, 1)
    await settled()
    journal.commit(100)
    expect(await third).toEqual([300])
    expect(seen).toEqual(upTo(300))
  })

  it('gives a subscriber that lags behind the ring every change, from the store', async () => {
    const journal = new CountedJournal()
    const [fast, slow] = [journal.follow({ after: 0 }), journal.follow({ after: 0 })]
    const first = receive(slow, 1)
    const received = receive(fast, 5001)
    await settled()
    journal.commit(5001)
    expect(await received).toEqual(upTo(5001))
    expect(await first).toEqual([1])
    expect(await receive(slow, 5000)).toEqual(upTo(5001, 2))
  })

  it('keeps few changes with many outputs', async () => {
    const journal = new CountedJournal()
    const subscription = journal.follow({ after: 0 })
    const received = receive(subscription, 40)
    await settled()
    journal.commit(40, ['a'], 1000)
    await received
    expect(journal.reader.changeAfter(23)).toBeUndefined()
    expect(journal.reader.changeAfter(24)).toMatchObject({ position: 25 })
    expect(journal.reader.changeAfter(40)).toBeNull()
  })

  it('reads what was committed while no subscriber waited', async () => {
    const journal = new CountedJournal()
    const subscription = journal.follow({ after: 0 })
    const first = receive(subscription, 1)
    await settled()
    journal.commit(1)
    await first
    journal.commit(3)
    expect(await receive(subscription, 3)).toEqual([2, 3, 4])
  })

  it('reads the commits of other processes', async () => {
    const journal = new CountedJournal()
    const received = receive(journal.follow({ after: 0 }), 2)
    await settled()
    journal.commitElsewhere(2)
    expect(await received).toEqual([1, 2])
  })

  it('reads when the store tells of a commit, and listens while it has subscribers', async () => {
    const journal = new CountedJournal()
    const received = receive(journal.follow({ after: 0 }), 1)
    await settled()
    journal.commitElsewhere(1)
    const { reads } = journal
    expect(journal.watchers.size).toBe(1)
    for (const tell of journal.watchers) tell()
    expect(await received).toEqual([1])
    expect(journal.reads).toBe(reads + 1)
    await open[0]!.return()
    await expect.poll(() => journal.watchers.size, { timeout: 4000 }).toBe(0)
  })

  it('loses no change that the reader reads while a subscriber reads an empty page', async () => {
    const journal = new CountedJournal()
    journal.commit(5)
    const received = receive(journal.follow({ after: 5 }), 2)
    await settled()
    journal.commitElsewhere(1)
    let release = (): void => undefined
    journal.delay = new Promise(resolve => {
      release = resolve
    })
    const ahead = receive(journal.follow({ after: 6 }), 1)
    journal.commit(1)
    expect(await received).toEqual([6, 7])
    release()
    expect(await ahead).toEqual([7])
  })

  it('fails subscribers that wait when a read fails; those that follow afterwards are served', async () => {
    const journal = new CountedJournal()
    const waiting = [journal.follow({ after: 0 }), journal.follow({ after: 0 })].map(each => each.next())
    await settled()
    journal.error = new Error('disk')
    journal.commit(1)
    const results = await Promise.allSettled(waiting)
    expect(results.map(result => result.status === 'rejected' && result.reason.message)).toEqual([
      'disk',
      'disk'
    ])
    expect(await open[0]!.next()).toEqual({ done: true, value: undefined })
    journal.error = undefined
    expect(await receive(journal.follow({ after: 0 }), 1)).toEqual([1])
  })

  it('fails a subscriber whose filter throws, and no other', async () => {
    const journal = new CountedJournal()
    const failing = journal.follow({
      after: 0,
      matches: () => {
        throw new Error('filter')
      }
    })
    const rejected = expect(failing.next()).rejects.toThrow('filter')
    const other = receive(journal.follow({ after: 0 }), 1)
    await settled()
    journal.commit(1)
    await rejected
    expect(await other).toEqual([1])
  })

  it('stops without subscribers, and starts again', async () => {
    const journal = new CountedJournal()
    const subscription = journal.follow({ after: 0 })
    const waiting = subscription.next()
    await settled()
    await subscription.return()
    expect(await waiting).toEqual({ done: true, value: undefined })
    expect(journal.reader.changeAfter(0)).toBeNull()
    await expect.poll(() => journal.reader.changeAfter(0), { timeout: 4000 }).toBeUndefined()
    journal.commit(1)
    expect(await receive(journal.follow({ after: 0 }), 1)).toEqual([1])
  })
})
