/** Changes of the journal as streams send them: entries with the events and topics of the outputs that they refer to. */
import { formatOutpoint, formatTxid, makeOutpoint, type Outpoint, txidOf, voutOf } from '@quoin/primitives'
import { ask, askAll, type FieldValue, type ReadPlan } from '@quoin/store'
import type { ChangeDetails, ChangedOutput, ChangedSpend, ChangeKind, StoredEntry } from './journal-entry.ts'
import { outputs } from './keys.ts'
import { eventsIn, topicsIn } from './output-state.ts'
import { type TransactionRecord, transactionRecord } from './record.ts'

/** A change as streams send it, with texts for people. */
export interface LiveChange {
  /** The position in the journal, to continue `after`. */
  readonly position: number
  readonly kind: ChangeKind
  readonly txid: string
  /** The score; of a removed transaction its last one. */
  readonly score: number
  /**
   * Changed outputs with their present events and topics; of a removed transaction its last ones. A transaction that
   * was removed after the change has none here: its removal is a later change.
   */
  readonly outputs: readonly ChangedOutput[]
  /** Outputs that it spends, or spent before it was removed, with their events and topics. */
  readonly spends: readonly ChangedSpend[]
}

/** A change whose position is not known yet. */
export type CommittedChange = Omit<LiveChange, 'position'>

/** An entry as read, with its details. */
export interface ReadEntry {
  readonly position: number
  readonly entry: StoredEntry
  readonly details: ChangeDetails | undefined
}

const { output: outputHashes, spends: spendHash } = outputs.collections
const SPENDS = spendHash.encode()

/** The changes of entries, in their order. */
export function* planChanges(entries: readonly ReadEntry[]): ReadPlan<LiveChange[]> {
  const changes: LiveChange[] = []
  const records = yield* recordsOf(entries)
  const found = yield* askAll(
    entries.map(({ entry: { txid, vouts } }, i) => reads => {
      if (!records[i]) return []
      if (vouts === 'all') return reads.hrange(outputHashes.scan(txid))
      const keys = vouts.map(vout => outputHashes.encode(txid, vout))
      return keys.length === 0 ? [] : reads.mhgetall(keys)
    })
  )
  const changed = entries.map(({ entry }, i) => outputsOf(entry, found[i]! as FoundHashes))
  const coins = entries.map(({ entry }, i) => (entry.hasSpends ? (records[i]?.spends ?? []) : []))
  const [spenders, hashes] = yield* askAll([
    reads =>
      reads.hmget(
        SPENDS,
        changed.flat().map(({ outpoint }) => outpoint)
      ),
    reads => reads.mhgetall(coins.flat().map(({ outpoint }) => outputKey(outpoint)))
  ])
  let [nextSpender, nextCoin] = [0, 0]
  for (const [i, { position, entry, details }] of entries.entries()) {
    const { kind, txid, score } = entry
    const own = changed[i]!.map(({ outpoint, fields }): ChangedOutput => {
      const spender = spenders[nextSpender++]
      return {
        vout: voutOf(outpoint),
        events: eventsIn(fields),
        topics: topicsIn(fields),
        ...(spender && { spender: formatTxid(spender as never) })
      }
    })
    const spent = coins[i]!.map(({ outpoint, events }): ChangedSpend => {
      const fields = hashes[nextCoin++]!
      return {
        outpoint: formatOutpoint(outpoint),
        events: mergedEvents(eventsIn(fields), events),
        topics: topicsIn(fields)
      }
    })
    changes.push({
      position,
      kind,
      txid: formatTxid(txid),
      score,
      outputs: overlaid(own, details?.outputs, ({ vout }) => vout).sort((a, b) => a.vout - b.vout),
      spends: overlaid(spent, details?.spends, ({ outpoint }) => outpoint)
    })
  }
  return changes
}

function* recordsOf(entries: readonly ReadEntry[]): ReadPlan<(TransactionRecord | undefined)[]> {
  const txids = entries.map(({ entry: { txid } }) => txid)
  const records = yield* ask(reads => reads.hmget(SPENDS, txids))
  return records.map((record, i) =>
    record && entries[i]!.entry.kind !== 'removed' ? transactionRecord.codec.decode(record) : undefined
  )
}

type FoundHashes = readonly (
  | { readonly key: Uint8Array; readonly fields: readonly FieldValue[] }
  | readonly FieldValue[]
)[]

interface FoundOutput {
  readonly outpoint: Outpoint
  readonly fields: readonly FieldValue[]
}

/** Outputs that the index has. */
const outputsOf = ({ txid, vouts }: StoredEntry, found: FoundHashes): FoundOutput[] =>
  found.flatMap((hash, i): FoundOutput[] => {
    if ('key' in hash)
      return [{ outpoint: makeOutpoint(...outputHashes.decode(hash.key)), fields: hash.fields }]
    return hash.length === 0
      ? []
      : [{ outpoint: makeOutpoint(txid, (vouts as readonly number[])[i]!), fields: hash }]
  })

const outputKey = (outpoint: Outpoint): Uint8Array => outputHashes.encode(txidOf(outpoint), voutOf(outpoint))

/** Details replace rows of the index. */
export const overlaid = <T>(
  read: readonly T[],
  details: readonly T[] = [],
  nameOf: (each: T) => unknown
): T[] => {
  if (details.length === 0) return [...read]
  const names = new Set(details.map(nameOf))
  return [...read.filter(each => !names.has(nameOf(each))), ...details]
}

/** Events of an output, and those that its spender gave. */
export const mergedEvents = (own: readonly string[], told: readonly string[]): readonly string[] =>
  told.length === 0 ? own : [...new Set([...own, ...told])].sort()
