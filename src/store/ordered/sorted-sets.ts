/**
 * Sorted sets while they are being changed: what a commit will write is gathered per set and per member, so that
 * each row is written once, in the order of the keys.
 */
import type { ScoredMember } from '../engine.ts'
import type { RowWrites } from './kv.ts'
import { MEMBER_AT, numbered, type Role, rowKey, scoreOfRow, TAG, tagged, writeRowKey } from './layout.ts'
import { fromName, toName } from './names.ts'
import { packNumber, packScores, SCORES_LIMIT, unpackNumber, unpackScores } from './rows.ts'
import { type SetHeader, SetHeaders } from './set-headers.ts'

const EMPTY = new Uint8Array()

interface MemberState {
  readonly member: Uint8Array
  readonly ids: number[]
  readonly scores: number[]
  further: boolean
  changed: boolean
  /** As the database has them, from the first change on. */
  before: { readonly ids: readonly number[]; readonly scores: readonly number[] } | undefined
}

export class SortedSetChanges {
  readonly #headers: SetHeaders
  readonly #members = new Map<string, MemberState>()
  /** Scores that are not in the rows of their members, by key. */
  readonly #further = new Map<string, number | null>()
  readonly #rows: RowWrites
  readonly #scratch = new Uint8Array(2048)

  constructor(rows: RowWrites, newId: () => number) {
    this.#rows = rows
    this.#headers = new SetHeaders(rows, newId)
  }

  score(role: Role, key: Uint8Array, member: Uint8Array): number | undefined {
    const set = this.#headers.find(role, key)
    if (!set || set.card === 0) return undefined
    const state = this.#member(member)
    const at = state.ids.indexOf(set.id)
    return at >= 0 ? state.scores[at] : state.further ? this.#furtherScore(set.id, member) : undefined
  }

  add(role: Role, key: Uint8Array, member: Uint8Array, score: number): void {
    const set = this.#headers.find(role, key) ?? this.#headers.create(role, key)
    const state = this.#member(member)
    const at = state.ids.indexOf(set.id)
    if (at >= 0) {
      const before = state.scores[at]!
      if (before === score) return
      this.#change(set, before, member, false)
      touch(state)
      state.scores[at] = score
    } else {
      const before = state.further ? this.#furtherScore(set.id, member) : undefined
      if (before === score) return
      if (before !== undefined) this.#change(set, before, member, false)
      else set.card++
      if (before !== undefined || state.ids.length >= SCORES_LIMIT) {
        this.#further.set(toName(numbered(TAG.furtherScore, set.id, member)), score)
        if (before === undefined) set.strays++
        if (!state.further) touch(state)
        state.further = true
      } else {
        touch(state)
        state.ids.push(set.id)
        state.scores.push(score)
      }
    }
    this.#change(set, score, member, true)
  }

  remove(role: Role, key: Uint8Array, member: Uint8Array): void {
    const set = this.#headers.find(role, key)
    if (!set || set.card === 0) return
    const state = this.#member(member)
    const at = state.ids.indexOf(set.id)
    let before: number | undefined
    if (at >= 0) {
      touch(state)
      before = state.scores[at]!
      state.ids.splice(at, 1)
      state.scores.splice(at, 1)
    } else if (state.further) {
      before = this.#furtherScore(set.id, member)
      if (before === undefined) return
      this.#further.set(toName(numbered(TAG.furtherScore, set.id, member)), null)
      set.strays--
    }
    if (before === undefined) return
    set.card--
    this.#change(set, before, member, false)
  }

  /** The first members with scores up to `max`. */
  upTo(role: Role, key: Uint8Array, max: number, limit: number): ScoredMember[] {
    const range = this.walk(role, key, max)
    if (!range || limit <= 0) return []
    this.#writeRows(this.#headers.find(role, key)!)
    return this.#rows
      .keys(range.start, range.end, limit)
      .map(row => ({ member: row.subarray(MEMBER_AT), score: scoreOfRow(row, 0) }))
  }

