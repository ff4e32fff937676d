/**
 * Ranges of keys. Each partition has an index of its keys; a range is read from all that may have keys of it, in
 * pages, and merged. A page is one state of its partition.
 */
import { compareBytes, type KeyRange, prefixEnd, QuoinError, successor } from '../../keyspace/index.ts'
import { nameOf, type Partition } from './names.ts'
import type { Caller } from './reads.ts'
import type { Reply } from './resp.ts'
import { rangeScript } from './scripts/range.ts'
import { PARTITIONED_BYTES, partitionOf } from './slots.ts'

export interface Row {
  readonly key: Uint8Array
  readonly value: Reply
}

/** At most so many keys, and about so many bytes, in one page. */
const PAGE_KEYS = 1000
const PAGE_BYTES = 8 * 1024 * 1024
const INDEX_PAGE = 10_000

/** Values (`v`) or hashes (`h`) whose keys are in the range, in its direction. */
export const inRange = async (
  caller: Caller,
  kind: 'v' | 'h',
  range: KeyRange,
  limit = Number.POSITIVE_INFINITY
): Promise<Row[]> => {
  if (limit <= 0 || isEmpty(range)) return []
  const partitions = partitionsOf(range, caller.partitions)
  // What a partition is expected to have of the rows, and some more, so that one page mostly is enough.
  const page = Math.min(
    PAGE_KEYS,
    Math.ceil((limit / partitions.length) * (partitions.length > 1 ? 1.25 : 1)) +
      (partitions.length > 1 ? 8 : 0)
  )
  const walks = partitions.map(partition => new Walk(caller, partition, kind, range, Math.min(page, limit)))
  await Promise.all(walks.map(walk => walk.fill()))
  const [only] = walks
  const rows: Row[] = []
  while (rows.length < limit) {
    const next = walks.length === 1 ? only! : first(walks, range.reverse)
    const row = next?.take()
    if (!row) break
    rows.push(row)
    if (next!.isDry) await Promise.all(walks.map(walk => walk.fill()))
  }
  return rows
}

/** The keys in an index that are in the range, in its direction. */
export const keysIn = async (
  caller: Caller,
  index: 'Z',
  range: KeyRange,
  limit = Number.POSITIVE_INFINITY
): Promise<Uint8Array[]> => {
  if (limit <= 0 || isEmpty(range)) return []
  const { reverse } = range
  const found = await Promise.all(
    partitionsOf(range, caller.partitions).map(async partition => {
      const name = nameOf(partition, index)
      const keys: Uint8Array[] = []
      for (let [low, high] = [lexical('[', range.start), highest(range.end)]; ; ) {
        const wanted = Math.min(limit - keys.length, INDEX_PAGE)
        const command = reverse ? ['ZREVRANGEBYLEX', name, high, low] : ['ZRANGEBYLEX', name, low, high]
        const page = (await caller.read(
          partition,
          [name],
          [...command, 'LIMIT', '0', String(wanted)]
        )) as Uint8Array[]
        for (const key of page) keys.push(key)
        if (page.length < wanted || keys.length === limit) return keys
        if (reverse) high = lexical('(', page.at(-1)!)
        else low = lexical('(', page.at(-1)!)
      }
    })
  )
  if (found.length === 1) return found[0]!
  const all = found.flat().sort(reverse ? (a, b) => compareBytes(b, a) : compareBytes)
  return limit < all.length ? all.slice(0, limit) : all
}

/** The rows of one partition, a page at a time. */
class Walk {
  readonly #caller: Caller
  readonly #partition: Partition
  readonly #kind: 'v' | 'h'
  readonly #reverse: boolean
  #low: Uint8Array
  #high: Uint8Array
  readonly #page: number
  #rows: Row[] = []
  #at = 0
  #hasMore = true

  constructor(caller: Caller, partition: Partition, kind: 'v' | 'h', range: KeyRange, page: number) {
    this.#caller = caller
    this.#partition = partition
    this.#kind = kind
    this.#reverse = range.reverse
    this.#low = lexical('[', range.start)
    this.#high = highest(range.end)
    this.#page = page
  }

  get head(): Row | undefined {
    return this.#rows[this.#at]
  }

  /** It has more rows, but none at hand. */
  get isDry(): boolean {
    return this.#at === this.#rows.length && this.#hasMore
  }

  take(): Row | undefined {
    return this.#rows[this.#at++]
  }

  async fill(): Promise<void> {
    if (!this.isDry) return
    const command = rangeScript(
      this.#partition,
      this.#kind,
      this.#low,
      this.#high,
      this.#reverse ? '1' : '0',
      String(this.#page),
      String(PAGE_BYTES)
    )
    const index = nameOf(this.#partition, this.#kind === 'v' ? 'V' : 'H')
    const reply = await this.#caller.read(this.#partition, [index], command, found =>
      rowsOf(found).map(({ key }) => nameOf(this.#partition, this.#kind, key))
    )
    this.#rows = rowsOf(reply)
    this.#at = 0
    this.#hasMore = (reply as Reply[])[0] === 1
    const last = this.#rows.at(-1)
    if (!last) return
    if (this.#reverse) this.#high = lexical('(', last.key)
    else this.#low = lexical('(', last.key)
  }
}

const rowsOf = (reply: Reply): Row[] => {
  const flat = reply as Reply[]
  const rows: Row[] = []
  for (let i = 1; i < flat.length; i += 2) {
    const value = flat[i + 1]!
    if (value === null) throw new QuoinError('ERR_STORE_CORRUPT', 'the index of keys has one without a value')
    rows.push({ key: flat[i] as Uint8Array, value })
  }
  return rows
}

/** The walk whose head comes first. */
const first = (walks: readonly Walk[], reverse: boolean): Walk | undefined => {
  let best: Walk | undefined
  for (const walk of walks) {
    if (!walk.head) continue
    const order = best ? compareBytes(walk.head.key, best.head!.key) : -1
    if (!best || (reverse ? order > 0 : order < 0)) best = walk
  }
  return best
}

/** Those that may have keys of the range: one if all keys of it begin with the bytes that decide. */
const partitionsOf = ({ start, end }: KeyRange, all: readonly Partition[]): readonly Partition[] => {
  if (all.length === 1) return all
  const common = start.subarray(0, PARTITIONED_BYTES)
  const past = common.length < PARTITIONED_BYTES ? undefined : prefixEnd(common)
  const isWithin =
    past === undefined
      ? end !== null && isOnly(start, end)
      : past === null || (end !== null && compareBytes(end, past) <= 0)
  return isWithin ? [all[partitionOf(start, all.length)]!] : all
}

/** The range has no key but the one it starts with. */
const isOnly = (start: Uint8Array, end: Uint8Array): boolean => compareBytes(end, successor(start)) <= 0

const isEmpty = ({ start, end }: KeyRange): boolean => end !== null && compareBytes(start, end) >= 0

/** A bound of ZRANGEBYLEX. */
const lexical = (bracket: '[' | '(', key: Uint8Array): Uint8Array => {
  const bound = new Uint8Array(1 + key.length)
  bound[0] = bracket.charCodeAt(0)
  bound.set(key, 1)
  return bound
}

const highest = (end: Uint8Array | null): Uint8Array => (end === null ? Uint8Array.of(43) : lexical('(', end))
