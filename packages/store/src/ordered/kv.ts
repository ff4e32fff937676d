/**
 * The small interface that an ordered key-value database offers the structures: rows by key, in the order of the
 * keys' bytes. Memory, LMDB and LevelDB implement it.
 */
import type { KeyRange } from '@quoin/keyspace'
import type { KeyValue } from '../engine.ts'
import type { Plan } from '../plan.ts'

/** One state of the database, whose scans end within a turn of the event loop. */
export interface SyncRows {
  /** The value, which may be a view that is good only until the next call. */
  get(key: Uint8Array): Uint8Array | undefined
  /** Rows in the range, in its direction; bytes of their own. */
  rows(range: KeyRange, limit: number): KeyValue[]
  /** `read` of their keys, after `offset` of them. */
  keys<T>(range: KeyRange, limit: number, offset: number, read: ReadKey<T>): T[]
}

/** One state of the database, whose scans take turns of the event loop. */
export interface AsyncRows {
  get(key: Uint8Array): Uint8Array | undefined
  rows(range: KeyRange, limit: number): Promise<KeyValue[]>
  keys<T>(range: KeyRange, limit: number, offset: number, read: ReadKey<T>): Promise<T[]>
}

export type RowSource = SyncRows | AsyncRows

/** A read that scans rows. */
export type RowPlan<T> = Plan<RowSource, T>

/** Makes something of the key that lies in `source` from `start` to `end`, and only for the time of the call. */
export type ReadKey<T> = (source: Uint8Array, start: number, end: number) => T

/** The key as bytes of its own. */
export const copyKey: ReadKey<Uint8Array> = (source, start, end) => source.slice(start, end)

/** A range of rows that a batch will walk: the first `limit` of them, or the last. */
export interface Scan {
  readonly start: Uint8Array
  readonly end: Uint8Array
  readonly limit: number
  readonly reverse?: boolean
}

/** The rows as a writer sees them, with its own uncommitted changes. */
export interface RowWrites {
  /** The value, which may be a view that is good only until the next call. */
  get(key: Uint8Array): Uint8Array | undefined
  /** At most `limit` keys from `start` up to but not including `end`, or the last of them downwards; bytes of their own. */
  keys(start: Uint8Array, end: Uint8Array, limit: number, reverse?: boolean): Uint8Array[]
  /** Both copy their arguments, or are done with them before the commit ends. */
  put(key: Uint8Array, value: Uint8Array): void
  del(key: Uint8Array): void
}
