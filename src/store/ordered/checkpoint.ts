/**
 * Checkpoints of a store on LMDB: states that are wholly on the disk, and how to come back to them.
 *
 * LMDB finds a state by the pages at the head of its file, and writes to no page of a state while somebody reads it.
 * So while the writer keeps a state open for reading, a copy of the head is enough to come back to that state after
 * the machine went down, whatever of later commits had reached the disk by then. What is missing is in the redo log
 * (`redo-log.ts`).
 *
 * The file has two places in turn, so that the last checkpoint holds until the next is written.
 */
import { createHash } from 'node:crypto'
import { closeSync, fdatasyncSync, fstatSync, ftruncateSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { openForWriting, readIfThere, writeWhole } from './files.ts'
import type { RedoPlace } from './redo-log.ts'

export const CHECKPOINT_FILE = 'checkpoint'

export interface Checkpoint extends RedoPlace {
  readonly sequence: number
  /** Of the system that ran: as long as it runs, the file has every commit, whatever became of those who made them. */
  readonly boot: string
  /** Nothing was committed after it. */
  readonly closed: boolean
  /** The pages by which LMDB finds the state. */
  readonly head: Uint8Array
}

/** What is said of each of the two as JSON, padded; then their heads. */
const PLACES = 2
const ABOUT_BYTES = 512
/** LMDB alternates between two pages; their size is a u32 at this place. */
const HEAD_PAGES = 2
const PAGE_SIZE_AT = 48

/** Tells one run of the system from the next. Undefined where the system does not say. */
export const bootId = (): string | undefined => {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    // Not Linux.
    return undefined
  }
}

/** The head of LMDB's file as it is. */
export const readHead = (descriptor: number): Uint8Array => {
  const size = new Uint8Array(4)
  readSync(descriptor, size, 0, size.length, PAGE_SIZE_AT)
  const head = new Uint8Array(HEAD_PAGES * new DataView(size.buffer).getUint32(0, true))
  readSync(descriptor, head, 0, head.length, 0)
  return head
}

/** The last checkpoint of a store, if it has any. */
export const readCheckpoint = (directory: string): Checkpoint | undefined => {
  const bytes = readIfThere(join(directory, CHECKPOINT_FILE)) ?? new Uint8Array()
  const size = (bytes.length - PLACES * ABOUT_BYTES) / PLACES
  const [first, second] = readAbouts(bytes).map((about, place) => {
    const head = bytes.slice(headAt(place, size), headAt(place + 1, size))
    if (!about) return undefined
    const { digest: expected, ...rest } = about
    return digest(rest, head) === expected ? { ...rest, head } : undefined
  })
  return first && (!second || first.sequence > second.sequence) ? first : second
}

/** The sequence of the last checkpoint that anybody began to write; 0 before the first. */
export const lastSequence = (directory: string): number => {
  const bytes = readIfThere(join(directory, CHECKPOINT_FILE), PLACES * ABOUT_BYTES) ?? new Uint8Array()
  return Math.max(0, ...readAbouts(bytes).map(about => about?.sequence ?? 0))
}

/** Writes a checkpoint; it is on the disk when this returns. */
export const writeCheckpoint = (directory: string, checkpoint: Checkpoint): void => {
  const { head, ...about } = checkpoint
  const place = checkpoint.sequence % PLACES
  const text = JSON.stringify({ ...about, digest: digest(about, head) })
  const descriptor = openForWriting(join(directory, CHECKPOINT_FILE))
  try {
    // The file has its full size from the beginning, by which the places are found.
    if (fstatSync(descriptor).size === 0) ftruncateSync(descriptor, headAt(PLACES, head.length))
    writeWhole(descriptor, head, headAt(place, head.length))
    writeWhole(descriptor, new TextEncoder().encode(text.padEnd(ABOUT_BYTES)), place * ABOUT_BYTES)
    fdatasyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

const headAt = (place: number, size: number): number => PLACES * ABOUT_BYTES + place * size

type About = Omit<Checkpoint, 'head'> & { readonly digest: string }

const readAbouts = (bytes: Uint8Array): (About | undefined)[] =>
  Array.from({ length: PLACES }, (_, place) => {
    const text = new TextDecoder().decode(bytes.subarray(place * ABOUT_BYTES, (place + 1) * ABOUT_BYTES))
    try {
      const about: unknown = JSON.parse(text)
      return typeof about === 'object' && about !== null ? (about as About) : undefined
    } catch {
      // Nothing was written there yet, or not wholly.
      return undefined
    }
  })

const digest = (about: Omit<Checkpoint, 'head'>, head: Uint8Array): string => {
  const { sequence, boot, closed, log, file } = about
  return createHash('sha256')
    .update(JSON.stringify([sequence, boot, closed, log, file]))
    .update(head)
    .digest('hex')
}
