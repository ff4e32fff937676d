/**
 * Compares the indexes of two stores row by row, in pages of constant memory. Histories are left out: the transactions
 * do not imply the journal, conflicts, the log of rollbacks and the revisions of records.
 */
import { chain } from '@quoin/chain'
import type { KeyRange } from '@quoin/keyspace'
import { compareBytes, equalBytes, prefixEnd, startsWith, successor, toHex } from '@quoin/primitives'
import type { HashEntry, ScoredMember, StoreReads } from '@quoin/store'
import { outputs } from './keys.ts'
import { transactionRecord } from './record.ts'

/** A value, a field of a hash, or a member of a sorted set. */
type Structure = 'value' | 'field' | 'member'

export interface Difference {
  readonly structure: Structure
  readonly key: Uint8Array
  /** The field or the member; empty for a value. */
  readonly part: Uint8Array
  /** The value in hexadecimal, or the score; undefined for a missing row. */
  readonly found: string | undefined
  readonly expected: string | undefined
  /** The found value as bytes, or the score. */
  readonly stored: Uint8Array | number | undefined
  readonly derived: Uint8Array | number | undefined
}

export interface CompareOptions {
  /** False leaves out transactions and proofs. */
  readonly transactions?: boolean
}

type Differences = AsyncGenerator<Difference, void, undefined>

const { spends, progress, journal, changes } = outputs.collections
const NONE = new Uint8Array()
const PAGE = 500
const ascii = (text: string): Uint8Array => new TextEncoder().encode(text)

const { transaction, proof, log } = chain.collections
const TRANSACTIONS = ascii('t:')
const HASHES = ascii('h:')
const SETS = ascii('z:')
const SPENDS = spends.encode()
const TXID_LENGTH = 32
/** Hashes with a field for each output or transaction, read in pages. */
const WIDE = [SPENDS]
/** Other hashes within the key range of outputs, sorted. */
const APART = [...WIDE, progress.encode(), changes.encode()].sort(compareBytes)
const HISTORIES = [journal.encode(), log.encode('rollback'), ascii('z:conflict:')]
const isHistory = (key: Uint8Array): boolean => HISTORIES.some(history => startsWith(key, history))

/** The rows that differ. */
export async function* compareIndexes(
  found: StoreReads,
  expected: StoreReads,
  { transactions = true }: CompareOptions = {}
): Differences {
  if (transactions) yield* compareTransactions(found, expected)
  // Records and spends first: a repair in this order needs them for the other rows.
  for (const key of WIDE) yield* compareFields(key, found, expected)
  yield* compareHashes(found, expected)
  yield* compareSortedSets(found, expected)
}

async function* compareTransactions(found: StoreReads, expected: StoreReads): Differences {
  const rows = (store: StoreReads) =>
    pages(under(TRANSACTIONS), range => store.range(range, { limit: PAGE }), byKey)
  for await (const [one, other] of merged(rows(found), rows(expected), byKeys)) {
    const { key } = (one ?? other)!
    if (transaction.owns(key) || proof.owns(key)) {
      yield* difference('value', key, NONE, one?.value, other?.value)
    }
  }
}

async function* compareHashes(found: StoreReads, expected: StoreReads): Differences {
  for await (const [one, other] of merged(hashesOf(found), hashesOf(expected), byKeys)) {
    yield* compareHash((one ?? other)!.key, one, other)
  }
}

/** Hashes of outputs in the order of their keys, read in pages. */
export async function* hashesOf(store: StoreReads): AsyncGenerator<HashEntry, void, undefined> {
  let start = HASHES
  for (const key of [...APART, undefined]) {
    const range = { start, end: key ?? prefixEnd(HASHES), reverse: false }
    yield* pages(range, each => store.hrange(each, { limit: PAGE }), byKey)
    if (key) start = successor(key)
  }
}

function* compareHash(
  key: Uint8Array,
  one: HashEntry | undefined,
  other: HashEntry | undefined
): Generator<Difference> {
  const wanted = new Map(other?.fields.map(({ field, value }) => [toHex(field), { field, value }]))
  for (const { field, value } of one?.fields ?? []) {
    const name = toHex(field)
    yield* difference('field', key, field, value, wanted.get(name)?.value)
    wanted.delete(name)
  }
  for (const { field, value } of wanted.values()) yield* difference('field', key, field, undefined, value)
}

/** Engines differ in the order of a hash's fields, so the fields of each page are read from the other store. */
async function* compareFields(key: Uint8Array, found: StoreReads, expected: StoreReads): Differences {
  for await (const fields of fieldPages(found, key)) {
    const wanted = await expected.hmget(
      key,
      fields.map(({ field }) => field)
    )
    for (const [i, { field, value }] of fields.entries()) {
      yield* difference('field', key, field, value, wanted[i])
    }
  }
  for await (const fields of fieldPages(expected, key)) {
    const stored = await found.hmget(
      key,
      fields.map(({ field }) => field)
    )
    for (const [i, { field, value }] of fields.entries()) {
      if (stored[i] === undefined) yield* difference('field', key, field, undefined, value)
    }
  }
}

