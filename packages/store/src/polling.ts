/** Polling a queue: an empty one costs a read and no commit, so a process with nothing to do leaves the disk alone. */
import type { Lease, Queue } from './queue.ts'

/** Leases items as `Queue.lease` does, unless the queue has none that could be due. */
export const pollQueue = async <T>(
  queue: Queue<T>,
  limit: number,
  forSeconds: number
): Promise<Lease<T>[]> => {
  const { due, leased, waiting } = await queue.stats()
  return due + leased + waiting === 0 ? [] : queue.lease(limit, forSeconds)
}
