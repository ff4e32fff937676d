import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FairQueue, RecentUsage } from './fair-queue.ts'

const LIMITS = { items: 8, bytes: 100, share: 0.5 }

const queueOf = (limits = LIMITS) => {
  const clock = { now: 0 }
  const usage = new RecentUsage(() => clock.now)
  return { clock, usage, queue: new FairQueue<string>(limits, usage) }
}

describe('a fair queue', () => {
  test('serves the client that used the least, and each in the order of its items', () => {
    const { queue, usage } = queueOf()
    for (const item of ['a1', 'a2', 'b1', 'b2', 'c1']) queue.add(item[0]!, item, 1)
    usage.charge('a', 50)
    usage.charge('b', 20)
    const taken = []
    for (let item = queue.take(); item; item = queue.take()) {
      taken.push(item)
      usage.charge(item[0]!, 25)
    }
    // Usage of a, b and c before each: 50 20 0, 50 20 25, 50 45 25.
    expect(taken).toEqual(['c1', 'b1', 'b2', 'a1', 'a2'])
  })

  test('serves clients of equal usage in the order in which they came', () => {
    const { queue } = queueOf()
    for (const client of ['b', 'a', 'c']) queue.add(client, client, 1)
    expect([queue.take(), queue.take(), queue.take(), queue.take()]).toEqual(['b', 'a', 'c', undefined])
  })

  test('passes over a client that may not be served', () => {
    const { queue } = queueOf()
    queue.add('a', 'a1', 1)
    queue.add('b', 'b1', 1)
    expect(queue.take(client => client !== 'a')).toBe('b1')
    expect(queue.take(client => client !== 'a')).toBeUndefined()
    expect(queue.take()).toBe('a1')
  })

  test('refuses a client that has its share, in items or in bytes', () => {
    const { queue } = queueOf()
    expect([1, 2, 3, 4, 5].flatMap(i => queue.add('a', `a${i}`, 1))).toEqual(['a5'])
    expect(queue.add('b', 'b1', 30)).toEqual([])
    expect(queue.add('b', 'b2', 21)).toEqual(['b2'])
    expect(queue.add('b', 'b3', 20)).toEqual([])
  })

  test('when it is full, drops the last item of the client that fills it most', () => {
    const { queue } = queueOf({ items: 4, bytes: 100, share: 0.75 })
    for (const item of ['a1', 'a2', 'a3', 'b1']) expect(queue.add(item[0]!, item, 1)).toEqual([])
    expect(queue.add('c', 'c1', 1)).toEqual(['a3'])
    expect(queue.add('d', 'd1', 1)).toEqual(['a2'])
    // Nobody fills it more than the newcomers do.
    expect(queue.add('b', 'b2', 1)).toEqual(['b2'])
    expect(queue.length).toBe(4)
  })

  test('takes an item that is larger than a share when it is the only one', () => {
    const { queue } = queueOf()
    expect(queue.add('a', 'a1', 1000)).toEqual([])
    expect(queue.add('b', 'b1', 1)).toEqual(['a1'])
    expect(queue.take()).toBe('b1')
  })

  test('holds its limits and loses nothing, whatever comes', () => {
    const client = fc.constantFrom('a', 'b', 'c', 'd')
    const step = fc.oneof(
      fc.record({ add: client, bytes: fc.integer({ min: 1, max: 60 }) }),
      fc.record({ charge: client, ms: fc.integer({ min: -500, max: 5000 }) }),
      fc.constant({ take: true as const })
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), steps => {
        const { queue, usage, clock } = queueOf()
        const sizes = new Map<string, number>()
        for (const [i, each] of steps.entries()) {
          clock.now += 10
          if ('charge' in each) usage.charge(each.charge, each.ms)
          else if ('take' in each) {
            const item = queue.take()
            expect(item === undefined).toBe(sizes.size === 0)
            if (item === undefined) continue
            const others = [...sizes.keys()].map(other => usage.of(other[0]!))
            expect(usage.of(item[0]!)).toBe(Math.min(...others))
            sizes.delete(item)
          } else {
            sizes.set(`${each.add}${i}`, each.bytes)
            for (const refused of queue.add(each.add, `${each.add}${i}`, each.bytes)) {
              expect(sizes.delete(refused)).toBe(true)
            }
          }
          const bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0)
          expect(queue.length).toBe(sizes.size)
          expect(sizes.size).toBeLessThanOrEqual(LIMITS.items)
          expect(sizes.size <= 1 || bytes <= LIMITS.bytes).toBe(true)
        }
        expect(new Set(queue.clear())).toEqual(new Set(sizes.keys()))
        expect(queue.length).toBe(0)
      })
    )
  })
})

describe('recent usage', () => {
  test('halves every 30 seconds, and gives back a charge that was too high', () => {
    const { usage, clock } = queueOf()
    usage.charge('a', 1000)
    clock.now = 30_000
    expect(usage.of('a')).toBe(500)
    usage.charge('a', -200)
    expect(usage.of('a')).toBe(300)
    usage.charge('a', -1000)
    expect(usage.of('a')).toBe(0)
  })

  test('forgets the client that was charged longest ago, where there are too many', () => {
    const { usage } = queueOf()
    usage.charge('a', 1)
    usage.charge('b', 1)
    usage.charge('a', 1)
    for (let i = 0; i < 9_999; i++) usage.charge(`client ${i}`, 1)
    expect([usage.of('a'), usage.of('b')]).toEqual([2, 0])
  })
})
