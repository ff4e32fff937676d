/** The writing side of a store on LMDB, in the thread that writes. */
import { join } from 'node:path'
import { bootId } from './checkpoint.ts'
import { LMDB_FILE } from './directory.ts'
import { uninterrupted } from './ending.ts'
import { copyKey, type RowWrites } from './kv.ts'
import { LARGE_BYTES, LmdbDurability } from './lmdb-durability.ts'
import { closingOnFailure, type Handle, lent, openStoreHandle, readKeys, schemaOf } from './lmdb-handle.ts'
import { assertRoom } from './room.ts'
import { schemaRow } from './schema.ts'
import { type Outcome, Writer, type Writing } from './writer.ts'

export class LmdbWriter {
  readonly #path: string
  readonly #handle: Handle
  readonly #writer: Writer
  /** None where LMDB syncs its commits itself. */
  readonly #durability: LmdbDurability | undefined
  /** Whether the rows of this commit go to the log. */
  #logging = false

  /** A new store gets its schema row before anything else. */
  static async open(path: string): Promise<LmdbWriter> {
    const handle = openStoreHandle(path)
    await closingOnFailure(handle, () =>
      handle.transactionSync(() => {
        if (schemaOf(path, handle) === undefined) handle.putSync(schemaRow.key, schemaRow.value)
      })
    )
    return new LmdbWriter(path, handle)
  }

  private constructor(path: string, handle: Handle) {
    const boot = bootId()
    const durability = boot ? new LmdbDurability(path, handle, boot, () => this.#rest()) : undefined
    const writes: RowWrites = {
      get: key => lent(handle.getBinaryFast(key)),
      keys: (start, end, limit) => readKeys(handle, { start, end, limit }, copyKey),
      put: (key, value) => {
        handle.put(key, value)
        if (this.#logging) durability!.put(key, value)
      },
      del: key => {
        handle.remove(key)
        if (this.#logging) durability!.del(key)
      }
    }
    this.#path = path
    this.#handle = handle
    this.#durability = durability
    this.#writer = new Writer(writes)
  }

  async write(batches: readonly Uint8Array[], durable: boolean): Promise<Writing> {
    try {
      return { done: Promise.resolve(this.#commit(batches, durable)) }
    } catch (error) {
      this.#writer.forget()
      assertRoom(join(this.#path, LMDB_FILE), error)
      throw error
    }
  }

  #commit(batches: readonly Uint8Array[], durable: boolean): Outcome[] {
    const durability = this.#durability
    const bytes = batches.reduce((sum, { length }) => sum + length, 0)
    this.#logging = durability !== undefined && durable && bytes <= LARGE_BYTES
    const outcomes = this.#locked(() => {
      durability?.begin(this.#writer.begin(), this.#logging ? 0 : bytes)
      const outcomes = batches.map(batch => this.#writer.run(batch))
      this.#writer.flush()
      if (this.#logging) durability!.log(this.#writer.commits)
      return outcomes
    })
    if (durability && durable && !this.#logging) this.#locked(() => durability.checkpoint(false))
    return outcomes
  }

  #locked<T>(work: () => T): T {
    let committed = false
    this.#durability?.enter()
    try {
      const result = uninterrupted(() => this.#handle.transactionSync(work))
      committed = true
      return result
    } finally {
      this.#durability?.leave(committed)
    }
  }

  /** What we committed last becomes a checkpoint that needs no log, unless somebody else has committed since. */
  #settle(): void {
    const durability = this.#durability
    if (!durability || durability.isAtRest) return
    this.#locked(() => {
      if (this.#writer.begin() && durability.isLast) durability.checkpoint(true)
      else durability.release()
    })
  }

  #rest(): void {
    try {
      this.#settle()
    } catch {
      // Nothing is lost by it: the log has what was committed. The next commit, or closing, meets the same failure.
    }
  }

  async close(): Promise<void> {
    try {
      this.#settle()
    } finally {
      await this.#durability?.close()
      await this.#handle.close()
    }
  }
}
