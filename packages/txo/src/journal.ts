/**
 * The journal: the log of changes that commits make, appended in the same batch. Subscribers follow it from any position
 * that is kept, so that nothing is lost or repeated across reconnects, restarts and processes.
 */
import { QuoinError } from '@quoin/primitives'
import type { Batch, Log, Store } from '@quoin/store'
import { newId } from './change-id.ts'
import { type FollowOptions, JournalReader, JournalSubscription, PAGE } from './journal-reader.ts'
import { changeFields, outputs } from './keys.ts'

/** What happened: a transaction was added to, got another place in the chain, or was taken back. */
export type ChangeKind = 'saved' | 'moved' | 'removed'

/** As it is stored: texts for people, so that it can be sent as it is. */
export interface StoredChange {
  readonly kind: ChangeKind
  readonly txid: string
  /** The score it has, or had. */
  readonly score: number
  /** Outputs that changed, with all events and topics they have, or had. */
  readonly outputs: readonly {
    readonly vout: number
    readonly events: readonly string[]
    readonly topics: readonly string[]
    /** Topics that it was in before. */
    readonly left?: readonly string[]
  }[]
  /** Outputs of others that are spent by it now, or were, with the topics that they were in, or are. */
  readonly spends: readonly {
    readonly outpoint: string
    readonly events: readonly string[]
    readonly topics: readonly string[]
  }[]
}

export interface LiveChange extends StoredChange {
  /** Where it is in the journal: give it back as `after` to go on. */
  readonly position: number
}

const { journal, changes } = outputs.collections
const { change: changeField } = changeFields.collections
/** Changes to trim at once, so that not every commit does. */
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

  appendIn(batch: Batch, change: StoredChange): void {
    const id = newId()
    this.#log.appendIn(batch, id)
    batch.use(changes).at().set(changeField, [id], change)
  }

  /** Wakes the reader after a commit that appended changes. */
  published(count: number): void {
    this.#reader.wake()
    this.appended += count
    this.#untrimmed += count
    if (this.#untrimmed < TRIM_EVERY) return
    this.#untrimmed = 0
    this.#trimming = this.#trimming
      .then(() => this.trim())
      .catch(() => {
        // A store that is closing or full: the next commits trim again, and nothing depends on it meanwhile.
      })
  }

  /** Forgets the oldest changes beyond those to keep. */
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

  /** The oldest position that is kept; with nothing kept, the one that comes next. */
  async first(): Promise<number> {
    return (await this.#log.first()) ?? (await this.#log.last()) + 1
  }

  /** Waits for trimming that goes on. */
  async idle(): Promise<void> {
    await this.#trimming
  }

  /** Changes after a position, then changes as they are committed. */
  follow(options: FollowOptions = {}): JournalSubscription {
    return new JournalSubscription(this.#reader, this, options)
  }

  /**
   * The changes after a position, without a snapshot: where snapshots are optimistic, followers would wait for writers. An
   * entry without its change was trimmed after the entries were read, and all entries before it with it.
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
        `the journal has positions ${oldest ?? last + 1} to ${last}, not what follows ${after}`,
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
