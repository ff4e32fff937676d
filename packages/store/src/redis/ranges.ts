/** Ranges of keys, by the indexes of keys, in pages. A page is one state of the store. */

import type { KeyRange } from '@quoin/keyspace'
import { compareBytes, QuoinError } from '@quoin/primitives'
import { nameOf } from './names.ts'
import type { Caller } from './reads.ts'
import type { Reply } from './resp.ts'
import { rangeScript } from './scripts/range.ts'

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
  const { reverse } = range
  const index = [nameOf(kind === 'v' ? 'V' : 'H')]
  const rows: Row[] = []
  for (let [low, high] = [lexical('[', range.start), highest(range.end)]; ; ) {
    const wanted = Math.min(limit - rows.length, PAGE_KEYS)
    const command = rangeScript(kind, low, high, reverse ? '1' : '0', String(wanted), String(PAGE_BYTES))
    const reply = await caller.read(index, command, found =>
      rowsOf(found).map(({ key }) => nameOf(kind, key))
    )
    rows.push(...rowsOf(reply))
    const hasMore = (reply as Reply[])[0] === 1
    if (!hasMore || rows.length === limit) return rows
    if (reverse) high = lexical('(', rows.at(-1)!.key)
    else low = lexical('(', rows.at(-1)!.key)
  }
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
  const name = nameOf(index)
  const keys: Uint8Array[] = []
  for (let [low, high] = [lexical('[', range.start), highest(range.end)]; ; ) {
    const wanted = Math.min(limit - keys.length, INDEX_PAGE)
    const command = reverse ? ['ZREVRANGEBYLEX', name, high, low] : ['ZRANGEBYLEX', name, low, high]
    const reply = await caller.read([name], [...command, 'LIMIT', '0', String(wanted)])
    const page = reply as Uint8Array[]
    keys.push(...page)
    if (page.length < wanted || keys.length === limit) return keys
    if (reverse) high = lexical('(', page.at(-1)!)
    else low = lexical('(', page.at(-1)!)
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

const isEmpty = ({ start, end }: KeyRange): boolean => end !== null && compareBytes(start, end) >= 0

/** A bound of ZRANGEBYLEX. */
const lexical = (bracket: '[' | '(', key: Uint8Array): Uint8Array => {
  const bound = new Uint8Array(1 + key.length)
  bound[0] = bracket.charCodeAt(0)
  bound.set(key, 1)
  return bound
}

const highest = (end: Uint8Array | null): Uint8Array => (end === null ? Uint8Array.of(43) : lexical('(', end))
