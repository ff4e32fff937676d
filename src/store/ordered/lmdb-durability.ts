/**
 * Makes commits to LMDB durable. LMDB by itself would sync every page that a commit touches, tens of kilobytes for a
 * transaction of two; here the rows of a commit go to a redo log first, which is synced, and LMDB's own pages reach
 * the disk at checkpoints, beside the commits that follow.
 *
 * Everything is done while LMDB's lock for writers is held, so writers of several processes take turns. One who finds
 * that another has committed since, or has made a checkpoint (or who is the first), begins with a checkpoint and a log
 * of its own.
 */
import { randomBytes } from 'node:crypto'
import { closeSync, fdatasync, fdatasyncSync, fstatSync, openSync } from 'node:fs'
import { join } from 'node:path'
import type { Transaction } from 'lmdb'
import { lastSequence, readHead, writeCheckpoint } from './checkpoint.ts'
import { LMDB_FILE } from './directory.ts'
import { syncNames } from './files.ts'
import type { Handle } from './lmdb-handle.ts'
import { Presence } from './presence.ts'
import { RedoLog, type RedoPlace } from './redo-log.ts'

/**
 * How much is logged between checkpoints: this part of the database, within limits. LMDB does not use the pages again
 * that were changed since the last checkpoint but one, and a transaction changes pages of some sixteen times what is
 * logged of it: so the file is larger by about an eighth. Short ways between checkpoints also mean short bursts of
 * writing, which the syncing of the log has to wait for.
 */
const SHARE = 1 / 256
const LEAST_BYTES = 1.5 * 1024 * 1024
const MOST_BYTES = 32 * 1024 * 1024
/** A group of batches of this size is not logged: its pages are synced. */
export const LARGE_BYTES = 8 * 1024 * 1024
/** After so long without a commit a checkpoint is made, after which nothing is left to do when the machine goes down. */
const IDLE_MS = 2000

/** A checkpoint on its way to the disk. */
interface Pending {
  readonly place: RedoPlace
  /** Of commits since then that are not in the log. */
  unlogged: number
  readonly head: Uint8Array
  readonly reader: Transaction
  isSynced: boolean
}

export class LmdbDurability {
  readonly #directory: string
  readonly #handle: Handle
  readonly #boot: string
  readonly #data: number
  readonly #redo: RedoLog
  /** Where the log is since the last checkpoint, while we have one. */
  #place: RedoPlace | undefined
  /** Bytes that were committed since then without being logged. Nothing is logged after them. */
  #unlogged = 0
  #sequence = 0
  /** Keep LMDB from writing to pages of the last checkpoint, and of one that is to be. */
  #reader: Transaction | undefined
  #candidate: Transaction | undefined
  #pending: Pending | undefined
  /**
   * Why pages did not get to the disk. The system says so once, and would call them synced the next time: so no later
   * state is a checkpoint, and nothing more is committed.
   */
  #failure: Error | undefined
  /** A record of this commit is in the log, or a part of one. */
  #logged = false
  #presence: Presence | undefined
  /** The files are known to the disk by their names. */
  #named = false
  readonly #quiesce: () => void
  #idle: NodeJS.Timeout | undefined
  #turn = 0

  /** `quiesce` is called when nothing was committed for a while. */
  constructor(directory: string, handle: Handle, boot: string, quiesce: () => void) {
    this.#directory = directory
    this.#handle = handle
    this.#boot = boot
    this.#data = openSync(join(directory, LMDB_FILE), 'r+')
    this.#redo = new RedoLog(directory)
    this.#quiesce = quiesce
  }

  /** Before LMDB's lock is taken: a state that is no later than the one that will be found. */
  enter(): void {
    this.#handle.resetReadTxn()
    this.#candidate = this.#handle.useReadTransaction()
    this.#logged = false
    this.#turn++
  }

