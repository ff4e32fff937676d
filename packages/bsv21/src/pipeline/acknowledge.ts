/** Ending many items of a queue in one commit, each with what is written for it. */
import { QuoinError } from '@quoin/primitives'
import type { Batch, Lease, Queue, Store } from '@quoin/store'

export interface Done<T> {
  readonly leases: readonly Lease<T>[]
  readonly write: (batch: Batch) => void
}

/** Where a lease was lost another worker has the item, and does the same: the others are ended without it. */
export const acknowledgeAll = async <T>(
  store: Store,
  queue: Queue<T>,
  done: readonly Done<T>[]
): Promise<void> => {
  if (done.length === 0) return
  const batch = store.batch()
  for (const { leases, write } of done) {
    for (const lease of leases) queue.acknowledgeIn(batch, lease)
    write(batch)
  }
  try {
    await batch.commit()
  } catch (error) {
    if (!isLost(error)) throw error
    if (done.length > 1) for (const each of done) await acknowledgeAll(store, queue, [each])
  }
}

export const isLost = (error: unknown): boolean =>
  error instanceof QuoinError && error.code === 'ERR_STORE_LEASE_LOST'

/** For what is said of an item that another worker has by now. */
export const ifLost = (error: unknown): void => {
  if (!isLost(error)) throw error
}
