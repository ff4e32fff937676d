/**
 * Checksums of rows: four bytes behind the value, over the key and the value, so that a flipped bit is reported as
 * damage and never read as another value. MurmurHash3 (x86, 32 bits): every step is a bijection, so a change within one
 * aligned word of four bytes is always detected, any other with a probability of 1 − 2^-32.
 */
import { QuoinError, toHex } from '@quoin/primitives'
import { storeRows } from './layout.ts'

const CHECKSUM = 4
const SCRATCH = 64 * 1024
const VIEWS = 2048

/** Most rows are sealed in this memory, by views that are made once: to make one takes as long as to hash 100 bytes. */
const scratch = new Uint8Array(SCRATCH)
const views: Uint8Array[] = []

/** The value with its checksum, in memory that the next call uses again. */
export const seal = (key: Uint8Array, value: Uint8Array): Uint8Array => {
  const { length } = value
  const row = viewOf(length + CHECKSUM)
  if (length > 0) row.set(value)
  writeWord(digest(value, 0, length, digest(key, 0, key.length, 0)), row, length)
  return row
}

const viewOf = (length: number): Uint8Array => {
  if (length > SCRATCH) return new Uint8Array(length)
  if (length > VIEWS) return scratch.subarray(0, length)
  views[length] ??= scratch.subarray(0, length)
  return views[length]
}

/** The value of a row without its checksum, which must be right. */
export const unseal = (key: Uint8Array, row: Uint8Array): Uint8Array => {
  if (!isSound(key, row)) throw damage(key)
  return row.subarray(0, row.length - CHECKSUM)
}

/** Whether a row has the checksum of its key and its value. */
export const isSound = (key: Uint8Array, row: Uint8Array): boolean =>
  isSealed(digest(key, 0, key.length, 0), row, row.length)

/** Of a row of this length; 0 of one that is too short to have a checksum. */
export const valueLength = (row: number): number => Math.max(0, row - CHECKSUM)

/** The digest of a key that lies in `source`, for `isSealed`. */
export const keyDigest = (source: Uint8Array, start: number, end: number): number =>
  digest(source, start, end, 0)

/** Whether the first `length` bytes are a value with its checksum under a key of this digest. */
export const isSealed = (ofKey: number, row: Uint8Array, length: number): boolean => {
  const end = length - CHECKSUM
  return end >= 0 && digest(row, 0, end, ofKey) === readWord(row, end)
}

/** Names the structure, and its key where the row has it; sorted sets and wide hashes are known by a number. */
export const damage = (key: Uint8Array): QuoinError => {
  const row = toHex(key)
  const explained = storeRows.explain(key)
  const collection = explained.found ? explained.collection : 'unknown'
  return new QuoinError(
    'ERR_STORE_CORRUPT',
    `the row ${row} (${collection}) is damaged: its checksum does not fit. ` +
      'Run quoin store verify, then restore a backup or run quoin repair',
    { row, collection }
  )
}

const digest = (bytes: Uint8Array, start: number, end: number, seed: number): number => {
  let hash = seed
  let at = start
  for (const words = end - 3; at < words; at += 4) {
    hash ^= mixed(bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24))
    hash = (hash << 13) | (hash >>> 19)
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0
  }
  let tail = 0
  for (let shift = 0; at < end; shift += 8) tail |= bytes[at++]! << shift
  hash ^= mixed(tail)
  hash ^= end - start
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

const mixed = (word: number): number => {
  const product = Math.imul(word, 0xcc9e2d51)
  return Math.imul((product << 15) | (product >>> 17), 0x1b873593)
}

const writeWord = (word: number, target: Uint8Array, at: number): void => {
  target[at] = word
  target[at + 1] = word >>> 8
  target[at + 2] = word >>> 16
  target[at + 3] = word >>> 24
}

const readWord = (source: Uint8Array, at: number): number =>
  (source[at]! | (source[at + 1]! << 8) | (source[at + 2]! << 16) | (source[at + 3]! << 24)) >>> 0
