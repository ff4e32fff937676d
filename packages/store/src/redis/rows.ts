/**
 * Rows of sorted sets, in pages: a server does nothing else while it answers, so no answer is large.
 *
 * Redis finds rows by score or by rank, but not by score and member; that takes a script, whose rows cost several
 * times those of a plain command. So the script is used where a place has a member, or many rows are passed over.
 */
import { compareBytes } from '@quoin/primitives'
import type { Place, Rows, ScoredMember } from '../engine.ts'
import type { Caller } from './reads.ts'
import type { Argument, Command } from './resp.ts'
import { rowsScript } from './scripts/rows.ts'

export interface RecordedMember extends ScoredMember {
  readonly record?: Uint8Array | null
}

const PAGE = 10_000
/** So many rows are passed over, or read once more, rather than asking a script to find the place. */
const SKIPPED = 1000

interface PageOf {
  readonly name: Uint8Array
  readonly low: Place | undefined
  readonly high: Place | undefined
  readonly reverse: boolean
  readonly offset: number
  readonly count: number
}

/** Rows of the sorted set of that name; with the records of the members if a hash of them is named. */
export const allRows = async (
  caller: Caller,
  name: Uint8Array,
  { min, max, reverse = false, offset = 0, count = Number.POSITIVE_INFINITY }: Rows,
  records?: Uint8Array
): Promise<RecordedMember[]> => {
  const watched = records ? [name, records] : [name]
  const all: RecordedMember[] = []
  /** The row that was read last, and how many rows up to it have its score. */
  let last: RecordedMember | undefined
  let ties = 0
  while (all.length < count) {
    // A plain command reads the ties of the last row again; they are left out.
    const again = last && ties <= SKIPPED ? ties : 0
    const from: Place | undefined = last && {
      score: last.score,
      ...(again ? {} : { member: last.member, exclusive: true })
    }
    const wanted = Math.min(PAGE, count - all.length) + again
    const page: PageOf = {
      name,
      low: reverse ? min : (from ?? min),
      high: reverse ? (from ?? max) : max,
      reverse,
      offset: last ? 0 : offset,
      count: wanted
    }
    const plain = records ? undefined : plainCommand(page)
    const reply = await caller.read(watched, plain ?? scriptCommand(page, records))
    const rows = rowsFrom(reply, records !== undefined)
    if (reverse && !plain) rows.reverse()
    const fresh = last ? rows.findIndex(row => isPast(row, last!, reverse)) : 0
    if (fresh >= 0) for (let i = fresh; i < rows.length && all.length < count; i++) all.push(rows[i]!)
    if (rows.length < wanted) break
    if (fresh < 0) {
      // So many ties were added meanwhile that there was no room for more.
      ties = Number.POSITIVE_INFINITY
      continue
    }
    const { score } = rows.at(-1)!
    const first = rows.findIndex(row => row.score === score)
    ties = rows.length - first + (first === 0 && last?.score === score ? ties : 0)
    last = rows.at(-1)!
  }
  return all
}

/** One command for the page, if there is any. */
const plainCommand = ({ name, low, high, reverse, offset, count }: PageOf): Command | undefined => {
  if (low?.member !== undefined || high?.member !== undefined) return undefined
  if (!low && !high) {
    const command = reverse ? 'ZREVRANGE' : 'ZRANGE'
    return [command, name, String(offset), String(offset + count - 1), 'WITHSCORES']
  }
  if (offset > SKIPPED) return undefined
  const bounds = [bound(low, '-inf'), bound(high, '+inf')]
  const limit = ['WITHSCORES', 'LIMIT', String(offset), String(count)]
  return reverse
    ? ['ZREVRANGEBYSCORE', name, ...bounds.reverse(), ...limit]
    : ['ZRANGEBYSCORE', name, ...bounds, ...limit]
}

const scriptCommand = (
  { name, low, high, reverse, offset, count }: PageOf,
  records: Uint8Array | undefined
): Command =>
  rowsScript(
    name,
    ...placeArguments(low),
    ...placeArguments(high),
    reverse ? '1' : '0',
    String(offset),
    String(count),
    ...(records ? [records] : [])
  )

const isPast = (row: ScoredMember, place: ScoredMember, reverse: boolean): boolean => {
  const order =
    row.score === place.score ? compareBytes(row.member, place.member) : row.score < place.score ? -1 : 1
  return reverse ? order < 0 : order > 0
}

const bound = (place: Place | undefined, none: string): string =>
  place ? `${place.exclusive ? '(' : ''}${scoreText(place.score)}` : none

const placeArguments = (place: Place | undefined): Argument[] => {
  if (!place) return ['', '', '']
  const { score, member, exclusive } = place
  const letter = member === undefined ? 's' : 'm'
  return [exclusive ? letter.toUpperCase() : letter, scoreText(score), member ?? '']
}

const scoreText = (score: number): string =>
  score === Number.POSITIVE_INFINITY ? '+inf' : score === Number.NEGATIVE_INFINITY ? '-inf' : String(score)

const ascii = new TextDecoder('latin1')

/** Redis writes 17 significant digits, which is every score exactly. */
export const scoreFrom = (bytes: Uint8Array): number => {
  const text = ascii.decode(bytes)
  if (text === 'inf') return Number.POSITIVE_INFINITY
  if (text === '-inf') return Number.NEGATIVE_INFINITY
  return Number(text)
}

const rowsFrom = (reply: unknown, hasRecords: boolean): RecordedMember[] => {
  const flat = reply as (Uint8Array | null)[]
  const rows: RecordedMember[] = []
  if (hasRecords) {
    for (let i = 0; i < flat.length; i += 3) {
      rows.push({ member: flat[i]!, score: scoreFrom(flat[i + 1]!), record: flat[i + 2]! })
    }
  } else {
    for (let i = 0; i < flat.length; i += 2) rows.push({ member: flat[i]!, score: scoreFrom(flat[i + 1]!) })
  }
  return rows
}
