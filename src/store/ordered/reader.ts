/** The reads of the structures, over one state of the rows. */
import { compareBytes, type KeyRange, prefixEnd } from '../../keyspace/index.ts'
import type {
  Awaitable,
  FieldValue,
  HashEntry,
  KeyValue,
  ListedItem,
  Place,
  QueueCounts,
  QueueState,
  Reads,
  Rows,
  ScoredMember
} from '../engine.ts'
import { copyOfRow } from './copies.ts'
import { copyKey, type ReadKey, type RowReads } from './kv.ts'
import {
  cardinalityKey,
  MEMBER_AT,
  numbered,
  ROLE,
  ROW_AT,
  type Role,
  readId,
  rowKey,
  rowsPrefix,
  scoreOfRow,
  sortedSetKey,
  TAG,
  tagged
} from './layout.ts'
import {
  hasFurther,
  packedField,
  scoreUnder,
  unpackCounts,
  unpackHash,
  unpackItem,
  unpackNumber,
  wideId
} from './rows.ts'

const EMPTY = new Uint8Array()
const ALL = Number.MAX_SAFE_INTEGER
/** Rows to hold at once while a whole set is walked. */
const CHUNK = 10_000
/** A set with so many times the members of another is walked beside it; in a larger one members are looked up. */
const WALK_RATIO = 12

export class OrderedReads implements Reads {
  readonly #rows: RowReads

  constructor(rows: RowReads) {
    this.#rows = rows
  }

  get(key: Uint8Array): Uint8Array | undefined {
    const row = this.#rows.get(tagged(TAG.value, key))
    return row && copyOfRow(row)
  }

  async range(range: KeyRange, limit = ALL): Promise<KeyValue[]> {
    const rows = await this.#rows.rows(under(TAG.value, range), limit)
    return rows.map(({ key, value }) => ({ key: key.subarray(1), value }))
  }

  hget(key: Uint8Array, field: Uint8Array): Uint8Array | undefined {
    const row = this.#rows.get(tagged(TAG.hash, key))
    if (!row) return undefined
    const id = wideId(row)
    if (id === undefined) return packedField(row, field)
    const value = this.#rows.get(numbered(TAG.field, id, field))
    return value && copyOfRow(value)
  }

  hmget(key: Uint8Array, fields: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    const row = this.#rows.get(tagged(TAG.hash, key))
    if (!row) return fields.map(() => undefined)
    const id = wideId(row)
    if (id === undefined) return fields.map(field => packedField(row, field))
    return fields.map(field => {
      const value = this.#rows.get(numbered(TAG.field, id, field))
      return value && copyOfRow(value)
    })
  }

  hgetall(key: Uint8Array): Awaitable<FieldValue[]> {
    return this.#fields(tagged(TAG.hash, key))
  }

  async hrange(range: KeyRange, limit = ALL): Promise<HashEntry[]> {
    const found: HashEntry[] = []
    let rest = under(TAG.hash, range)
    while (found.length < limit) {
      const wanted = Math.min(limit - found.length, CHUNK)
      const rows = await this.#rows.rows(rest, wanted)
      for (const { key, value } of rows) {
        const fields = wideId(value) === undefined ? unpackHash(value) : await this.#fields(key)
        // The row of a wide hash stays when its last field goes.
        if (fields.length > 0) found.push({ key: key.subarray(1), fields })
      }
      const last = rows.at(-1)
      if (!last || rows.length < wanted) break
      rest = range.reverse ? { ...rest, end: last.key } : { ...rest, start: after(last.key) }
    }
    return found
  }

  sismember(key: Uint8Array, member: Uint8Array): boolean {
    const row = this.#rows.get(tagged(TAG.set, key))
    if (!row) return false
    const id = wideId(row)
    if (id === undefined) return packedField(row, member) !== undefined
    return this.#rows.get(numbered(TAG.field, id, member)) !== undefined
  }

