/** Limits of requests (D15): sizes, pages, connections and rate. */
import { QuoinError } from '@quoin/primitives'
import type { Client } from './client-address.ts'

export interface Limits {
  /** Bytes of a body. */
  readonly body: number
  /** Nesting of a JSON body. */
  readonly depth: number
  /** Topics of a submission. */
  readonly topics: number
  /** Rows of a page, and how many come unless a request says so. */
  readonly page: number
  readonly defaultPage: number
  /** Events of one question. */
  readonly events: number
  /** Bytes of the content of an output. */
  readonly content: number
  /** Live streams at once. */
  readonly streams: number
  /** Milliseconds that the answer to a lookup may take; 0 for any time. */
  readonly lookupAnswer: number
  /** Requests per second and address, in the long run and at once; `undefined` for as many as come. */
  readonly rate: RateLimit | undefined
}

export interface RateLimit {
  readonly perSecond: number
  readonly burst: number
  /** Whether processes of this machine that ask without a proxy count too; not unless given. */
  readonly loopback?: boolean
}

export const LIMITS: Limits = {
  body: 32 * 1024 * 1024,
  depth: 64,
  topics: 100,
  page: 1000,
  defaultPage: 100,
  events: 100,
  content: 32 * 1024 * 1024,
  streams: 1000,
  lookupAnswer: 0,
  rate: { perSecond: 200, burst: 1000 }
}

/** Addresses that are remembered; the one that was quiet longest is forgotten first. */
const MAX_BUCKETS = 100_000

interface Bucket {
  tokens: number
  at: number
}

/** A token bucket for each address. */
export class RateLimiter {
  readonly #limit: RateLimit
  readonly #now: () => number
  /** In the order of their last use. */
  readonly #buckets = new Map<string, Bucket>()

  /** The clock is in seconds. */
  constructor(limit: RateLimit, now: () => number = () => performance.now() / 1000) {
    this.#limit = limit
    this.#now = now
  }

  /** Counts a request as `cost` requests; refused with `ERR_RATE_LIMIT` beyond the limit. */
  take({ address, isLocal }: Pick<Client, 'address' | 'isLocal'>, cost = 1): void {
    if (!this.#limit.loopback && isLocal) return
    const { perSecond, burst } = this.#limit
    const name = networkOf(address)
    const now = this.#now()
    const bucket = this.#buckets.get(name) ?? { tokens: burst, at: now }
    this.#buckets.delete(name)
    this.#buckets.set(name, bucket)
    if (this.#buckets.size > MAX_BUCKETS) this.#forgetOldest()
    bucket.tokens = Math.min(burst, bucket.tokens + (now - bucket.at) * perSecond)
    bucket.at = now
    // A burst below the cost of a route permits one of its requests at a time.
    const needed = Math.min(cost, burst)
    if (bucket.tokens < needed) {
      const seconds = (needed - bucket.tokens) / perSecond
      throw new QuoinError('ERR_RATE_LIMIT', `more than ${perSecond} requests per second`, { seconds })
    }
    bucket.tokens -= needed
  }

  #forgetOldest(): void {
    for (const name of this.#buckets.keys()) {
      this.#buckets.delete(name)
      return
    }
  }
}

/** The client at an address: one customer has 2^64 addresses of IPv6. */
export const networkOf = (address: string): string => {
  if (!address.includes(':') || address.includes('.')) return address.replace('::ffff:', '')
  const [head = '', tail] = address.split('::')
  const groups = head.split(':')
  if (tail === undefined || groups.length >= 4) return groups.slice(0, 4).join(':')
  const after = tail === '' ? [] : tail.split(':')
  const zeros = Array.from({ length: Math.max(0, 8 - groups.length - after.length) }, () => '0')
  return [...groups, ...zeros, ...after].slice(0, 4).join(':')
}
