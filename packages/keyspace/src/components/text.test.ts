import { QuoinError } from '@quoin/primitives'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Codec } from '../codec.ts'
import { Language } from '../language/language.ts'
import { seq } from '../language/pattern.ts'
import { notCanonical } from '../proof/canonical.ts'
import {
  accepts,
  altered,
  byCodePoint,
  codecLaws,
  errorOf,
  hexOf,
  latin1,
  refusal,
  textOver,
  utf8,
  withCommonStart,
  wordOf
} from './laws.testing.ts'
import { alphabet, escaped, SEPARATORS, text, word } from './text.ts'

const ASCII = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)).join('')
/**
 * The first and the last characters of each length in UTF-8, the neighbours of the surrogates, a BOM, and two
 * that Unicode normalisation would replace or combine.
 */
const LANDMARKS =
  '\u0301\u212b\u0080\u07ff\u0800\ud7ff\ue000\ufeff\uff5e\uffee\ufffd\uffff\u{10000}\u{1f600}\u{10ffff}é€𝄞'
const character = fc.oneof(
  fc.constantFrom(...ASCII),
  fc.constantFrom(...LANDMARKS),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 })
)
const texts = fc.string({ unit: character, maxLength: 12 })
const without = (excluded: string): fc.Arbitrary<string> =>
  texts.map(value => [...value].filter(char => !excluded.includes(char)).join(''))

/** The text that the bytes are, if they are well-formed UTF-8. */
const decoded = (bytes: Uint8Array): string | undefined => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
const isTextWithout = (excluded: string, bytes: Uint8Array): boolean => {
  const value = decoded(bytes)
  return value !== undefined && [...value].every(char => !excluded.includes(char))
}
/** Bytes from those at the edges of the UTF-8 tables. */
const almostUtf8 = fc
  .array(
    fc.constantFrom(
      ...[0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc2, 0xdf],
      ...[0xe0, 0xe1, 0xed, 0xef, 0xf0, 0xf1, 0xf4, 0xf5, 0xff]
    ),
    { maxLength: 5 }
  )
  .map(list => Uint8Array.from(list))

codecLaws('text', {
  codec: text('t').codec,
  kind: 'string',
  values: texts,
  pairs: withCommonStart(texts),
  near: almostUtf8,
  encode: utf8,
  isWord: bytes => decoded(bytes) !== undefined,
  order: 'bytes',
  compare: byCodePoint
})

codecLaws('text without separators', {
  codec: text('t', { except: '\0/:|' }).codec,
  kind: 'string',
  values: without('\0/:|'),
  pairs: withCommonStart(without('\0/:|')),
  near: fc.oneof(almostUtf8, textOver('a\0/:|é', 0, 4).map(utf8)),
  encode: utf8,
  isWord: bytes => isTextWithout('\0/:|', bytes),
  order: 'bytes',
  compare: byCodePoint
})

codecLaws('text of two to six bytes', {
  codec: text('t', { min: 2, max: 6 }).codec,
  kind: 'string',
  values: texts.filter(value => utf8(value).length >= 2 && utf8(value).length <= 6),
  near: texts.map(utf8),
  encode: utf8,
  isWord: bytes => decoded(bytes) !== undefined && bytes.length >= 2 && bytes.length <= 6,
  order: 'bytes',
  compare: byCodePoint
})

codecLaws('alphabet', {
  codec: alphabet('a', 'ab-Z').codec,
  kind: 'string',
  values: textOver('ab-Z', 1, 12),
  pairs: withCommonStart(textOver('ab-Z', 1, 4)),
  near: textOver('ab-ZcAé', 0, 5).map(utf8),
  encode: utf8,
  isWord: bytes => /^[abZ-]+$/.test(latin1(bytes)),
  order: 'bytes',
  compare: byCodePoint
})

