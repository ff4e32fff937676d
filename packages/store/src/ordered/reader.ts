/** The reads of the structures, over one state of the rows. */

import type { KeyRange } from '@quoin/keyspace'
import { bytesKey, compareBytes, copyOfRow, prefixEnd, successor } from '@quoin/primitives'
import type {
  FieldPage,
  FieldValue,
  FilteredRows,
  HashEntry,
  Keep,
  KeyValue,
  ListedItem,
  Place,
  QueueCounts,
  QueueState,
  Rows,
  ScoredMember
} from '../engine.ts'
import { ask } from '../plan.ts'
import { copyKey, type ReadKey, type RowPlan, type RowSource, type SyncRows } from './kv.ts'
import {
  cardinalityKey,
  MEMBER_AT,
  numbered,
  ROLE,
  type Role,
  readId,
  rowKey,
  rowsPrefix,
  scoreOfRow,
  sortedSetKey,
  TAG,
  tagged
} from './layout.ts'
import { RowList } from './row-list.ts'
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
/** Wide hashes that are remembered. */
const REMEMBERED = 1000

/** The ids of wide hashes and sets that were met, by the keys of their rows. */
export class WideIds {
  readonly #ids = new Map<string, number>()

  get(rowKey: Uint8Array): number | undefined {
    return this.#ids.get(bytesKey(rowKey))
  }

  note(rowKey: Uint8Array, id: number): void {
    if (this.#ids.size >= REMEMBERED) this.#ids.clear()
    this.#ids.set(bytesKey(rowKey), id)
  }
}

/** Reads by key answer at once; reads that scan rows are plans. */
export class OrderedReads {
  readonly #rows: Pick<SyncRows, 'get'>
  readonly #wideIds: WideIds | undefined

  /** A wide hash stays wide: ids are cached where the state that is read only goes forward. */
  constructor(rows: Pick<SyncRows, 'get'>, wideIds?: WideIds) {
    this.#rows = rows
    this.#wideIds = wideIds
  }

  get(key: Uint8Array): Uint8Array | undefined {
    const row = this.#rows.get(tagged(TAG.value, key))
    return row && copyOfRow(row)
  }

  mget(keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    return keys.map(key => this.get(key))
  }

  *range(range: KeyRange, limit = ALL): RowPlan<KeyValue[]> {
    const rows = yield* ask(from => from.rows(under(TAG.value, range), limit))
    return rows.map(({ key, value }) => ({ key: key.subarray(1), value }))
  }

  hget(key: Uint8Array, field: Uint8Array): Uint8Array | undefined {
    const found = this.#wideOrPacked(tagged(TAG.hash, key))
    if (typeof found !== 'number') return found && packedField(found, field)
    const value = this.#rows.get(numbered(TAG.field, found, field))
    return value && copyOfRow(value)
  }

  hmget(key: Uint8Array, fields: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    const found = this.#wideOrPacked(tagged(TAG.hash, key))
    if (typeof found !== 'number') return fields.map(field => found && packedField(found, field))
    return fields.map(field => {
      const value = this.#rows.get(numbered(TAG.field, found, field))
      return value && copyOfRow(value)
    })
  }

  hgetall(key: Uint8Array): RowPlan<FieldValue[]> {
    return this.#fields(tagged(TAG.hash, key))
  }

  /** The cursor is the last field of the page before. */
  *hscan(key: Uint8Array, cursor: Uint8Array | undefined, count: number): RowPlan<FieldPage> {
    const found = this.#wideOrPacked(tagged(TAG.hash, key))
    if (typeof found === 'number') return yield* this.#wideScan(found, cursor, count)
    const fields = found ? unpackHash(found) : []
    const rest = cursor ? fields.filter(({ field }) => compareBytes(field, cursor) > 0) : fields
    return fieldPage(rest.slice(0, count), count)
  }

