/**
 * Compares two stores key by key, as far as the index goes. Histories are left out: what happened on the way (the
 * journal, conflicts, what was rolled back, how often a record was written) is not a matter of what there is.
 */
import { chain } from '../chain/index.ts'
import { compareBytes, type KeyRange, prefixEnd, startsWith, successor, toHex } from '../keyspace/index.ts'
import type { StoreReads } from '../store/index.ts'
import { outputs } from './keys.ts'
import { transactionRecord } from './record.ts'

export interface Difference {
  readonly key: Uint8Array
  /** The field or the member, where it has some. */
  readonly part: Uint8Array
  /** What is there, in hexadecimal or as a score; undefined for nothing. */
  readonly found: string | undefined
  readonly expected: string | undefined
}

interface Entry {
  /** Key-values, hashes, sorted sets, in this order. */
  readonly kind: number
  readonly key: Uint8Array
  readonly part: Uint8Array
  readonly value: string
}

const { spends, progress, journal, changes } = outputs.collections
const NONE = new Uint8Array()
const PAGE = 1000
const ascii = (text: string): Uint8Array => new TextEncoder().encode(text)

const { transaction, proof, log } = chain.collections
/** What belongs to transactions, of which the index has only a part. */
const VALUES = ascii('t:')
const HASHES = ascii('h:')
const SETS = ascii('z:')
const SPENDS = spends.encode()
const TXID_LENGTH = 32
const HISTORIES = [
  progress.encode(),
  changes.encode(),
  journal.encode(),
  log.encode('rollback'),
  ascii('z:conflict:')
]
const isHistory = (key: Uint8Array): boolean => HISTORIES.some(history => startsWith(key, history))

/** What the first store has otherwise than the second. */
export async function* compareIndexes(
  found: StoreReads,
  expected: StoreReads
): AsyncGenerator<Difference, void, undefined> {
  const [left, right] = [entriesOf(found), entriesOf(expected)]
  let [a, b] = [await left.next(), await right.next()]
  while (!a.done || !b.done) {
    const order = a.done ? 1 : b.done ? -1 : compareEntries(a.value, b.value)
    const one = order <= 0 && !a.done ? a.value : undefined
    const other = order >= 0 && !b.done ? b.value : undefined
    const { key, part } = (one ?? other)!
    if (one?.value !== other?.value) yield { key, part, found: one?.value, expected: other?.value }
    if (one) a = await left.next()
    if (other) b = await right.next()
  }
}

const compareEntries = (a: Entry, b: Entry): number =>
  a.kind - b.kind || compareBytes(a.key, b.key) || compareBytes(a.part, b.part)

/** All that the index is made of, in order. */
async function* entriesOf(store: StoreReads): AsyncGenerator<Entry, void, undefined> {
  for await (const { key, value } of pages(VALUES, range => store.range(range, { limit: PAGE }))) {
    if (transaction.owns(key) || proof.owns(key)) yield { kind: 0, key, part: NONE, value: toHex(value) }
  }
  for await (const { key, fields } of pages(HASHES, range => store.hrange(range, { limit: PAGE }))) {
    if (isHistory(key)) continue
    for (const { field, value } of fields) {
      yield { kind: 1, key, part: field, value: isRecord(key, field) ? showRecord(value) : toHex(value) }
    }
  }
  for (const key of await store.zkeys(SETS)) {
    if (isHistory(key)) continue
    const rows = await store.zrange(key)
    for (const { member, score } of rows.sort((a, b) => compareBytes(a.member, b.member))) {
      yield { kind: 2, key, part: member, value: String(score) }
    }
  }
}

async function* pages<T extends { readonly key: Uint8Array }>(
  prefix: Uint8Array,
  read: (range: KeyRange) => Promise<T[]>
): AsyncGenerator<T, void, undefined> {
  let start = prefix
  for (;;) {
    const rows = await read({ start, end: prefixEnd(prefix), reverse: false })
    yield* rows
    if (rows.length < PAGE) return
    start = successor(rows.at(-1)!.key)
  }
}

const isRecord = (key: Uint8Array, field: Uint8Array): boolean =>
  field.length === TXID_LENGTH && compareBytes(key, SPENDS) === 0

const showRecord = (value: Uint8Array): string => {
  const record = transactionRecord.codec.decode(value)
  return toHex(transactionRecord.codec.encode({ ...record, revision: 0 }))
}
