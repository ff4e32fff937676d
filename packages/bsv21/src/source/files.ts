/**
 * A file as a source: one BEEF, or one per line, as in `quoin import`. Both save their progress in the same form, so that
 * either resumes where the other stopped.
 */
import { beefOfRecord, type FileRecord, fileSize, recordsOf } from '@quoin/chain'
import { QuoinError } from '@quoin/primitives'
import type { Store } from '@quoin/store'
import { FileProgress } from '@quoin/txo'
import {
  type Delivery,
  type FollowOptions,
  IDLE_STATUS,
  type Source,
  type SourceStatus,
  type SourceTransaction
} from './source.ts'

/** Limits of one delivery: transactions, and bytes. */
const PART = 256
const PART_BYTES = 8 * 1024 * 1024

export interface FileSourceOptions {
  /** Called for each skipped line without a transaction. */
  readonly onWarning?: (error: QuoinError) => void
}

export class FileSource implements Source {
  readonly name: string
  readonly #path: string
  readonly #onWarning: ((error: QuoinError) => void) | undefined
  #status = IDLE_STATUS

  constructor(path: string, { onWarning }: FileSourceOptions = {}) {
    this.name = `file ${path}`
    this.#path = path
    this.#onWarning = onWarning
  }

  get status(): SourceStatus {
    return this.#status
  }

  /** Delivers to the end of the file. Throws ERR_FILE when it cannot be read. */
  async *deliveries(store: Store, { signal }: FollowOptions = {}): AsyncGenerator<Delivery, void, undefined> {
    const progress = new FileProgress(store, this.#path)
    const at = await progress.read()
    this.#set({ state: 'reading', at, end: await fileSize(this.#path) })
    let transactions: SourceTransaction[] = []
    let bytes = 0
    const delivery = async (end: number): Promise<Delivery> => {
      const mark = await progress.marker(end)
      this.#set({ at: end, transactions: this.#status.transactions + transactions.length })
      return { transactions, reorgFrom: undefined, mark }
    }
    let end = at
    for await (const record of recordsOf(this.#path, at)) {
      const staged = this.#read(record)
      if (staged) transactions.push(staged)
      bytes += staged?.beef?.bytes.length ?? 0
      end = record.end
      if (transactions.length < PART && bytes < PART_BYTES) continue
      yield await delivery(end)
      transactions = []
      bytes = 0
      if (signal?.aborted) break
    }
    if (!signal?.aborted && (transactions.length > 0 || end > this.#status.at!)) yield await delivery(end)
    this.#set({ state: 'ended' })
  }

  #read(record: FileRecord): SourceTransaction | undefined {
    try {
      const beef = beefOfRecord(record)
      const txid = beef.subject
      const bump = beef.find(txid)?.bump
      const mined = bump && { height: bump.height, index: BigInt(bump.offsetOf(txid)!) }
      return { txid, beef, mined }
    } catch (error) {
      if (!(error instanceof QuoinError)) throw error
      this.#warn(
        new QuoinError(error.code, `${this.name}, line ${record.line}: ${error.message}`, {
          ...error.details,
          cause: error
        })
      )
      return undefined
    }
  }

  #warn(error: QuoinError): void {
    this.#set({ lastError: error.message })
    this.#onWarning?.(error)
  }

  #set(change: Partial<SourceStatus>): void {
    this.#status = { ...this.#status, ...change }
  }
}