codecLaws('alphabet of none to three characters', {
  codec: alphabet('a', '01', { min: 0, max: 3 }).codec,
  kind: 'string',
  values: textOver('01', 0, 3),
  near: textOver('012', 0, 5).map(utf8),
  encode: utf8,
  isWord: bytes => /^[01]{0,3}$/.test(latin1(bytes)),
  order: 'bytes',
  compare: byCodePoint
})

const WORDS = ['in', 'input', 'out', 'spnd'] as const
codecLaws('word', {
  codec: word('w', ...WORDS).codec,
  kind: 'string',
  values: fc.constantFrom(...WORDS),
  encode: utf8,
  isWord: bytes => /^(in|input|out|spnd)$/.test(latin1(bytes)),
  order: 'bytes',
  compare: byCodePoint
})

/** What the default reserved characters, and the neighbours they are written behind, become. */
const CODES: Readonly<Record<string, string>> = {
  '\0': '\x010',
  '\x01': '\x011',
  '.': '.0',
  '/': '.1',
  ':': ';0',
  ';': ';1',
  '|': '}0',
  '}': '}1'
}
const escapedByHand = (value: string): string => Array.from(value, char => CODES[char] ?? char).join('')
const restored = (value: string): string => {
  let plain = ''
  for (let i = 0; i < value.length; i++) {
    const pair = Object.keys(CODES).find(char => CODES[char] === value.slice(i, i + 2))
    plain += pair ?? value[i]!
    if (pair !== undefined) i++
  }
  return plain
}
const SPECIAL = `${Object.keys(CODES).join('')}01289<{~\x02-`
const specialTexts = fc.oneof(
  textOver(SPECIAL, 0, 8),
  fc.string({ unit: fc.oneof(fc.constantFrom(...SPECIAL), character), maxLength: 12 })
)

codecLaws('escaped', {
  codec: escaped('e').codec,
  kind: 'string',
  values: specialTexts,
  pairs: withCommonStart(specialTexts),
  near: fc.oneof(almostUtf8, specialTexts.map(utf8)),
  encode: value => utf8(escapedByHand(value)),
  isWord: bytes => {
    const value = decoded(bytes)
    return value !== undefined && escapedByHand(restored(value)) === value
  },
  order: 'bytes',
  compare: byCodePoint
})

/** The laws of `escaped` on two texts. */
const keepsLaws = (codec: Codec<string>, reserved: string, [a, b]: readonly [string, string]): void => {
  const [one, other] = [wordOf(codec, a), wordOf(codec, b)]
  for (const char of reserved) expect(one).not.toContain(char.charCodeAt(0))
  expect(codec.read(one, 0, one.length)).toBe(a)
  expect(Math.sign(Buffer.compare(one, other))).toBe(Math.sign(byCodePoint(a, b)))
}
const next = (char: string, step: number): string => String.fromCharCode(char.charCodeAt(0) + step)
/** Two texts of the reserved characters and those around them. */
const textsAround = (reserved: string): fc.Arbitrary<readonly [string, string]> => {
  const nearby = [...reserved].flatMap(char => [-1, 0, 1, 2].map(step => next(char, step)))
  const codes = [...nearby.filter(char => char <= '\x7f'), '0', '1', '2', 'a', 'é']
  return withCommonStart(textOver(codes.join(''), 0, 4))
}

