/**
 * Search over several sorted sets, a page at a time.
 *
 * The rows of a sorted set are its (score, member) pairs, in that order; the result is in that order too, or in the
 * exact mirror of it. It holds:
 *
 * - `union`: every row of every set. A row that several sets have comes once, under the first of them; a member with
 *   different scores in different sets comes once for each score.
 * - `intersect`: the rows of the first set whose members all other sets have, under any score.
 * - `difference`: the rows of the first set whose members no other set has, under any score.
 *
 * `from` and `to` are bounds of the score of a row in the result, in both directions. The filter sees rows before
 * they are counted, so a page is full as long as there are rows. A cursor is the place of the last row: the next page
 * begins after it, even if rows have been added or removed meanwhile.
 */
import { compareBytes, QuoinError } from '@quoin/primitives'
import { keyOnly, scoreOnly } from './batch-encoder.ts'
import { readCursor, writeCursor } from './cursor.ts'
import type { FilteredRows, Keep, Place, Reads, Rows, ScoredMember } from './engine.ts'

const JOINS = ['union', 'intersect', 'difference'] as const
export type Join = (typeof JOINS)[number]

export interface FoundRow extends ScoredMember {
  /** Which of the sets it is from: an index into `keys`. */
  readonly from: number
}

export interface Search {
  readonly keys: readonly Uint8Array[]
  readonly join?: Join
  /** The least score. */
  readonly from?: number
  /** The greatest score. */
  readonly to?: number
  readonly reverse?: boolean
  /** Rows of a page, 100 unless given, at most `MAX_LIMIT`. */
  readonly limit?: number
  /** From the page before. */
  readonly cursor?: string
  /** Which rows to keep, asked for many at once. */
  readonly filter?: (rows: readonly FoundRow[]) => readonly boolean[] | Promise<readonly boolean[]>
  /** Rows to look at for one page, 1,000,000 unless given. A page that ends there has a cursor, and may be short. */
  readonly effort?: number
}

export interface SearchPage {
  readonly rows: readonly FoundRow[]
  /** For the next page; undefined when there is none. */
  readonly cursor: string | undefined
}

export const MAX_LIMIT = 10_000
const MAX_KEYS = 1000
const EFFORT = 1_000_000
/** Rows to read at once from each set: few at first, then more. */
const FIRST_CHUNK = 128
const LAST_CHUNK = 4096
export const search = async (reads: Reads, query: Search): Promise<SearchPage> => {
  const { keys, join, limit, effort, window } = checked(query)
  const candidates = await candidatesOf(reads, join, keys, window, limit, effort)
  // Every row of a union counts, so that no more are read than a page takes.
  const isWhole = !query.filter && (join === 'union' || keys.length < 2)
  const rows: FoundRow[] = []
  let scanned = 0
  let last: FoundRow | undefined
  for (;;) {
    const size = isWhole ? limit - rows.length : chunkSize(scanned, limit)
    const chunk = await candidates.next(Math.min(size, LAST_CHUNK, effort - scanned))
    const kept = query.filter && chunk.rows.length > 0 ? await query.filter(chunk.rows) : undefined
    for (const [i, row] of chunk.rows.entries()) {
      if (kept && !kept[i]) continue
      rows.push(row)
      if (rows.length === limit) return { rows, cursor: cursorAfter(row) }
    }
    last = chunk.rows.at(-1) ?? last
    scanned += chunk.scanned
    if (chunk.done) return { rows, cursor: undefined }
    if (scanned >= effort) return { rows, cursor: cursorAfter(chunk.place ?? last) }
  }
}

const chunkSize = (scanned: number, limit: number): number =>
  Math.min(Math.max(FIRST_CHUNK, scanned, Math.min(limit, LAST_CHUNK)), LAST_CHUNK)

const cursorAfter = (row: ScoredMember | undefined): string | undefined => row && writeCursor(row)

/** The bounds of a page: those of the search, narrowed by the cursor. */
type Window = Pick<Rows, 'min' | 'max'> & { readonly reverse: boolean }

const checked = (
  query: Search
): { keys: readonly Uint8Array[]; join: Join; limit: number; effort: number; window: Window } => {
  const { keys, join = 'union', from, to, reverse = false, limit = 100, effort = EFFORT, cursor } = query
  if (keys.length > MAX_KEYS) {
    throw new QuoinError(
      'ERR_STORE_OPTION',
      `a search takes at most ${MAX_KEYS} sorted sets, not ${keys.length}`
    )
  }
  if (!JOINS.includes(join)) {
    throw new QuoinError('ERR_STORE_OPTION', `join is ${JOINS.join(', ')}, not ${join}`)
  }
  for (const [name, value, most] of [
    ['limit', limit, MAX_LIMIT],
    ['effort', effort, Number.MAX_SAFE_INTEGER]
  ] as const) {
    if (!Number.isSafeInteger(value) || value < 1 || value > most) {
      throw new QuoinError('ERR_STORE_OPTION', `${name} is a whole number from 1 to ${most}, not ${value}`)
    }
  }
  const after: Place | undefined =
    cursor === undefined ? undefined : { ...readCursor(cursor), exclusive: true }
  const min = from === undefined ? undefined : { score: scoreOnly(from) }
  const max = to === undefined ? undefined : { score: scoreOnly(to) }
  return {
    keys: keys.map(keyOnly),
    join,
    limit,
    effort,
    window: reverse
      ? { min, max: tighter(after, max, (a, b) => a <= b), reverse }
      : { min: tighter(after, min, (a, b) => a >= b), max, reverse }
  }
}

