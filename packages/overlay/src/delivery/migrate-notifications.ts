/**
 * The migration of the notification queues of version 0.1. A queue held the transactions of which a lookup service was
 * not notified yet; its cursor in each log is set before the first entry about one of them, and delivery begins there.
 */
import { formatTxid, type Topic, type Txid } from '@quoin/primitives'
import type { Queue } from '@quoin/store'
import type { OutputStore } from '@quoin/txo'
import { cursorFields, overlay } from '../keys.ts'
import { isAbout } from './log-entry.ts'

const { notify, cursors, initialCursors } = overlay.collections
const { cursor } = cursorFields.collections
const STATES = ['due', 'leased', 'waiting'] as const
const PAGE = 1000

/** Sets the cursors of a service whose queue has transactions, then empties the queue. */
export const migrateNotifications = async (outputs: OutputStore, service: string): Promise<void> => {
  const { store } = outputs
  const queue = store.queueAt(notify, [service])
  const pending = await pendingOf(queue)
  if (pending.length === 0) return
  const txids = new Set(pending.map(formatTxid))
  const batch = store.batch()
  const fields = batch.use(cursors).at(service)
  for (const { key, value } of (await store.use(initialCursors).at().all()).entries(cursor)) {
    fields.set(cursor, key, await positionBefore(outputs, key[0], value, txids))
  }
  await batch.commit()
  for (const each of pending) await queue.remove(each)
}

const pendingOf = async (queue: Queue<Txid>): Promise<Txid[]> => {
  const { due, leased, waiting } = await queue.stats()
  if (due + leased + waiting === 0) return []
  const pending: Txid[] = []
  for (const state of STATES) {
    let position: string | undefined
    do {
      const page = await queue.list(state, {
        limit: PAGE,
        ...(position !== undefined && { cursor: position })
      })
      pending.push(...page.items.map(({ item }) => item))
      position = page.cursor
    } while (position !== undefined)
  }
  return pending
}

/** The position before the first entry about one of the transactions; the end where there is none. */
const positionBefore = async (
  outputs: OutputStore,
  topic: Topic,
  end: number,
  txids: ReadonlySet<string>
): Promise<number> => {
  const log = outputs.membership(topic)
  for (let after = 0; after < end; ) {
    const { entries } = await log.read({ after, limit: PAGE })
    const first = entries.find(entry => isAbout(entry, txids))
    if (first) return Math.min(first.position - 1, end)
    if (entries.length === 0) break
    after = entries.at(-1)!.position
  }
  return end
}
