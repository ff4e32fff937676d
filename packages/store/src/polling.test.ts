import { expect, it } from 'vitest'
import { bytes } from '../../store-contract/src/steps.ts'
import { openMemory } from './ordered/memory.ts'
import { pollQueue } from './polling.ts'
import { Store } from './store.ts'

it('leases from a queue that has items, and commits nothing while it has none', async () => {
  const engine = await openMemory()
  let commits = 0
  const commit = engine.commit.bind(engine)
  engine.commit = batch => {
    commits++
    return commit(batch)
  }
  const queue = new Store(engine).queue(bytes('q'))
  expect(await pollQueue(queue, 10, 60)).toEqual([])
  expect(commits).toBe(0)
  await queue.enqueue(bytes('item'), 0)
  const [lease] = await pollQueue(queue, 10, 60)
  expect(lease!.item).toEqual(bytes('item'))
  await queue.fail(lease!, { outcome: 'dead', reason: 'no' })
  const before = commits
  expect(await pollQueue(queue, 10, 60)).toEqual([])
  expect(commits).toBe(before)
  await queue.revive(bytes('item'))
  expect(await pollQueue(queue, 10, 0)).toHaveLength(1)
  // A lease that ended is one of those that could be due.
  expect(await pollQueue(queue, 10, 60)).toHaveLength(1)
  await engine.close()
})
