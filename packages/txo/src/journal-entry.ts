/**
 * Entries of the journal. An entry refers to the rows of the index instead of repeating them: a reader gets the events
 * and topics that the outputs have when it reads. Facts that the commit took out of the index are details of the entry:
 * the outputs and spends of a removed transaction, outputs that were evicted or left a topic.
 *
 * `time (8) ‖ process (8) ‖ txid (32) ‖ score (8) ‖ flags (1) ‖ vout (4) ‖ vout …`, big-endian. Time and process make
 * entries distinct, and are the key of the details.
 */
import { randomBytes } from 'node:crypto'
import { QuoinError, type Txid } from '@quoin/primitives'

/** A transaction was written, got another block position, or was rolled back. */
const CHANGE_KINDS = ['saved', 'moved', 'removed'] as const
export type ChangeKind = (typeof CHANGE_KINDS)[number]

/** An output as streams send it. */
export interface ChangedOutput {
  readonly vout: number
  readonly events: readonly string[]
  readonly topics: readonly string[]
  /** Topics that it left. */
  readonly left?: readonly string[]
  /** The transaction that spends it: it may be in the index before the output is. */
  readonly spender?: string
}

/** A spent output as streams send it. */
export interface ChangedSpend {
  readonly outpoint: string
  readonly events: readonly string[]
  readonly topics: readonly string[]
}

/** Outputs and spends that the index no longer has as they were. */
export interface ChangeDetails {
  readonly outputs: readonly ChangedOutput[]
  readonly spends: readonly ChangedSpend[]
}

export interface JournalEntry {
  readonly kind: ChangeKind
  readonly txid: Txid
  /** The score; of a removed transaction its last one. */
  readonly score: number
  /** Changed outputs that are read from the index. */
  readonly vouts: readonly number[] | 'all'
  /** Whether the spends of the transaction are part of the change, and read from the index. */
  readonly hasSpends: boolean
  readonly details?: ChangeDetails | undefined
}

/** An entry as stored: its details are a row of their own. */
export interface StoredEntry extends Omit<JournalEntry, 'details'> {
  readonly hasDetails: boolean
}

/** Bytes of the id of an entry: its time, so that details are stored in order, and its process. */
export const ENTRY_ID = 16

const KIND = 0x03
const ALL = 0x04
const SPENDS = 0x08
const DETAILS = 0x10
const SCORE_AT = ENTRY_ID + 32
const HEAD = SCORE_AT + 9
/** An entry with more outputs names all of its transaction: members of sorted sets are short. */
export const MAX_VOUTS = 100

export const encodeEntry = (
  id: Uint8Array,
  { kind, txid, score, vouts, hasSpends, details }: JournalEntry
): Uint8Array => {
  const named = vouts === 'all' || vouts.length > MAX_VOUTS ? undefined : vouts
  const bytes = new Uint8Array(HEAD + 4 * (named?.length ?? 0))
  const view = new DataView(bytes.buffer)
  bytes.set(id)
  bytes.set(txid, ENTRY_ID)
  view.setFloat64(SCORE_AT, score)
  const flags = (named ? 0 : ALL) | (hasSpends ? SPENDS : 0) | (details ? DETAILS : 0)
  bytes[HEAD - 1] = CHANGE_KINDS.indexOf(kind) | flags
  for (const [i, vout] of (named ?? []).entries()) view.setUint32(HEAD + 4 * i, vout)
  return bytes
}

export const decodeEntry = (position: number, bytes: Uint8Array): StoredEntry => {
  const flags = bytes[HEAD - 1]
  const kind = flags === undefined ? undefined : CHANGE_KINDS[flags & KIND]
  const count = (bytes.length - HEAD) / 4
  if (flags === undefined || !kind || !Number.isInteger(count)) throw damaged(position)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  return {
    kind,
    txid: bytes.slice(ENTRY_ID, SCORE_AT) as Txid,
    score: view.getFloat64(SCORE_AT),
    vouts: flags & ALL ? 'all' : Array.from({ length: count }, (_, i) => view.getUint32(HEAD + 4 * i)),
    hasSpends: (flags & SPENDS) !== 0,
    hasDetails: (flags & DETAILS) !== 0
  }
}

const damaged = (position: number): QuoinError =>
  new QuoinError(
    'ERR_STORE_CORRUPT',
    `entry ${position} of the journal is corrupt; start from the last position instead`,
    { position }
  )

/** The id of an entry: the key of its details. */
export const idOf = (entry: Uint8Array): Uint8Array => entry.subarray(0, ENTRY_ID)
/** Whether the entry has details, without decoding it. */
export const hasDetails = (entry: Uint8Array): boolean => (entry[HEAD - 1]! & DETAILS) !== 0

/** A random id of this process. */
const PROCESS = randomBytes(ENTRY_ID - 8)
let lastMoment = 0

/**
 * An id of a log entry, ascending within a process and distinct between processes: unix microseconds (8 bytes, greater
 * than the last), then the id of the process (8 bytes).
 */
export const newId = (): Uint8Array => {
  lastMoment = Math.max(lastMoment + 1, Math.round((performance.timeOrigin + performance.now()) * 1000))
  const id = new Uint8Array(ENTRY_ID)
  const view = new DataView(id.buffer)
  view.setUint32(0, Math.floor(lastMoment / 2 ** 32))
  view.setUint32(4, lastMoment % 2 ** 32)
  id.set(PROCESS, 8)
  return id
}
