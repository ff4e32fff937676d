/**
 * Text in a key. `text` keeps characters as they are and excludes some; `escaped` takes any text and escapes reserved
 * characters; `alphabet` and `word` declare the exact set of texts. Order is by code point, which is the order of
 * UTF-8 bytes (not of UTF-16).
 */

import { quote, readAscii, readText, valueError } from '@quoin/primitives'
import { Codec, type Component, component } from '../codec.ts'
import { ByteSet } from '../language/byteset.ts'
import { Language } from '../language/language.ts'
import { alt, word as exactly, type Length, type Pattern, repeat, set, utf8 } from '../language/pattern.ts'
import { TEXT_SAMPLES } from './samples.ts'

const isString = <T extends string>(codec: string, value: T): T => {
  if (typeof value !== 'string') throw valueError(codec, value, 'a string')
  return value
}

/** ASCII text whose words are exactly those of `pattern`. */
export const asciiCodec = <T extends string>(
  name: string,
  phrase: string,
  pattern: Pattern,
  length: Length = {}
): Codec<T> =>
  new Codec<T>({
    name,
    phrase,
    language: Language.of(pattern, length),
    order: 'bytes',
    orderName: 'lexicographic',
    text: value => isString(name, value),
    read: readAscii as (source: Uint8Array, start: number, end: number) => T,
    show: value => value
  })

/** The bytes of text that must be ASCII; errors name it by `what`. */
export const asciiBytes = (what: string, text: string): number[] =>
  Array.from(text, char => {
    if (char > '\x7f') throw valueError(what, char, 'an ASCII character')
    return char.charCodeAt(0)
  })

/** UTF-8 text whose words are exactly those of `pattern`. */
export const textPatternCodec = (pattern: Pattern, length: Length = {}): Codec<string> =>
  new Codec<string>({
    name: 'pattern',
    phrase: 'text',
    language: Language.of(pattern, length),
    order: 'bytes',
    orderName: 'lexicographic',
    text: value => isString('pattern', value),
    read: readText,
    show: quote
  })

const asciiSet = (what: string, characters: string): ByteSet => ByteSet.from(asciiBytes(what, characters))

export interface TextOptions extends Length {
  /** ASCII characters that cannot occur. */
  readonly except?: string
}

/** Any text but the characters in `except`, as UTF-8. `min` and `max` count bytes. */
export const text = <const N extends string>(
  name: N,
  { except = '', ...length }: TextOptions = {}
): Component<N, string> =>
  component(
    name,
    new Codec<string>({
      name: 'text',
      phrase: 'UTF-8 text',
      language: Language.of(utf8(asciiSet('except', except)), length),
      order: 'bytes',
      orderName: 'lexicographic',
      samples: TEXT_SAMPLES,
      text: value => isString('text', value),
      read: readText,
      show: quote
    })
  )

/** Text over the given ASCII characters. */
export const alphabet = <const N extends string>(
  name: N,
  characters: string,
  { min = 1, max = Number.POSITIVE_INFINITY }: Length = {}
): Component<N, string> =>
  component(name, asciiCodec('alphabet', 'text', repeat(set(asciiSet('alphabet', characters)), min, max)))

/** One of a few ASCII words. */
export const word = <const N extends string, const W extends string>(
  name: N,
  ...words: W[]
): Component<N, W> =>
  component(name, asciiCodec<W>('word', 'word', alt(...words.map(each => exactly(asciiBytes('word', each))))))

/** Reserved by default: NUL and common separators. */
export const SEPARATORS = '\0/:|'

/**
 * The escape code of each reserved character, and of the unreserved neighbour that serves as the lead of the code.
 * With `:` reserved, `:` is `;0` and `;` is `;1`: both still sort between `9` and `<`, so texts sort as their codes
 * do, and no reserved character is ever written.
 */
const escapeCodes = (reserved: ByteSet): ReadonlyMap<string, string> => {
  const codes = new Map<string, string>()
  // For each lead, the first byte that is written behind it. Two runs of reserved bytes may share the lead between
  // them: its digits then go on counting.
  const begins = new Map<string, number>()
  const digits = [...ByteSet.chars('0123456789abcdefghijklmnopqrstuvwxyz').minus(reserved)]
  const isCommon = (byte: number): boolean => /[0-9A-Za-z]/.test(String.fromCharCode(byte))
  for (let low = 0; low < 0x80; low++) {
    if (!reserved.has(low)) continue
    let high = low
    while (reserved.has(high + 1)) high++
    // Of the two neighbours, the one that is rarer in ordinary text; it must be ASCII.
    const [below, above] = [low - 1, high + 1]
    const upwards = above < 0x80 && (below < 0 || !isCommon(above) || isCommon(below))
    const [first, last] = upwards ? [low, above] : [below, high]
    const lead = String.fromCharCode(upwards ? above : below)
    const begin = begins.get(lead) ?? first
    begins.set(lead, begin)
    if (first < 0 || last - begin >= digits.length) {
      throw valueError('escaped', reserved.toString(), 'few enough characters, with an unreserved neighbour')
    }
    for (let byte = first; byte <= last; byte++) {
      codes.set(String.fromCharCode(byte), lead + String.fromCharCode(digits[byte - begin]!))
    }
    low = high
  }
  return codes
}

const escapedCodec = (reserved: ByteSet): Codec<string> => {
  const codes = escapeCodes(reserved)
  const characters = new Map(Array.from(codes, ([character, code]) => [code, character]))
  const special = ByteSet.chars([...codes.keys()].join(''))
  const leads = new Set(Array.from(codes.values(), code => code[0]))
  const mustEscape = (char: string): boolean => char < '\x80' && special.has(char.charCodeAt(0))
  return new Codec<string>({
    name: 'escaped',
    phrase: 'escaped text',
    language: Language.of(
      repeat(
        alt(
          set(ByteSet.range(0x00, 0x7f).minus(special)),
          ...Array.from(codes.values(), code => exactly(asciiBytes('escaped', code))),
          utf8(ByteSet.range(0x00, 0x7f))
        ),
        0,
        Number.POSITIVE_INFINITY
      )
    ),
    order: 'bytes',
    orderName: 'lexicographic',
    samples: TEXT_SAMPLES,
    text(value) {
      let text = ''
      for (const char of isString('escaped', value)) text += mustEscape(char) ? codes.get(char)! : char
      return text
    },
    read(source, start, end) {
      const written = readText(source, start, end)
      let text = ''
      for (let i = 0; i < written.length; i++) {
        text += leads.has(written[i]!) ? characters.get(written[i]! + written[++i]!)! : written[i]!
      }
      return text
    },
    show: quote
  })
}

/**
 * Any text; the characters in `reserved` never appear in the key, and the order of texts is kept.
 *
 * @example
 * const { names } = keyspace('app', { names: collection({ key: [escaped('name'), ':', text('rest')] }) }).collections
 * new TextDecoder().decode(names.encode('a:b', 'c')) // 'a;0b:c'
 */
export const escaped = <const N extends string>(
  name: N,
  { reserved = SEPARATORS }: { readonly reserved?: string } = {}
): Component<N, string> => component(name, escapedCodec(asciiSet('reserved', reserved)))
