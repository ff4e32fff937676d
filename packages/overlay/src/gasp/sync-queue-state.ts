/** The items in the queue of a topic and a peer: read when a run begins, and kept up to date by the run. */
import { formatTxid, type Outpoint, toHex, txidOf } from '@quoin/primitives'
import type { Queue } from '@quoin/store'

export interface SyncQueueState {
  /** Live items by txid. */
  readonly pending: Map<string, number>
  /** Dead letters: outpoints in hexadecimal. */
  readonly dead: Set<string>
}

export const readQueueState = async (queue: Queue<Outpoint>): Promise<SyncQueueState> => {
  const state: SyncQueueState = { pending: new Map(), dead: new Set() }
  for (const kind of ['due', 'leased', 'waiting', 'dead'] as const) {
    let cursor: string | undefined
    do {
      const page = await queue.list(kind, { limit: 1000, ...(cursor !== undefined && { cursor }) })
      for (const { item } of page.items) {
        if (kind === 'dead') state.dead.add(toHex(item))
        else countItem(state.pending, item, 1)
      }
      cursor = page.cursor
    } while (cursor !== undefined)
  }
  return state
}

export const countItem = (pending: Map<string, number>, outpoint: Outpoint, by: number): void => {
  const name = formatTxid(txidOf(outpoint))
  const left = (pending.get(name) ?? 0) + by
  if (left > 0) pending.set(name, left)
  else pending.delete(name)
}
