/**
 * Rows in LevelDB. This thread reads, a thread of its own writes (`thread.ts`). LevelDB cannot walk rows that are not
 * committed, nor walk at all without giving up its turn; so a batch that walks (a lease) is committed by itself, and
 * what it will walk is fetched first.
 */

import type { KeyRange } from '@quoin/keyspace'
import { bytesKey, bytesOfKey, compareBytes, equalBytes, type QuoinError } from '@quoin/primitives'
import type { ChainedBatch } from 'classic-level'
import { BatchDecoder } from '../batch-decoder.ts'
import type { BackupOptions, EngineStats, KeyValue } from '../engine.ts'
import { type Backup, writeBackup } from './backup.ts'
import { ByteTable, ensureCapacity } from './byte-table.ts'
import { seal, unseal } from './checksum.ts'
import { needStore, openFiles, prepareStore, type StoreFiles, sizesIn } from './directory.ts'
import { DirectoryNames } from './directory-names.ts'
import { type AsyncDatabase, EmbeddedEngine } from './embedded.ts'
import type { Snapshot } from './engine-reads.ts'
import { failedStore, storeError } from './failure.ts'
import { type GroupCommit, type GroupResult, GroupWriter } from './group-writer.ts'
import type { AsyncRows, ReadKey, RowWrites, Scan } from './kv.ts'
import { MEMBER_AT, TAG } from './layout.ts'
import { type Handle, openHandle, schemaOf } from './level-handle.ts'
import { levelChunks, makeLevel } from './level-volume.ts'
import { soleOwner } from './owners.ts'
import { schemaRow } from './schema.ts'
import { WriterThread } from './threaded.ts'

type LevelSnapshot = ReturnType<Handle['snapshot']>

/** With `create: false` it fails where there is no store yet. */
export const openLevel = async (path: string, { create = true } = {}): Promise<EmbeddedEngine> => {
  try {
    const isThere = await (create ? prepareStore : needStore)('level', path)
    if (!isThere) await makeLevel(path)
    const thread = await WriterThread.start('level', path)
    const handle = await openHandle(path)
    return new EmbeddedEngine(new LevelDatabase(path, handle, await openFiles('level', path), thread))
  } catch (error) {
    throw storeError(error, path)
  }
}

const bounds = ({ start, end, reverse }: KeyRange) => ({ gte: start, ...(end ? { lt: end } : {}), reverse })
/** LevelDB takes a signed 32-bit number, and -1 for all. */
const limited = (limit: number): number => (limit > 0x7fffffff ? -1 : limit)

/** LevelDB gives Buffers, each of its own; the slices of a Buffer would share its memory. */
const plain = (buffer: Uint8Array): Uint8Array =>
  new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length)

class LevelRows implements AsyncRows {
  readonly #handle: Handle
  readonly #options: { readonly snapshot: LevelSnapshot } | undefined

  constructor(handle: Handle, snapshot?: LevelSnapshot) {
    this.#handle = handle
    this.#options = snapshot && { snapshot }
  }

  get(key: Uint8Array): Uint8Array | undefined {
    const row = this.#options ? this.#handle.getSync(key, this.#options) : this.#handle.getSync(key)
    return row && unseal(key, plain(row))
  }