  async smembers(key: Uint8Array): Promise<Uint8Array[]> {
    return (await this.#fields(tagged(TAG.set, key))).map(({ field }) => field)
  }

  zscore(key: Uint8Array, member: Uint8Array): number | undefined {
    const id = this.#id(ROLE.user, key)
    return id === undefined ? undefined : this.#score(id, member)
  }

  zscores(keys: readonly Uint8Array[], members: readonly Uint8Array[]): (number | undefined)[][] {
    const ids = keys.map(key => this.#id(ROLE.user, key))
    return members.map(member => {
      const row = this.#rows.get(tagged(TAG.member, member))
      if (!row) return ids.map(() => undefined)
      const scores = ids.map(id => (id === undefined ? undefined : scoreUnder(row, id)))
      if (hasFurther(row)) {
        ids.forEach((id, i) => {
          if (id !== undefined) scores[i] ??= this.#furtherScore(id, member)
        })
      }
      return scores
    })
  }

  /** Sets without strays have common members at the same places. */
  zaligned(keys: readonly Uint8Array[]): boolean {
    return keys.every(key => {
      const id = this.#id(ROLE.user, key)
      return id === undefined || this.#counts(id)[1] === 0
    })
  }

  /**
   * Walks a set beside the rows when both sets are without strays, so that common members are at the same places, and
   * when it is not so much larger that looking each member up is faster.
   */
  async zhave(
    first: Uint8Array,
    others: readonly Uint8Array[],
    rows: readonly ScoredMember[]
  ): Promise<readonly (readonly boolean[])[]> {
    const id = this.#id(ROLE.user, first)
    const [card, strays] = id === undefined ? [0, 0] : this.#counts(id)
    const answers = others.map(async key => {
      const other = this.#id(ROLE.user, key)
      if (other === undefined) return rows.map(() => false)
      const [otherCard, otherStrays] = this.#counts(other)
      return strays === 0 && otherStrays === 0 && otherCard <= card * WALK_RATIO
        ? this.#sharedRows(other, rows)
        : rows.map(({ member }) => this.#score(other, member) !== undefined)
    })
    const columns = await Promise.all(answers)
    return rows.map((_, i) => columns.map(column => column[i]!))
  }

  /** Which of the rows, given in the order of the set or its mirror, the set has exactly as they are. */
  async #sharedRows(id: number, rows: readonly ScoredMember[]): Promise<boolean[]> {
    const wanted = rows.map(({ score, member }) => rowKey(id, score, member))
    const found = new Array<boolean>(rows.length).fill(false)
    if (wanted.length === 0) return found
    const reverse = compareBytes(wanted[0]!, wanted.at(-1)!) > 0
    const [low, high] = reverse ? [wanted.at(-1)!, wanted[0]!] : [wanted[0]!, wanted.at(-1)!]
    let at = 0
    const check: ReadKey<undefined> = (source, start, end) => {
      for (; at < wanted.length; at++) {
        const order = compareAt(source, start, end, wanted[at]!)
        if (order === 0) found[at] = true
        else if (order < 0 !== reverse) return undefined
      }
      return undefined
    }
    const most = rows.length * WALK_RATIO
    const { length } = await this.#rows.keys({ start: low, end: after(high), reverse }, most, 0, check)
    // Where the set is much denser than the rows, the rest of them is looked up.
    if (length === most)
      for (; at < rows.length; at++) found[at] = this.#score(id, rows[at]!.member) !== undefined
    return found
  }

  zcard(key: Uint8Array): number {
    return this.#card(ROLE.user, key)
  }

  zrows(key: Uint8Array, rows: Rows): Awaitable<ScoredMember[]> {
    return this.#walk(ROLE.user, key, rows)
  }

  async zsum(key: Uint8Array): Promise<number> {
    const id = this.#id(ROLE.user, key)
    let sum = 0
    if (id === undefined) return sum
    let range = rowsRange(id, {})
    for (;;) {
      const keys = await this.#rows.keys(range, CHUNK, 0, copyKey)
      for (const each of keys) sum += scoreOfRow(each, 0)
      if (keys.length < CHUNK) return sum
      range = { ...range, start: after(keys.at(-1)!) }
    }
  }

  async zkeys(prefix: Uint8Array): Promise<Uint8Array[]> {
    const start = sortedSetKey(ROLE.user, prefix)
    return this.#rows.keys({ start, end: prefixEnd(start), reverse: false }, ALL, 0, nameOfSortedSet)
  }

  async qcounts(key: Uint8Array): Promise<QueueCounts> {
    const [head] = await this.#list(ROLE.due, key, { count: 1 })
    return {
      due: this.#card(ROLE.due, key),
      leased: this.#card(ROLE.leased, key),
      waiting: this.#card(ROLE.waiting, key),
      dead: this.#card(ROLE.dead, key),
      headEnqueued: head?.enqueued
    }
  }

  qlist(key: Uint8Array, state: QueueState, rows: Rows): Promise<ListedItem[]> {
    return this.#list(ROLE[state], key, rows)
  }

  async #list(role: Role, key: Uint8Array, rows: Rows): Promise<ListedItem[]> {
    const items = await this.#walk(role, key, rows)
    const row = this.#rows.get(tagged(TAG.items, key))
    if (!row) return []
    const packed = copyOfRow(row)
    const id = wideId(packed)
    return items.map(({ member: item, score: at }) => {
      const record =
        id === undefined ? packedField(packed, item) : this.#rows.get(numbered(TAG.field, id, item))
      const { score, enqueued, attempts, errorClass, reason } = unpackItem(copyOfRow(record!))
      return { item, at, score, enqueued, attempts, errorClass, reason }
    })
  }

  async #fields(rowKey: Uint8Array): Promise<FieldValue[]> {
    const row = this.#rows.get(rowKey)
    if (!row) return []
    const id = wideId(row)
    if (id === undefined) return unpackHash(row)
    const start = numbered(TAG.field, id)
    const rows = await this.#rows.rows({ start, end: prefixEnd(start), reverse: false }, ALL)
    return rows.map(({ key, value }) => ({ field: key.subarray(start.length), value }))
  }

