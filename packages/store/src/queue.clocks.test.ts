/** Queues of embedded engines while the machine's clock is set. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { bytes } from '../../store-contract/src/steps.ts'
import type { Queue } from './queue.ts'
import { describeStores, latin1, newKey } from './stores.testing.ts'

const DAY = 86_400

const realNow = Date.now
const realSteadyNow = performance.now.bind(performance)
/** Seconds that the clock is ahead, and seconds that have passed by all clocks besides those that really have. */
let ahead = 0
let passed = 0
beforeEach(() => {
  ahead = passed = 0
  vi.spyOn(Date, 'now').mockImplementation(() => realNow() + (passed + ahead) * 1000)
  vi.spyOn(performance, 'now').mockImplementation(() => realSteadyNow() + passed * 1000)
})
afterEach(() => {
  vi.restoreAllMocks()
})

const leasedBy = async (queue: Queue, forSeconds: number): Promise<string> =>
  (await queue.lease(9, forSeconds)).map(({ item }) => latin1(item)).join(' ')

describeStores(['memory', 'lmdb', 'level'], opened => {
  const queueOf = async (...items: readonly string[]): Promise<Queue> => {
    const queue = opened.store.queue(newKey(), { backoff: 100 })
    for (const item of items) await queue.enqueue(bytes(item), 0)
    return queue
  }

  it('a lease is held while the clock is set forwards and backwards, and ends after its length', async () => {
    const queue = await queueOf('a')
    expect(await leasedBy(queue, 600)).toBe('a')
    for (ahead of [DAY, -DAY, 0]) expect(await leasedBy(queue, 600)).toBe('')
    ahead = -DAY
    passed = 500
    expect(await leasedBy(queue, 600)).toBe('')
    passed = 600
    expect(await leasedBy(queue, 600)).toBe('a')
  })

  it('a renewed lease too', async () => {
    const queue = await queueOf('a')
    const [a] = await queue.lease(1, 600)
    ahead = DAY
    await queue.renew(a!, 1200)
    ahead = 0
    passed = 1100
    expect(await leasedBy(queue, 600)).toBe('')
    passed = 1200
    expect(await leasedBy(queue, 600)).toBe('a')
  })

  it('what was done while the clock was ahead holds nothing up when it is right', async () => {
    const queue = await queueOf('a', 'b')
    ahead = DAY
    await queue.enqueue(bytes('c'), Date.now() / 1000)
    const [a] = await queue.lease(1, 600)
    await queue.fail(a!, { outcome: 'retry', reason: 'timed out' })
    expect((await queue.lease(1, 600)).map(({ item }) => latin1(item))).toStrictEqual(['b'])
    ahead = 0
    expect(await leasedBy(queue, 6000)).toBe('c')
    passed = 100
    expect(await leasedBy(queue, 6000)).toBe('a')
    passed = 600
    expect(await leasedBy(queue, 6000)).toBe('b')
  })
})
