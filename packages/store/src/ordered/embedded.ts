/** An engine on an ordered database of this process: groups commits, and reads one state of the rows at a time. */
import { hasCode, QuoinError } from '@quoin/primitives'
import { BatchDecoder } from '../batch-decoder.ts'
import {
  type BackupOptions,
  type Engine,
  type EngineStats,
  type LastWrite,
  type Manifest,
  type OperationResult,
  promisedReads,
  type Reads,
  type SyncReads
} from '../engine.ts'
import { asyncReadsOf, type Snapshot, syncReadsOf } from './engine-reads.ts'
import type { GroupResult, Outcome } from './group-writer.ts'
import type { AsyncRows, SyncRows } from './kv.ts'
import { WideIds } from './reader.ts'

interface DatabaseBase<Rows> {
  readonly name: string
  /** The present state. It may move on between turns of the event loop, not within one. */
  readonly rows: Rows
  /** A state that stays. */
  snapshot(): Snapshot<Rows>
  /** Commits the batches in their order, in one transaction, durable when the promise resolves. */
  write(batches: readonly Uint8Array[]): Promise<GroupResult>
  /** Rejects with the reason why the files cannot be written. */
  probe(): Promise<void>
  backup?(directory: string, options: BackupOptions): Promise<unknown>
  stats(): Promise<EngineStats>
  close(): Promise<void>
}

/** Where scans take turns of the event loop, a read has a snapshot, and a batch with a scan is committed alone. */
export type Database = SyncDatabase | AsyncDatabase
export interface SyncDatabase extends DatabaseBase<SyncRows> {
  readonly scans: 'sync'
}
export interface AsyncDatabase extends DatabaseBase<AsyncRows> {
  readonly scans: 'async'
}

interface PendingCommit {
  readonly batch: Uint8Array
  readonly resolve: (answers: OperationResult[]) => void
  readonly reject: (error: unknown) => void
}

/** At most so many batches, and so many bytes, in one transaction. */
const GROUP_BATCHES = 20_000
const GROUP_BYTES = 64 * 1024 * 1024
/** Transactions handed to the database at a time: one that is being committed, one that is ready. */
const GROUPS_IN_FLIGHT = 2

export class EmbeddedEngine implements Engine {
  readonly name: string
  readonly manifest: Manifest
  readonly reads: Reads
  readonly syncReads: SyncReads | undefined = undefined
  readonly #database: Database
  #waiting: PendingCommit[] = []
  #inFlight = 0
  #scheduled = false
  #idle: (() => void)[] = []
  readonly #reading = new Set<Promise<unknown>>()
  #closed = false
  readonly #closing = new AbortController()
  readonly #backups = new Set<Promise<unknown>>()
  #lastWrite: LastWrite | undefined
  /** Why no commit is taken until the store is opened again. */
  #failure: QuoinError | undefined

