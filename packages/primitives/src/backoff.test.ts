import { expect, it } from 'vitest'
import { Backoff, backoffDelay } from './backoff.ts'

it('doubles up to the limit, and starts again after a success', () => {
  const backoff = new Backoff({ first: 100, limit: 1000, jitter: 0 })
  expect(Array.from({ length: 6 }, () => backoff.next())).toEqual([100, 200, 400, 800, 1000, 1000])
  expect(backoff.failures).toBe(6)
  backoff.reset()
  expect(backoff.next()).toBe(100)
})

it('stays between the part that is not random and the full delay', () => {
  for (let failures = 1; failures < 12; failures++) {
    const full = Math.min(2 ** (failures - 1), 300)
    for (let i = 0; i < 20; i++) {
      const delay = backoffDelay(failures, { first: 1, limit: 300 })
      expect(delay).toBeGreaterThan(full / 2)
      expect(delay).toBeLessThanOrEqual(full)
    }
  }
})

it('is a number after any number of failures', () => {
  expect(backoffDelay(1e6, { first: 1, limit: 300, jitter: 0 })).toBe(300)
  expect(backoffDelay(1e6, { first: 0, limit: 300 })).toBe(0)
})
