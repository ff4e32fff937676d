/**
 * The membership log of a topic (D18): one entry for each commit that changes its outputs, appended in that commit.
 * Lookup services, peers and replays are cursors on it.
 *
 * An entry is `time (8) ‖ process (8) ‖ subject (32) ‖ change ‖ change …`, big-endian. A change is a byte with its kind
 * and flags, then an outpoint (36) or a txid (32), then the spender (32) of a spend. Outputs of the subject have only
 * their index (4), the subject itself has none, and a spend by the subject or by no transaction has no spender. Time
 * and process make entries distinct.
 */
import {
  bytesKey,
  makeOutpoint,
  type Outpoint,
  QuoinError,
  type Topic,
  type Txid,
  txidOf
} from '@quoin/primitives'
import type { LogReads, StoreReads } from '@quoin/store'
import { newId } from './journal-entry.ts'
import { outputs } from './keys.ts'

/** Changes of members and former members of a topic. */
export const OUTPUT_KINDS = [
  /** Became a member. */
  'admitted',
  /** A member was spent. */
  'spent',
  /** Its spender was rolled back: a member is unspent again, or a former member is a member again. */
  'restored',
  /** Left the topic because the topic did not retain it, or nothing else retained it in history. */
  'removed',
  /** Removed by an operator. */
  'evicted',
  /** Its transaction was rolled back. */
  'retracted',
  /** Its transaction was evaluated again, and the topic no longer admits it. */
  'refused'
] as const
/** Changes of a transaction that was applied to the topic. */
export const TRANSACTION_KINDS = ['rescored', 'proved'] as const

export type OutputKind = (typeof OUTPUT_KINDS)[number]
type TransactionKind = (typeof TRANSACTION_KINDS)[number]

export type MembershipChange =
  | { readonly kind: Exclude<OutputKind, 'spent' | 'restored'>; readonly outpoint: Outpoint }
  | { readonly kind: 'spent'; readonly outpoint: Outpoint; readonly spender: Txid }
  /** The spender that was rolled back; undefined of a former member that is a member again. */
  | { readonly kind: 'restored'; readonly outpoint: Outpoint; readonly spender: Txid | undefined }
  | { readonly kind: TransactionKind; readonly txid: Txid }

export interface MembershipEntry {
  /** Position in the log of the topic: 1, 2, 3 … */
  readonly position: number
  /** Unix microseconds of the process that committed it. */
  readonly time: number
  readonly changes: readonly MembershipChange[]
}

const { membership } = outputs.collections
const KINDS = [...OUTPUT_KINDS, ...TRANSACTION_KINDS]
const CODE = new Map<string, number>(KINDS.map((kind, code) => [kind, code]))
const KIND = 0x0f
/** The output is the subject's, or the transaction is the subject. */
const OWN = 0x10
/** The subject is the spender. */
const BY_SUBJECT = 0x20
/** There is no spender. */
const BY_NONE = 0x40
const HEAD = 48
/** Bytes of an entry at most; a commit with more changes of a topic has several entries. */
const MAX_ENTRY = 1800
/** Changes of an entry at most, so that a cursor of changes fits a number (`changeCursor`). */
export const MAX_CHANGES = 512

/** The entries of one commit for one topic. */
export const membershipEntries = (changes: readonly MembershipChange[]): Uint8Array[] => {
  const subject = subjectOf(changes[0]!)
  const name = bytesKey(subject)
  const entries: Uint8Array[] = []
  const buffer = new Uint8Array(MAX_ENTRY)
  let [end, count] = [HEAD, 0]
  const flush = (): void => {
    buffer.set(newId())
    buffer.set(subject, 16)
    entries.push(buffer.slice(0, end))
    end = HEAD
    count = 0
  }
  for (const change of changes) {
    if (count === MAX_CHANGES || end + 1 + 36 + 32 > MAX_ENTRY) flush()
    end = writeChange(buffer, end, change, name)
    count++
  }
  flush()
  return entries
}

const subjectOf = (change: MembershipChange): Txid => {
  if ('txid' in change) return change.txid
  return ('spender' in change ? change.spender : undefined) ?? txidOf(change.outpoint)
}

