/**
 * The ids of sorted sets, their numbers of members, and how many members are misaligned, that is, have another score
 * here than the first in their row. Two sets without misaligned members have common members at the same places, so that
 * an intersection can scan them side by side.
 *
 * Sets are numbered here as they are met, and remembered from commit to commit, the absent ones too.
 */
import { ByteTable, ensureCapacity } from './byte-table.ts'
import type { RowWrites } from './kv.ts'
import { cardinalityKey, ROLE, type Role, readId, TAG, writeCardinalityKey } from './layout.ts'
import { packId, unpackCounts, writeCounts } from './rows.ts'

/** Sets that are remembered at most. */
const REMEMBERED = 200_000
const PREFIXES = Object.values(ROLE).map(role => Uint8Array.of(TAG.sortedSet, role))

export class SetHeaders {
  readonly #names = new ByteTable()
  /** By the number of a name: the number of the set; -1 when there is none. */
  #setOf = new Int32Array(512)
  readonly #byId = new Map<number, number>()
  #count = 0
  #ids = new Float64Array(512)
  #cards = new Float64Array(512)
  #misaligned = new Float64Array(512)
  /** By the number of a set: the number of its name; -1 of a set that was only met by its id. */
  #nameOf = new Int32Array(512)
  /** Whether its id is stored. */
  #stored = new Uint8Array(512)
  #isChanged = new Uint8Array(512)
  #changed: number[] = []
  readonly #rows: RowWrites
  readonly #newId: () => number
  readonly #key = cardinalityKey(0)
  readonly #counts = new Uint8Array(12)

  constructor(rows: RowWrites, newId: () => number) {
    this.#rows = rows
    this.#newId = newId
  }

  /** The number of a set that has members, or had some before this commit; -1 without any. */
  find(role: Role, key: Uint8Array): number {
    const known = this.#names.find(PREFIXES[role]!, key)
    if (known !== -1) return this.#setOf[known]!
    const name = this.#addName(role, key)
    const row = this.#rows.get(this.#names.at(name))
    if (!row) return -1
    const set = this.withId(readId(row, 0))
    this.#setOf[name] = set
    this.#nameOf[set] = name
    return set
  }

  /** Of a set that `find` has not found. */
  create(role: Role, key: Uint8Array): number {
    const name = this.#names.find(PREFIXES[role]!, key)
    const set = this.#add(this.#newId(), 0, 0, false)
    this.#setOf[name] = set
    this.#nameOf[set] = name
    return set
  }

  withId(id: number): number {
    const known = this.#byId.get(id)
    if (known !== undefined) return known
    const row = this.#rows.get(cardinalityKey(id))
    const [card, misaligned] = row ? unpackCounts(row) : [0, 0]
    return this.#add(id, card, misaligned, true)
  }

  id(set: number): number {
    return this.#ids[set]!
  }
  card(set: number): number {
    return this.#cards[set]!
  }
  addCard(set: number, by: number): void {
    this.#cards[set]! += by
  }
  addMisaligned(set: number, by: number): void {
    this.#misaligned[set]! += by
    this.change(set)
  }

  change(set: number): void {
    if (this.#isChanged[set]) return
    this.#isChanged[set] = 1
    this.#changed.push(set)
  }

  /** Writes the counts of all that have changed, in the order of their keys, each before `writeRows` of it. */
  flush(writeRows: (set: number) => void): void {
    const ids = this.#ids
    this.#changed.sort((a, b) => ids[a]! - ids[b]!)
    for (const set of this.#changed) {
      writeCardinalityKey(ids[set]!, this.#key)
      if (this.#cards[set] === 0) this.#rows.del(this.#key)
      else {
        writeCounts(this.#cards[set]!, this.#misaligned[set]!, this.#counts)
        this.#rows.put(this.#key, this.#counts)
      }
      writeRows(set)
    }
  }

  /** Writes the ids of new sets, deletes the ids of empty ones, and ends the commit. */
  flushNames(): void {
    const changed = this.#changed.filter(set => this.#isNew(set) || this.#isGone(set))
    changed.sort((a, b) => this.#names.compare(this.#nameOf[a]!, this.#nameOf[b]!))
    for (const set of changed) {
      const name = this.#nameOf[set]!
      if (this.#isNew(set)) {
        this.#rows.put(this.#names.at(name), packId(this.#ids[set]!))
        this.#stored[set] = 1
      } else {
        if (this.#stored[set]) this.#rows.del(this.#names.at(name))
        this.#setOf[name] = -1
        this.#byId.delete(this.#ids[set]!)
      }
    }
    for (const set of this.#changed) this.#isChanged[set] = 0
    this.#changed = []
    if (this.#names.count > REMEMBERED) this.clear()
  }

  clear(): void {
    this.#names.clear()
    this.#byId.clear()
    this.#isChanged.fill(0)
    this.#changed = []
    this.#count = 0
  }

  #isNew(set: number): boolean {
    return this.#cards[set]! > 0 && !this.#stored[set]
  }
  #isGone(set: number): boolean {
    return this.#cards[set] === 0 && this.#nameOf[set] !== -1
  }

  #addName(role: Role, key: Uint8Array): number {
    const name = this.#names.add(PREFIXES[role]!, key)
    this.#setOf = ensureCapacity(this.#setOf, name + 1)
    this.#setOf[name] = -1
    return name
  }

  #add(id: number, card: number, misaligned: number, stored: boolean): number {
    const set = this.#count++
    this.#ids = ensureCapacity(this.#ids, this.#count)
    this.#cards = ensureCapacity(this.#cards, this.#count)
    this.#misaligned = ensureCapacity(this.#misaligned, this.#count)
    this.#nameOf = ensureCapacity(this.#nameOf, this.#count)
    this.#stored = ensureCapacity(this.#stored, this.#count)
    this.#isChanged = ensureCapacity(this.#isChanged, this.#count)
    this.#ids[set] = id
    this.#cards[set] = card
    this.#misaligned[set] = misaligned
    this.#nameOf[set] = -1
    this.#stored[set] = stored ? 1 : 0
    this.#byId.set(id, set)
    return set
  }
}