  constructor(database: Database) {
    this.name = database.name
    this.manifest = {
      syncReads: database.scans === 'sync',
      snapshots: 'held',
      filters: true,
      leaseClock: true,
      backups: database.backup !== undefined,
      replication: false,
      deferral: false
    }
    this.#database = database
    if (database.scans === 'sync') {
      this.syncReads = syncReadsOf(database.rows, () => this.#assertOpen(), new WideIds())
      this.reads = promisedReads(this.syncReads)
    } else this.reads = this.#asyncReads(database)
  }

  async now(): Promise<number> {
    return Date.now() / 1000
  }

  leaseNow(): number {
    return (performance.timeOrigin + performance.now()) / 1000
  }

  commit(batch: Uint8Array): Promise<OperationResult[]> {
    if (this.#closed) return Promise.reject(closedError())
    if (this.#failure) return Promise.reject(this.#failure)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ batch, resolve, reject })
      this.#schedule()
    })
  }

  async commitMany(batches: readonly Uint8Array[]): Promise<void> {
    this.#assertOpen()
    if (this.#failure) throw this.#failure
    this.#inFlight++
    try {
      for (let start = 0; start < batches.length; ) {
        const group = batches.slice(start, start + this.#groupSize(batches.slice(start)))
        const outcomes = await this.#write(group)
        const failed = outcomes.findIndex(outcome => !('answers' in outcome))
        if (failed !== -1) throw refusal(group[failed]!, outcomes[failed]!)
        start += group.length
      }
    } finally {
      this.#ended()
    }
  }

  get lastWrite(): LastWrite | undefined {
    return this.#lastWrite
  }

  async probe(): Promise<void> {
    this.#assertOpen()
    if (this.#failure) throw this.#failure
    try {
      await this.#database.probe()
    } catch (error) {
      // Files that were deleted take commits and lose them.
      if (isFailed(error)) this.#failure = error
      throw error
    }
  }

  async #write(group: readonly Uint8Array[]): Promise<readonly Outcome[]> {
    try {
      const { outcomes, written } = await this.#database.write(group)
      if (written) this.#lastWrite = { at: Date.now() }
      return outcomes
    } catch (error) {
      if (error instanceof QuoinError) this.#lastWrite = { at: Date.now(), error }
      if (isFailed(error)) this.#failure = error
      throw error
    }
  }

  /** Each read but that of one row sees one state, which is a snapshot of its own. */
  #asyncReads(database: AsyncDatabase): Reads {
    return asyncReadsOf(async (name, read) => {
      this.#assertOpen()
      if (name === 'get' || name === 'mget') return read(database.rows)
      const { rows, release } = database.snapshot()
      return this.#tracked(read(rows).finally(release))
    })
  }

  async snapshot<T>(read: (reads: Reads) => Promise<T>): Promise<T> {
    this.#assertOpen()
    const { reads, release } = this.#openSnapshot()
    return this.#tracked((async () => read(reads))().finally(release))
  }

  #openSnapshot(): { readonly reads: Reads; release(): void } {
    if (this.#database.scans === 'sync') {
      const { rows, release } = this.#database.snapshot()
      return { reads: promisedReads(syncReadsOf(rows, () => {})), release }
    }
    const { rows, release } = this.#database.snapshot()
    return { reads: asyncReadsOf((_, read) => read(rows)), release }
  }

  /** A read that takes turns, which closing the store waits for. */
  #tracked<T>(read: Promise<T>): Promise<T> {
    const tracked = read.finally(() => this.#reading.delete(tracked))
    this.#reading.add(tracked)
    return tracked
  }

  /** Goes on beside reads and commits; closing the store ends it. */
  async backup(directory: string, { onProgress, signal }: BackupOptions = {}): Promise<void> {
    this.#assertOpen()
    if (!this.#database.backup) {
      throw new QuoinError('ERR_STORE_OPTION', `a store in ${this.name} has no files to back up`)
    }
    const ended = signal ? AbortSignal.any([signal, this.#closing.signal]) : this.#closing.signal
    const backup = this.#database.backup(directory, { onProgress, signal: ended })
    this.#backups.add(backup)
    try {
      await backup
    } finally {
      this.#backups.delete(backup)
    }
  }

  async stats(): Promise<EngineStats> {
    this.#assertOpen()
    return this.#database.stats()
  }

  /** Waits for commits and reads in flight. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#closing.abort(closedError())
    // Each tells its own caller that it failed.
    await Promise.allSettled([...this.#backups, ...this.#reading])
    if (this.#inFlight > 0 || this.#waiting.length > 0) {
      await new Promise<void>(resolve => this.#idle.push(resolve))
    }
    await this.#database.close()
  }

  #assertOpen(): void {
    if (this.#closed) throw closedError()
  }

  /** At the end of the turn, so that concurrent commits share a transaction. */
  #schedule(): void {
    if (this.#scheduled || this.#inFlight >= GROUPS_IN_FLIGHT) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      this.#send()
    })
  }

  #send(): void {
    const group = this.#waiting.splice(0, this.#groupSize(this.#waiting.map(({ batch }) => batch)))
    if (group.length === 0) return
    this.#inFlight++
    this.#write(group.map(({ batch }) => batch))
      .then(
        outcomes => settle(group, outcomes),
        error => {
          for (const { reject } of group) reject(error)
        }
      )
      .finally(() => this.#ended())
  }

  /** How many of the batches go into the next transaction. */
  #groupSize(batches: Iterable<Uint8Array>): number {
    let bytes = 0
    let count = 0
    for (const batch of batches) {
      const alone = this.#database.scans === 'async' && new BatchDecoder(batch).hasScan
      bytes += batch.length
      if (count > 0 && (alone || bytes > GROUP_BYTES || count === GROUP_BATCHES)) break
      count++
      if (alone) break
    }
    return count
  }

  #ended(): void {
    this.#inFlight--
    if (this.#waiting.length > 0) this.#schedule()
    else if (this.#inFlight === 0) for (const resolve of this.#idle.splice(0)) resolve()
  }
}

const isFailed = (error: unknown): error is QuoinError => hasCode(error, 'ERR_STORE_FAILED')

const settle = (group: readonly PendingCommit[], outcomes: readonly Outcome[]): void => {
  group.forEach(({ batch, resolve, reject }, i) => {
    const outcome = outcomes[i]!
    if ('answers' in outcome) resolve(outcome.answers)
    else reject(refusal(batch, outcome))
  })
}

const refusal = (batch: Uint8Array, outcome: Outcome): QuoinError =>
  'error' in outcome
    ? outcome.error
    : new BatchDecoder(batch).refusal('failed' in outcome ? outcome.failed : 0)

const closedError = (): QuoinError => new QuoinError('ERR_STORE_CLOSED', 'the store is closed')