/** The cursor's place, unless it lies outside the bound. */
const tighter = (
  cursor: Place | undefined,
  bound: Place | undefined,
  inside: (a: number, b: number) => boolean
): Place | undefined => (cursor && (!bound || inside(cursor.score, bound.score)) ? cursor : bound)

/** The rest of the window after a row. */
const following = (window: Window, { score, member }: ScoredMember): Window => {
  const place = { score, member, exclusive: true }
  return window.reverse ? { ...window, max: place } : { ...window, min: place }
}

interface Chunk {
  readonly rows: readonly FoundRow[]
  /** How many rows it took to find them. */
  readonly scanned: number
  /** The last row looked at, if further than the last found. */
  readonly place?: ScoredMember | undefined
  readonly done: boolean
}

/** Rows in the order of the result, a chunk at a time, looking at about `size` rows for each. */
interface Candidates {
  next(size: number): Promise<Chunk>
}

const NONE: Candidates = { next: async () => ({ rows: [], scanned: 0, done: true }) }

const candidatesOf = async (
  reads: Reads,
  join: Join,
  keys: readonly Uint8Array[],
  window: Window,
  limit: number,
  effort: number
): Promise<Candidates> => {
  const [first, ...others] = keys
  if (!first) return NONE
  if (join === 'union') {
    return keys.length === 1 ? new Walk(reads, first, 0, window) : new Merge(reads, keys, window)
  }
  if (others.length === 0) return new Walk(reads, first, 0, window)
  if (join === 'difference') {
    return new Probe(reads, first, others, window, 'in none')
  }
  const cards = await Promise.all(keys.map(key => reads.zcard(key)))
  const smallest = cards.indexOf(Math.min(...cards))
  const card = cards[smallest]!
  if (card === 0) return NONE
  if (smallest === 0 || (await reads.zaligned?.(keys))) {
    const rest = keys.filter((_, i) => i !== smallest)
    return new Probe(reads, keys[smallest]!, rest, window, 'in all')
  }
  const probe = new Probe(reads, first, others, window, 'in all')
  if (card > effort) return probe
  const gather = (rest: Window): Candidates => new Gather(reads, keys, smallest, rest)
  // At best one row in so many of the first set is found: to fill a page that way may take longer than to gather.
  return card * card <= limit * cards[0]! ? gather(window) : new ProbeThenGather(probe, card, gather, window)
}

/** One set, in its order. */
class Walk implements Candidates {
  readonly #reads: Reads
  readonly #key: Uint8Array
  readonly #from: number
  #window: Window

  constructor(reads: Reads, key: Uint8Array, from: number, window: Window) {
    this.#reads = reads
    this.#key = key
    this.#from = from
    this.#window = window
  }

