/**
 * GroupCommit a great deal, for imports: batches go to the engine by the thousand, in large transactions. A checkpoint
 * records how far the import has come when all before it is durable, so that an interrupted import resumes there and
 * writes everything after the checkpoint again.
 */
import { QuoinError } from '@quoin/primitives'
import { Batch } from './batch.ts'
import { BatchDecoder } from './batch-decoder.ts'
import type { Engine } from './engine.ts'

/** Batches, or bytes, that go to the engine in one transaction. */
const TRANSACTION_BATCHES = 20_000
const TRANSACTION_BYTES = 64 * 1024 * 1024
/** Transactions that wait before `write` does. */
const AHEAD = 2

export class Bulk {
  readonly #engine: Engine
  #batches: Uint8Array[] = []
  #bytes = 0
  readonly #running = new Set<Promise<void>>()
  #failure: unknown

  /** @internal */
  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** A batch to be filled and given to `write`. It must not have conditions. */
  batch(): Batch {
    return new Batch(() => {
      throw new QuoinError(
        'ERR_STORE_OPTION',
        'give the batch to Bulk.write; it is committed at a checkpoint'
      )
    })
  }

  /** Takes a batch. Waits only while too much is on its way. */
  async write(batch: Batch): Promise<void> {
    this.#take(batch)
    if (this.#batches.length >= TRANSACTION_BATCHES || this.#bytes >= TRANSACTION_BYTES) await this.#send()
  }

  /**
   * Resolves when all that was written, and then `progress`, is durable. That is a commit of its own: in one with the
   * work it could be written although some of the work fails.
   */
  async checkpoint(progress?: Batch): Promise<void> {
    await this.#send()
    await Promise.all(this.#running)
    this.#throwFailure()
    const encoded = progress?.take()
    if (encoded) await this.#engine.commit(encoded)
  }

  #take(batch: Batch): void {
    this.#throwFailure()
    const encoded = batch.take()
    if (!encoded) return
    if (new BatchDecoder(encoded).operations.length < encoded.length - 4) {
      throw new QuoinError('ERR_STORE_OPTION', 'bulk writes cannot have conditions')
    }
    this.#batches.push(encoded)
    this.#bytes += encoded.length
  }

  async #send(): Promise<void> {
    this.#throwFailure()
    if (this.#batches.length > 0) {
      const sent = this.#engine
        .commitMany(this.#batches)
        // Kept for the next call, which throws it.
        .catch(error => {
          this.#failure ??= error
        })
        .finally(() => this.#running.delete(sent))
      this.#running.add(sent)
      this.#batches = []
      this.#bytes = 0
    }
    while (this.#running.size > AHEAD) await Promise.race(this.#running)
    this.#throwFailure()
  }

  /** After a failure nothing more is taken: an import goes on from its last checkpoint. */
  #throwFailure(): void {
    if (this.#failure) throw this.#failure
  }
}
