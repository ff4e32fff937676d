/**
 * What a writer knows of sorted sets: their ids, how many members they have, and how many of those stray, that is,
 * have another score here than the first in their row. Two sets without strays have common members at the same
 * places, so that an intersection can walk them side by side.
 */
import type { RowWrites } from './kv.ts'
import { cardinalityKey, ROLE, type Role, readId, sortedSetKey } from './layout.ts'
import { toName } from './names.ts'
import { packCounts, packId, unpackCounts } from './rows.ts'

/** Sets that are remembered from commit to commit. */
const REMEMBERED = 200_000

export interface SetHeader {
  readonly id: number
  card: number
  strays: number
  /** Where its id is stored. Unknown of a set that was only met by its id; its card does not change then. */
  name: { readonly role: Role; readonly text: string; readonly key: Uint8Array } | undefined
  /** Whether its id is stored. */
  stored: boolean
  changed: boolean
  /** Rows to write, in the order the operations came; `puts` tells puts from deletions. */
  readonly scores: number[]
  readonly members: Uint8Array[]
  readonly puts: boolean[]
}

export class SetHeaders {
  /** By role, by name. The database agrees with all that are not changed. */
  readonly #byName = Object.values(ROLE).map(() => new Map<string, SetHeader>())
  readonly #byId = new Map<number, SetHeader>()
  #changed: SetHeader[] = []
  readonly #rows: RowWrites
  readonly #newId: () => number

  constructor(rows: RowWrites, newId: () => number) {
    this.#rows = rows
    this.#newId = newId
  }

  find(role: Role, key: Uint8Array): SetHeader | undefined {
    const text = toName(key)
    const known = this.#byName[role]!.get(text)
    if (known) return known
    const rowKey = sortedSetKey(role, key)
    const row = this.#rows.get(rowKey)
    if (!row) return undefined
    const header = this.withId(readId(row, 0))
    header.name = { role, text, key: rowKey }
    this.#byName[role]!.set(text, header)
    return header
  }

  create(role: Role, key: Uint8Array): SetHeader {
    const header = newHeader(this.#newId(), 0, 0, false)
    const text = toName(key)
    header.name = { role, text, key: sortedSetKey(role, key) }
    this.#byName[role]!.set(text, header)
    this.#byId.set(header.id, header)
    return header
  }

  withId(id: number): SetHeader {
    const known = this.#byId.get(id)
    if (known) return known
    const row = this.#rows.get(cardinalityKey(id))
    const [card, strays] = row ? unpackCounts(row) : [0, 0]
    const header = newHeader(id, card, strays, true)
    this.#byId.set(id, header)
    return header
  }

  change(header: SetHeader): void {
    if (header.changed) return
    header.changed = true
    this.#changed.push(header)
  }

  /** Writes the counts of all that have changed, in the order of their keys, each before `writeRows` of it. */
  flush(writeRows: (header: SetHeader) => void): void {
    this.#changed.sort((a, b) => a.id - b.id)
    for (const header of this.#changed) {
      const key = cardinalityKey(header.id)
      if (header.card === 0) this.#rows.del(key)
      else this.#rows.put(key, packCounts(header.card, header.strays))
      writeRows(header)
      header.changed = false
    }
  }

  /** Writes the ids of new sets, takes away those of empty ones, and ends the commit. */
  flushNames(): void {
    for (const header of this.#changed) {
      const { card, stored, name, id } = header
      if (card > 0 && !stored) this.#rows.put(name!.key, packId(id))
      if (card > 0) header.stored = true
      else {
        if (stored) this.#rows.del(name!.key)
        this.#byName[name!.role]!.delete(name!.text)
        this.#byId.delete(id)
      }
    }
    this.#changed = []
    if (this.#byId.size > REMEMBERED) this.clear()
  }

  clear(): void {
    for (const names of this.#byName) names.clear()
    this.#byId.clear()
    this.#changed = []
  }
}

const newHeader = (id: number, card: number, strays: number, stored: boolean): SetHeader => ({
  id,
  card,
  strays,
  name: undefined,
  stored,
  changed: false,
  scores: [],
  members: [],
  puts: []
})