  async rows(range: KeyRange, limit: number): Promise<KeyValue[]> {
    const rows = await this.#handle
      .iterator({ ...bounds(range), limit: limited(limit), ...this.#options })
      .all()
    return rows.map(([key, row]) => ({ key: plain(key), value: unseal(key, plain(row)) }))
  }

  async keys<T>(range: KeyRange, limit: number, offset: number, read: ReadKey<T>): Promise<T[]> {
    const rows = await this.#handle
      .iterator({ ...bounds(range), limit: limited(offset + limit), ...this.#options })
      .all()
    return (offset > 0 ? rows.slice(offset) : rows).map(([key, row]) => {
      unseal(key, row)
      return read(plain(key), 0, key.length)
    })
  }
}

class LevelDatabase implements AsyncDatabase {
  readonly name = 'level'
  readonly scans = 'async'
  readonly rows: LevelRows
  readonly #path: string
  readonly #handle: Handle
  readonly #files: StoreFiles
  readonly #thread: WriterThread

  constructor(path: string, handle: Handle, files: StoreFiles, thread: WriterThread) {
    this.#path = path
    this.#files = files
    this.#handle = handle
    this.#thread = thread
    this.rows = new LevelRows(handle)
  }

  snapshot(): Snapshot<AsyncRows> {
    const snapshot = this.#handle.snapshot()
    return {
      rows: new LevelRows(this.#handle, snapshot),
      release: () => {
        void snapshot.close()
      }
    }
  }

  write(batches: readonly Uint8Array[]): Promise<GroupResult> {
    return this.#thread.write(batches)
  }

  async probe(): Promise<void> {
    this.#thread.assertRunning()
    await this.#files.probe()
  }

  backup(directory: string, options?: BackupOptions): Promise<Backup> {
    return writeBackup(this.name, levelChunks(this.#handle), directory, options)
  }

  async stats(): Promise<EngineStats> {
    const sizes = await sizesIn(this.#path)
    return {
      engine: this.name,
      bytes: sizes.reduce((sum, size) => sum + size, 0),
      details: {
        path: this.#path,
        schema: (await schemaOf(this.#path, this.#handle)) ?? 0,
        files: sizes.length
      }
    }
  }

  /** The thread opened the database first and so owns its cache, which LevelDB uses until the last handle is closed. */
  async close(): Promise<void> {
    await this.#handle.close()
    await this.#thread.close()
  }
}

const EMPTY = new Uint8Array()
const ARENA = 64 * 1024
const LARGE_ARENA = 64 * 1024 * 1024

/** Rows in a range that is walked forwards even when its last rows are wanted. */
const SHORT_WALK = 1000

/** Rows that were written and are not in the database yet, or not for certain. */
class Overlay {
  readonly #keys = new ByteTable()
  /** The value of row `i` lies in the arena from `#starts[i]` to `#ends[i]`; -1 when the row was deleted. */
  #starts = new Int32Array(512)
  #ends = new Int32Array(512)
  #arena = new Uint8Array(ARENA)
  #used = 0

  /** Null of a row that was deleted. */
  get(key: Uint8Array): Uint8Array | null | undefined {
    const row = this.#keys.find(EMPTY, key)
    if (row === -1) return undefined
    const start = this.#starts[row]!
    return start === -1 ? null : this.#arena.subarray(start, this.#ends[row]!)
  }

  set(key: Uint8Array, value: Uint8Array | null): void {
    const known = this.#keys.find(EMPTY, key)
    const row = known === -1 ? this.#keys.add(EMPTY, key) : known
    this.#starts = ensureCapacity(this.#starts, row + 1)
    this.#ends = ensureCapacity(this.#ends, row + 1)
    this.#starts[row] = value ? this.#used : -1
    if (!value) return
    this.#arena = ensureCapacity(this.#arena, this.#used + value.length)
    this.#arena.set(value, this.#used)
    this.#used += value.length
    this.#ends[row] = this.#used
  }

  *entries(): Iterable<readonly [key: Uint8Array, isThere: boolean]> {
    for (let row = 0; row < this.#keys.count; row++) yield [this.#keys.at(row), this.#starts[row] !== -1]
  }

  clear(): void {
    this.#keys.clear()
    this.#used = 0
    // Large values came and went.
    if (this.#arena.length > LARGE_ARENA) this.#arena = new Uint8Array(ARENA)
  }
}

/**
 * The rows as a group of batches sees them: its own writes, then the writes of the group before it, which may not be on
 * the disk yet, then the database.
 */
class GroupRows implements RowWrites {
  readonly #handle: Handle
  #batch: ChainedBatch<Handle, Uint8Array, Uint8Array>
  #own = new Overlay()
  #before = new Overlay()
  #fetched: { start: Uint8Array; keys: Uint8Array[] }[] = []
  #scans = false

  constructor(handle: Handle) {
    this.#handle = handle
    this.#batch = handle.batch()
  }

  get(key: Uint8Array): Uint8Array | undefined {
    let written = this.#own.get(key)
    if (written === undefined) written = this.#before.get(key)
    if (written !== undefined) return written ?? undefined
    const row = this.#handle.getSync(key)
    return row && unseal(key, plain(row))
  }

  keys(start: Uint8Array, end: Uint8Array, limit: number, reverse = false): Uint8Array[] {
    const fetched = this.#fetched.flatMap(scan => (equalBytes(scan.start, start) ? scan.keys : []))
    const names = new Set(fetched.filter(key => compareBytes(key, end) < 0).map(bytesKey))
    for (const [key, isThere] of this.#own.entries()) {
      if (compareBytes(key, start) < 0 || compareBytes(key, end) >= 0) continue
      if (isThere) names.add(bytesKey(key))
      else names.delete(bytesKey(key))
    }
    const sorted = [...names].sort()
    return (reverse ? sorted.reverse() : sorted).slice(0, limit).map(bytesOfKey)
  }

  put(key: Uint8Array, value: Uint8Array): void {
    this.#batch.put(key, seal(key, value))
    if (this.#isRead(key)) this.#own.set(key, value)
  }

  del(key: Uint8Array): void {
    this.#batch.del(key)
    if (this.#isRead(key)) this.#own.set(key, null)
  }

  /** Rows of sorted sets are walked, never read one by one. */
  #isRead(key: Uint8Array): boolean {
    return this.#scans || key[0] !== TAG.row || key.length < MEMBER_AT
  }

  /** For a batch that scans: what it will scan. The group before must be in the database. */
  async fetch(scans: readonly Scan[]): Promise<void> {
    this.#scans = true
    this.#fetched = await Promise.all(
      scans.map(async scan => ({ start: scan.start, keys: (await this.#scanned(scan)).map(plain) }))
    )
  }

  /** Backwards LevelDB walks on through all that was deleted before the range, so a short one is walked forwards. */
  async #scanned({ start, end, limit, reverse = false }: Scan): Promise<Uint8Array[]> {
    const range = { gte: start, lt: end }
    if (!reverse) return this.#handle.keys({ ...range, limit: limited(limit) }).all()
    const first = await this.#handle.keys({ ...range, limit: SHORT_WALK }).all()
    if (first.length < SHORT_WALK) return first
    return this.#handle.keys({ ...range, limit: limited(limit), reverse }).all()
  }

  /** Commits the group. The next may begin at once, and commit when the promise has resolved. */
  commit(): Promise<void> {
    const batch = this.#batch
    const written = this.#own
    this.#own = this.#before
    this.#before = written
    this.#begin()
    return batch.write({ sync: true })
  }

  async abort(): Promise<void> {
    const batch = this.#batch
    this.#begin()
    await batch.close()
  }

  #begin(): void {
    this.#batch = this.#handle.batch()
    this.#own.clear()
    this.#fetched = []
    this.#scans = false
  }
}

/** The writing side, in the thread that writes. */
export class LevelWriter {
  readonly #handle: Handle
  readonly #rows: GroupRows
  readonly #writer: GroupWriter
  readonly #names: DirectoryNames
  #failure: QuoinError | undefined
  #committed: Promise<void> = Promise.resolve()

  private constructor(path: string, handle: Handle) {
    this.#handle = handle
    this.#names = new DirectoryNames(path)
    this.#rows = new GroupRows(handle)
    this.#writer = new GroupWriter(this.#rows, soleOwner())
  }

  /** A new store gets its schema row before anything else. */
  static async open(path: string): Promise<LevelWriter> {
    const handle = await openHandle(path)
    try {
      if ((await schemaOf(path, handle)) === undefined) {
        await handle.put(schemaRow.key, schemaRow.value, { sync: true })
      }
    } catch (error) {
      await handle.close()
      throw error
    }
    return new LevelWriter(path, handle)
  }

  /** A batch that walks comes alone. Resolves when the group before is committed, and this one is being. */
  async write(batches: readonly Uint8Array[]): Promise<GroupCommit> {
    try {
      this.#writer.begin()
      const [first] = batches
      if (first && new BatchDecoder(first).hasScan) {
        await this.#committed
        await this.#rows.fetch(this.#writer.scans(first))
      }
      const outcomes = batches.map(batch => this.#writer.run(batch))
      const written = this.#writer.flush()
      await this.#committed
      if (this.#failure) throw this.#failure
      if (!written) return { done: Promise.resolve({ outcomes, written }) }
      const commit = this.#commit().catch(error => this.#fail(error))
      // A failure rejects the callers of this group, and by `#failure` all later ones.
      this.#committed = commit.catch(() => {})
      return { done: commit.then(() => ({ outcomes, written })) }
    } catch (error) {
      this.#writer.forget()
      await this.#rows.abort()
      throw error
    }
  }

  async #commit(): Promise<void> {
    await this.#rows.commit()
    await this.#names.sync()
  }

  /**
   * LevelDB may have written part of the batch to its log. It passes over that part when it opens the log again, and
   * over the rest of a block with it: later writes to that block could be lost.
   */
  #fail(error: unknown): never {
    const refusal = storeError(error)
    this.#failure = failedStore(refusal)
    throw refusal.code === 'ERR_STORE_FULL' ? refusal : this.#failure
  }

  async close(): Promise<void> {
    await this.#committed
    await this.#handle.close()
  }
}