describe('escaped', () => {
  const holdsFor = (reserved: string, numRuns: number): void => {
    const { codec } = escaped('e', { reserved })
    fc.assert(
      fc.property(textsAround(reserved), pair => keepsLaws(codec, reserved, pair)),
      { numRuns }
    )
  }

  it('reserves NUL and the usual separators unless told otherwise', () => {
    expect([...SEPARATORS].sort()).toStrictEqual(['\0', '/', ':', '|'])
    holdsFor(SEPARATORS, 500)
  })

  it('can reserve any one character', () => {
    for (const reserved of ASCII) holdsFor(reserved, 20)
  })

  it('can reserve any two characters, also those with one character between them', () => {
    const pairs = Array.from(ASCII.slice(0, 126), first => first + next(first, 2))
    const refused = pairs.filter(reserved => {
      try {
        holdsFor(reserved, 20)
        return false
      } catch (error) {
        if (error instanceof QuoinError) return true
        throw error
      }
    })
    expect(refused).toStrictEqual([])
  })

  it('either keeps its laws for a set of reserved characters or refuses the set', () => {
    const reservedSets = fc
      .array(fc.tuple(fc.nat(127), fc.integer({ min: 1, max: 4 })), { minLength: 1, maxLength: 4 })
      .map(runs => new Set(runs.flatMap(([start, length]) => [...ASCII.slice(start, start + length)])))
      .map(set => [...set].join(''))
    fc.assert(
      fc.property(
        reservedSets.chain(reserved => fc.tuple(fc.constant(reserved), textsAround(reserved))),
        ([reserved, pair]) => {
          let codec: Codec<string>
          try {
            codec = escaped('e', { reserved }).codec
          } catch (error) {
            expect(error).toMatchObject({ name: 'QuoinError', code: 'ERR_KEY_VALUE' })
            return
          }
          keepsLaws(codec, reserved, pair)
        }
      ),
      { numRuns: 300 }
    )
  })

  it('refuses to reserve so much that nothing is left to write it with', () => {
    for (const reserved of [ASCII.slice(0, 64), ASCII.slice(1), ASCII]) {
      expect(errorOf(() => escaped('e', { reserved }))).toMatchObject({ code: 'ERR_KEY_VALUE' })
    }
  })

  it('refuses to reserve a character that is not ASCII', () => {
    expect(errorOf(() => escaped('e', { reserved: '/é' }))).toMatchObject({ code: 'ERR_KEY_VALUE' })
  })
})

describe('text', () => {
  it('sorts by code point, not as JavaScript compares strings', () => {
    const [halfwidth, emoji] = ['\uff5e', '\u{1f600}']
    expect(halfwidth > emoji).toBe(true)
    for (const codec of [text('t').codec, escaped('e').codec]) {
      expect(Buffer.compare(wordOf(codec, halfwidth), wordOf(codec, emoji))).toBe(-1)
    }
  })

  it('keeps a byte order mark', () => {
    for (const codec of [text('t').codec, escaped('e').codec]) {
      const bytes = wordOf(codec, '\ufeffa')
      expect(hexOf(bytes)).toBe('efbbbf61')
      expect(codec.read(bytes, 0, bytes.length)).toBe('\ufeffa')
    }
  })

  it('names the byte at which an excluded character stands', () => {
    const { codec } = text('t', { except: '/:' })
    fc.assert(
      fc.property(without('/:'), fc.constantFrom('/', ':'), texts, (before, excluded, after) => {
        expect(refusal(codec, before + excluded + after)).toMatchObject({
          code: 'ERR_KEY_VALUE',
          details: { codec: 'text', offset: utf8(before).length }
        })
      })
    )
  })

  it('names the byte at which a surrogate stands alone', () => {
    const lone = fc.constantFrom('\ud800', '\udbff', '\udc00', '\udfff', '\ude00\ud83d')
    fc.assert(
      fc.property(texts, lone, texts, (before, surrogate, after) => {
        expect(refusal(text('t').codec, before + surrogate + after)).toMatchObject({
          code: 'ERR_KEY_VALUE',
          details: { offset: utf8(before).length }
        })
        expect(refusal(escaped('e').codec, before + surrogate + after)).toMatchObject({
          code: 'ERR_KEY_VALUE',
          details: { offset: utf8(escapedByHand(before)).length }
        })
      })
    )
  })

  it('names the byte of the word, not of the buffer that the word is written to', () => {
    for (const codec of [text('t', { except: '/' }).codec, alphabet('a', 'ab').codec]) {
      const target = new Uint8Array(32)
      expect(errorOf(() => codec.write('ab/', target, 7))).toMatchObject({ details: { offset: 2 } })
    }
  })

  it('counts its bounds in bytes, and says where a text is too long or ends too soon', () => {
    const { codec } = text('t', { min: 2, max: 6 })
    expect(wordOf(codec, '€€')).toHaveLength(6)
    expect(refusal(codec, 'a')).toMatchObject({ code: 'ERR_KEY_VALUE', details: { offset: 1 } })
    expect(refusal(codec, 'abcdefg')).toMatchObject({ code: 'ERR_KEY_VALUE', details: { offset: 6 } })
    expect(refusal(codec, '€€€')).toMatchObject({ code: 'ERR_KEY_VALUE', details: { offset: 6 } })
    expect(refusal(codec, 'abcd€')).toMatchObject({ code: 'ERR_KEY_VALUE', details: { offset: 4 } })
  })

  it('can exclude ASCII characters only', () => {
    expect(errorOf(() => text('t', { except: 'é' }))).toMatchObject({ code: 'ERR_KEY_VALUE' })
    expect(errorOf(() => text('t', { except: '😀' }))).toMatchObject({ code: 'ERR_KEY_VALUE' })
  })
})

