import { DevChain } from '@quoin/dev-chain'
import type { Topic } from '@quoin/primitives'
import { openStore } from '@quoin/store'
import { OutputStore } from '@quoin/txo'
import { expect, it, vi } from 'vitest'
import { Engine } from '../engine.ts'
import { ones } from '../gasp/node.testing.ts'
import { FailedEntries } from './failed-entries.ts'

it('an entry that failed again is attempted after its backoff, and the queue is not polled before', async () => {
  const outputs = new OutputStore(await openStore('memory:'))
  const chain = new DevChain()
  const paid = chain.fund('1HdvFwjcMgRdB8Cwgzcaady1GYd7a9Ffyc', 1)
  const engine = new Engine({ outputs, tracker: chain, topics: { tm_ones: ones(true) }, lookups: {} })
  await engine.submit({ beef: chain.beef(paid.txid), topics: ['tm_ones'] })
  const { entries } = await outputs.membership('tm_ones' as Topic).read({ after: 0, limit: 1 })
  const failed = new FailedEntries(outputs, 'ls_broken', { backoff: 60, limit: 300 })
  const batch = outputs.store.batch()
  failed.enqueueIn(batch, 'tm_ones' as Topic, entries[0]!)
  await batch.commit()
  expect(await failed.pause()).toBe(0)
  const calls: number[] = []
  const fail = async (_: Topic, { position }: { position: number }): Promise<string> => {
    calls.push(position)
    return 'out of order'
  }
  await failed.retry(fail, 8, 60)
  expect(calls).toEqual([1])
  expect(await failed.pause()).toBeGreaterThan(20_000)
  // A process whose clock is ahead of the store's finds the entry due, and leases nothing.
  const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now())
  await failed.retry(fail, 8, 60)
  expect(calls).toEqual([1])
  const ahead = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 120_000)
  expect(await failed.pause()).toBe(1000)
  ahead.mockRestore()
  clock.mockRestore()
  await engine.close()
})
