/**
 * Logs: entries in the order of the commits that appended them. The commit itself gives an entry its position, 1, 2, 3
 * and so on without gaps, so that positions become visible in their order: a reader that continues after the last
 * position it has read misses no entry of a concurrent append. An entry is in a log once: while it is kept, appending it
 * again changes nothing.
 *
 * A log is a sorted set (`Operations.append`): the entries with their positions as scores, and the empty member with
 * the last position given. That row is never trimmed, so no position is given twice.
 */

import { Batch } from './batch.ts'
import type { Engine, Reads, ScoredMember } from './engine.ts'
import type { ItemCodec } from './queue.ts'
import { wholeNumber } from './whole-number.ts'

export interface LogEntry<T = Uint8Array> {
  readonly position: number
  readonly entry: T
}

export interface LogPage<T = Uint8Array> {
  /** In the order of their positions. Where the first does not follow `after`, the entries between were trimmed. */
  readonly entries: readonly LogEntry<T>[]
  /** The last position given, 0 before the first. A page that is not full has all entries up to it. */
  readonly last: number
}

/** The entries that stay: the newest, so many of them, or all from a position on. */
export type Trim = { readonly keep: number } | { readonly before: number }

/** The member whose score is the last position given. */
const LAST = new Uint8Array()
const isEntry = ({ member }: ScoredMember): boolean => member.length > 0
/** Entries that one commit trims. */
const TRIMMED = 1000

/** A log to read, in the store or in a snapshot of it. */
export class LogReads<T = Uint8Array> {
  readonly #reads: Reads
  readonly #key: Uint8Array
  readonly #codec: ItemCodec<T>

  /** @internal Made by `StoreReads.log`. */
  constructor(reads: Reads, key: Uint8Array, codec: ItemCodec<T>) {
    this.#reads = reads
    this.#key = key
    this.#codec = codec
  }

  /** The entries after a position, the oldest of them first. An empty page is the end, until more is appended. */
  async read(page: { readonly after?: number; readonly limit?: number } = {}): Promise<LogPage<T>> {
    const after = wholeNumber('after', page.after ?? 0, 0)
    const limit = wholeNumber('limit', page.limit ?? 1000, 1)
    // With room for the row of the last position, which may be among them.
    const rows = await this.#reads.zrows(this.#key, {
      min: { score: after, exclusive: true },
      count: limit + 1
    })
    const entries = rows
      .filter(isEntry)
      .slice(0, limit)
      .map(({ member, score }) => ({ position: score, entry: this.#codec.decode(member) }))
    const last = rows.findLast(row => !isEntry(row))?.score ?? (await this.last())
    // Entries appended since the rows were read are not counted: an empty page would seem to have lost them.
    return { entries, last: rows.length === 0 ? Math.min(after, last) : last }
  }

  /** The last position given, whether or not its entry is kept; 0 before the first. */
  async last(): Promise<number> {
    return (await this.#reads.zscore(this.#key, LAST)) ?? 0
  }

  /** The position of the oldest entry that is kept; undefined without one. */
  async first(): Promise<number | undefined> {
    return (await this.#reads.zrows(this.#key, { count: 2 })).find(isEntry)?.score
  }
}

/**
 * @example
 * const bytes = (text: string) => new TextEncoder().encode(text)
 * const store = await openStore('memory:')
 * const log = store.log(bytes('l:events'))
 * const batch = store.batch()
 * for (const event of ['born', 'named']) log.appendIn(batch, bytes(event))
 * await batch.commit()
 * const { entries } = await log.read({ after: 1, limit: 100 })
 * entries.map(({ position }) => position) // [ 2 ]
 */
export class Log<T = Uint8Array> extends LogReads<T> {
  readonly #engine: Engine
  readonly #key: Uint8Array
  readonly #codec: ItemCodec<T>

  /** @internal Made by `Store.log`. */
  constructor(engine: Engine, key: Uint8Array, codec: ItemCodec<T>) {
    super(engine.reads, key, codec)
    this.#engine = engine
    this.#key = key
    this.#codec = codec
  }

  /** Gives an entry the next position, unless the log has it. */
  async append(entry: T): Promise<void> {
    const batch = this.#batch()
    this.appendIn(batch, entry)
    await batch.commit()
  }

  /**
   * The same as part of a batch. An entry that is also a member of sorted sets is best added to these first: embedded
   * engines intersect sets faster whose members have the first of their scores there (`set-headers.ts`).
   */
  appendIn(batch: Batch, entry: T): void {
    batch.append(this.#key, this.#codec.encode(entry))
  }

  /** The same for a log with many writers: an entry may have its position a moment after the commit. */
  appendDeferredIn(batch: Batch, entry: T): void {
    batch.appendDeferred(this.#key, this.#codec.encode(entry))
  }

  /** Resolves when the deferred appends that were committed before have their positions. */
  async settled(): Promise<void> {
    await this.#engine.deferred?.settled()
  }

  /**
   * Calls the listener after deferred appends of every process, until the result is called. Undefined where entries have
   * their positions in the commit, and no other process tells of its own.
   */
  watch(listener: () => void): (() => void) | undefined {
    return this.#engine.deferred?.watch(this.#key, listener)
  }

  /** Removes the oldest entries, some at a time, and gives how many. Their positions are not given again. */
  async trim(how: Trim): Promise<number> {
    const before =
      'keep' in how
        ? (await this.last()) + 1 - wholeNumber('keep', how.keep, 0)
        : wholeNumber('before', how.before, 0)
    const max = { score: before, exclusive: true }
    for (let trimmed = 0; ; ) {
      const oldest = (await this.#engine.reads.zrows(this.#key, { max, count: TRIMMED })).filter(isEntry)
      if (oldest.length === 0) return trimmed
      if (await this.#remove(oldest)) trimmed += oldest.length
    }
  }

  /**
   * Removes the oldest entries, if they still are. Nothing leaves a log but its oldest entries, so the first of them
   * speaks for all; without that condition an entry that was trimmed and appended again meanwhile could be lost.
   */
  async #remove(oldest: readonly ScoredMember[]): Promise<boolean> {
    const [{ member, score }] = oldest as [ScoredMember]
    const batch = this.#batch()
      .ifScore(this.#key, member, score)
      .zrem(this.#key, ...oldest.map(row => row.member))
    return batch.tryCommit()
  }

  #batch(): Batch {
    return new Batch(batch => this.#engine.commit(batch))
  }
}
