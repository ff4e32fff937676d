import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { bytes } from '../../store-contract/src/steps.ts'
import { whileLeased } from './leased-work.ts'
import { openStore, type Store } from './store.ts'
import { latin1 } from './stores.testing.ts'

const SECONDS = 0.3
const LONG_MS = 1000

const opened = async (...items: string[]) => {
  const store: Store = await openStore('memory:')
  const queue = store.queue(bytes('q'), { backoff: 60 })
  for (const item of items) await queue.enqueue(bytes(item), 0)
  const names = async (limit: number) => (await queue.lease(limit, SECONDS)).map(({ item }) => latin1(item))
  return { store, queue, names }
}

it('keeps items that are worked on for longer than their lease, and no longer', async () => {
  const { store, queue, names } = await opened('a', 'b')
  const leases = await queue.lease(2, SECONDS)
  const taken = await whileLeased(
    queue,
    leases,
    async () => {
      await sleep(LONG_MS)
      return names(2)
    },
    SECONDS
  )
  expect(taken).toEqual([])
  await expect.poll(() => names(2), { timeout: 5000 }).toEqual(['a', 'b'])
  await store.close()
})

it('leaves alone items that the work has ended, or that another worker has', async () => {
  const { store, queue } = await opened('done', 'failed', 'taken')
  const leases = await queue.lease(3, SECONDS)
  const of = (name: string) => leases.find(({ item }) => latin1(item) === name)!
  await whileLeased(
    queue,
    leases,
    async () => {
      await queue.acknowledge(of('done'))
      await queue.fail(of('failed'), { outcome: 'retry', reason: 'later' })
      await queue.remove(bytes('taken'))
      await queue.enqueue(bytes('taken'), 0)
      await queue.lease(1, 0)
      await sleep(LONG_MS)
    },
    SECONDS
  )
  const [leased] = (await queue.list('leased')).items
  expect(await queue.stats()).toMatchObject({ due: 1, leased: 1 })
  expect(latin1(leased!.item)).toBe('taken')
  // The other worker's lease ended when it began.
  expect((await queue.lease(1, SECONDS)).map(({ item }) => latin1(item))).toEqual(['taken'])
  await store.close()
})

it('rejects with the error of the work', async () => {
  const { store, queue } = await opened('a')
  const leases = await queue.lease(1, SECONDS)
  await expect(whileLeased(queue, leases, () => Promise.reject(new Error('no')), SECONDS)).rejects.toThrow(
    'no'
  )
  await store.close()
})