  /** The range that `upTo` will walk. */
  walk(role: Role, key: Uint8Array, max: number): { start: Uint8Array; end: Uint8Array } | undefined {
    const set = this.#headers.find(role, key)
    return set && { start: rowKey(set.id, Number.NEGATIVE_INFINITY, EMPTY), end: afterScore(set.id, max) }
  }

  /** The id of a set, which is its own until it becomes empty. */
  id(role: Role, key: Uint8Array): number | undefined {
    return this.#headers.find(role, key)?.id
  }

  /** Writes what has changed, in the order of the keys. */
  flush(): void {
    const names = []
    for (const [name, state] of this.#members) {
      if (!state.changed) continue
      names.push(name)
      this.#countStrays(state)
    }
    this.#headers.flush(header => this.#writeRows(header))
    for (const name of names.sort()) this.#writeMember(this.#members.get(name)!)
    for (const name of [...this.#further.keys()].sort()) {
      const score = this.#further.get(name)!
      if (score === null) this.#rows.del(fromName(name))
      else this.#rows.put(fromName(name), packNumber(score))
    }
    this.#headers.flushNames()
    this.#members.clear()
    this.#further.clear()
  }

  /** Forgets everything: what it knew was not committed, or someone else has written. */
  clear(): void {
    this.#headers.clear()
    this.#members.clear()
    this.#further.clear()
  }

  #member(member: Uint8Array): MemberState {
    const name = toName(member)
    const known = this.#members.get(name)
    if (known) return known
    const row = this.#rows.get(tagged(TAG.member, member))
    const state = {
      member,
      changed: false,
      before: undefined,
      ...(row ? unpackScores(row) : { ids: [], scores: [], further: false })
    }
    this.#members.set(name, state)
    return state
  }

  #furtherScore(id: number, member: Uint8Array): number | undefined {
    const key = numbered(TAG.furtherScore, id, member)
    const changed = this.#further.get(toName(key))
    if (changed !== undefined) return changed ?? undefined
    const row = this.#rows.get(key)
    return row && unpackNumber(row)
  }

  #change(set: SetHeader, score: number, member: Uint8Array, put: boolean): void {
    this.#headers.change(set)
    set.scores.push(score)
    set.members.push(member)
    set.puts.push(put)
  }

  /** In the sets where the member strayed, and in those where it does now. */
  #countStrays({ ids, scores, before }: MemberState): void {
    if (before) this.#addStrays(before.ids, before.scores, -1)
    this.#addStrays(ids, scores, 1)
  }

  #addStrays(ids: readonly number[], scores: readonly number[], add: number): void {
    for (let i = 1; i < ids.length; i++) {
      if (scores[i] === scores[0]) continue
      const header = this.#headers.withId(ids[i]!)
      header.strays += add
      this.#headers.change(header)
    }
  }

  #writeRows(set: SetHeader): void {
    const { scores, members, puts } = set
    for (const i of inOrder(scores)) {
      const length = writeRowKey(set.id, scores[i]!, members[i]!, this.#scratch)
      const key = this.#scratch.subarray(0, length)
      if (puts[i]) this.#rows.put(key, EMPTY)
      else this.#rows.del(key)
    }
    scores.length = members.length = puts.length = 0
  }

  #writeMember({ member, ids, scores, further }: MemberState): void {
    const key = tagged(TAG.member, member)
    if (ids.length === 0 && !further) this.#rows.del(key)
    else this.#rows.put(key, packScores(ids, scores, further))
  }
}

/** The member is about to change: remembers what the database has. */
const touch = (state: MemberState): void => {
  if (state.changed) return
  state.changed = true
  state.before = { ids: state.ids.slice(), scores: state.scores.slice() }
}

/** The indices by score, those of one score as they came: a row that was put and deleted ends as it should. */
const inOrder = (scores: readonly number[]): Iterable<number> => {
  const indices = scores.keys()
  for (let i = 1; i < scores.length; i++) {
    if (scores[i]! < scores[i - 1]!) return [...indices].sort((a, b) => scores[a]! - scores[b]!)
  }
  return indices
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