  *mhgetall(keys: readonly Uint8Array[]): RowPlan<FieldValue[][]> {
    const hashes: FieldValue[][] = []
    for (const key of keys) hashes.push(yield* this.#fields(tagged(TAG.hash, key)))
    return hashes
  }

  *mhexists(keys: readonly Uint8Array[]): RowPlan<boolean[]> {
    const found: boolean[] = []
    for (const key of keys) found.push(yield* this.#hasFields(tagged(TAG.hash, key)))
    return found
  }

  *hrange(range: KeyRange, limit = ALL): RowPlan<HashEntry[]> {
    const found: HashEntry[] = []
    let rest = under(TAG.hash, range)
    while (found.length < limit) {
      const wanted = Math.min(limit - found.length, CHUNK)
      const part = rest
      const rows = yield* ask(from => from.rows(part, wanted))
      for (const { key, value } of rows) {
        const fields = wideId(value) === undefined ? unpackHash(value) : yield* this.#fields(key)
        // The row of a wide hash stays when its last field goes.
        if (fields.length > 0) found.push({ key: key.subarray(1), fields })
      }
      const last = rows.at(-1)
      if (!last || rows.length < wanted) break
      rest = range.reverse ? { ...rest, end: last.key } : { ...rest, start: successor(last.key) }
    }
    return found
  }

  sismember(key: Uint8Array, member: Uint8Array): boolean {
    const found = this.#wideOrPacked(tagged(TAG.set, key))
    if (typeof found !== 'number') return found !== undefined && packedField(found, member) !== undefined
    return this.#rows.get(numbered(TAG.field, found, member)) !== undefined
  }

  *smembers(key: Uint8Array): RowPlan<Uint8Array[]> {
    return (yield* this.#fields(tagged(TAG.set, key))).map(({ field }) => field)
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

  /** Sets without misaligned have common members at the same places. */
  zaligned(keys: readonly Uint8Array[]): boolean {
    return keys.every(key => {
      const id = this.#id(ROLE.user, key)
      return id === undefined || this.#counts(id)[1] === 0
    })
  }

  *zfilter(first: Uint8Array, others: readonly Uint8Array[], rows: Rows, keep: Keep): RowPlan<FilteredRows> {
    const id = this.#id(ROLE.user, first)
    const count = rows.count ?? ALL
    const list = new RowList(Math.min(count, CHUNK))
    if (id !== undefined)
      yield* ask(from => from.keys(rowsRange(id, rows), count, rows.offset ?? 0, list.gather))
    const kept = new Uint8Array(list.count).fill(1)
    const wanted = keep === 'in all' ? 1 : 0
    for (const key of others) {
      const has = yield* this.#which(key, id, list, rows.reverse ?? false)
      for (let row = 0; row < kept.length; row++) if (has[row] !== wanted) kept[row] = 0
    }
    const found: ScoredMember[] = []
    for (let row = 0; row < kept.length; row++) if (kept[row]) found.push(list.at(row))
    const last = list.count > 0 ? list.at(list.count - 1) : undefined
    return { rows: found, scanned: list.count, last }
  }

  /**
   * Which members of the list, whose rows are of the set with the id, another set has. That one is walked beside the
   * list when both sets are without misaligned, so that common members are at the same places, and when it is not so much
   * larger that looking each member up is faster.
   */
  *#which(key: Uint8Array, id: number | undefined, list: RowList, reverse: boolean): RowPlan<Uint8Array> {
    const has = new Uint8Array(list.count)
    const other = this.#id(ROLE.user, key)
    if (id === undefined || other === undefined || list.count === 0) return has
    const [card, misaligned] = this.#counts(id)
    const [otherCard, otherMisaligned] = this.#counts(other)
    let row = 0
    if (misaligned === 0 && otherMisaligned === 0 && otherCard <= card * WALK_RATIO) {
      const [low, high] = reverse ? [list.count - 1, 0] : [0, list.count - 1]
      const range = { start: list.keyIn(other, low), end: successor(list.keyIn(other, high)), reverse }
      const most = list.count * WALK_RATIO
      const { read, passed } = list.marking(has, reverse)
      const { length } = yield* ask((from: RowSource) => from.keys(range, most, 0, read))
      // Where the set is much denser than the list, the rest of it is looked up.
      row = length < most ? list.count : passed()
    }
    for (; row < list.count; row++) has[row] = this.#score(other, list.member(row)) === undefined ? 0 : 1
    return has
  }

  zcard(key: Uint8Array): number {
    return this.#card(ROLE.user, key)
  }

  zrows(key: Uint8Array, rows: Rows): RowPlan<ScoredMember[]> {
    return this.#walk(ROLE.user, key, rows)
  }

  *zsum(key: Uint8Array): RowPlan<number> {
    const id = this.#id(ROLE.user, key)
    let sum = 0
    if (id === undefined) return sum
    let range = rowsRange(id, {})
    for (;;) {
      const part = range
      const keys = yield* ask(from => from.keys(part, CHUNK, 0, copyKey))
      for (const each of keys) sum += scoreOfRow(each, 0)
      if (keys.length < CHUNK) return sum
      range = { ...range, start: successor(keys.at(-1)!) }
    }
  }

  *zkeys({ start, end, reverse }: KeyRange, limit = ALL): RowPlan<Uint8Array[]> {
    const range = {
      start: sortedSetKey(ROLE.user, start),
      end: end ? sortedSetKey(ROLE.user, end) : prefixEnd(sortedSetKey(ROLE.user, EMPTY)),
      reverse
    }
    return yield* ask(from => from.keys(range, limit, 0, nameOfSortedSet))
  }

  *qcounts(key: Uint8Array): RowPlan<QueueCounts> {
    const [head] = yield* this.#list(ROLE.due, key, { count: 1 })
    return {
      due: this.#card(ROLE.due, key),
      leased: this.#card(ROLE.leased, key),
      waiting: this.#card(ROLE.waiting, key),
      dead: this.#card(ROLE.dead, key),
      headEnqueued: head?.enqueued
    }
  }

  qlist(key: Uint8Array, state: QueueState, rows: Rows): RowPlan<ListedItem[]> {
    return this.#list(ROLE[state], key, rows)
  }

  *#list(role: Role, key: Uint8Array, rows: Rows): RowPlan<ListedItem[]> {
    const items = yield* this.#walk(role, key, rows)
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

  /** The id of a wide hash or set, or the row of a small one. */
  #wideOrPacked(rowKey: Uint8Array): number | Uint8Array | undefined {
    const known = this.#wideIds?.get(rowKey)
    if (known !== undefined) return known
    const row = this.#rows.get(rowKey)
    const id = row && wideId(row)
    if (id !== undefined) this.#wideIds?.note(rowKey, id)
    return id ?? row
  }

  *#fields(rowKey: Uint8Array): RowPlan<FieldValue[]> {
    const row = this.#rows.get(rowKey)
    if (!row) return []
    const id = wideId(row)
    if (id === undefined) return unpackHash(row)
    const start = numbered(TAG.field, id)
    const rows = yield* ask(from => from.rows({ start, end: prefixEnd(start), reverse: false }, ALL))
    return rows.map(({ key, value }) => ({ field: key.subarray(start.length), value }))
  }

  *#wideScan(id: number, cursor: Uint8Array | undefined, count: number): RowPlan<FieldPage> {
    const first = numbered(TAG.field, id)
    const start = cursor ? successor(numbered(TAG.field, id, cursor)) : first
    const rows = yield* ask(from => from.rows({ start, end: prefixEnd(first), reverse: false }, count))
    return fieldPage(
      rows.map(({ key, value }) => ({ field: key.subarray(first.length), value })),
      count
    )
  }

