/**
 * The working set of a commit: the rows that it reads, before and after it. Spends and records are read first, as the
 * conditions of the commit: every write for a transaction changes its record, so unchanged records imply that all other
 * rows are unchanged.
 */

import { bytesKey, bytesOfKey, type Outpoint, type Txid, txidOf, voutOf } from '@quoin/primitives'
import { ask, askAll, type Batch, type FieldValue, type ReadPlan } from '@quoin/store'
import { outputs } from './keys.ts'
import { NO_OUTPUT, type OutputState, outputState } from './output-state.ts'
import { type TransactionRecord, transactionRecord } from './record.ts'

const { output, spends } = outputs.collections
const SPENDS = spends.encode()
const NONE: readonly never[] = []

/** The reason why an output enters or leaves a topic, if the difference of its states does not show it. */
export type MembershipReason = 'restored' | 'removed' | 'evicted' | 'refused'

/** A value before and after the commit. */
export interface Slot<T> {
  readonly before: T
  after: T
}

/** A field of `h:spnd` as read. */
interface Guard {
  readonly field: Uint8Array
  readonly value: Uint8Array | undefined
}

export const txidFromMapKey = (key: string): Txid => bytesOfKey(key) as Txid
export const outpointFromMapKey = (key: string): Outpoint => bytesOfKey(key) as Outpoint
/** The map key of an outpoint begins with the map key of its txid. */
export const txidMapKey = (key: string): string => key.slice(0, 32)
export const voutOfMapKey = (key: string): number => voutOf(outpointFromMapKey(key))
export const outpointMapKey = (txid: string, vout: number): string =>
  txid + String.fromCharCode(vout >>> 24, (vout >>> 16) & 0xff, (vout >>> 8) & 0xff, vout & 0xff)

export class WorkingSet {
  /** The conditions of the commit. */
  readonly #guards = new Map<string, Guard>()
  readonly #spends = new Map<string, Slot<string | undefined>>()
  readonly #records = new Map<string, Slot<TransactionRecord | undefined>>()
  readonly #outputs = new Map<string, Slot<OutputState>>()
  /** Transactions with all outputs loaded, and the outputs. */
  readonly #whole = new Map<string, Set<string>>()
  /** Reasons by the map key of the output and the topic. */
  readonly #reasons = new Map<string, MembershipReason>()

  isGuarded(key: string): boolean {
    return this.#guards.has(key)
  }

  /** Reads records by txid and spends by outpoint, as conditions. */
  *guard(keys: Iterable<string>): ReadPlan<void> {
    const missing = new Set<string>()
    for (const key of keys) if (!this.#guards.has(key)) missing.add(key)
    if (missing.size === 0) return
    const fields = Array.from(missing, bytesOfKey)
    this.#addGuards(missing, fields, yield* ask(reads => reads.hmget(SPENDS, fields)))
  }

  #addGuards(
    keys: Iterable<string>,
    fields: readonly Uint8Array[],
    values: readonly (Uint8Array | undefined)[]
  ): void {
    let i = -1
    for (const key of keys) {
      const value = values[++i]
      this.#guards.set(key, { field: fields[i]!, value })
      if (key.length === 36) {
        const spender = value && bytesKey(value)
        this.#spends.set(key, { before: spender, after: spender })
      } else {
        const record = value && transactionRecord.codec.decode(value)
        this.#records.set(key, { before: record, after: record })
      }
    }
  }

