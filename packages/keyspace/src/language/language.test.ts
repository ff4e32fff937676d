import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ByteSet } from './byteset.ts'
import { Language } from './language.ts'
import { matchEnds, patternsOver } from './match.testing.ts'
import { any, between, chars, range, repeat, seq, utf8, word } from './pattern.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const isWord = (language: Language, word: Uint8Array): boolean =>
  language.matcher.departs(word, 0, word.length) === -1

const patterns = patternsOver('abc')

describe('a language', () => {
  it('accepts exactly the words of its pattern', () => {
    fc.assert(
      fc.property(patterns, fc.array(fc.constantFrom(97, 98, 99), { maxLength: 6 }), (pattern, letters) => {
        const text = Uint8Array.from(letters)
        expect(isWord(Language.of(pattern), text)).toBe(matchEnds(pattern, text, 0).has(text.length))
      }),
      { numRuns: 2000 }
    )
  })

  it('is minimal: no two states accept the same completions', () => {
    fc.assert(
      fc.property(patterns, pattern => {
        const { edges, accepting } = Language.of(pattern)
        const tails = (state: number, depth: number): string[] => [
          ...(accepting[state] ? [''] : []),
          ...(depth === 0
            ? []
            : edges[state]!.flatMap(({ set, to }) =>
                tails(to, depth - 1).flatMap(tail => [...set].map(byte => String.fromCharCode(byte) + tail))
              ))
        ]
        const classes = edges.map((_, state) => tails(state, Math.min(edges.length, 5)).sort().join())
        if (edges.length <= 5) expect(new Set(classes).size).toBe(edges.length)
      })
    )
  })

  it('of one word is what its pattern comes to', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 20 }), literal => {
        const { edges, accepting } = Language.word(literal)
        const made = Language.of(word(literal))
        expect(accepting).toEqual(made.accepting)
        expect(edges.map(out => out.map(({ set, to }) => [[...set], to]))).toEqual(
          made.edges.map(out => out.map(({ set, to }) => [[...set], to]))
        )
      })
    )
  })

  it('knows its lengths, and a shortest and a longest completion of every state', () => {
    fc.assert(
      fc.property(patterns, pattern => {
        const language = Language.of(pattern)
        const short = Uint8Array.from(language.completion(0))
        expect(short.length).toBe(language.minLength)
        expect(isWord(language, short)).toBe(true)
        const long = Uint8Array.from(language.stretch(0, 20))
        expect(isWord(language, long)).toBe(true)
        if (language.maxLength === Number.POSITIVE_INFINITY) expect(long.length).toBeGreaterThan(20)
        else if (language.maxLength <= 20) expect(long.length).toBe(language.maxLength)
      })
    )
  })

  it('says where a word departs and what was expected there', () => {
    const hex = Language.of(repeat(repeat(chars('0123456789abcdef'), 2), 0, Number.POSITIVE_INFINITY))
    expect(hex.matcher.departs(bytes('00fg'), 0, 4)).toBe(3)
    expect(hex.expected(bytes('00fg'), 0, 3).toString()).toBe(`'0'-'9' 'a'-'f'`)
    expect(hex.matcher.departs(bytes('00f'), 0, 3)).toBe(3)
    expect(hex.matcher.departs(bytes('00ff'), 0, 4)).toBe(-1)
  })
})

describe('between', () => {
  it('is the words from low to high in byte order', () => {
    const three = fc.tuple(fc.nat(3), fc.nat(3), fc.nat(3))
    const rank = (word: readonly number[]): number => word.reduce((sum, digit) => sum * 4 + digit, 0)
    fc.assert(
      fc.property(three, three, three, (a, b, probe) => {
        const [low, high] = rank(a) <= rank(b) ? [a, b] : [b, a]
        const language = Language.of(between(low, high, 0, 3))
        expect(isWord(language, Uint8Array.from(probe))).toBe(
          rank(low) <= rank(probe) && rank(probe) <= rank(high)
        )
      })
    )
  })
})

describe('utf8', () => {
  it('is what a fatal TextDecoder accepts', () => {
    const language = Language.of(utf8())
    const tricky = fc.constantFrom(
      0x00,
      0x7f,
      0x80,
      0x8f,
      0x90,
      0x9f,
      0xa0,
      0xbf,
      0xc0,
      0xc1,
      0xc2,
      0xdf,
      0xe0,
      0xed,
      0xef,
      0xf0,
      0xf4,
      0xf5,
      0xff
    )
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 5 }), fc.array(tricky, { maxLength: 5 }), (random, chosen) => {
        for (const word of [random, Uint8Array.from(chosen)]) {
          let valid = true
          try {
            new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(word)
          } catch {
            valid = false
          }
          expect(isWord(language, word)).toBe(valid)
        }
      }),
      { numRuns: 5000 }
    )
  })
})

describe('Language.of', () => {
  it('refuses an empty language and one with too many states, each with its code', () => {
    expect(() => Language.of(chars(''))).toThrow(
      expect.objectContaining({ code: 'ERR_KEYSPACE_DECLARATION' })
    )
    expect(() => Language.of(repeat(any, 0, 1_000_000))).toThrow(
      expect.objectContaining({ code: 'ERR_KEYSPACE_TOO_LARGE' })
    )
  })

  it('sees when a length check is the whole check', () => {
    expect(Language.of(repeat(any, 36)).isAllBytes).toBe(true)
    expect(Language.of(seq(range(0, 254), any)).isAllBytes).toBe(false)
    expect(Language.of(word(bytes('h:'))).fixedLength).toBe(2)
    expect(Language.of(word(bytes('h:'))).alphabet.equals(ByteSet.chars('h:'))).toBe(true)
  })
})
