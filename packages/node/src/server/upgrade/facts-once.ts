/**
 * The migration to rows that hold each fact once, in few bytes. Version 0.1 repeated outputs in the entries of the
 * journal, and the block position of a transaction in each of its outputs. It had satoshis apart from their outputs;
 * events, data and admissions as JSON; and a set of a topic's outputs for each state of their proofs, which the scores in
 * the set of the topic tell as well.
 */
import { type Admission, type Admissions, overlay } from '@quoin/overlay'
import { equalBytes, parseTxid, successor } from '@quoin/primitives'
import type { Batch, Store } from '@quoin/store'
import { layoutsOf } from '@quoin/store'
import {
  type ChangeDetails,
  type ChangeKind,
  changeFields,
  encodeEntry,
  hashesOf,
  outputFields,
  outputs
} from '@quoin/txo'
import { LAYOUTS_0_1 } from './layouts-0.1.ts'
import { isJson, type Migration, type MigrationOptions, rangeOf, readJson } from './migration.ts'
import { pickLayouts } from './pick-layouts.ts'

const { journal, changes } = outputs.collections
const { details } = changeFields.collections
const { events, satoshis, data } = outputFields.collections
const AMOUNT = satoshis.encode().slice()
const ascii = (text: string): Uint8Array => new TextEncoder().encode(text)
/** The keys of version 0.1: satoshis by outpoint, the prefix of the hashes of outputs, and a field of these. */
const [SATOSHIS, HASH, MERKLE_STATE] = [ascii('h:sats'), ascii('h:'), ascii('ms')] as const
/** Rows of a batch. */
const PAGE = 500
/** The entries of version 0.1 were the ids of changes. */
const OLD_ENTRY = 16

export const writeFactsOnce: Migration = {
  name: 'write each fact once',
  from: pickLayouts(LAYOUTS_0_1, 'outputs', ['journal', 'changes', 'merkle', 'output', 'satoshis']),
  to: pickLayouts(layoutsOf([outputs]), 'outputs', ['journal', 'changes', 'output']),
  removed: pickLayouts(LAYOUTS_0_1, 'outputs', ['merkle', 'satoshis']),
  async run(store, options) {
    const work = new Conversion(store, options)
    await work.journal()
    await work.dropSets('z:merkle:')
    await work.satoshis()
    await work.outputs()
  }
}

/** The same for admissions: a store may have outputs without an overlay. */
export const writeCompactAdmissions: Migration = {
  name: 'write admissions in binary',
  from: pickLayouts(LAYOUTS_0_1, 'overlay', ['judgements']),
  to: pickLayouts(layoutsOf([overlay]), 'overlay', ['judgements']),
  run: (store, options) => new Conversion(store, options).admissions()
}

/** Lists that an early admission may lack. */
const NO_ADMISSION: Admission = { outputsToAdmit: [], coinsToRetain: [], coinsRemoved: [], previousCoins: [] }

/** A change in the journal of version 0.1. */
interface OldChange extends ChangeDetails {
  readonly kind: ChangeKind
  readonly txid: string
  readonly score: number
}

class Conversion {
  readonly #store: Store
  readonly #options: MigrationOptions
  #rows = 0

  constructor(store: Store, options: MigrationOptions) {
    this.#store = store
    this.#options = options
  }