describe('alphabet and word', () => {
  it('refuse every other text, and name the byte', () => {
    const { codec } = alphabet('a', 'ab', { min: 1, max: 3 })
    for (const [value, offset] of [
      ['', 0],
      ['abc', 2],
      ['abab', 3],
      ['aB', 1],
      ['aé', 1],
      ['a\u0161', 1]
    ] as const) {
      expect(refusal(codec, value), value).toMatchObject({ code: 'ERR_KEY_VALUE', details: { offset } })
    }
    for (const [value, offset] of [
      ['', 0],
      ['inp', 3],
      ['inputs', 5],
      ['IN', 0],
      ['spent', 2]
    ] as const) {
      expect(refusal(word('w', ...WORDS).codec, value), value).toMatchObject({
        code: 'ERR_KEY_VALUE',
        details: { offset }
      })
    }
  })

  it('do not take a character above U+00FF for the one with the same low byte', () => {
    expect(refusal(alphabet('a', 'a').codec, '\u0161')).toMatchObject({ code: 'ERR_KEY_VALUE' })
    expect(refusal(word('w', 'a').codec, '\u{10061}')).toMatchObject({ code: 'ERR_KEY_VALUE' })
  })

  it('have at least one text', () => {
    expect(errorOf(() => alphabet('a', ''))).toMatchObject({ code: 'ERR_KEYSPACE_DECLARATION' })
    expect(errorOf(() => word('w'))).toMatchObject({ code: 'ERR_KEYSPACE_DECLARATION' })
  })

  it('have at least one text, also when the language of the empty text is known', () => {
    expect(Language.of(seq()).accepting).toEqual([true])
    expect(errorOf(() => word('w'))).toMatchObject({ code: 'ERR_KEYSPACE_DECLARATION' })
  })

  it('are ASCII: another character in the declaration is refused', () => {
    expect(() => alphabet('a', 'aé')).toThrow(QuoinError)
    expect(() => word('w', 'in', 'café')).toThrow(QuoinError)
  })
})

describe('the proof that a codec is canonical', () => {
  it('finds a codec that changes case', () => {
    const { codec } = alphabet('a', 'abAB')
    const found = notCanonical(altered(codec, { text: value => value.toLowerCase() }))
    expect(latin1(found!.word)).toMatch(/[AB]/)
    expect(latin1(found!.back as Uint8Array)).toBe(latin1(found!.word).toLowerCase())
  })

  it('finds a codec that leaves its language, and keeps the error', () => {
    const { codec } = alphabet('a', 'ab')
    const found = notCanonical(altered(codec, { text: value => value.toUpperCase() }))
    expect(accepts(codec, found!.word)).toBe(true)
    expect(found!.back).toMatchObject({ code: 'ERR_KEY_VALUE', details: { offset: 0 } })
  })
})
