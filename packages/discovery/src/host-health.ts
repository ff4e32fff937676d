/**
 * The health of an advertised host, as its `/health` has it. A host that fails `DOWN_AFTER` checks in a row is down: answers
 * leave it out until a check succeeds.
 */
import { fetchReasonOf, QuoinError, readBody } from '@quoin/primitives'
import type { HostRecord } from './keys.ts'

/** Consecutive failures, as in overlay-express. */
export const DOWN_AFTER = 3
const TIMEOUT_MS = 10_000
/** Many times a legitimate report. */
const MAX_BYTES = 256 * 1024
/** Seconds between checks of a host that is down, at most. */
const LONGEST_PAUSE = 86_400

export interface CheckOptions {
  readonly fetch: typeof fetch
  /** Milliseconds to the last byte, 10,000 unless given. */
  readonly timeout?: number
  readonly signal?: AbortSignal
}

/** Asks a host for its health; answers why it is unhealthy, or undefined. */
export const checkHost = async (
  uri: string,
  { fetch: send, timeout = TIMEOUT_MS, signal }: CheckOptions
): Promise<string | undefined> => {
  const limit = AbortSignal.timeout(timeout)
  try {
    const response = await send(`${uri.replace(/\/+$/, '')}/health`, {
      headers: { accept: 'application/json' },
      redirect: 'error',
      signal: signal ? AbortSignal.any([signal, limit]) : limit
    })
    if (!response.ok) {
      await response.body?.cancel()
      return `/health answers with status ${response.status}`
    }
    const body = await readBody(response, MAX_BYTES, tooLong)
    return isHealthy(parsed(body)) ? undefined : '/health says that it is not ready'
  } catch (error) {
    signal?.throwIfAborted()
    if (limit.aborted) return `no answer within ${timeout} ms`
    return error instanceof QuoinError ? error.message : `cannot be reached: ${fetchReasonOf(error)}`
  }
}

/** The rule of overlay-express. */
const isHealthy = (report: unknown): boolean => {
  if (typeof report !== 'object' || report === null) return false
  const { status, ready, live } = report as Record<string, unknown>
  return (status === 'ok' && ready !== false) || (ready === true && live !== false)
}

const tooLong = (most: number): QuoinError =>
  new QuoinError('ERR_SOURCE_FORMAT', `/health has more than ${most} bytes`)

const parsed = (body: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder().decode(body))
  } catch {
    return undefined
  }
}

/** Whether a host is to be checked: a host that is down is asked less often, down to once a day. */
export const isDue = (known: HostRecord | undefined, interval: number, now: number): boolean => {
  if (!known) return true
  const doublings = Math.max(0, known.failures - DOWN_AFTER)
  const pause = Math.max(interval, Math.min(LONGEST_PAUSE, interval * 2 ** Math.min(doublings, 30)))
  // Rounds end at different times.
  return now - known.checkedAt >= pause * 0.9
}

export const afterCheck = (
  site: string,
  known: HostRecord | undefined,
  reason: string | undefined,
  now: number
): HostRecord => {
  const answeredAt = reason === undefined ? now : known?.answeredAt
  return {
    site,
    failures: reason === undefined ? 0 : (known?.failures ?? 0) + 1,
    checkedAt: now,
    ...(answeredAt !== undefined && { answeredAt }),
    ...(reason !== undefined && { reason })
  }
}