  #id(role: Role, key: Uint8Array): number | undefined {
    const row = this.#rows.get(sortedSetKey(role, key))
    return row && readId(row, 0)
  }

  #card(role: Role, key: Uint8Array): number {
    const id = this.#id(role, key)
    return id === undefined ? 0 : this.#counts(id)[0]
  }

  #counts(id: number): readonly [card: number, strays: number] {
    const row = this.#rows.get(cardinalityKey(id))
    return row ? unpackCounts(row) : [0, 0]
  }

  #score(id: number, member: Uint8Array): number | undefined {
    const row = this.#rows.get(tagged(TAG.member, member))
    if (!row) return undefined
    return scoreUnder(row, id) ?? (hasFurther(row) ? this.#furtherScore(id, member) : undefined)
  }

  #furtherScore(id: number, member: Uint8Array): number | undefined {
    const row = this.#rows.get(numbered(TAG.furtherScore, id, member))
    return row && unpackNumber(row)
  }

  #walk(role: Role, key: Uint8Array, rows: Rows): Awaitable<ScoredMember[]> {
    const id = this.#id(role, key)
    const count = rows.count ?? ALL
    if (id === undefined || count <= 0) return []
    return this.#rows.keys(rowsRange(id, rows), count, rows.offset ?? 0, scoredMember)
  }
}

/** Behind the tag and the role. */
const nameOfSortedSet: ReadKey<Uint8Array> = (source, start, end) => source.slice(start + 2, end)

const scoredMember: ReadKey<ScoredMember> = (source, start, end) => ({
  member: source.slice(start + MEMBER_AT, end),
  score: scoreOfRow(source, start)
})

/** Below, at or above 0: the key in the source is before, equal to or after the other. */
const compareAt = (source: Uint8Array, start: number, end: number, other: Uint8Array): number => {
  const length = Math.min(end - start, other.length)
  // What both begin with, the tag and the id, is the same.
  for (let i = ROW_AT; i < length; i++) {
    if (source[start + i] !== other[i]) return source[start + i]! - other[i]!
  }
  return end - start - other.length
}

const after = (key: Uint8Array): Uint8Array => {
  const next = new Uint8Array(key.length + 1)
  next.set(key)
  return next
}

/** A range of logical keys as a range of rows. */
const under = (tag: number, { start, end, reverse }: KeyRange): KeyRange => ({
  start: tagged(tag, start),
  end: end ? tagged(tag, end) : Uint8Array.of(tag + 1),
  reverse
})

/** The range of rows of a sorted set between places. */
const rowsRange = (id: number, { min, max, reverse = false }: Rows): KeyRange => ({
  start: min ? placeKey(id, min, min.exclusive ?? false) : rowKey(id, Number.NEGATIVE_INFINITY, EMPTY),
  end: max ? placeKey(id, max, !max.exclusive) : prefixEnd(rowsPrefix(id)),
  reverse
})

/** The least row key at the place, or the least above all that it stands for. */
const placeKey = (id: number, { score: given, member }: Place, above: boolean): Uint8Array => {
  // There is no -0 in a key.
  const score = given + 0
  if (member) {
    const key = rowKey(id, score, member)
    return above ? after(key) : key
  }
  const key = rowKey(id, score, EMPTY)
  return above ? prefixEnd(key)! : key
}
