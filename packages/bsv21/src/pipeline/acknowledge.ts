/** Acknowledging many leases in one commit, with the writes of each item. */
import { hasCode } from '@quoin/primitives'
import type { Batch, Lease, Queue, Store } from '@quoin/store'

export interface CompletedItem<T> {
  readonly leases: readonly Lease<T>[]
  readonly write: (batch: Batch) => void
}

/** Items whose lease was lost are skipped: their next worker repeats the work, which is idempotent. */
export const acknowledgeAll = async <T>(
  store: Store,
  queue: Queue<T>,
  items: readonly CompletedItem<T>[]
): Promise<void> => {
  if (items.length === 0) return
  const batch = store.batch()
  for (const { leases, write } of items) {
    for (const lease of leases) queue.acknowledgeIn(batch, lease)
    write(batch)
  }
  try {
    await batch.commit()
  } catch (error) {
    if (!isLeaseLost(error)) throw error
    if (items.length > 1) for (const item of items) await acknowledgeAll(store, queue, [item])
  }
}

export const isLeaseLost = (error: unknown): boolean => hasCode(error, 'ERR_STORE_LEASE_LOST')

/** Rethrows all errors but a lost lease, whose item belongs to another worker. */
export const ignoreLostLease = (error: unknown): void => {
  if (!isLeaseLost(error)) throw error
}
