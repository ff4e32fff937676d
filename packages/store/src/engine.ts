/**
 * The interface of an engine. Everything above it (`Store`, typed access, search, queues) is written once over this, so an
 * engine is right when it passes the contract suite, `contract.ts`.
 *
 * All keys, fields, members and items are byte strings of at most `MAX_KEY` bytes. Each structure has a name space of
 * its own: the hash `a` and the sorted set `a` have nothing to do with each other. A structure without contents does
 * not exist. Results are bytes of their own, never views of an engine's memory.
 */

import type { KeyRange } from '@quoin/keyspace'
import type { QuoinError } from '@quoin/primitives'

/** The longest key, field, member or item: it fits into a key of LMDB together with the prefixes of `layout.ts`. */
export const MAX_KEY = 1900
/** The largest value. */
export const MAX_VALUE = 256 * 1024 * 1024

export interface KeyValue {
  readonly key: Uint8Array
  readonly value: Uint8Array
}
export interface FieldValue {
  readonly field: Uint8Array
  readonly value: Uint8Array
}
export interface HashEntry {
  readonly key: Uint8Array
  /** In the order of the fields' bytes. */
  readonly fields: readonly FieldValue[]
}
/** A page of the fields of a hash, in the order of the engine. */
export interface FieldPage {
  readonly fields: readonly FieldValue[]
  /** Undefined after the last page. */
  readonly cursor: Uint8Array | undefined
}
export interface ScoredMember {
  readonly member: Uint8Array
  readonly score: number
}

/**
 * A place in the order of a sorted set, which is by score and then by the bytes of the member. Without a member it
 * stands for every row of that score.
 */
export interface Place {
  readonly score: number
  readonly member?: Uint8Array | undefined
  /** Leaves out the place itself: the one row, or all rows of the score. */
  readonly exclusive?: boolean | undefined
}

/** Which rows of a sorted set: those from `min` to `max`, walked downwards when `reverse`. */
export interface Rows {
  readonly min?: Place | undefined
  readonly max?: Place | undefined
  readonly reverse?: boolean | undefined
  /** Rows to pass over first, counted in the direction of the walk. */
  readonly offset?: number | undefined
  /** At most so many; undefined is all. */
  readonly count?: number | undefined
}

export type QueueState = 'due' | 'leased' | 'waiting' | 'dead'

/** The record of a queue's item. Times are unix seconds. */
export interface QueueItem {
  readonly item: Uint8Array
  /** Its place in the queue, and the time before which it is not due. */
  readonly score: number
  readonly enqueued: number
  /** How often it was leased, without leases that ended in waiting. */
  readonly attempts: number
  /** Of the last failure; empty before the first. */
  readonly errorClass: string
  readonly reason: string
}

export interface ListedItem extends QueueItem {
  /** due: the score it stands at; leased: when the lease ends; waiting: when it stops waiting; dead: since when. */
  readonly at: number
}

export interface QueueCounts {
  readonly due: number
  readonly leased: number
  readonly waiting: number
  readonly dead: number
  /** When the first item in state `due` was enqueued, even if its time has not come. */
  readonly headEnqueued: number | undefined
}

/** Which rows of a set are kept, by which of the other sets have their members. */
export type Keep = 'in all' | 'in none'

export interface FilteredRows {
  readonly rows: readonly ScoredMember[]
  /** How many rows it took to find them. */
  readonly scanned: number
  /** The last row looked at. */
  readonly last: ScoredMember | undefined
}

export interface Reads {
  get(key: Uint8Array): Promise<Uint8Array | undefined>
  /** One answer for each key, in the order asked; not necessarily of one state. */
  mget(keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]>
  /** Key-values in the range, in its direction. */
  range(range: KeyRange, limit?: number): Promise<KeyValue[]>

  hget(key: Uint8Array, field: Uint8Array): Promise<Uint8Array | undefined>
  /** One answer for each field, in the order asked. */
  hmget(key: Uint8Array, fields: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]>
  /** In the order of the fields' bytes. */
  hgetall(key: Uint8Array): Promise<FieldValue[]>
  /**
   * About `count` fields, for hashes that are too wide to be read whole. A field that the hash has from the first page to
   * the last is in one of them; a field that changes meanwhile may be in several.
   */
  hscan(key: Uint8Array, cursor: Uint8Array | undefined, count: number): Promise<FieldPage>
  /** One answer for each key, in the order asked; not necessarily of one state. */
  mhgetall(keys: readonly Uint8Array[]): Promise<FieldValue[][]>
  /** Whether each has fields, in the order asked; not necessarily of one state. */
  mhexists(keys: readonly Uint8Array[]): Promise<boolean[]>
  /** Hashes whose keys are in the range, in its direction. */
  hrange(range: KeyRange, limit?: number): Promise<HashEntry[]>

  sismember(key: Uint8Array, member: Uint8Array): Promise<boolean>
  /** In the order of their bytes. */
  smembers(key: Uint8Array): Promise<Uint8Array[]>

