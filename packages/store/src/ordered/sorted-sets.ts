/**
 * Sorted sets while they are being changed: the writes of a commit are gathered per set and per member, so that
 * each row is written once, in the order of the keys. Members and their scores are kept in plain arrays of numbers,
 * since a group of batches has tens of thousands of them.
 */
import { bytesKey, bytesOfKey } from '@quoin/primitives'
import type { ScoredMember } from '../engine.ts'
import { ByteTable, ensureCapacity } from './byte-table.ts'
import type { RowWrites, Scan } from './kv.ts'
import { MEMBER_AT, numbered, type Role, rowKey, scoreOfRow, TAG, writeRowHead } from './layout.ts'
import { hasFurther, packNumber, SCORES_LIMIT, scoresIn, unpackNumber, writeScore } from './rows.ts'
import { SetHeaders } from './set-headers.ts'

const EMPTY = new Uint8Array()
const MEMBER = Uint8Array.of(TAG.member)
/** No score: of an entry that was not there before, or is no more. */
const NONE = Number.NaN
const END = -1
/** The change of a row; `DONE` also where none is needed. */
const [DELETE, PUT, DONE] = [0, 1, 2] as const

type Range = Pick<Scan, 'start' | 'end'>

export class SortedSetChanges {
  readonly #headers: SetHeaders
  readonly #rows: RowWrites
  /** Scores that are not in the rows of their members, by key. */
  readonly #further = new Map<string, number | null>()

  /** Members of this group. Each has a list of entries: its scores, in the order of its row. */
  readonly #members = new ByteTable()
  #firstEntry = new Int32Array(512)
  #lastEntry = new Int32Array(512)
  #entryCount = new Int32Array(512)
  #hasFurther = new Uint8Array(512)
  #isChanged = new Uint8Array(512)

  #entries = 0
  #entryId = new Float64Array(4096)
  #entryScore = new Float64Array(4096)
  #entryBefore = new Float64Array(4096)
  /** The change that puts its row; 0 when none has. */
  #entryPut = new Int32Array(4096)
  #nextEntry = new Int32Array(4096)

  /** Rows to write: each set has a list of changes, in the order the operations came. */
  #changes = 0
  #changeMember = new Int32Array(4096)
  #changeScore = new Float64Array(4096)
  #kind = new Uint8Array(4096)
  #nextChange = new Int32Array(4096)
  #firstChange = new Int32Array(512)
  #lastChange = new Int32Array(512)

  readonly #views = new Views(2048)

  constructor(rows: RowWrites, newId: () => number) {
    this.#rows = rows
    this.#headers = new SetHeaders(rows, newId)
  }

