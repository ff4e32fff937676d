/**
 * Rows in LMDB. This thread reads; a thread of its own writes (`thread.ts`), so that commits never hold up the event
 * loop. Other processes may read beside it, and even write: LMDB lets one transaction in at a time, and a writer
 * notices that another was there (`Writer.begin`).
 */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Transaction } from 'lmdb'
import { type KeyRange, QuoinError } from '../../keyspace/index.ts'
import type { BackupOptions, EngineStats, KeyValue } from '../engine.ts'
import { type Backup, writeBackup } from './backup.ts'
import { needStore, prepareStore } from './directory.ts'
import { type Database, EmbeddedEngine, type View } from './embedded.ts'
import { storeError } from './failure.ts'
import { copyKey, type ReadKey, type RowReads, type RowWrites } from './kv.ts'
import { type Handle, openHandle, type RowRange, readKeys, schemaOf } from './lmdb-handle.ts'
import { lmdbChunks } from './lmdb-volume.ts'
import { lmdbBuild } from './native.ts'
import { assertRoom } from './room.ts'
import { schemaRow } from './schema.ts'
import { WriterThread } from './threaded.ts'
import { type Outcome, Writer, type Writing } from './writer.ts'

export interface LmdbOptions {
  readonly readOnly?: boolean
  /** Fails where there is no store yet. */
  readonly create?: boolean
}

export const openLmdb = async (path: string, options: LmdbOptions = {}): Promise<EmbeddedEngine> => {
  const { readOnly = false, create = !readOnly } = options
  await (create ? prepareStore : needStore)('lmdb', path)
  if (!readOnly) {
    const thread = await WriterThread.start('lmdb', path)
    return new EmbeddedEngine(new LmdbDatabase(path, openHandle(path), thread))
  }
  try {
    const handle = openHandle(path, { readOnly })
    await closingOnFailure(handle, () => schemaOf(path, handle))
    return new EmbeddedEngine(new LmdbDatabase(path, handle, undefined))
  } catch (error) {
    throw storeError(error)
  }
}

const closingOnFailure = async (handle: Handle, check: () => void): Promise<void> => {
  try {
    check()
  } catch (error) {
    await handle.close()
    throw error
  }
}

class LmdbRows implements RowReads {
  readonly #handle: Handle
  readonly #options: { readonly transaction: Transaction } | undefined

  constructor(handle: Handle, transaction?: Transaction) {
    this.#handle = handle
    this.#options = transaction && { transaction }
  }

  get(key: Uint8Array): Uint8Array | undefined {
    return lent(this.#handle.getBinaryFast(key, this.#options))
  }

  rows(range: KeyRange, limit: number): KeyValue[] {
    return [...this.#handle.getRange({ ...bounds(range), limit, ...this.#options })].map(
      ({ key, value }) => ({
        key,
        value: new Uint8Array(value)
      })
    )
  }

  keys<T>(range: KeyRange, limit: number, offset: number, read: ReadKey<T>): T[] {
    return readKeys(this.#handle, { ...bounds(range), limit, offset, ...this.#options }, read)
  }
}

/** What LMDB lends is a Buffer that is larger than its length says; as a plain array it is also faster to read. */
const lent = (buffer: Uint8Array | undefined): Uint8Array | undefined =>
  buffer && new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length)

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

class LmdbDatabase implements Database {
  readonly name = 'lmdb'
  readonly #path: string
  readonly #handle: Handle
  /** None when the store is only read. */
  readonly #thread: WriterThread | undefined

  constructor(path: string, handle: Handle, thread: WriterThread | undefined) {
    this.#path = path
    this.#handle = handle
    this.#thread = thread
  }

  view(): View {
    return { rows: new LmdbRows(this.#handle), release: () => {} }
  }

  snapshot(): View {
    this.#handle.resetReadTxn()
    const transaction = this.#handle.useReadTransaction()
    return { rows: new LmdbRows(this.#handle, transaction), release: () => transaction.done() }
  }

  async write(batches: readonly Uint8Array[]): Promise<readonly Outcome[]> {
    if (!this.#thread) {
      throw new QuoinError('ERR_STORE_READ_ONLY', `the store in ${this.#path} is open for reading only`)
    }
    const outcomes = await this.#thread.write(batches)
    // Reads of this thread keep to one state until told that there is a later one.
    this.#handle.resetReadTxn()
    return outcomes
  }

  /** While it runs, LMDB keeps every page that the state has: the file grows by what is written meanwhile. */
  backup(directory: string, options?: BackupOptions): Promise<Backup> {
    return writeBackup(this.name, lmdbChunks(this.#handle), directory, options)
  }

  async stats(): Promise<EngineStats> {
    const { size } = await stat(join(this.#path, 'data.mdb'))
    this.#handle.resetReadTxn()
    const { entryCount } = this.#handle.getStats() as { entryCount: number }
    return {
      engine: this.name,
      bytes: size,
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
    await this.#handle.close()
  }
}

/** The writing side, in the thread that writes. */
export class LmdbWriter {
  readonly #path: string
  readonly #handle: Handle
  readonly #writer: Writer

  /** A new store gets its schema row before anything else. */
  static async open(path: string): Promise<LmdbWriter> {
    const handle = openHandle(path)
    await closingOnFailure(handle, () =>
      handle.transactionSync(() => {
        if (schemaOf(path, handle) === undefined) handle.putSync(schemaRow.key, schemaRow.value)
      })
    )
    return new LmdbWriter(path, handle)
  }

  private constructor(path: string, handle: Handle) {
    const writes: RowWrites = {
      get: key => lent(handle.getBinaryFast(key)),
      keys: (start, end, limit) => readKeys(handle, { start, end, limit }, copyKey),
      put: (key, value) => {
        handle.put(key, value)
      },
      del: key => {
        handle.remove(key)
      }
    }
    this.#path = path
    this.#handle = handle
    this.#writer = new Writer(writes)
  }

  async write(batches: readonly Uint8Array[]): Promise<Writing> {
    try {
      const outcomes = this.#handle.transactionSync(() => {
        this.#writer.begin()
        const outcomes = batches.map(batch => this.#writer.run(batch))
        this.#writer.flush()
        return outcomes
      })
      return { done: Promise.resolve(outcomes) }
    } catch (error) {
      this.#writer.forget()
      assertRoom(join(this.#path, 'data.mdb'), error)
      throw error
    }
  }

  close(): Promise<void> {
    return this.#handle.close()
  }
}