  /**
   * Under the lock, before anything is changed. `continued` when nobody else has committed since our last commit;
   * `unlogged` is how much will be committed that is not logged.
   */
  begin(continued: boolean, unlogged: number): void {
    if (this.#failure) throw this.#failure
    const isOurs = continued && this.isLast
    if (isOurs && this.#pending) this.#finishPending()
    const isLogged = unlogged === 0
    if (!isOurs || !this.#place || (isLogged && this.#unlogged > 0)) this.checkpoint(false)
    else if (!this.#pending && this.#redo.bytes + this.#unlogged > this.#limit())
      this.#startPending(this.#place)
    this.#unlogged += unlogged
    if (this.#pending) this.#pending.unlogged += unlogged
  }

  #limit(): number {
    return Math.min(MOST_BYTES, Math.max(LEAST_BYTES, fstatSync(this.#data).size * SHARE))
  }

  put(key: Uint8Array, value: Uint8Array): void {
    this.#redo.put(key, value)
  }

  del(key: Uint8Array): void {
    this.#redo.del(key)
  }

  /** Under the lock, when all rows of the commit are put: it is durable when this returns. */
  log(number: number): void {
    this.#logged = true
    this.#redo.append(number)
  }

  /** The lock is given back, whatever became of the commit. */
  leave(committed: boolean): void {
    this.#candidate?.done()
    this.#candidate = undefined
    this.#redo.drop()
    if (!committed) {
      this.#place = undefined
      if (this.#logged) this.#redo.retract()
    }
    this.#idle ??= setTimeout(() => this.#rest(), IDLE_MS).unref()
    this.#idle.refresh()
  }

  /** Most is synced without the lock; commits do not wait for it. */
  #rest(): void {
    const turn = this.#turn
    this.#syncPages(() => {
      if (turn === this.#turn) this.#quiesce()
    })
  }

  #syncPages(done: () => void): void {
    fdatasync(this.#data, error => {
      if (error) this.#failure = error
      else done()
    })
  }

  /** Under the lock: the state as it is becomes the checkpoint. `closed` when no commit follows. */
  checkpoint(closed: boolean): void {
    if (this.#failure) throw this.#failure
    this.#presence ??= new Presence(this.#directory)
    try {
      fdatasyncSync(this.#data)
    } catch (error) {
      this.#failure = error as Error
      throw error
    }
    this.#sequence = lastSequence(this.#directory)
    const place = { log: randomBytes(8).toString('hex'), file: 0 }
    this.#redo.goTo(place)
    this.#write(place, readHead(this.#data), closed)
    if (!this.#named) syncNames(this.#directory)
    this.#named = true
    this.#pending?.reader.done()
    this.#pending = undefined
    this.#keep(closed ? undefined : this.#candidate)
    this.#place = closed ? undefined : place
    this.#unlogged = 0
  }

  /** Records go to the next file, while the pages of the state before them are on their way to the disk. */
  #startPending({ log, file }: RedoPlace): void {
    const place = { log, file: file + 1 }
    const pending: Pending = {
      place,
      unlogged: 0,
      head: readHead(this.#data),
      reader: this.#candidate!,
      isSynced: false
    }
    this.#candidate = undefined
    this.#pending = pending
    this.#redo.goTo(place)
    this.#syncPages(() => {
      pending.isSynced = true
    })
  }

  #finishPending(): void {
    const { place, unlogged, head, reader, isSynced } = this.#pending!
    if (!isSynced) return
    this.#pending = undefined
    try {
      this.#write(place, head, false)
    } catch (error) {
      reader.done()
      throw error
    }
    this.#keep(reader)
    this.#place = place
    this.#unlogged = unlogged
  }

  #write(place: RedoPlace, head: Uint8Array, closed: boolean): void {
    this.#sequence++
    writeCheckpoint(this.#directory, {
      ...place,
      sequence: this.#sequence,
      boot: this.#boot,
      closed,
      head
    })
  }

  #keep(reader: Transaction | undefined): void {
    this.#reader?.done()
    this.#reader = reader
    if (reader === this.#candidate) this.#candidate = undefined
  }

  /** Under the lock: whether the last checkpoint is ours. */
  get isLast(): boolean {
    return lastSequence(this.#directory) === this.#sequence
  }

  /** It has nothing to look after. */
  get isAtRest(): boolean {
    return this.#place === undefined && this.#reader === undefined
  }

  /** Gives up what it keeps; the checkpoint of another holds. */
  release(): void {
    this.#pending?.reader.done()
    this.#pending = undefined
    this.#keep(undefined)
    this.#place = undefined
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle)
    this.#redo.close()
    closeSync(this.#data)
    await this.#presence?.close()
  }
}
