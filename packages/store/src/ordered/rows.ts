/**
 * The values of rows: packed hashes, the scores of a member, the record of a queue's item. Numbers are big-endian,
 * lengths are LEB128.
 */
import { copyOfPart, copyOfRow, QuoinError } from '@quoin/primitives'
import type { FieldValue, QueueItem } from '../engine.ts'
import { TOKEN_LENGTH } from '../operations.ts'
import { readId, writeId } from './layout.ts'

/** A hash that would be longer than this gets a row for each field: rows stay small enough to share a page. */
export const PACKED_LIMIT = 1600
/** A member's row takes so many scores; further ones get rows of their own. */
export const SCORES_LIMIT = 64

const PACKED = 0
const WIDE = 1
const ID = 6
const ENTRY = ID + 8

const corrupt = (what: string): QuoinError =>
  new QuoinError('ERR_STORE_CORRUPT', `a row of the store is damaged: ${what}`)

const lengthOfLength = (length: number): number => {
  let size = 1
  for (let rest = length; rest > 127; rest = Math.floor(rest / 128)) size++
  return size
}

/** Bytes of a field in a packed hash. */
export const packedSize = (field: Uint8Array, value: Uint8Array): number =>
  lengthOfLength(field.length) + field.length + lengthOfLength(value.length) + value.length

/** A packed hash begins with a tag; its fields follow in the order of their bytes. */
export const writePackedTag = (target: Uint8Array): number => {
  target[0] = PACKED
  return 1
}

/** Appends a field of a packed hash, and returns the offset after it. */
export const writeField = (
  field: Uint8Array,
  value: Uint8Array,
  target: Uint8Array,
  offset: number
): number => writeBytes(value, target, writeBytes(field, target, offset))

const writeBytes = (bytes: Uint8Array, target: Uint8Array, offset: number): number => {
  let at = offset
  let rest = bytes.length
  for (; rest > 127; rest = Math.floor(rest / 128)) target[at++] = (rest % 128) | 128
  target[at++] = rest
  target.set(bytes, at)
  return at + bytes.length
}

export const packWide = (id: number): Uint8Array => {
  const row = new Uint8Array(1 + ID)
  row[0] = WIDE
  writeId(id, row, 1)
  return row
}

/** The id of a wide hash, or undefined when the row is packed. */
export const wideId = (row: Uint8Array): number | undefined => (row[0] === WIDE ? readId(row, 1) : undefined)

/** Reads a packed hash, field by field, without copying. */
class PackedReader {
  readonly #row: Uint8Array
  readonly #length: number
  #at = 1
  fieldStart = 0
  fieldEnd = 0
  valueStart = 0
  valueEnd = 0

  constructor(row: Uint8Array) {
    this.#row = row
    this.#length = row.length
    if (row[0] !== PACKED) throw corrupt(`a hash begins with ${row[0]}`)
  }

