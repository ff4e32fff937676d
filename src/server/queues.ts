/** The queues of a node, by name: for each lookup service in the foreign form, what it has yet to be told. */
import type { Txid } from '../keyspace/index.ts'
import { type AnyLookup, overlay } from '../overlay/index.ts'
import type { Queue, Store } from '../store/index.ts'

export const noticeQueues = (
  store: Store,
  lookups: ReadonlyMap<string, AnyLookup>
): ReadonlyMap<string, Queue<Txid>> =>
  new Map(
    [...lookups]
      .filter(([, lookup]) => !('index' in lookup))
      .map(([name]) => [`notify:${name}`, store.queueAt(overlay.collections.notify, [name])])
  )
