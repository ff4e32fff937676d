/**
 * The writing side of a store on LMDB, in the writer thread. A group of batches is one LMDB transaction: LMDB writes its
 * pages, syncs them, and then writes the meta page through a synchronous descriptor.
 */
import { join } from 'node:path'
import { QuoinError } from '@quoin/primitives'
import { seal } from './checksum.ts'
import { LMDB_FILE } from './directory.ts'
import { assertFreeSpace, rethrowIfDiskFull } from './disk-full.ts'
import { failedStore, storeError } from './failure.ts'
import { type GroupCommit, GroupWriter, type Outcome } from './group-writer.ts'
import { copyKey, type RowWrites } from './kv.ts'
import { closingOnFailure, getRow, type Handle, openHandle, readKeys, schemaOf } from './lmdb-handle.ts'
import { processOwners } from './owners.ts'
import { schemaRow } from './schema.ts'
import { criticalSection } from './shutdown-latch.ts'

/** Milliseconds between checks for readers that are gone. */
const READER_CHECK_MS = 1000

export class LmdbWriter {
  readonly #path: string
  readonly #handle: Handle
  readonly #writer: GroupWriter
  #failure: QuoinError | undefined
  #readersCheckedAt = 0

  static async open(path: string): Promise<LmdbWriter> {
    const handle = openHandle(path)
    await closingOnFailure(handle, () =>
      handle.transactionSync(() => {
        // LMDB was stopped right after it made the file.
        if (schemaOf(path, handle) === undefined) handle.putSync(schemaRow.key, schemaRow.value)
      })
    )
    return new LmdbWriter(path, handle)
  }

  private constructor(path: string, handle: Handle) {
    const rows: RowWrites = {
      get: key => getRow(handle, key),
      keys: (start, end, limit, reverse) => {
        // LMDB walks backwards from `start`.
        const range = reverse
          ? { start: end, end: start, reverse, exclusiveStart: true, inclusiveEnd: true }
          : { start, end }
        return readKeys(handle, { ...range, limit }, copyKey)
      },
      put: (key, value) => {
        handle.put(key, seal(key, value))
      },
      del: key => {
        handle.remove(key)
      }
    }
    this.#path = path
    this.#handle = handle
    this.#writer = new GroupWriter(rows, processOwners())
  }

  async write(batches: readonly Uint8Array[]): Promise<GroupCommit> {
    if (this.#failure) throw this.#failure
    this.#needRoom(batches)
    this.#removeDeadReaders()
    let written = false
    const outcomes = this.#transaction(() => {
      this.#writer.begin()
      const outcomes = batches.map(batch => this.#writer.run(batch))
      written = this.#writer.flush()
      return outcomes
    })
    return { done: Promise.resolve({ outcomes, written }) }
  }

  /**
   * Asked before, as LMDB takes a write that fails badly: lmdb 3.5.6 formats its message into a buffer that is too small,
   * and the process may abort. Files that were deleted would take the commit and lose it.
   */
  #needRoom(batches: readonly Uint8Array[]): void {
    try {
      assertFreeSpace(this.#path, 2 * batches.reduce((sum, { length }) => sum + length, 0))
    } catch (error) {
      throw this.#refusal(error)
    }
  }

  /** The state that a process read when it was killed would keep its pages: the file would grow by every later commit. */
  #removeDeadReaders(): void {
    if (performance.now() < this.#readersCheckedAt + READER_CHECK_MS) return
    this.#readersCheckedAt = performance.now()
    this.#handle.readerCheck()
  }

  #transaction(work: () => Outcome[]): Outcome[] {
    try {
      return criticalSection(() => this.#handle.transactionSync(work))
    } catch (error) {
      this.#writer.forget()
      throw this.#refusal(error)
    }
  }

  /**
   * A full disk refuses one commit: LMDB drops its pages and keeps the state before. After any other failure of the
   * file the kernel may have dropped pages and would report the next sync as a success, so no commit follows.
   */
  #refusal(error: unknown): QuoinError {
    if (error instanceof QuoinError) return error
    const refusal = storeError(this.#withRoom(error))
    if (refusal.code === 'ERR_STORE_FULL') return refusal
    this.#failure = failedStore(refusal)
    return this.#failure
  }

  #withRoom(error: unknown): unknown {
    try {
      rethrowIfDiskFull(join(this.#path, LMDB_FILE), error)
      return error
    } catch (full) {
      return full
    }
  }

  close(): Promise<void> {
    return this.#handle.close()
  }
}
