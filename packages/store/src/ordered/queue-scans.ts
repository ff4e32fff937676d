/** The rows that the queues of a batch will walk, for databases that cannot walk while they write. */

import { BatchDecoder } from '../batch-decoder.ts'
import { CLOCK_REPAIRS, EXPIRE_LIMIT, OPERATION_NAMES, type Operations } from '../operations.ts'
import type { HashChanges } from './hashes.ts'
import type { Scan } from './kv.ts'
import { numbered, ROLE, TAG } from './layout.ts'
import type { SortedSetChanges } from './sorted-sets.ts'

const EMPTY = new Uint8Array()
const ALL = Number.MAX_SAFE_INTEGER

/** Facts about the leases in the queues of a writer. */
interface KnownLeases {
  /** When the latest of its own began. */
  readonly latestLease: number
  /** Whether others may have leases in the queue. */
  hasOthers(key: Uint8Array): boolean
}

/**
 * What `lease` and `wake` in the batch will scan. An operation before them may take items away, so as many more
 * are asked for as it could take. Leases are walked as far as the writer does not know of them.
 */
export const queueScans = (
  batch: Uint8Array,
  hashes: HashChanges,
  sortedSets: SortedSetChanges,
  { latestLease, hasOthers }: KnownLeases
): Scan[] => {
  const scans: Scan[] = []
  let taken = 0
  let latest = latestLease
  const took = (): void => {
    taken++
  }
  const each = Object.fromEntries(
    OPERATION_NAMES.map(name => [name, took])
  ) as unknown as Operations<undefined>
  const counter: Operations<undefined> = {
    ...each,
    renew: (_key, _item, _until, clock) => {
      latest = Math.max(latest, clock)
      taken++
    },
    lease: (key, _token, count, _until, _allowed, now, clock) => {
      const leased = hasOthers(key) && sortedSets.scan(ROLE.leased, key, Number.POSITIVE_INFINITY)
      if (leased) scans.push({ ...leased, limit: ALL })
      const isMended = !hasOthers(key) && latest <= clock
      latest = Math.max(latest, clock)
      for (const [role, limit, time] of [
        [ROLE.leased, EXPIRE_LIMIT, clock],
        [ROLE.waiting, EXPIRE_LIMIT, now],
        [ROLE.due, count, now]
      ] as const) {
        const range = sortedSets.scan(role, key, time)
        if (range) scans.push({ ...range, limit: limit + taken })
        const above = sortedSets.scanAbove(role, key, time)
        if (above && !(role === ROLE.leased && isMended))
          scans.push({ ...above, limit: CLOCK_REPAIRS + taken, reverse: true })
      }
      taken += count + 2 * EXPIRE_LIMIT + 3 * CLOCK_REPAIRS
      return undefined
    },
    wake: (key, dependency) => {
      const dependants = dependantsOf(sortedSets, key, dependency)
      const range = dependants && hashes.scan(EMPTY, dependants)
      if (range) scans.push({ ...range, limit: ALL })
      taken++
    }
  }
  new BatchDecoder(batch).run(counter)
  return scans
}

/** The set of items that wait for a dependency; undefined when the queue has no waiting item at all. */
export const dependantsOf = (
  sortedSets: SortedSetChanges,
  key: Uint8Array,
  dependency: Uint8Array
): Uint8Array | undefined => {
  const id = sortedSets.id(ROLE.waiting, key)
  return id === undefined ? undefined : numbered(TAG.dependants, id, dependency)
}