  /** The row of a small hash goes with its last field; that of a wide one stays. */
  *#hasFields(rowKey: Uint8Array): RowPlan<boolean> {
    const row = this.#rows.get(rowKey)
    const id = row && wideId(row)
    if (id === undefined) return row !== undefined
    const start = numbered(TAG.field, id)
    const keys = yield* ask(from =>
      from.keys({ start, end: prefixEnd(start), reverse: false }, 1, 0, copyKey)
    )
    return keys.length > 0
  }

  #id(role: Role, key: Uint8Array): number | undefined {
    const row = this.#rows.get(sortedSetKey(role, key))
    return row && readId(row, 0)
  }

  #card(role: Role, key: Uint8Array): number {
    const id = this.#id(role, key)
    return id === undefined ? 0 : this.#counts(id)[0]
  }

  #counts(id: number): readonly [card: number, misaligned: number] {
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

  *#walk(role: Role, key: Uint8Array, rows: Rows): RowPlan<ScoredMember[]> {
    const id = this.#id(role, key)
    const count = rows.count ?? ALL
    if (id === undefined || count <= 0) return []
    return yield* ask(from => from.keys(rowsRange(id, rows), count, rows.offset ?? 0, scoredMember))
  }
}

const fieldPage = (fields: readonly FieldValue[], count: number): FieldPage => ({
  fields,
  cursor: fields.length < count ? undefined : fields.at(-1)?.field
})

/** Behind the tag and the role. */
const nameOfSortedSet: ReadKey<Uint8Array> = (source, start, end) => source.slice(start + 2, end)

const scoredMember: ReadKey<ScoredMember> = (source, start, end) => ({
  member: source.slice(start + MEMBER_AT, end),
  score: scoreOfRow(source, start)
})

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
    return above ? successor(key) : key
  }
  const key = rowKey(id, score, EMPTY)
  return above ? prefixEnd(key)! : key
}