/** The fields of a hash, a page at a time. */
export async function* fieldPages(store: StoreReads, key: Uint8Array) {
  let cursor: Uint8Array | undefined
  do {
    const page = await store.hscan(key, cursor, PAGE)
    if (page.fields.length > 0) yield page.fields
    cursor = page.cursor
  } while (cursor)
}

async function* compareSortedSets(found: StoreReads, expected: StoreReads): Differences {
  const keys = (store: StoreReads) => keysOfSets(store, SETS)
  for await (const [one, other] of merged(keys(found), keys(expected), compareBytes)) {
    const key = (one ?? other)!
    if (!isHistory(key)) yield* compareSortedSet(key, found, expected)
  }
}

export const keysOfSets = (store: StoreReads, prefix: Uint8Array): AsyncGenerator<Uint8Array> =>
  pages(
    under(prefix),
    range => store.zkeys(range, { limit: PAGE }),
    key => key
  )

/** A member with another score is one difference, at its score in the first store. */
async function* compareSortedSet(key: Uint8Array, found: StoreReads, expected: StoreReads): Differences {
  for await (const [one, other] of merged(membersOf(found, key), membersOf(expected, key), byScore)) {
    if (one && other) continue
    if (one) {
      const wanted = await expected.zscore(key, one.member)
      yield* difference('member', key, one.member, one.score, wanted)
    } else if ((await found.zscore(key, other!.member)) === undefined) {
      yield* difference('member', key, other!.member, undefined, other!.score)
    }
  }
}

/** The members of a sorted set, read in pages. */
export async function* membersOf(store: StoreReads, key: Uint8Array): AsyncGenerator<ScoredMember> {
  let min: { score: number; member: Uint8Array; exclusive: true } | undefined
  for (;;) {
    const rows = await store.unchecked.zrows(key, { min, count: PAGE })
    yield* rows
    const last = rows.at(-1)
    if (!last || rows.length < PAGE) return
    min = { ...last, exclusive: true }
  }
}

function* difference(
  structure: Structure,
  key: Uint8Array,
  part: Uint8Array,
  stored: Uint8Array | number | undefined,
  derived: Uint8Array | number | undefined
): Generator<Difference> {
  if (isSame(stored, derived)) return
  const show = isRecord(key, part) ? showRecord : shown
  const [found, expected] = [show(stored), show(derived)]
  if (found !== expected) yield { structure, key, part, found, expected, stored, derived }
}

const isSame = (a: Uint8Array | number | undefined, b: Uint8Array | number | undefined): boolean =>
  a instanceof Uint8Array && b instanceof Uint8Array ? equalBytes(a, b) : a === b

const shown = (value: Uint8Array | number | undefined): string | undefined =>
  value instanceof Uint8Array ? toHex(value) : value?.toString()

const isRecord = (key: Uint8Array, field: Uint8Array): boolean =>
  field.length === TXID_LENGTH && equalBytes(key, SPENDS)

/** A record without its revision; other bytes in hexadecimal. */
const showRecord = (value: Uint8Array | number | undefined): string | undefined => {
  if (!(value instanceof Uint8Array)) return undefined
  try {
    const record = transactionRecord.codec.decode(value)
    return toHex(transactionRecord.codec.encode({ ...record, revision: 0 }))
  } catch {
    return toHex(value)
  }
}

const byKey = ({ key }: { readonly key: Uint8Array }): Uint8Array => key
const byKeys = (a: { readonly key: Uint8Array }, b: { readonly key: Uint8Array }): number =>
  compareBytes(a.key, b.key)
const byScore = (a: ScoredMember, b: ScoredMember): number =>
  a.score - b.score || compareBytes(a.member, b.member)

/** Merges two ordered sequences, with pairs of equal items. */
async function* merged<T>(
  left: AsyncGenerator<T>,
  right: AsyncGenerator<T>,
  compare: (a: T, b: T) => number
): AsyncGenerator<[T | undefined, T | undefined], void, undefined> {
  let [a, b] = [await left.next(), await right.next()]
  while (!a.done || !b.done) {
    const order = a.done ? 1 : b.done ? -1 : compare(a.value, b.value)
    yield [order <= 0 ? a.value : undefined, order >= 0 ? b.value : undefined]
    if (order <= 0) a = await left.next()
    if (order >= 0) b = await right.next()
  }
}

const under = (prefix: Uint8Array): KeyRange => ({ start: prefix, end: prefixEnd(prefix), reverse: false })

async function* pages<T>(
  range: KeyRange,
  read: (range: KeyRange) => Promise<T[]>,
  keyOf: (item: T) => Uint8Array
): AsyncGenerator<T, void, undefined> {
  let { start } = range
  for (;;) {
    const items = await read({ ...range, start })
    yield* items
    if (items.length < PAGE) return
    start = successor(keyOf(items.at(-1)!))
  }
}
