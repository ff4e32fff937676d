/**
 * Hashes while they are being changed. A small one is one row with all its fields; one that outgrows that gets an id
 * and a row for each field, and stays so. Sets are hashes whose values are empty.
 */
import type { FieldValue } from '../engine.ts'
import type { RowWrites } from './kv.ts'
import { numbered, TAG } from './layout.ts'
import { fromName, toName } from './names.ts'
import { byField, PACKED_LIMIT, packedSize, packHash, packWide, unpackHash, wideId } from './rows.ts'

interface Small {
  readonly fields: Map<string, FieldValue>
  size: number
}

interface State {
  readonly key: Uint8Array
  /** Undefined once it is wide. */
  small: Small | undefined
  /** Of a wide one. */
  id: number
  /** Fields of a wide one that were written. */
  written: Map<string, FieldValue | null>
  changed: boolean
}

export class HashChanges {
  readonly #states = new Map<string, State>()
  readonly #newId: () => number
  #rows: RowWrites

  constructor(rows: RowWrites, newId: () => number) {
    this.#rows = rows
    this.#newId = newId
  }

  get(key: Uint8Array, field: Uint8Array): Uint8Array | undefined {
    const state = this.#state(key)
    const name = toName(field)
    if (state.small) return state.small.fields.get(name)?.value
    const written = state.written.get(name)
    if (written !== undefined) return written?.value
    const row = this.#rows.get(numbered(TAG.field, state.id, field))
    return row?.slice()
  }

  set(key: Uint8Array, field: Uint8Array, value: Uint8Array): void {
    const state = this.#state(key)
    const name = toName(field)
    if (!state.small) {
      state.written.set(name, { field, value })
      state.changed = true
      return
    }
    const { fields } = state.small
    const before = fields.get(name)
    if (before) state.small.size -= packedSize(field, before.value)
    fields.set(name, { field, value })
    state.small.size += packedSize(field, value)
    state.changed = true
    if (state.small.size > PACKED_LIMIT) this.#widen(state, fields)
  }

  delete(key: Uint8Array, field: Uint8Array): void {
    const state = this.#state(key)
    const name = toName(field)
    if (!state.small) {
      state.written.set(name, null)
      state.changed = true
      return
    }
    const before = state.small.fields.get(name)
    if (!before) return
    state.small.fields.delete(name)
    state.small.size -= packedSize(field, before.value)
    state.changed = true
  }

  /** All fields, in no particular order. */
  fields(key: Uint8Array, limit: number): Uint8Array[] {
    const state = this.#state(key)
    if (state.small) return [...state.small.fields.values()].map(({ field }) => field)
    this.#write(state)
    const start = numbered(TAG.field, state.id)
    return this.#rows
      .keys(start, numbered(TAG.field, state.id + 1), limit)
      .map(each => each.subarray(start.length))
  }

  /** The range that `fields` will walk, if it has to. */
  walk(key: Uint8Array): { start: Uint8Array; end: Uint8Array } | undefined {
    const state = this.#state(key)
    return state.small
      ? undefined
      : { start: numbered(TAG.field, state.id), end: numbered(TAG.field, state.id + 1) }
  }

  /** Writes what has changed, in the order of the keys. */
  flush(): void {
    const names = [...this.#states.keys()].filter(name => this.#states.get(name)!.changed).sort()
    for (const name of names) this.#write(this.#states.get(name)!)
    this.#states.clear()
  }

  clear(): void {
    this.#states.clear()
  }

  #state(key: Uint8Array): State {
    const name = toName(key)
    const known = this.#states.get(name)
    if (known) return known
    const row = this.#rows.get(key)
    const id = row && wideId(row)
    const state: State = {
      key,
      small: id === undefined ? readSmall(row) : undefined,
      id: id ?? 0,
      written: new Map(),
      changed: false
    }
    this.#states.set(name, state)
    return state
  }

  #widen(state: State, fields: Map<string, FieldValue>): void {
    state.small = undefined
    state.id = this.#newId()
    state.written = fields
    this.#rows.put(state.key, packWide(state.id))
  }

  #write(state: State): void {
    if (!state.changed) return
    state.changed = false
    if (state.small) {
      if (state.small.fields.size === 0) this.#rows.del(state.key)
      else {
        const fields = [...state.small.fields.values()]
        if (fields.length > 1) fields.sort(byField)
        this.#rows.put(state.key, packHash(fields))
      }
      return
    }
    for (const name of [...state.written.keys()].sort()) {
      const written = state.written.get(name)
      if (written) this.#rows.put(numbered(TAG.field, state.id, written.field), written.value)
      else this.#rows.del(numbered(TAG.field, state.id, fromName(name)))
    }
    state.written.clear()
  }
}

const readSmall = (row: Uint8Array | undefined): Small => {
  const fields = new Map<string, FieldValue>()
  if (!row) return { fields, size: 1 }
  for (const each of unpackHash(row)) fields.set(toName(each.field), each)
  return { fields, size: row.length }
}
