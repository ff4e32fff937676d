import { collection, keyspace, queueOf, text } from '@quoin/keyspace'
import { expect, it, onTestFinished } from 'vitest'
import { startRedis } from './redis/server.testing.ts'
import { openStore, type Store } from './store.ts'
import { TaskLease } from './task-lease.ts'

const { lease } = keyspace('lease', {
  lease: collection({ key: ['q:lease'], value: queueOf(text('holder')), about: 'The lease.' })
}).collections

const newTaskLease = (store: Store, onChange?: (isHeld: boolean) => void): TaskLease =>
  new TaskLease(store, {
    name: 'test',
    queue: options => store.queueAt(lease, [], options),
    ...(onChange && { onChange }),
    onWarning: () => undefined
  })

it('is open at once on a store of one process, and writes nothing', async () => {
  const store = await openStore('memory:')
  const lease = newTaskLease(store)
  let opened = 0
  lease.onOpen(() => opened++)
  expect(lease.signal).toBeUndefined()
  await lease.start()
  const { signal } = lease
  expect([signal?.aborted, opened, store.lastWrite]).toEqual([false, 1, undefined])
  await lease.close()
  expect([signal?.aborted, lease.signal, store.lastWrite]).toEqual([true, undefined, undefined])
  await store.close()
})

it('is open in one process at a time, and moves when it is closed or the store is lost', async () => {
  const server = await startRedis()
  onTestFinished(() => server.stop())
  const stores = [await openStore(server.url), await openStore(server.url)] as const
  onTestFinished(async () => void (await Promise.all(stores.map(store => store.close()))))
  const changes: string[] = []
  const [first, second] = [
    newTaskLease(stores[0], isHeld => changes.push(`first ${isHeld}`)),
    newTaskLease(stores[1], isHeld => changes.push(`second ${isHeld}`))
  ]
  await first.start()
  await second.start()
  expect([first.signal?.aborted, second.signal]).toEqual([false, undefined])
  await first.close()
  await expect.poll(() => second.signal?.aborted, { timeout: 5000 }).toBe(false)
  const { signal } = second
  server.process.kill('SIGSTOP')
  await expect.poll(() => signal?.aborted, { timeout: 8000 }).toBe(true)
  expect(second.signal).toBeUndefined()
  server.process.kill('SIGCONT')
  await expect.poll(() => second.signal?.aborted, { timeout: 8000 }).toBe(false)
  expect(changes).toEqual(['first true', 'second true', 'second false', 'second true'])
  await second.close()
})
