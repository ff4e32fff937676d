/**
 * The journal: the log of changes that commits make, appended in the same batch. Subscribers follow it from any
 * position that is kept, so that nothing is lost or repeated across reconnects, restarts and processes.
 */

import { randomBytes } from 'node:crypto'
import { QuoinError } from '@quoin/primitives'
import type { Batch, Log, Store } from '@quoin/store'
import { type FollowOptions, JournalReader, JournalSubscription, PAGE } from './journal-reader.ts'
import { CHANGE_ID, changeFields, outputs } from './keys.ts'

/** A transaction was written, got another block position, or was rolled back. */
export type ChangeKind = 'saved' | 'moved' | 'removed'

/** A change as stored, with texts for people, as streams send it. */
export interface JournalEntry {
  readonly kind: ChangeKind
  readonly txid: string
  /** The score; of a removed transaction its last one. */
  readonly score: number
  /** Changed outputs with their events and topics; of a removed transaction their last ones. */
  readonly outputs: readonly {
    readonly vout: number
    readonly events: readonly string[]
    readonly topics: readonly string[]
    /** Topics that it left. */
    readonly left?: readonly string[]
    /** The transaction that spends it: it may be in the index before the output is. */
    readonly spender?: string
  }[]
  /** Outputs that it spends, or spent before it was removed, with their events and topics. */
  readonly spends: readonly {
    readonly outpoint: string
    readonly events: readonly string[]
    readonly topics: readonly string[]
  }[]
}

export interface LiveChange extends JournalEntry {
  /** The position in the journal, to continue `after`. */
  readonly position: number
}

const { journal, changes } = outputs.collections
const { change: changeField } = changeFields.collections
/** Appended changes after which the journal is trimmed. */
const TRIM_EVERY = 1024

export class Journal {
  readonly #store: Store
  readonly #log: Log<Uint8Array>
  readonly #keep: number
  readonly #reader: JournalReader
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

  appendIn(batch: Batch, change: JournalEntry): void {
    const id = newId()
    this.#log.appendDeferredIn(batch, id)
    batch.use(changes).at().set(changeField, [id], change)
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
      for (const { entry } of old) batch.use(changes).at().delete(changeField, entry)
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
   * An entry without its change was trimmed after the entries were read, and all entries before it with it.
   */
  async read(after: number): Promise<LiveChange[]> {
    const { entries, last } = await this.#log.read({ after, limit: PAGE })
    const ids = entries.map(({ entry }): [Uint8Array] => [entry])
    const stored = await this.#store.use(changes).at().getMany(changeField, ids)
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
      const { position } = entries[missing]!
      throw new QuoinError(
        'ERR_STORE_CORRUPT',
        `the journal has position ${position} without its change; start from the last position instead`,
        { position, last }
      )
    }
    return entries.map(({ position }, i) => ({ ...stored[i]!, position }))
  }
}

/** A random id of this process. */
const PROCESS = randomBytes(CHANGE_ID - 8)
let lastMoment = 0

/**
 * An id of a journal entry, ascending within a process and distinct between processes: unix microseconds (8 bytes, greater
 * than the last), then the id of the process (8 bytes).
 */
export const newId = (): Uint8Array => {
  lastMoment = Math.max(lastMoment + 1, Math.round((performance.timeOrigin + performance.now()) * 1000))
  const id = new Uint8Array(CHANGE_ID)
  const view = new DataView(id.buffer)
  view.setUint32(0, Math.floor(lastMoment / 2 ** 32))
  view.setUint32(4, lastMoment % 2 ** 32)
  id.set(PROCESS, 8)
  return id
}
