/**
 * Regular expressions over bytes, as plain values. A component states its words as a pattern; `Language.of` compiles
 * the pattern to the minimal automaton that all proofs work on.
 */
import { QuoinError } from '@quoin/primitives'
import { ByteSet } from './byteset.ts'
import type { Language } from './language.ts'

export type Pattern =
  | { readonly kind: 'set'; readonly set: ByteSet }
  | { readonly kind: 'seq'; readonly parts: readonly Pattern[] }
  | { readonly kind: 'alt'; readonly options: readonly Pattern[] }
  | { readonly kind: 'repeat'; readonly of: Pattern; readonly min: number; readonly max: number }
  | { readonly kind: 'language'; readonly language: Language }

export const set = (bytes: ByteSet): Pattern => ({ kind: 'set', set: bytes })
export const chars = (text: string): Pattern => set(ByteSet.chars(text))
export const range = (low: number, high: number): Pattern => set(ByteSet.range(low, high))
export const seq = (...parts: Pattern[]): Pattern => ({ kind: 'seq', parts })
export const alt = (...options: Pattern[]): Pattern => ({ kind: 'alt', options })
export const repeat = (of: Pattern, min: number, max: number = min): Pattern => {
  checkLength({ min, max })
  return { kind: 'repeat', of, min, max }
}

/** The words of a language. */
export const wordOf = (language: Language): Pattern => ({ kind: 'language', language })

/** The words of a pattern, each from its end to its start. */
export const reversed = (pattern: Pattern): Pattern => {
  switch (pattern.kind) {
    case 'set':
      return pattern
    case 'seq':
      return seq(...pattern.parts.map(reversed).reverse())
    case 'alt':
      return alt(...pattern.options.map(reversed))
    case 'repeat':
      return { ...pattern, of: reversed(pattern.of) }
    case 'language':
      throw new QuoinError('ERR_KEYSPACE_DECLARATION', 'a language cannot be reversed; use a pattern')
  }
}

/** Bounds on a length or a number of times. */
export interface Length {
  readonly min?: number
  readonly max?: number
}

export const checkLength = ({ min = 0, max = Number.POSITIVE_INFINITY }: Length): void => {
  const isCount = (n: number): boolean => Number.isInteger(n) && n >= 0
  if (isCount(min) && (isCount(max) || max === Number.POSITIVE_INFINITY) && min <= max) return
  throw new QuoinError('ERR_KEYSPACE_DECLARATION', `invalid range of lengths: ${min} to ${max}`, {
    min,
    max
  })
}
export const any = set(ByteSet.all)
export const empty: Pattern = seq()

/** Exactly these bytes. */
export const word = (bytes: Iterable<number>): Pattern =>
  seq(...Array.from(bytes, byte => set(ByteSet.of(byte))))

/**
 * The words of one length from `low` to `high` in byte order, over the alphabet `floor`..`ceil`.
 * `between([0x31, 0x30], [0x32, 0x35], 0x30, 0x39)` is the decimals 10 to 25.
 */
export const between = (
  low: readonly number[],
  high: readonly number[],
  floor = 0x00,
  ceil = 0xff
): Pattern => {
  const [first, last] = [low[0], high[0]]
  if (first === undefined || last === undefined) return empty
  if (low.every(byte => byte === floor) && high.every(byte => byte === ceil))
    return repeat(range(floor, ceil), low.length)
  const [lows, highs] = [low.slice(1), high.slice(1)]
  if (first === last) return seq(range(first, first), between(lows, highs, floor, ceil))
  const floors = lows.map(() => floor)
  const ceils = highs.map(() => ceil)
  const options = [
    seq(range(first, first), between(lows, ceils, floor, ceil)),
    seq(range(last, last), between(floors, highs, floor, ceil))
  ]
  if (last - first > 1) options.push(seq(range(first + 1, last - 1), repeat(range(floor, ceil), lows.length)))
  return alt(...options)
}

/** Well-formed UTF-8 (Unicode 16, table 3-7) without the ASCII characters in `except`. */
export const utf8 = (except: ByteSet = ByteSet.of()): Pattern => {
  const tail = range(0x80, 0xbf)
  return repeat(
    alt(
      set(ByteSet.range(0x00, 0x7f).minus(except)),
      seq(range(0xc2, 0xdf), tail),
      seq(range(0xe0, 0xe0), range(0xa0, 0xbf), tail),
      seq(set(ByteSet.range(0xe1, 0xef).minus(ByteSet.of(0xed))), tail, tail),
      seq(range(0xed, 0xed), range(0x80, 0x9f), tail),
      seq(range(0xf0, 0xf0), range(0x90, 0xbf), tail, tail),
      seq(range(0xf1, 0xf3), tail, tail, tail),
      seq(range(0xf4, 0xf4), range(0x80, 0x8f), tail, tail)
    ),
    0,
    Number.POSITIVE_INFINITY
  )
}

/** Decimal text of the integers from 0 to `max`, without leading zeros. */
export const decimalUpTo = (max: bigint): Pattern => {
  const digits = Array.from(max.toString(), digit => digit.charCodeAt(0))
  const least = [0x31, ...digits.slice(1).fill(0x30)]
  const options = [chars('0')]
  if (max > 0n) options.push(between(least, digits, 0x30, 0x39))
  if (digits.length > 1) options.push(seq(range(0x31, 0x39), repeat(range(0x30, 0x39), 0, digits.length - 2)))
  return alt(...options)
}
