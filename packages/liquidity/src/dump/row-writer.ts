/** Writes many rows with a bounded number of bytes in flight. */
import type { Batch, Bulk, Store } from '@quoin/store'

const ROWS_PER_BATCH = 500
/** Bytes written between two checkpoints. */
const CHECKPOINT_BYTES = 8 * 1024 * 1024

export class RowWriter {
  readonly #bulk: Bulk
  #batch: Batch
  #rows = 0
  #bytes = 0

  constructor(store: Store) {
    this.#bulk = store.bulk()
    this.#batch = this.#bulk.batch()
  }

  set(key: Uint8Array, value: Uint8Array): Promise<void> | undefined {
    this.#batch.set(key, value)
    return this.#added(key.length + value.length)
  }

  delete(key: Uint8Array): Promise<void> | undefined {
    this.#batch.del(key)
    return this.#added(key.length)
  }

  /** Undefined unless the caller has to wait. */
  #added(bytes: number): Promise<void> | undefined {
    this.#bytes += bytes
    return ++this.#rows >= ROWS_PER_BATCH || this.#bytes >= CHECKPOINT_BYTES ? this.#send() : undefined
  }

  async #send(): Promise<void> {
    const batch = this.#batch
    this.#batch = this.#bulk.batch()
    this.#rows = 0
    await this.#bulk.write(batch)
    if (this.#bytes < CHECKPOINT_BYTES) return
    this.#bytes = 0
    await this.#bulk.checkpoint()
  }

  async end(progress?: Batch): Promise<void> {
    await this.#send()
    await this.#bulk.checkpoint(progress)
  }
}
