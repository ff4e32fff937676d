/** Token buckets, on a clock of their own. */
import { expect, it } from 'vitest'
import { RateLimiter } from './limits.ts'

const limiter = (loopback = false) => {
  const clock = { now: 0 }
  const limited = new RateLimiter({ perSecond: 2, burst: 4, loopback }, () => clock.now)
  const taken = (address: string, times: number, cost?: number): number => {
    let count = 0
    for (let i = 0; i < times; i++) {
      try {
        limited.take({ address, isLocal: address === 'local' }, cost)
        count++
      } catch (error) {
        expect(error).toMatchObject({ code: 'ERR_RATE_LIMIT' })
      }
    }
    return count
  }
  return { clock, taken }
}

it('gives as many at once as the burst, then so many per second, each address its own', () => {
  const { clock, taken } = limiter()
  expect(taken('1.2.3.4', 10)).toBe(4)
  expect(taken('1.2.3.5', 10)).toBe(4)
  clock.now = 1
  expect(taken('1.2.3.4', 10)).toBe(2)
  clock.now = 100
  expect(taken('1.2.3.4', 10)).toBe(4)
})

it('takes a network of IPv6 for one client, and IPv4 within it for itself', () => {
  const { taken } = limiter()
  expect(taken('2001:db8:1:2::1', 3) + taken('2001:db8:1:2:ffff::9', 3)).toBe(4)
  expect(taken('2001:db8:1:3::1', 10)).toBe(4)
  expect(taken('2001:db8::1', 3) + taken('2001:db8:0:0:7::', 3)).toBe(4)
  expect(taken('::ffff:1.2.3.4', 3) + taken('1.2.3.4', 3)).toBe(4)
})

it('leaves processes of this machine alone unless told otherwise', () => {
  expect(limiter().taken('local', 10)).toBe(10)
  expect(limiter(true).taken('local', 10)).toBe(4)
  expect(limiter().taken('127.0.0.1', 10)).toBe(4)
})

it('counts a request of a higher cost as so many, and lets one through however low the limit is', () => {
  const { clock, taken } = limiter()
  expect(taken('1.2.3.4', 10, 2)).toBe(2)
  clock.now = 1
  expect(taken('1.2.3.4', 10, 2)).toBe(1)
  clock.now = 100
  expect(taken('1.2.3.4', 10, 50)).toBe(1)
  expect(taken('1.2.3.4', 10)).toBe(0)
})
