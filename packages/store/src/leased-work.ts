/**
 * Work on leased items. Their leases are short and renewed while the work goes on, so that another process has the items
 * of one that was killed within seconds, however long its work would have taken.
 */
import { hasCode, withHeartbeat } from '@quoin/primitives'
import type { Lease, Queue } from './queue.ts'

/** Seconds of a lease that `whileLeased` renews. */
export const WORK_LEASE_SECONDS = 15
/** Renewals in the time of a lease: one of them may be late. */
const RENEWALS = 3

/** Renews leases until the work ends. An item that the work has acknowledged or failed is not renewed any more. */
export const whileLeased = async <T, R>(
  queue: Queue<T>,
  leases: readonly Lease<T>[],
  work: () => Promise<R>,
  seconds = WORK_LEASE_SECONDS
): Promise<R> => {
  const held = new Set(leases)
  let renewing: Promise<unknown> | undefined
  const renew = async (lease: Lease<T>): Promise<void> => {
    try {
      await queue.renew(lease, seconds)
    } catch (error) {
      if (hasCode(error, 'ERR_STORE_LEASE_LOST')) held.delete(lease)
      // The next renewal may reach the store; otherwise the lease ends, and the commit of the work is refused.
    }
  }
  const renewAll = (): void => {
    renewing ??= Promise.all(Array.from(held, renew)).finally(() => {
      renewing = undefined
    })
  }
  try {
    return await withHeartbeat((seconds * 1000) / RENEWALS, renewAll, work)
  } finally {
    await renewing
  }
}