  /** Loads all outputs of transactions, with their spends and the records of their spenders. */
  *loadTransactions(txids: Iterable<string>): ReadPlan<void> {
    const wanted = [...new Set(txids)].filter(txid => !this.#whole.has(txid))
    yield* this.guard(wanted)
    for (const txid of wanted) this.#whole.set(txid, new Set())
    const known = wanted.filter(txid => this.#records.get(txid)!.before)
    if (known.length > 0) yield* this.#loadKnown(known)
  }

  *#loadKnown(txids: readonly string[]): ReadPlan<void> {
    const hashes = yield* askAll(txids.map(txid => reads => reads.hrange(output.scan(txidFromMapKey(txid)))))
    const loaded = new Map<string, readonly FieldValue[]>()
    for (const [i, txid] of txids.entries()) {
      for (const { key: hash, fields } of hashes[i]!) {
        loaded.set(this.addOutput(txid, output.decode(hash)[1]), fields)
      }
    }
    yield* this.guardSpends([...loaded.keys()])
    this.#addOutputs(loaded)
  }

  /** Reads the spends of outputs and the records of their spenders, as conditions. */
  *guardSpends(keys: readonly string[]): ReadPlan<void> {
    yield* this.guard(keys)
    yield* this.guard(keys.flatMap(key => this.#spends.get(key)?.before ?? NONE))
  }

  /** Loads single outputs, whose spends are conditions already, with the records of their transactions. */
  *loadOutputs(keys: readonly string[]): ReadPlan<void> {
    yield* this.guard(keys.map(txidMapKey))
    const known = keys.filter(key => !this.#outputs.has(key) && this.#records.get(txidMapKey(key))!.before)
    if (known.length === 0) return
    const hashes = yield* ask(reads => reads.mhgetall(known.map(outputHash)))
    this.#addOutputs(new Map(known.map((key, i) => [key, hashes[i]!])))
  }

  #addOutputs(loaded: ReadonlyMap<string, readonly FieldValue[]>): void {
    for (const [key, fields] of loaded) {
      if (this.#outputs.has(key)) continue
      const state = outputState(fields)
      this.#outputs.set(key, { before: state, after: state })
    }
  }

  /** The map keys of the outputs of a transaction: all stored ones, and new ones. */
  outputsOf(txid: string): string[] {
    return [...(this.#whole.get(txid) ?? [])]
  }

  addOutput(txid: string, vout: number): string {
    const key = outpointMapKey(txid, vout)
    this.#whole.get(txid)!.add(key)
    return key
  }

  setReason(key: string, topic: string, reason: MembershipReason): void {
    this.#reasons.set(`${key}${topic}`, reason)
  }

  reasonFor(key: string, topic: string): MembershipReason | undefined {
    return this.#reasons.get(`${key}${topic}`)
  }

  record(txid: string): Slot<TransactionRecord | undefined> {
    return this.#records.get(txid)!
  }

  spend(key: string): Slot<string | undefined> {
    return this.#spends.get(key)!
  }

  output(key: string): Slot<OutputState> {
    const known = this.#outputs.get(key)
    if (known) return known
    const slot = { before: NO_OUTPUT, after: NO_OUTPUT }
    this.#outputs.set(key, slot)
    return slot
  }

  outputs(): Iterable<[key: string, slot: Slot<OutputState>]> {
    return this.#outputs
  }
  spends(): Iterable<[key: string, slot: Slot<string | undefined>]> {
    return this.#spends
  }
  records(): Iterable<[txid: string, slot: Slot<TransactionRecord | undefined>]> {
    return this.#records
  }

  /** Adds the conditions: the records and spends are unchanged. */
  guardIn(batch: Batch): void {
    for (const { field, value } of this.#guards.values()) batch.ifField(SPENDS, field, value)
  }

  /** Writes changed spends, records and outputs, without the rows derived from them. */
  writeIn(batch: Batch): void {
    for (const [key, { before, after }] of this.#spends) {
      if (before === after) continue
      const { field } = this.#guards.get(key)!
      if (after === undefined) batch.hdel(SPENDS, field)
      else batch.hset(SPENDS, field, bytesOfKey(after))
    }
    for (const [key, { before, after }] of this.#records) {
      if (before === after) continue
      const { field } = this.#guards.get(key)!
      if (after) batch.hset(SPENDS, field, transactionRecord.codec.encode(after))
      else batch.hdel(SPENDS, field)
    }
    for (const [key, { before, after }] of this.#outputs) {
      if (before !== after) writeOutput(batch, key, before, after)
    }
  }
}

const writeOutput = (batch: Batch, key: string, before: OutputState, after: OutputState): void => {
  const hash = outputHash(key)
  for (const [field, value] of after.fields) {
    if (before.fields.get(field) !== value) batch.hset(hash, bytesOfKey(field), value)
  }
  for (const field of before.fields.keys()) {
    if (!after.fields.has(field)) batch.hdel(hash, bytesOfKey(field))
  }
}

const outputHash = (key: string): Uint8Array => {
  const outpoint = outpointFromMapKey(key)
  return output.encode(txidOf(outpoint), voutOf(outpoint))
}
