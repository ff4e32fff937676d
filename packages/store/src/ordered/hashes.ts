/**
 * Hashes while they are being changed. A small one is one row with all its fields; one that outgrows that gets an id
 * and a row for each field, and stays so. Sets are hashes whose values are empty.
 */
import { compareBytes, equalBytes } from '@quoin/primitives'
import { ByteTable, ensureCapacity } from './byte-table.ts'
import type { RowWrites } from './kv.ts'
import { numbered, TAG } from './layout.ts'
import { PACKED_LIMIT, packedSize, packWide, unpackHash, wideId, writeField, writePackedTag } from './rows.ts'

const EMPTY = new Uint8Array()
const END = -1

export class HashChanges {
  readonly #rows: RowWrites
  readonly #newId: () => number

  /** Hashes of this group, by the keys of their rows. A small one has a list of fields. */
  readonly #hashes = new ByteTable()
  #firstField = new Int32Array(512)
  #size = new Int32Array(512)
  #isChanged = new Uint8Array(512)
  /** Of a wide one its id; -1 of a small one. */
  #wideId = new Float64Array(512)

  readonly #fields: Uint8Array[] = []
  /** Null of a field that is no more. */
  readonly #values: (Uint8Array | null)[] = []
  #nextField = new Int32Array(2048)

  /** Fields of wide hashes that were written, by the keys of their rows, and their values. */
  readonly #wide = new ByteTable()
  readonly #wideValues: (Uint8Array | null)[] = []

  readonly #packed = new Uint8Array(PACKED_LIMIT)

  constructor(rows: RowWrites, newId: () => number) {
    this.#rows = rows
    this.#newId = newId
  }

