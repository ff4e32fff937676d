/**
 * The migration to rows that hold each fact once. Version 0.1 repeated outputs in the entries of the journal, and had a
 * set of a topic's outputs for each state of their proofs, which the scores in the set of the topic tell as well.
 */
import { parseTxid, successor } from '@quoin/primitives'
import type { Batch, Store } from '@quoin/store'
import { layoutsOf } from '@quoin/store'
import { type ChangeDetails, type ChangeKind, changeFields, encodeEntry, outputs } from '@quoin/txo'
import { LAYOUTS_0_1 } from './layouts-0.1.ts'
import type { Migration, MigrationOptions } from './migration.ts'
import { pickLayouts } from './pick-layouts.ts'

const { journal, changes } = outputs.collections
const { details } = changeFields.collections
/** Rows of a batch. */
const PAGE = 500
/** The entries of version 0.1 were the ids of changes. */
const OLD_ENTRY = 16

export const writeFactsOnce: Migration = {
  name: 'write each fact once',
  from: pickLayouts(LAYOUTS_0_1, 'outputs', ['journal', 'changes', 'merkle']),
  to: pickLayouts(layoutsOf([outputs]), 'outputs', ['journal', 'changes']),
  removed: pickLayouts(LAYOUTS_0_1, 'outputs', ['merkle']),
  async run(store, options) {
    const work = new Conversion(store, options)
    await work.journal()
    await work.dropSets('z:merkle:')
  }
}

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