  async #commit(batch: Batch, rows: number): Promise<void> {
    this.#options.signal?.throwIfAborted()
    await batch.commit()
    this.#rows += rows
    this.#options.onProgress(this.#rows)
  }

  /** Entries keep their positions, and their changes become their details. */
  async journal(): Promise<void> {
    const key = journal.encode()
    const fields = changes.encode()
    for (let after = 0; ; ) {
      const rows = await this.#store.zrange(key, { min: after, count: PAGE })
      const old = rows.filter(({ member }) => member.length === OLD_ENTRY)
      const values = await this.#store.hmget(
        fields,
        old.map(({ member }) => member)
      )
      const batch = this.#store.batch()
      for (const [i, { member, score: position }] of old.entries()) {
        batch.zrem(key, member)
        const value = values[i]
        // Without its change the entry was being trimmed.
        if (!value) continue
        const { kind, txid, score, outputs, spends } = JSON.parse(
          new TextDecoder().decode(value)
        ) as OldChange
        const change = { outputs, spends }
        const entry = { kind, txid: parseTxid(txid), score, vouts: [], hasSpends: false, details: change }
        batch.zadd(key, { member: encodeEntry(member, entry), score: position })
        batch.use(changes).at().set(details, [member], change)
      }
      await this.#commit(batch, old.length)
      if (rows.length < PAGE) return
      after = rows.at(-1)!.score
    }
  }

  /** Moves satoshis to the hashes of their outputs. */
  async satoshis(): Promise<void> {
    let cursor: Uint8Array | undefined
    do {
      const page = await this.#store.hscan(SATOSHIS, cursor, PAGE)
      const keys = page.fields.map(({ field }) => Uint8Array.from([...HASH, ...field]))
      const exist = await this.#store.mhexists(keys)
      const batch = this.#store.batch()
      for (const [i, { field, value }] of page.fields.entries()) {
        const amount = new DataView(value.buffer, value.byteOffset).getBigUint64(0)
        if (exist[i]) batch.hset(keys[i]!, AMOUNT, satoshis.value.codec.encode(Number(amount)))
        batch.hdel(SATOSHIS, field)
      }
      await this.#commit(batch, page.fields.length)
      cursor = page.cursor
    } while (cursor)
  }

  /** Writes events and data in their present form; a value that begins as no JSON text does is in it. */
  async outputs(): Promise<void> {
    let batch = this.#store.batch()
    let rows = 0
    for await (const { key, fields } of hashesOf(this.#store)) {
      if (!outputs.collections.output.owns(key)) continue
      for (const { field, value } of fields) {
        if (equalBytes(field, MERKLE_STATE)) batch.hdel(key, field)
        if ((events.owns(field) || data.owns(field)) && isJson(value)) {
          batch.hset(key, field, data.value.codec.encode(readJson(value)))
        }
      }
      if (++rows % PAGE > 0) continue
      await this.#commit(batch, PAGE)
      batch = this.#store.batch()
    }
    await this.#commit(batch, rows % PAGE)
  }

  async admissions(): Promise<void> {
    const { judgements } = overlay.collections
    const range = rangeOf(judgements)
    for (let { start } = range; ; ) {
      const rows = await this.#store.range({ ...range, start }, { limit: PAGE })
      const old = rows.filter(({ key, value }) => judgements.owns(key) && isJson(value))
      const batch = this.#store.batch()
      for (const { key, value } of old) {
        const admissions = Object.entries(readJson(value) as Admissions)
        const whole = admissions.map(([topic, each]) => [topic, { ...NO_ADMISSION, ...each }])
        batch.set(key, judgements.value.codec.encode(Object.fromEntries(whole)))
      }
      await this.#commit(batch, old.length)
      if (rows.length < PAGE) return
      start = successor(rows.at(-1)!.key)
    }
  }

  /** Deletes the sorted sets whose keys begin with a text. */
  async dropSets(prefix: string): Promise<void> {
    const start = new TextEncoder().encode(prefix)
    const end = start.slice()
    end[end.length - 1]! += 1
    for (let from = start; ; ) {
      const keys = await this.#store.zkeys({ start: from, end, reverse: false }, { limit: PAGE })
      for (const key of keys) await this.#dropSet(key)
      if (keys.length < PAGE) return
      from = successor(keys.at(-1)!) as typeof start
    }
  }

  async #dropSet(key: Uint8Array): Promise<void> {
    for (;;) {
      const rows = await this.#store.zrange(key, { count: PAGE })
      if (rows.length === 0) return
      const members = rows.map(({ member }) => member)
      await this.#commit(this.#store.batch().zrem(key, ...members), rows.length)
    }
  }
}
