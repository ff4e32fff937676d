/** What is in the queue of a topic and a peer, as it is when a run begins, and as the run changes it. */
import { formatTxid, type Outpoint, toHex, txidOf } from '@quoin/primitives'
import type { Queue } from '@quoin/store'

export interface State {
  /** Transactions that are not dead, and how many items are of each. */
  readonly pending: Map<string, number>
  /** Outpoints in hexadecimal. */
  readonly dead: Set<string>
}

export const readState = async (queue: Queue<Outpoint>): Promise<State> => {
  const state: State = { pending: new Map(), dead: new Set() }
  for (const kind of ['due', 'leased', 'waiting', 'dead'] as const) {
    let cursor: string | undefined
    do {
      const page = await queue.list(kind, { limit: 1000, ...(cursor !== undefined && { cursor }) })
      for (const { item } of page.items) {
        if (kind === 'dead') state.dead.add(toHex(item))
        else count(state.pending, item, 1)
      }
      cursor = page.cursor
    } while (cursor !== undefined)
  }
  return state
}

export const count = (pending: Map<string, number>, outpoint: Outpoint, by: number): void => {
  const name = formatTxid(txidOf(outpoint))
  const left = (pending.get(name) ?? 0) + by
  if (left > 0) pending.set(name, left)
  else pending.delete(name)
}