  score(role: Role, key: Uint8Array, member: Uint8Array): number | undefined {
    const set = this.#headers.find(role, key)
    if (set === -1 || this.#headers.card(set) === 0) return undefined
    const number = this.#member(member)
    const entry = this.#entryOf(number, this.#headers.id(set))
    if (entry !== END) return scoreOrNone(this.#entryScore[entry]!)
    return this.#hasFurther[number] ? this.#furtherScore(this.#headers.id(set), member) : undefined
  }

  add(role: Role, key: Uint8Array, member: Uint8Array, score: number): void {
    const found = this.#headers.find(role, key)
    const set = found === -1 ? this.#headers.create(role, key) : found
    const id = this.#headers.id(set)
    const number = this.#member(member)
    const entry = this.#entryOf(number, id)
    const isFurther = entry === END && this.#hasFurther[number] === 1
    const before =
      entry !== END ? this.#entryScore[entry]! : isFurther ? (this.#furtherScore(id, member) ?? NONE) : NONE
    if (before === score) return
    const isNew = Number.isNaN(before)
    if (isNew) this.#headers.addCard(set, 1)
    else this.#takeAway(set, number, entry, before)
    this.#isChanged[number] = 1
    const put = this.#change(set, number, score, PUT)
    if (entry !== END) {
      this.#entryScore[entry] = score
      this.#entryPut[entry] = put
    } else if (isNew && this.#entryCount[number]! < SCORES_LIMIT) {
      this.#entryPut[this.#addEntry(number, id, score, NONE)] = put
    } else {
      this.#further.set(bytesKey(numbered(TAG.furtherScore, id, member)), score)
      this.#hasFurther[number] = 1
      if (isNew) this.#headers.addMisaligned(set, 1)
    }
  }

  remove(role: Role, key: Uint8Array, member: Uint8Array): void {
    const set = this.#headers.find(role, key)
    if (set === -1 || this.#headers.card(set) === 0) return
    const id = this.#headers.id(set)
    const number = this.#member(member)
    const entry = this.#entryOf(number, id)
    let before: number | undefined
    if (entry !== END) {
      before = scoreOrNone(this.#entryScore[entry]!)
      this.#entryScore[entry] = NONE
    } else if (this.#hasFurther[number]) {
      before = this.#furtherScore(id, member)
      if (before !== undefined) {
        this.#further.set(bytesKey(numbered(TAG.furtherScore, id, member)), null)
        this.#headers.addMisaligned(set, -1)
      }
    }
    if (before === undefined) return
    this.#isChanged[number] = 1
    this.#headers.addCard(set, -1)
    this.#takeAway(set, number, entry, before)
  }

  /** A row that no commit has seen is not put; any other is deleted. */
  #takeAway(set: number, member: number, entry: number, score: number): void {
    const put = entry === END ? 0 : this.#entryPut[entry]!
    if (put !== 0 && this.#kind[put] === PUT) this.#kind[put] = DONE
    else this.#change(set, member, score, DELETE)
  }

  /** The first members with scores up to `max`. */
  upTo(role: Role, key: Uint8Array, max: number, limit: number): ScoredMember[] {
    return this.#scored(role, key, this.scan(role, key, max), limit, false)
  }

  /** The last members with finite scores above `min`, downwards. */
  above(role: Role, key: Uint8Array, min: number, limit: number): ScoredMember[] {
    return this.#scored(role, key, this.scanAbove(role, key, min), limit, true)
  }

  /** The range that `upTo` will scan. */
  scan(role: Role, key: Uint8Array, max: number): Range | undefined {
    const id = this.id(role, key)
    if (id === undefined) return undefined
    return { start: rowKey(id, Number.NEGATIVE_INFINITY, EMPTY), end: afterScore(id, max) }
  }

  /** The range that `above` will scan. */
  scanAbove(role: Role, key: Uint8Array, min: number): Range | undefined {
    const id = this.id(role, key)
    if (id === undefined) return undefined
    return { start: afterScore(id, min), end: rowKey(id, Number.POSITIVE_INFINITY, EMPTY) }
  }

  #scored(
    role: Role,
    key: Uint8Array,
    range: Range | undefined,
    limit: number,
    reverse: boolean
  ): ScoredMember[] {
    if (!range || limit <= 0) return []
    this.#writeRows(this.#headers.find(role, key))
    return this.#rows
      .keys(range.start, range.end, limit, reverse)
      .map(row => ({ member: row.subarray(MEMBER_AT), score: scoreOfRow(row, 0) }))
  }

  /** The id of a set, which is its own until it becomes empty. */
  id(role: Role, key: Uint8Array): number | undefined {
    const set = this.#headers.find(role, key)
    return set === -1 ? undefined : this.#headers.id(set)
  }

  /** Writes the changes, in the order of the keys. */
  flush(): void {
    const members: number[] = []
    for (let member = 0; member < this.#members.count; member++)
      if (this.#isChanged[member]) members.push(member)
    for (const member of members) this.#countMisaligned(member)
    this.#headers.flush(set => this.#writeRows(set))
    members.sort((a, b) => this.#members.compare(a, b))
    for (const member of members) this.#writeMember(member)
    for (const name of [...this.#further.keys()].sort()) {
      const score = this.#further.get(name)!
      if (score === null) this.#rows.del(bytesOfKey(name))
      else this.#rows.put(bytesOfKey(name), packNumber(score))
    }
    this.#headers.flushNames()
    this.#forgetMembers()
  }

  /** Drops the caches, after a failed commit or a commit of another process. */
  clear(): void {
    this.#headers.clear()
    this.#firstChange.fill(0)
    this.#forgetMembers()
  }

  #forgetMembers(): void {
    this.#members.clear()
    this.#further.clear()
    this.#entries = 0
    this.#changes = 0
  }

  #member(member: Uint8Array): number {
    const known = this.#members.find(MEMBER, member)
    if (known !== -1) return known
    const number = this.#members.add(MEMBER, member)
    this.#firstEntry = ensureCapacity(this.#firstEntry, number + 1)
    this.#lastEntry = ensureCapacity(this.#lastEntry, number + 1)
    this.#entryCount = ensureCapacity(this.#entryCount, number + 1)
    this.#hasFurther = ensureCapacity(this.#hasFurther, number + 1)
    this.#isChanged = ensureCapacity(this.#isChanged, number + 1)
    this.#firstEntry[number] = END
    this.#entryCount[number] = 0
    this.#isChanged[number] = 0
    const row = this.#rows.get(this.#members.at(number))
    this.#hasFurther[number] = row && hasFurther(row) ? 1 : 0
    if (row) scoresIn(row, (id, score) => this.#addEntry(number, id, score, score))
    return number
  }

  #addEntry(member: number, id: number, score: number, before: number): number {
    const entry = this.#entries++
    this.#entryId = ensureCapacity(this.#entryId, this.#entries)
    this.#entryScore = ensureCapacity(this.#entryScore, this.#entries)
    this.#entryBefore = ensureCapacity(this.#entryBefore, this.#entries)
    this.#entryPut = ensureCapacity(this.#entryPut, this.#entries)
    this.#nextEntry = ensureCapacity(this.#nextEntry, this.#entries)
    this.#entryId[entry] = id
    this.#entryScore[entry] = score
    this.#entryBefore[entry] = before
    this.#entryPut[entry] = 0
    this.#nextEntry[entry] = END
    if (this.#firstEntry[member] === END) this.#firstEntry[member] = entry
    else this.#nextEntry[this.#lastEntry[member]!] = entry
    this.#lastEntry[member] = entry
    this.#entryCount[member]!++
    return entry
  }

  /** The entry of a member for the set with the id. */
  #entryOf(member: number, id: number): number {
    let entry = this.#firstEntry[member]!
    while (entry !== END && this.#entryId[entry] !== id) entry = this.#nextEntry[entry]!
    return entry
  }

  #furtherScore(id: number, member: Uint8Array): number | undefined {
    const key = numbered(TAG.furtherScore, id, member)
    const changed = this.#further.get(bytesKey(key))
    if (changed !== undefined) return changed ?? undefined
    const row = this.#rows.get(key)
    return row && unpackNumber(row)
  }

  /** Lists of changes are numbered one up, so that new memory means that there are none. */
  #change(set: number, member: number, score: number, kind: number): number {
    this.#headers.change(set)
    const change = ++this.#changes
    this.#changeMember = ensureCapacity(this.#changeMember, change + 1)
    this.#changeScore = ensureCapacity(this.#changeScore, change + 1)
    this.#kind = ensureCapacity(this.#kind, change + 1)
    this.#nextChange = ensureCapacity(this.#nextChange, change + 1)
    this.#firstChange = ensureCapacity(this.#firstChange, set + 1)
    this.#lastChange = ensureCapacity(this.#lastChange, set + 1)
    this.#changeMember[change] = member
    this.#changeScore[change] = score
    this.#kind[change] = kind
    this.#nextChange[change] = 0
    if (this.#firstChange[set] === 0) this.#firstChange[set] = change
    else this.#nextChange[this.#lastChange[set]!] = change
    this.#lastChange[set] = change
    return change
  }

  /** In the sets where the member was misaligned, and in the sets where it is. */
  #countMisaligned(member: number): void {
    let first = NONE
    let firstBefore = NONE
    for (let entry = this.#firstEntry[member]!; entry !== END; entry = this.#nextEntry[entry]!) {
      const score = this.#entryScore[entry]!
      const before = this.#entryBefore[entry]!
      if (Number.isNaN(first)) first = score
      if (Number.isNaN(firstBefore)) firstBefore = before
      const by = (isStray(score, first) ? 1 : 0) - (isStray(before, firstBefore) ? 1 : 0)
      if (by !== 0) this.#headers.addMisaligned(this.#headers.withId(this.#entryId[entry]!), by)
    }
  }

  #writeRows(set: number): void {
    const id = this.#headers.id(set)
    for (const change of this.#inOrder(set)) {
      const head = writeRowHead(id, this.#changeScore[change]!, this.#views.whole)
      const member = this.#changeMember[change]!
      const key = this.#views.of(this.#members.copy(member, MEMBER.length, this.#views.whole, head))
      if (this.#kind[change] === PUT) this.#rows.put(key, EMPTY)
      else this.#rows.del(key)
      this.#kind[change] = DONE
    }
    if (set < this.#firstChange.length) this.#firstChange[set] = 0
  }

  /** The changes of a set by score, and for one score in the order of the operations. */
  #inOrder(set: number): number[] {
    const changes: number[] = []
    let isSorted = true
    let last = Number.NEGATIVE_INFINITY
    for (let change = this.#firstChange[set] ?? 0; change !== 0; change = this.#nextChange[change]!) {
      if (this.#kind[change] === DONE) continue
      const score = this.#changeScore[change]!
      if (score < last) isSorted = false
      last = score
      changes.push(change)
    }
    const scores = this.#changeScore
    return isSorted ? changes : changes.sort((a, b) => scores[a]! - scores[b]!)
  }

  #writeMember(member: number): void {
    const key = this.#members.at(member)
    let length = 0
    for (let entry = this.#firstEntry[member]!; entry !== END; entry = this.#nextEntry[entry]!) {
      const score = this.#entryScore[entry]!
      if (!Number.isNaN(score)) length = writeScore(this.#entryId[entry]!, score, this.#views.whole, length)
    }
    if (this.#hasFurther[member]) this.#views.whole[length++] = 1
    if (length === 0) this.#rows.del(key)
    else this.#rows.put(key, this.#views.of(length))
  }
}

const scoreOrNone = (score: number): number | undefined => (Number.isNaN(score) ? undefined : score)

/** A score that is there and is not the first. */
const isStray = (score: number, first: number): boolean => !Number.isNaN(score) && score !== first

/** Views of one scratch memory by their length, each made once. */
class Views {
  readonly whole: Uint8Array
  readonly #views: Uint8Array[] = []

  constructor(length: number) {
    this.whole = new Uint8Array(length)
  }

  of(length: number): Uint8Array {
    this.#views[length] ??= this.whole.subarray(0, length)
    return this.#views[length]
  }
}

/** Above every row of the score. */
const afterScore = (id: number, score: number): Uint8Array => {
  const key = rowKey(id, score, EMPTY)
  for (let at = key.length - 1; ; at--) {
    if (key[at] !== 0xff) {
      key[at]!++
      return key
    }
    key[at] = 0
  }
}
