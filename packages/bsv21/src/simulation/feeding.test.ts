/** Nodes that know the same transactions have the same tokens, whatever way the transactions came. */
import { afterAll, expect, it } from 'vitest'
import { FEEDS, feed } from './feeding.testing.ts'

const counts = new Map<string, number>()

it.each([
  [1, FEEDS.filter(name => name !== 'kills')],
  [2, ['source', 'live', 'kills']],
  [5, FEEDS.filter(name => name !== 'kills')]
] as const)('seed %i ends in one state on every node', async (seed, feeds) => {
  for (const [name, times] of await feed(seed, { feeds })) counts.set(name, (counts.get(name) ?? 0) + times)
})

/** A history in which no tokens are destroyed says nothing about them. */
afterAll(() => {
  for (const what of ['nothing', 'burn', 'mint', 'some tokens', 'token compared', 'killed at work']) {
    expect(counts.get(what) ?? 0, what).toBeGreaterThan(0)
  }
})