  /** The key of a hash is a prefix for its kind, and the rest. */
  get(prefix: Uint8Array, key: Uint8Array, field: Uint8Array): Uint8Array | undefined {
    const hash = this.#hash(prefix, key)
    const id = this.#wideId[hash]!
    if (id === -1) {
      const at = this.#fieldOf(hash, field)
      return at === END ? undefined : (this.#values[at] ?? undefined)
    }
    const rowKey = numbered(TAG.field, id, field)
    const written = this.#wide.find(EMPTY, rowKey)
    return written === -1 ? this.#rows.get(rowKey)?.slice() : (this.#wideValues[written] ?? undefined)
  }

  set(prefix: Uint8Array, key: Uint8Array, field: Uint8Array, value: Uint8Array): void {
    const hash = this.#hash(prefix, key)
    if (this.#wideId[hash] !== -1) {
      this.#writeWide(hash, field, value)
      return
    }
    const at = this.#fieldOf(hash, field)
    if (at === END) this.#addField(hash, field, value)
    else {
      const before = this.#values[at]
      if (before) this.#size[hash]! -= packedSize(field, before)
      this.#values[at] = value
    }
    this.#size[hash]! += packedSize(field, value)
    this.#isChanged[hash] = 1
    if (this.#size[hash]! > PACKED_LIMIT) this.#widen(hash)
  }

  delete(prefix: Uint8Array, key: Uint8Array, field: Uint8Array): void {
    const hash = this.#hash(prefix, key)
    if (this.#wideId[hash] !== -1) {
      this.#writeWide(hash, field, null)
      return
    }
    const at = this.#fieldOf(hash, field)
    const before = at === END ? null : this.#values[at]
    if (!before) return
    this.#values[at] = null
    this.#size[hash]! -= packedSize(field, before)
    this.#isChanged[hash] = 1
  }

  /** All fields, in no particular order. */
  fields(prefix: Uint8Array, key: Uint8Array, limit: number): Uint8Array[] {
    const hash = this.#hash(prefix, key)
    const range = this.#scan(hash)
    if (!range) return this.#living(hash).map(at => this.#fields[at]!)
    this.#flushWide()
    return this.#rows.keys(range.start, range.end, limit).map(rowKey => rowKey.subarray(range.start.length))
  }

  /** The range that `fields` will walk, if it has to. */
  scan(prefix: Uint8Array, key: Uint8Array): { start: Uint8Array; end: Uint8Array } | undefined {
    return this.#scan(this.#hash(prefix, key))
  }

  /** Writes the changes, in the order of the keys. */
  flush(): void {
    const changed: number[] = []
    for (let hash = 0; hash < this.#hashes.count; hash++) if (this.#isChanged[hash]) changed.push(hash)
    changed.sort((a, b) => this.#hashes.compare(a, b))
    for (const hash of changed) this.#write(hash)
    this.#flushWide()
    this.clear()
  }

  clear(): void {
    this.#hashes.clear()
    this.#fields.length = this.#values.length = 0
    this.#wide.clear()
    this.#wideValues.length = 0
  }

  #scan(hash: number): { start: Uint8Array; end: Uint8Array } | undefined {
    const id = this.#wideId[hash]!
    return id === -1 ? undefined : { start: numbered(TAG.field, id), end: numbered(TAG.field, id + 1) }
  }

  #hash(prefix: Uint8Array, key: Uint8Array): number {
    const known = this.#hashes.find(prefix, key)
    if (known !== -1) return known
    const hash = this.#hashes.add(prefix, key)
    this.#firstField = ensureCapacity(this.#firstField, hash + 1)
    this.#size = ensureCapacity(this.#size, hash + 1)
    this.#isChanged = ensureCapacity(this.#isChanged, hash + 1)
    this.#wideId = ensureCapacity(this.#wideId, hash + 1)
    this.#firstField[hash] = END
    this.#size[hash] = 1
    this.#isChanged[hash] = 0
    const row = this.#rows.get(this.#hashes.at(hash))
    this.#wideId[hash] = (row && wideId(row)) ?? -1
    if (row && this.#wideId[hash] === -1) {
      this.#size[hash] = row.length
      for (const { field, value } of unpackHash(row)) this.#addField(hash, field, value)
    }
    return hash
  }

  #addField(hash: number, field: Uint8Array, value: Uint8Array): void {
    const at = this.#fields.length
    this.#fields.push(field)
    this.#values.push(value)
    this.#nextField = ensureCapacity(this.#nextField, at + 1)
    this.#nextField[at] = this.#firstField[hash]!
    this.#firstField[hash] = at
  }

  #fieldOf(hash: number, field: Uint8Array): number {
    let at = this.#firstField[hash]!
    while (at !== END && !equalBytes(this.#fields[at]!, field)) at = this.#nextField[at]!
    return at
  }

  /** The fields of a small hash that have values. */
  #living(hash: number): number[] {
    const living: number[] = []
    for (let at = this.#firstField[hash]!; at !== END; at = this.#nextField[at]!) {
      if (this.#values[at]) living.push(at)
    }
    return living
  }

  #widen(hash: number): void {
    const living = this.#living(hash)
    const id = this.#newId()
    this.#wideId[hash] = id
    this.#isChanged[hash] = 0
    this.#rows.put(this.#hashes.at(hash), packWide(id))
    for (const at of living) this.#writeWide(hash, this.#fields[at]!, this.#values[at]!)
  }

  #writeWide(hash: number, field: Uint8Array, value: Uint8Array | null): void {
    const rowKey = numbered(TAG.field, this.#wideId[hash]!, field)
    const known = this.#wide.find(EMPTY, rowKey)
    this.#wideValues[known === -1 ? this.#wide.add(EMPTY, rowKey) : known] = value
  }

  #flushWide(): void {
    const order = this.#wideValues.map((_, i) => i).sort((a, b) => this.#wide.compare(a, b))
    for (const i of order) {
      const value = this.#wideValues[i]
      if (value) this.#rows.put(this.#wide.at(i), value)
      else this.#rows.del(this.#wide.at(i))
    }
    this.#wide.clear()
    this.#wideValues.length = 0
  }

  #write(hash: number): void {
    const living = this.#living(hash).sort((a, b) => compareBytes(this.#fields[a]!, this.#fields[b]!))
    if (living.length === 0) {
      this.#rows.del(this.#hashes.at(hash))
      return
    }
    let length = writePackedTag(this.#packed)
    for (const at of living) length = writeField(this.#fields[at]!, this.#values[at]!, this.#packed, length)
    this.#rows.put(this.#hashes.at(hash), this.#packed.subarray(0, length))
  }
}
