/**
 * Rows in LMDB. This thread reads; a thread of its own writes (`thread.ts`), so that commits never hold up the event
 * loop. Other processes may read beside it, and even write: LMDB lets one transaction in at a time, and a writer
 * notices that another was there (`Writer.begin`).
 */

import type { KeyRange } from '@quoin/keyspace'
import { QuoinError } from '@quoin/primitives'
import type { Transaction } from 'lmdb'
import type { BackupOptions, EngineStats, KeyValue } from '../engine.ts'
import { type Backup, writeBackup } from './backup.ts'
import { unseal } from './checksum.ts'
import { needStore, openFiles, prepareStore, type StoreFiles, sizesIn } from './directory.ts'
import { EmbeddedEngine, type SyncDatabase } from './embedded.ts'
import type { Snapshot } from './engine-reads.ts'
import { storeError } from './failure.ts'
import type { GroupResult } from './group-writer.ts'
import type { ReadKey, SyncRows } from './kv.ts'
import {
  closingOnFailure,
  getRow,
  type Handle,
  openHandle,
  type RowRange,
  readKeys,
  schemaOf
} from './lmdb-handle.ts'
import { lmdbChunks, makeLmdb } from './lmdb-volume.ts'
import { lmdbBuild } from './native.ts'
import { WriterThread } from './threaded.ts'

export interface LmdbOptions {
  readonly readOnly?: boolean
  /** Fails where there is no store yet. */
  readonly create?: boolean
}

export const openLmdb = async (path: string, options: LmdbOptions = {}): Promise<EmbeddedEngine> => {
  const { readOnly = false, create = !readOnly } = options
  try {
    const isThere = create ? await prepareStore('lmdb', path) : await needStore('lmdb', path)
    if (!isThere) await makeLmdb(path)
    const files = await openFiles('lmdb', path)
    const thread = readOnly ? undefined : await WriterThread.start('lmdb', path)
    const handle = openHandle(path, { readOnly })
    await closingOnFailure(handle, () => schemaOf(path, handle))
    return new EmbeddedEngine(new LmdbDatabase(path, handle, files, thread))
  } catch (error) {
    throw storeError(error, path)
  }
}

class LmdbRows implements SyncRows {
  readonly #handle: Handle
  readonly #options: { readonly transaction: Transaction } | undefined

  constructor(handle: Handle, transaction?: Transaction) {
    this.#handle = handle
    this.#options = transaction && { transaction }
  }

  get(key: Uint8Array): Uint8Array | undefined {
    return getRow(this.#handle, key, this.#options)
  }

  rows(range: KeyRange, limit: number): KeyValue[] {
    return [...this.#handle.getRange({ ...bounds(range), limit, ...this.#options })].map(
      ({ key, value }) => ({ key, value: unseal(key, new Uint8Array(value)) })
    )
  }

  keys<T>(range: KeyRange, limit: number, offset: number, read: ReadKey<T>): T[] {
    return readKeys(this.#handle, { ...bounds(range), limit, offset, ...this.#options }, read)
  }
}

/** The longest key that LMDB has in pages of 4 KiB. */
const LONGEST = 1978

/**
 * LMDB walks backwards from `start`, and by itself it would take in the upper end and leave out the lower one. A bound
 * that is longer than any key lies just above its first bytes.
 */
const bounds = ({ start, end, reverse }: KeyRange): Omit<RowRange, 'limit'> => {
  const fromStart = start.length <= LONGEST
  const toEnd = end !== null && end.length <= LONGEST
  const low = fromStart ? start : start.subarray(0, LONGEST)
  const high = end === null ? undefined : toEnd ? end : end.subarray(0, LONGEST)
  return reverse
    ? { start: high, end: low, reverse, exclusiveStart: toEnd, inclusiveEnd: fromStart }
    : { start: low, end: high, exclusiveStart: !fromStart, inclusiveEnd: !toEnd }
}

class LmdbDatabase implements SyncDatabase {
  readonly name = 'lmdb'
  readonly scans = 'sync'
  readonly rows: LmdbRows
  readonly #path: string
  readonly #handle: Handle
  readonly #files: StoreFiles
  /** None when the store is only read. */
  readonly #thread: WriterThread | undefined

  constructor(path: string, handle: Handle, files: StoreFiles, thread: WriterThread | undefined) {
    this.#path = path
    this.#files = files
    this.#handle = handle
    this.#thread = thread
    this.rows = new LmdbRows(handle)
  }

  snapshot(): Snapshot<SyncRows> {
    this.#handle.resetReadTxn()
    const transaction = this.#handle.useReadTransaction()
    return { rows: new LmdbRows(this.#handle, transaction), release: () => transaction.done() }
  }

  async write(batches: readonly Uint8Array[]): Promise<GroupResult> {
    const written = await this.#writable().write(batches)
    // Reads of this thread keep to one state until told that there is a later one.
    this.#handle.resetReadTxn()
    return written
  }

  async probe(): Promise<void> {
    if (!this.#thread) await this.#files.probeReader()
    this.#writable().assertRunning()
    await this.#files.probe()
  }

  #writable(): WriterThread {
    if (this.#thread) return this.#thread
    throw new QuoinError('ERR_STORE_READ_ONLY', `the store in ${this.#path} is open for reading only`)
  }

  /** While it runs, LMDB keeps every page that the state has: the file grows by all writes until the end. */
  backup(directory: string, options?: BackupOptions): Promise<Backup> {
    return writeBackup(this.name, lmdbChunks(this.#handle), directory, options)
  }

  async stats(): Promise<EngineStats> {
    const sizes = await sizesIn(this.#path)
    this.#handle.resetReadTxn()
    const { entryCount } = this.#handle.getStats() as { entryCount: number }
    return {
      engine: this.name,
      bytes: sizes.reduce((sum, size) => sum + size, 0),
      details: {
        path: this.#path,
        schema: schemaOf(this.#path, this.#handle) ?? 0,
        rows: entryCount,
        build: lmdbBuild(),
        readOnly: this.#thread === undefined
      }
    }
  }

  async close(): Promise<void> {
    await this.#thread?.close()
    if (!this.#thread?.isStuck) await this.#handle.close()
  }
}