const writeChange = (buffer: Uint8Array, at: number, change: MembershipChange, subject: string): number => {
  let end = at + 1
  let flags = 0
  if ('txid' in change) {
    if (bytesKey(change.txid) === subject) flags |= OWN
    else {
      buffer.set(change.txid, end)
      end += 32
    }
  } else {
    const isOwn = bytesKey(change.outpoint).startsWith(subject)
    if (isOwn) flags |= OWN
    const bytes = isOwn ? change.outpoint.subarray(32) : change.outpoint
    buffer.set(bytes, end)
    end += bytes.length
    if ('spender' in change) {
      if (!change.spender) flags |= BY_NONE
      else if (bytesKey(change.spender) === subject) flags |= BY_SUBJECT
      else {
        buffer.set(change.spender, end)
        end += 32
      }
    }
  }
  buffer[at] = CODE.get(change.kind)! | flags
  return end
}

export const readMembershipEntry = (position: number, bytes: Uint8Array): MembershipEntry => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  if (bytes.length <= HEAD) throw damaged(position)
  const time = view.getUint32(0) * 2 ** 32 + view.getUint32(4)
  const subject = bytes.slice(16, HEAD) as Txid
  const changes: MembershipChange[] = []
  let at = HEAD
  const take = (length: number): Uint8Array => {
    at += length
    if (at > bytes.length) throw damaged(position)
    return bytes.slice(at - length, at)
  }
  while (at < bytes.length) {
    const code = bytes[at++]!
    const kind = KINDS[code & KIND]
    if (!kind) throw damaged(position)
    const isOwn = (code & OWN) !== 0
    if (kind === 'rescored' || kind === 'proved') {
      changes.push({ kind, txid: isOwn ? subject : (take(32) as Txid) })
      continue
    }
    const outpoint = isOwn ? makeOutpoint(subject, indexOf(take(4))) : (take(36) as Outpoint)
    if (kind !== 'spent' && kind !== 'restored') {
      changes.push({ kind, outpoint })
      continue
    }
    const spender = code & BY_NONE ? undefined : code & BY_SUBJECT ? subject : (take(32) as Txid)
    if (kind === 'restored') changes.push({ kind, outpoint, spender })
    else if (spender) changes.push({ kind, outpoint, spender })
    else throw damaged(position)
  }
  return { position, time, changes }
}

const indexOf = ([a, b, c, d]: Uint8Array): number => ((a! << 24) | (b! << 16) | (c! << 8) | d!) >>> 0

const damaged = (position: number): QuoinError =>
  new QuoinError('ERR_STORE_CORRUPT', `entry ${position} of a membership log is corrupt`, { position })

export interface MembershipPage {
  readonly entries: readonly MembershipEntry[]
  /** The last position of the log. */
  readonly last: number
}

/** Reads the log of one topic. */
export class MembershipLog {
  readonly #log: LogReads<Uint8Array>

  constructor(reads: StoreReads, topic: Topic) {
    this.#log = reads.logAt(membership, [topic])
  }

  async read(page: { readonly after?: number; readonly limit?: number } = {}): Promise<MembershipPage> {
    const { entries, last } = await this.#log.read(page)
    return { entries: entries.map(({ position, entry }) => readMembershipEntry(position, entry)), last }
  }

  last(): Promise<number> {
    return this.#log.last()
  }
}

/** The topics that have a membership log, in pages of the store's keys. */
export async function* topicsWithMembership(reads: StoreReads): AsyncGenerator<Topic, void, undefined> {
  const { start, end } = membership.scan()
  for (let from = start; ; ) {
    const keys = await reads.zkeys({ start: from, end, reverse: false }, { limit: PAGE })
    for (const key of keys) yield membership.decode(key)[0]
    if (keys.length < PAGE) return
    from = Uint8Array.from([...keys.at(-1)!, 0])
  }
}

const PAGE = 1000

/** A cursor that counts changes within entries, for peers that page by outputs: a whole number below 2^53. */
export const changeCursor = (position: number, index: number): number => position * MAX_CHANGES + index
/** The position of the entry and the index of the change at a cursor. */
export const changePlace = (cursor: number): { readonly position: number; readonly index: number } => ({
  position: Math.floor(cursor / MAX_CHANGES),
  index: cursor % MAX_CHANGES
})