  next(): boolean {
    if (this.#at >= this.#length) return false
    const fieldLength = this.#readLength()
    this.fieldStart = this.#at
    this.fieldEnd = this.#at += fieldLength
    const valueLength = this.#readLength()
    this.valueStart = this.#at
    this.valueEnd = this.#at += valueLength
    if (this.#at > this.#length) throw corrupt('a hash ends too early')
    return true
  }

  #readLength(): number {
    let length = 0
    for (let factor = 1; ; factor *= 128) {
      if (this.#at >= this.#length) throw corrupt('a hash ends too early')
      const byte = this.#row[this.#at++]!
      length += (byte & 127) * factor
      if (byte < 128) return length
    }
  }
}

/** All fields, in one copy of the row. */
export const unpackHash = (row: Uint8Array): FieldValue[] => {
  const fields: FieldValue[] = []
  const copy = copyOfRow(row)
  const reader = new PackedReader(copy)
  while (reader.next()) {
    fields.push({
      field: copy.subarray(reader.fieldStart, reader.fieldEnd),
      value: copy.subarray(reader.valueStart, reader.valueEnd)
    })
  }
  return fields
}

export const packedField = (row: Uint8Array, field: Uint8Array): Uint8Array | undefined => {
  const reader = new PackedReader(row)
  while (reader.next()) {
    if (equalsAt(row, reader.fieldStart, reader.fieldEnd, field)) {
      return copyOfPart(row, reader.valueStart, reader.valueEnd)
    }
  }
  return undefined
}

const equalsAt = (row: Uint8Array, start: number, end: number, bytes: Uint8Array): boolean => {
  if (end - start !== bytes.length) return false
  for (let i = 0; i < bytes.length; i++) if (row[start + i] !== bytes[i]) return false
  return true
}

const scratch = new DataView(new ArrayBuffer(8))
const writeNumber = (value: number, target: Uint8Array, offset: number): number => {
  scratch.setFloat64(0, value)
  for (let i = 0; i < 8; i++) target[offset + i] = scratch.getUint8(i)
  return offset + 8
}
const readNumber = (source: Uint8Array, offset: number): number => {
  for (let i = 0; i < 8; i++) scratch.setUint8(i, source[offset + i]!)
  return scratch.getFloat64(0)
}

export const packNumber = (value: number): Uint8Array => {
  const row = new Uint8Array(8)
  writeNumber(value, row, 0)
  return row
}
export const unpackNumber = (row: Uint8Array): number => readNumber(row, 0)

export const packId = (id: number): Uint8Array => {
  const row = new Uint8Array(ID)
  writeId(id, row, 0)
  return row
}

/** The counts of a sorted set: its members, and how many of them stray (`set-headers.ts`). */
export const writeCounts = (card: number, misaligned: number, target: Uint8Array): void => {
  writeId(misaligned, target, writeId(card, target, 0))
}
export const unpackCounts = (row: Uint8Array): readonly [card: number, misaligned: number] => [
  readId(row, 0),
  readId(row, ID)
]

/** Appends one of the scores of a member, and returns the offset after it. A byte behind them all: there are further ones. */
export const writeScore = (id: number, score: number, target: Uint8Array, offset: number): number =>
  writeNumber(score, target, writeId(id, target, offset))

/** All scores in the row of a member, in order. */
export const scoresIn = (row: Uint8Array, visit: (id: number, score: number) => void): void => {
  for (let at = 0; at + ENTRY <= row.length; at += ENTRY) visit(readId(row, at), readNumber(row, at + ID))
}

export const hasFurther = (row: Uint8Array): boolean => row.length % ENTRY === 1

/** The score under one id in a member's row. */
export const scoreUnder = (row: Uint8Array, id: number): number | undefined => {
  for (let at = 0; at + ENTRY <= row.length; at += ENTRY) {
    if (readId(row, at) === id) return readNumber(row, at + ID)
  }
  return undefined
}

/** The record of an item. */
export interface ItemRecord extends Omit<QueueItem, 'item'> {
  /** When its lease, its wait or the delay before a retry began; undefined when it stands at its score. */
  readonly since?: number | undefined
  /** Of the lease, while there is one. */
  readonly token: Uint8Array
  /** The process that has the lease; undefined without one, and in memory. */
  readonly owner?: Uint8Array | undefined
  /** Of an item that waits. */
  readonly dependency: Uint8Array
}

/** See `owners.ts`. */
export const OWNER_LENGTH = 20
export const NO_TOKEN = new Uint8Array(TOKEN_LENGTH)
const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Of the length of the class: `since` and `owner` are there, which earlier versions did not write. */
const HAS_SINCE = 0x8000
const HAS_OWNER = 0x4000

/**
 * Score, enqueued, attempts, lengths of class and reason, token, `since` and `owner` if they are there, then class,
 * reason and dependency.
 */
export const packItem = (record: ItemRecord): Uint8Array => {
  const errorClass = encoder.encode(record.errorClass)
  const reason = encoder.encode(record.reason)
  const { since, owner } = record
  const ownerAt = 24 + TOKEN_LENGTH + (since === undefined ? 0 : 8)
  const classAt = ownerAt + (owner ? OWNER_LENGTH : 0)
  const row = new Uint8Array(classAt + errorClass.length + reason.length + record.dependency.length)
  const view = new DataView(row.buffer)
  view.setFloat64(0, record.score)
  view.setFloat64(8, record.enqueued)
  view.setUint32(16, record.attempts)
  view.setUint16(20, errorClass.length | (since === undefined ? 0 : HAS_SINCE) | (owner ? HAS_OWNER : 0))
  view.setUint16(22, reason.length)
  row.set(record.token, 24)
  if (since !== undefined) view.setFloat64(24 + TOKEN_LENGTH, since)
  if (owner) row.set(owner, ownerAt)
  let at = classAt
  for (const part of [errorClass, reason, record.dependency]) {
    row.set(part, at)
    at += part.length
  }
  return row
}

export const unpackItem = (row: Uint8Array): ItemRecord => {
  const view = new DataView(row.buffer, row.byteOffset)
  const sinceAt = 24 + TOKEN_LENGTH
  const head = view.getUint16(20)
  const hasSince = (head & HAS_SINCE) !== 0
  const hasOwner = (head & HAS_OWNER) !== 0
  const ownerAt = sinceAt + (hasSince ? 8 : 0)
  const classAt = ownerAt + (hasOwner ? OWNER_LENGTH : 0)
  const reasonAt = classAt + (head % HAS_OWNER)
  const dependencyAt = reasonAt + view.getUint16(22)
  return {
    score: view.getFloat64(0),
    enqueued: view.getFloat64(8),
    attempts: view.getUint32(16),
    since: hasSince ? view.getFloat64(sinceAt) : undefined,
    token: copyOfPart(row, 24, sinceAt),
    owner: hasOwner ? copyOfPart(row, ownerAt, classAt) : undefined,
    errorClass: decoder.decode(row.subarray(classAt, reasonAt)),
    reason: decoder.decode(row.subarray(reasonAt, dependencyAt)),
    dependency: copyOfPart(row, dependencyAt, row.length)
  }
}