  zscore(key: Uint8Array, member: Uint8Array): Promise<number | undefined>
  /** For each member, its score in each of the sorted sets. */
  zscores(
    keys: readonly Uint8Array[],
    members: readonly Uint8Array[]
  ): Promise<readonly (readonly (number | undefined)[])[]>
  /** Whether the engine knows that members which several of the sets have are under the same score in all of them. */
  zaligned?(keys: readonly Uint8Array[]): Promise<boolean>
  /**
   * Rows of the first set, as `zrows` gives them, whose members all the other sets have, or none. An engine that has
   * it knows a faster way than `zrows` and `zscores`.
   */
  zfilter?(first: Uint8Array, others: readonly Uint8Array[], rows: Rows, keep: Keep): Promise<FilteredRows>
  zcard(key: Uint8Array): Promise<number>
  zrows(key: Uint8Array, rows: Rows): Promise<ScoredMember[]>
  /** The sum of all scores, added in the order of the set. */
  zsum(key: Uint8Array): Promise<number>
  /** The keys of sorted sets in the range, in its direction. */
  zkeys(range: KeyRange, limit?: number): Promise<Uint8Array[]>

  qcounts(key: Uint8Array): Promise<QueueCounts>
  /** Items in a state by (`at`, item), after a place. */
  qlist(key: Uint8Array, state: QueueState, rows: Rows): Promise<ListedItem[]>
}

/** The same reads without promises, of an engine that answers within a turn of the event loop. */
export type SyncReads = {
  readonly [Name in keyof Reads]-?: NonNullable<Reads[Name]> extends (...args: infer Args) => Promise<infer T>
    ? (...args: Args) => T
    : never
}

/** Asynchronous reads of an engine that has synchronous ones. */
export const promisedReads = (reads: Omit<SyncReads, 'zaligned' | 'zfilter'>): Reads =>
  Object.fromEntries(
    Object.entries(reads).map(([name, read]) => [
      name,
      async (...args: never[]) => (read as (...args: never[]) => unknown)(...args)
    ])
  ) as unknown as Reads

/** The answer of an operation: of `zincrby` the score, of `lease` the items. */
export type OperationResult = number | readonly QueueItem[]

export interface EngineStats {
  readonly engine: string
  /** Of its files, or of its memory. */
  readonly bytes: number
  readonly details: Readonly<Record<string, string | number | boolean>>
}

export interface BackupOptions {
  /** Called now and then with the number of rows that are done: they are copied first, and then read back. */
  readonly onProgress?: ((rows: number, doing: 'copying' | 'verifying') => void) | undefined
  /** Ends the backup early; nothing is left of it. */
  readonly signal?: AbortSignal | undefined
}

export interface LastWrite {
  /** Unix milliseconds. */
  readonly at: number
  /** Why it failed. */
  readonly error?: QuoinError
}

/** The features of an engine beside the structures. The contract suite asserts them, and the README lists them. */
export interface Manifest {
  /** `syncReads`. */
  readonly syncReads: boolean
  /** A database that holds states for readers, or reads that are repeated when a commit changed their rows. */
  readonly snapshots: 'held' | 'optimistic'
  /** `zaligned` and `zfilter`. */
  readonly filters: boolean
  /** `leaseNow`. */
  readonly leaseClock: boolean
  /** `backup`; other engines refuse it with `ERR_STORE_OPTION`. */
  readonly backups: boolean
  /** `replicated`. */
  readonly replication: boolean
  /** `deferred`: deferred appends have their positions after the commit. Others are appends. */
  readonly deferral: boolean
}

/** Deferred appends of an engine on a server (`appendDeferred`). */
export interface DeferredAppends {
  /** Resolves when the entries that were committed before have their positions. */
  settled(): Promise<void>
  /**
   * Calls the listener when entries of the log have their positions, whichever process appended them, until the result is
   * called. A call may be missing after a lost connection: a listener reads the log every second too.
   */
  watch(key: Uint8Array, listener: () => void): () => void
}

export interface Engine {
  /** The scheme of its URL: `lmdb`. */
  readonly name: string
  readonly manifest: Manifest
  readonly reads: Reads
  /** Of an embedded engine whose scans do not wait: all reads within a turn of the event loop see one state. */
  readonly syncReads: SyncReads | undefined
  /** Unix seconds by the clock that all users of the store share. It is set backwards and forwards like any other. */
  now(): Promise<number>
  /** Unix seconds by the clock that leases end by: it runs on steadily while the process does. Without it, `now`. */
  leaseNow?(): number
  /**
   * Commits a batch (`operations.ts`): all of it or nothing, durable when the promise resolves. The checks are made
   * against the state before the batch, and the first that fails refuses it with its code. Answers come in the order
   * of the operations that have one.
   */
  commit(batch: Uint8Array): Promise<OperationResult[]>
  /**
   * Commits many batches in as few transactions as it can, durable when the promise resolves. They have no checks: when
   * one is refused all the same, it rejects with that code, and the others may have been written.
   */
  commitMany(batches: readonly Uint8Array[]): Promise<void>
  /**
   * Resolves when all that can be read now is as durable as a commit promises. An engine that never shows anything
   * earlier has none.
   */
  replicated?(): Promise<void>
  readonly deferred?: DeferredAppends
  /** The last commit that wrote something, or failed to; undefined before the first. */
  readonly lastWrite: LastWrite | undefined
  /** Rejects with the reason why a commit would fail now, as far as can be told without writing. */
  probe(): Promise<void>
  /**
   * Reads that all see one state; commits do not wait for them. An engine without snapshots may run `read` again when
   * its rows have changed, and refuse with `ERR_STORE_BUSY` when they keep changing.
   */
  snapshot<T>(read: (reads: Reads) => Promise<T>): Promise<T>
  /** Writes a copy of one state into a directory that is new or empty, or refuses with `ERR_STORE_OPTION`. */
  backup(directory: string, options?: BackupOptions): Promise<void>
  stats(): Promise<EngineStats>
  close(): Promise<void>
}
