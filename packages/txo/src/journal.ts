/**
 * The journal: the log of changes that commits make, appended in the same batch. Subscribers follow it from any
 * position that is kept, so that nothing is lost or repeated across reconnects, restarts and processes.
 */

import { bytesKey, QuoinError } from '@quoin/primitives'
import type { Batch, Log, Store } from '@quoin/store'
import { type CommittedChange, type LiveChange, planChanges } from './journal-changes.ts'
import { decodeEntry, encodeEntry, hasDetails, idOf, type JournalEntry, newId } from './journal-entry.ts'
import { type FollowOptions, JournalReader, JournalSubscription, PAGE } from './journal-reader.ts'
import { changeFields, outputs } from './keys.ts'

const { journal, changes } = outputs.collections
const { details: detailsField } = changeFields.collections
/** Appended changes after which the journal is trimmed. */
const TRIM_EVERY = 1024
/** Changes of this process in memory. A refused batch leaves its own until it is the oldest. */
const MAX_COMMITTED = 2048

export class Journal {
  readonly #store: Store
  readonly #log: Log<Uint8Array>
  readonly #keep: number
  readonly #reader: JournalReader
  /** Changes of recent commits of this process by the ids of their entries: they need not be read. */
  readonly #committed = new Map<string, CommittedChange>()
  #untrimmed = 0
  /** Changes that this process appended. */
  appended = 0
  #trimming: Promise<unknown> = Promise.resolve()

  constructor(store: Store, keep: number) {
    this.#store = store
    this.#log = store.logAt(journal, [])
    this.#keep = keep
    this.#reader = new JournalReader(this, keep)
  }

  /** @param change The change as the commit makes it, if that has all rows of it; asked for while somebody follows. */
  appendIn(batch: Batch, entry: JournalEntry, change: () => CommittedChange | undefined): void {
    const id = newId()
    const committed = this.#reader.isRunning ? change() : undefined
    if (committed) this.#committed.set(bytesKey(id), committed)
    if (this.#committed.size > MAX_COMMITTED) this.#forgetOldest()
    this.#log.appendDeferredIn(batch, encodeEntry(id, entry))
    if (entry.details) batch.use(changes).at().set(detailsField, [id], entry.details)
  }

  #forgetOldest(): void {
    for (const oldest of this.#committed.keys()) {
      this.#committed.delete(oldest)
      return
    }
  }

  /** Wakes the reader after a commit that appended changes, unless they have no positions yet. */
  published(count: number): void {
    if (!this.#store.defersAppends) this.#reader.wake()
    this.appended += count
    this.#untrimmed += count
    if (this.#untrimmed < TRIM_EVERY) return
    this.#untrimmed = 0
    this.#trimming = this.#trimming
      .then(() => this.trim())
      .catch(() => {
        // The store is closing or full: later commits trim again.
      })
  }

  /** Deletes the oldest changes, beyond the number to keep. */
  async trim(): Promise<void> {
    const last = await this.#log.last()
    const before = last - this.#keep + 1
    for (;;) {
      const { entries } = await this.#log.read({ limit: PAGE })
      const old = entries.filter(({ position }) => position < before)
      if (old.length === 0) return
      const batch = this.#store.batch()
      batch.zrem(journal.encode(), ...old.map(({ entry }) => entry))
      for (const { entry } of old) {
        if (hasDetails(entry)) batch.use(changes).at().delete(detailsField, idOf(entry))
      }
      await batch.commit()
    }
  }

  async last(): Promise<number> {
    return this.#log.last()
  }

  /** The oldest position that is kept; of an empty journal the next position. */
  async first(): Promise<number> {
    return (await this.#log.first()) ?? (await this.#log.last()) + 1
  }

  /** Waits for the positions of committed changes, and for the trim in progress. */
  async idle(): Promise<void> {
    await this.#log.settled()
    await this.#trimming
  }

  /** Calls the listener when changes have their positions, of other processes too; see `Log.watch`. */
  watch(listener: () => void): (() => void) | undefined {
    return this.#log.watch(listener)
  }

  /** Changes after a position, then changes as they are committed. */
  follow(options: FollowOptions = {}): JournalSubscription {
    return new JournalSubscription(this.#reader, this, options)
  }

  /**
   * The changes after a position, without a snapshot: where snapshots are optimistic, followers would wait for writers.
   * An entry without its details was trimmed after the entries were read, and all entries before it with it.
   */
  async read(after: number): Promise<LiveChange[]> {
    const { entries, last } = await this.#log.read({ after, limit: PAGE })
    const known = entries.map(({ entry }) => this.#committed.get(bytesKey(idOf(entry))))
    const unread = entries.filter((_, i) => !known[i])
    const detailed = unread.filter(({ entry }) => hasDetails(entry))
    const stored = await this.#store
      .use(changes)
      .at()
      .getMany(
        detailsField,
        detailed.map(({ entry }): [Uint8Array] => [idOf(entry)])
      )
    const missing = stored.indexOf(undefined)
    const oldest = missing === -1 ? entries[0]?.position : await this.#log.first()
    if (after > last || after < (oldest ?? last + 1) - 1) {
      throw new QuoinError(
        'ERR_TXO_POSITION',
        `the journal does not continue after position ${after}: it has ${oldest ?? last + 1} to ${last}`,
        { after, oldest: oldest ?? last + 1, last }
      )
    }
    if (missing !== -1) {
      const { position } = detailed[missing]!
      throw new QuoinError(
        'ERR_STORE_CORRUPT',
        `the journal has position ${position} without its details; start from the last position instead`,
        { position, last }
      )
    }
    const details = new Map(detailed.map(({ position }, i) => [position, stored[i]!]))
    const plan = planChanges(
      unread.map(({ position, entry }) => ({
        position,
        entry: decodeEntry(position, entry),
        details: details.get(position)
      }))
    )
    const read = unread.length > 0 ? await this.#store.run(plan) : []
    let next = 0
    return entries.map(({ position }, i) => {
      const change = known[i]
      return change ? { position, ...change } : read[next++]!
    })
  }
}