  async next(size: number): Promise<Chunk> {
    const read = await this.#reads.zrows(this.#key, { ...this.#window, count: size })
    const last = read.at(-1)
    if (last) this.#window = following(this.#window, last)
    const rows = read.map(({ member, score }) => ({ member, score, from: this.#from }))
    return { rows, scanned: rows.length, done: rows.length < size }
  }
}

/** Rows of one set, kept or not by which of the other sets have their members. */
class Probe implements Candidates {
  readonly #reads: Reads
  readonly #key: Uint8Array
  readonly #others: readonly Uint8Array[]
  readonly #keep: Keep
  #window: Window

  constructor(reads: Reads, key: Uint8Array, others: readonly Uint8Array[], window: Window, keep: Keep) {
    this.#reads = reads
    this.#key = key
    this.#others = others
    this.#window = window
    this.#keep = keep
  }

  async next(size: number): Promise<Chunk> {
    const { rows, scanned, last } = await this.#probe({ ...this.#window, count: size })
    if (last) this.#window = following(this.#window, last)
    const found = rows.map(({ member, score }) => ({ member, score, from: 0 }))
    return { rows: found, scanned, place: last, done: scanned < size }
  }

  async #probe(rows: Rows): Promise<FilteredRows> {
    if (this.#reads.zfilter) return this.#reads.zfilter(this.#key, this.#others, rows, this.#keep)
    const scanned = await this.#reads.zrows(this.#key, rows)
    const members = scanned.map(({ member }) => member)
    const scores = await this.#reads.zscores(this.#others, members)
    const isKept = (each: readonly (number | undefined)[]): boolean =>
      this.#keep === 'in all' ? !each.includes(undefined) : each.every(score => score === undefined)
    return {
      rows: scanned.filter((_, i) => isKept(scores[i]!)),
      scanned: scanned.length,
      last: scanned.at(-1)
    }
  }
}

/**
 * An intersection whose first set is not the smallest. Rows of the first come in the right order, but may be of no
 * use; once as many were looked at as the smallest set has, that one is gathered. So it takes at most twice as long
 * as the better of the two would have.
 */
class ProbeThenGather implements Candidates {
  #candidates: Candidates
  #budget: number
  readonly #gather: (rest: Window) => Candidates
  readonly #window: Window

  constructor(probe: Probe, budget: number, gather: (rest: Window) => Candidates, window: Window) {
    this.#candidates = probe
    this.#budget = budget
    this.#gather = gather
    this.#window = window
  }

  async next(size: number): Promise<Chunk> {
    const chunk = await this.#candidates.next(size)
    this.#budget -= chunk.scanned
    if (this.#budget <= 0 && chunk.place && !chunk.done) {
      this.#candidates = this.#gather(following(this.#window, chunk.place))
      this.#budget = Number.POSITIVE_INFINITY
    }
    return chunk
  }
}

/** An intersection driven by its smallest set: its members are looked up in all sets, and sorted. */
class Gather implements Candidates {
  readonly #reads: Reads
  readonly #keys: readonly Uint8Array[]
  readonly #smallest: number
  readonly #window: Window
  #found: FoundRow[] | undefined

  constructor(reads: Reads, keys: readonly Uint8Array[], smallest: number, window: Window) {
    this.#reads = reads
    this.#keys = keys
    this.#smallest = smallest
    this.#window = window
  }

  async next(size: number): Promise<Chunk> {
    let scanned = 0
    if (!this.#found) {
      const members = await this.#reads.zrows(this.#keys[this.#smallest]!, {})
      scanned = members.length
      this.#found = await this.#lookUp(members.map(({ member }) => member))
    }
    const rows = this.#found.splice(0, size)
    return { rows, scanned: Math.max(scanned, rows.length), done: this.#found.length === 0 }
  }

  async #lookUp(members: readonly Uint8Array[]): Promise<FoundRow[]> {
    const found: FoundRow[] = []
    const scores = await this.#reads.zscores(this.#keys, members)
    for (const [i, member] of members.entries()) {
      const [score] = scores[i]!
      if (score === undefined || scores[i]!.includes(undefined)) continue
      if (isWithin(this.#window, { member, score })) found.push({ member, score, from: 0 })
    }
    const sign = this.#window.reverse ? -1 : 1
    return found.sort((a, b) => sign * compareRows(a, b))
  }
}

/** Several sets in one order, each row once. */
class Merge implements Candidates {
  readonly #sources: { readonly walk: Walk; rows: readonly FoundRow[]; at: number; done: boolean }[]
  readonly #sign: number

  constructor(reads: Reads, keys: readonly Uint8Array[], window: Window) {
    this.#sources = keys.map((key, i) => ({
      walk: new Walk(reads, key, i, window),
      rows: [],
      at: 0,
      done: false
    }))
    this.#sign = window.reverse ? -1 : 1
  }

  async next(size: number): Promise<Chunk> {
    const rows: FoundRow[] = []
    // Enough from each set for the sets together; a set that has more to give is read again.
    const share = Math.max(16, Math.ceil(size / this.#sources.length))
    while (rows.length < size) {
      const row = await this.#least(share)
      if (!row) return { rows, scanned: rows.length, done: true }
      rows.push(row)
    }
    return { rows, scanned: rows.length, done: false }
  }

  /** Takes the least row, and the same row wherever else it stands first. */
  async #least(share: number): Promise<FoundRow | undefined> {
    let least: FoundRow | undefined
    for (const source of this.#sources) {
      if (source.at === source.rows.length && !source.done) {
        const { rows, done } = await source.walk.next(share)
        Object.assign(source, { rows, at: 0, done })
      }
      const head = source.rows[source.at]
      if (head && (!least || this.#sign * compareRows(head, least) < 0)) least = head
    }
    if (!least) return undefined
    for (const source of this.#sources) {
      const head = source.rows[source.at]
      if (head && compareRows(head, least) === 0) source.at++
    }
    return least
  }
}

const compareRows = (a: ScoredMember, b: ScoredMember): number =>
  a.score < b.score ? -1 : a.score > b.score ? 1 : compareBytes(a.member, b.member)

const isWithin = ({ min, max }: Window, row: ScoredMember): boolean =>
  (!min || beyond(row, min) >= (min.exclusive ? 1 : 0)) &&
  (!max || beyond(row, max) <= (max.exclusive ? -1 : 0))

/** -1, 0 or 1: the row is before, at or after the place. */
const beyond = (row: ScoredMember, { score, member }: Place): number =>
  Math.sign(
    member
      ? compareRows(row, { score, member })
      : compareRows({ ...row, member: NO_BYTES }, { score, member: NO_BYTES })
  )

const NO_BYTES = new Uint8Array()
