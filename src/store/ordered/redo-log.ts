/**
 * What was committed since a checkpoint (`checkpoint.ts`), so that a commit costs one short write at the end of a file
 * and not whole pages all over the database. A record is the rows that one commit changed; writing them twice does no
 * harm.
 *
 * A log goes on from file to file: the next begins with each checkpoint, and there are two in turn. Files are written
 * over, not made anew, since the disk is faster with room that a file already has. What an earlier turn has left in
 * them does not count: the digest of a record covers the name of its log and the number of its file.
 *
 *     u32 length of the rows · u48 number of the commit · SHA-256 of log, file, number and rows · rows
 *     a row: u16 length of the key · u32 0 for a row that is deleted, or 1 + length of the value · key · value
 */
import { createHash } from 'node:crypto'
import { closeSync, fdatasyncSync, fstatSync, ftruncateSync } from 'node:fs'
import { join } from 'node:path'
import { grown } from './byte-table.ts'
import { openForWriting, readIfThere, writeWhole } from './files.ts'
import { readId, writeId } from './layout.ts'

const NUMBER_AT = 4
const DIGEST_AT = NUMBER_AT + 6
const ROWS_AT = DIGEST_AT + 32
const ROW_HEAD = 6
/** A file that a large record has made larger is cut back when the log is closed. */
const KEPT_BYTES = 32 * 1024 * 1024

/** The two files in turn. */
export const redoFiles = ['redo-0', 'redo-1'] as const
const nameOf = (file: number): string => redoFiles[file % 2]!

/** A file of a log. */
export interface RedoPlace {
  /** Names the log: no other has the same. */
  readonly log: string
  readonly file: number
}

export class RedoLog {
  readonly #directory: string
  /** Of the two files, once there is something to write. */
  #descriptors: readonly number[] = []
  #place: RedoPlace = { log: '', file: 0 }
  #descriptor = -1
  /** Where the next record goes, and where the last one began. */
  #end = 0
  #lastBegin = 0
  /** The record that is being made. */
  #record = new Uint8Array(64 * 1024)
  #length = ROWS_AT

  constructor(directory: string) {
    this.#directory = directory
  }

  /** Of the records in the present file. */
  get bytes(): number {
    return this.#end
  }

  /** Records go there from now on. */
  goTo(place: RedoPlace): void {
    if (this.#descriptors.length === 0) {
      this.#descriptors = redoFiles.map(name => openForWriting(join(this.#directory, name)))
    }
    this.#place = place
    this.#descriptor = this.#descriptors[place.file % 2]!
    this.#end = this.#lastBegin = 0
  }

  put(key: Uint8Array, value: Uint8Array): void {
    const at = this.#row(key, value.length, 1 + value.length)
    this.#record.set(value, at)
  }

  del(key: Uint8Array): void {
    this.#row(key, 0, 0)
  }

  #row(key: Uint8Array, valueBytes: number, mark: number): number {
    const at = this.#length
    this.#length = at + ROW_HEAD + key.length + valueBytes
    if (this.#length > this.#record.length) this.#record = grown(this.#record, this.#length)
    const record = this.#record
    record[at] = key.length
    record[at + 1] = key.length >>> 8
    writeU32(record, at + 2, mark)
    record.set(key, at + ROW_HEAD)
    return at + ROW_HEAD + key.length
  }

  /** Forgets the rows of the record that is being made. */
  drop(): void {
    this.#length = ROWS_AT
    if (this.#record.length > KEPT_BYTES) this.#record = new Uint8Array(64 * 1024)
  }

  /** Ends the record; it is on the disk when this returns. */
  append(number: number): void {
    const record = this.#record.subarray(0, this.#length)
    writeU32(record, 0, record.length - ROWS_AT)
    writeId(number, record, NUMBER_AT)
    record.set(digest(this.#place, record), DIGEST_AT)
    this.#lastBegin = this.#end
    writeWhole(this.#descriptor, record, this.#end)
    fdatasyncSync(this.#descriptor)
    this.#end += record.length
    this.drop()
  }

  /** Takes the last record back, or what there is of it: its commit came to nothing. */
  retract(): void {
    writeWhole(this.#descriptor, new Uint8Array(ROWS_AT), this.#lastBegin)
    fdatasyncSync(this.#descriptor)
    this.#end = this.#lastBegin
  }

  close(): void {
    for (const descriptor of this.#descriptors) {
      if (fstatSync(descriptor).size > KEPT_BYTES) ftruncateSync(descriptor, KEPT_BYTES)
      closeSync(descriptor)
    }
    this.#descriptors = []
  }
}

export interface RedoRecord {
  readonly number: number
  /** Rows that were put, and those that were deleted, without a value. */
  readonly rows: readonly (readonly [key: Uint8Array, value?: Uint8Array])[]
}

/** The records of a file in their order, up to the first that is none of it, or not whole. */
export function* redoRecords(directory: string, place: RedoPlace): Generator<RedoRecord> {
  const bytes = readIfThere(join(directory, nameOf(place.file))) ?? new Uint8Array()
  let at = 0
  while (at + ROWS_AT <= bytes.length) {
    const end = at + ROWS_AT + readU32(bytes, at)
    if (end > bytes.length) return
    const record = bytes.subarray(at, end)
    if (Buffer.compare(digest(place, record), record.subarray(DIGEST_AT, ROWS_AT)) !== 0) return
    yield { number: readId(record, NUMBER_AT), rows: rowsOf(record) }
    at = end
  }
}

const rowsOf = (record: Uint8Array): RedoRecord['rows'] => {
  const rows: (readonly [Uint8Array, Uint8Array?])[] = []
  for (let at = ROWS_AT; at < record.length; ) {
    const keyEnd = at + ROW_HEAD + record[at]! + record[at + 1]! * 256
    const mark = readU32(record, at + 2)
    const key = record.subarray(at + ROW_HEAD, keyEnd)
    const end = keyEnd + Math.max(0, mark - 1)
    rows.push(mark === 0 ? [key] : [key, record.subarray(keyEnd, end)])
    at = end
  }
  return rows
}

const digest = ({ log, file }: RedoPlace, record: Uint8Array): Uint8Array =>
  createHash('sha256')
    .update(`${log} ${file} `)
    .update(record.subarray(0, DIGEST_AT))
    .update(record.subarray(ROWS_AT))
    .digest()

const writeU32 = (target: Uint8Array, at: number, value: number): void => {
  target[at] = value
  target[at + 1] = value >>> 8
  target[at + 2] = value >>> 16
  target[at + 3] = value >>> 24
}

const readU32 = (source: Uint8Array, at: number): number =>
  (source[at]! | (source[at + 1]! << 8) | (source[at + 2]! << 16) | (source[at + 3]! << 24)) >>> 0
