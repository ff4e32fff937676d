/** Nodes that know the same transactions have the same tokens, whatever way the transactions came. */
import { afterAll, expect, it } from 'vitest'
import { feed } from './feeding.testing.ts'

const counts = new Map<string, number>()

it.each([1, 2, 5, 6])('seed %i ends in one state on every node', async seed => {
  for (const [name, times] of await feed(seed)) counts.set(name, (counts.get(name) ?? 0) + times)
})

/** A history in which no tokens are destroyed says nothing about them. */
afterAll(() => {
  for (const what of ['nothing', 'burn', 'mint', 'some tokens', 'token compared']) {
    expect(counts.get(what) ?? 0, what).toBeGreaterThan(0)
  }
})
