/**
 * The stored statuses of transactions on the network. Every change of a status appends an event to their log in the same
 * batch, on the condition that the record is as it was read.
 */
import { formatTxid, QuoinError, type Txid } from '@quoin/primitives'
import type { Batch, LogEntry, Store } from '@quoin/store'
import { type BroadcastEvent, type BroadcastRecord, type BroadcastStatus, broadcasts } from './keys.ts'

const { record: records, byStatus, outbox, events } = broadcasts.collections
const ATTEMPTS = 100
/** Statuses that `byStatus` lists. */
const LISTED = ['queued', 'sent', 'seen', 'rejected'] as const
const isListed = (status: BroadcastStatus): status is (typeof LISTED)[number] => status !== 'mined'

/** Statuses that the outbox works on. */
const isTracked = (status: BroadcastStatus): boolean => status !== 'mined' && status !== 'rejected'

/** Undefined leaves the record as it is. */
export type RecordChange = (before: BroadcastRecord | undefined) => BroadcastRecord | undefined

export class BroadcastRecords {
  readonly #store: Store
  readonly #listeners = new Set<() => void>()
  /** A commit of others has changes of records. */
  #isDirty = false

  constructor(store: Store) {
    this.#store = store
  }

  get(txid: Txid): Promise<BroadcastRecord | undefined> {
    return this.#store.use(records).get(txid)
  }

  getMany(txids: readonly Txid[]): Promise<(BroadcastRecord | undefined)[]> {
    return this.#store.use(records).getMany(txids.map(txid => [txid]))
  }

  /** Part of a batch that fails if the record changes before it is committed. */
  async changeIn(batch: Batch, txid: Txid, change: RecordChange): Promise<BroadcastRecord | undefined> {
    this.#isDirty = true
    const before = await this.get(txid)
    const after = change(before)
    if (!after || after === before) return before
    const writes = batch.use(records).at(txid)
    writes.expect(before)
    writes.set(after)
    if (before && before.status !== after.status && isListed(before.status))
      batch.use(byStatus).at(before.status).delete(txid)
    if (isListed(after.status)) batch.use(byStatus).at(after.status).add(txid, after.at)
    if (before?.status !== after.status || before.txStatus !== after.txStatus)
      this.#store.logAt(events, []).appendDeferredIn(batch, JSON.stringify(eventOf(txid, after)))
    return after
  }

  /** The same in a batch of its own, with the writes of `also`. */
  async change(
    txid: Txid,
    change: RecordChange,
    also: (batch: Batch) => void = () => undefined
  ): Promise<void> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const batch = this.#store.batch()
      await this.changeIn(batch, txid, change)
      also(batch)
      if (await batch.tryCommit()) return this.committed()
    }
    throw new QuoinError(
      'ERR_STORE_BUSY',
      `the broadcast record changed during ${ATTEMPTS} attempts; try again`,
      {
        txid: formatTxid(txid)
      }
    )
  }

  /** Writes a record of another store, without an event. */
  restoreIn(batch: Batch, txid: Txid, record: BroadcastRecord): void {
    batch.use(records).at(txid).set(record)
    if (isListed(record.status)) batch.use(byStatus).at(record.status).add(txid, record.at)
    if (isTracked(record.status)) this.#store.queueAt(outbox, []).enqueueIn(batch, txid, Date.now() / 1000)
  }

  /** To be called after commits: the listeners hear of changed records. */
  committed(): void {
    if (!this.#isDirty) return
    this.#isDirty = false
    for (const listener of [...this.#listeners]) listener()
  }

  /** Calls the listener after commits of this process that change records. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async counts(): Promise<Readonly<Record<(typeof LISTED)[number], number>>> {
    const counts = await Promise.all(
      LISTED.map(async status => [status, await this.#store.use(byStatus).at(status).count()] as const)
    )
    return Object.fromEntries(counts) as Record<(typeof LISTED)[number], number>
  }

  /** Events after a position; where the first does not follow it, the events between were trimmed. */
  async eventsAfter(after: number, limit: number): Promise<LogEntry<BroadcastEvent>[]> {
    const { entries } = await this.#store.logAt(events, []).read({ after, limit })
    return entries.map(({ position, entry }) => ({ position, entry: JSON.parse(entry) as BroadcastEvent }))
  }

  lastEvent(): Promise<number> {
    return this.#store.logAt(events, []).last()
  }

  async trimEvents(keep: number): Promise<void> {
    await this.#store.logAt(events, []).trim({ keep })
  }
}

const eventOf = (txid: Txid, record: BroadcastRecord): BroadcastEvent => {
  const { status, txStatus, at, reason, competing, height } = record
  return {
    txid: formatTxid(txid),
    status,
    txStatus,
    at,
    ...(reason !== undefined && { reason }),
    ...(competing && { competing }),
    ...(height !== undefined && { height })
  }
}
