/**
 * Text in a key. `text` keeps the characters as they are and refuses the ones that would break the layout;
 * `escaped` takes any text and writes reserved characters in another way; `alphabet` and `word` say exactly
 * which texts there are. Order is by code point, which is the order of the UTF-8 bytes (not of UTF-16).
 */
import { type Codec, type Component, component, valueError } from '../codec.ts'
import { ByteSet } from '../language/byteset.ts'
import type { Length } from '../language/compile.ts'
import { Language } from '../language/language.ts'
import { alt, word as exactly, type Pattern, repeat, set, utf8 } from '../language/pattern.ts'
import { readAscii, readText, writeAscii, writeText } from './ascii.ts'

const textCodec = (name: string, phrase: string, language: Language): Codec<string> => {
  const codec: Codec<string> = {
    name,
    phrase,
    language,
    order: 'bytes',
    orderName: 'lexicographic',
    write(value, target, offset) {
      if (typeof value !== 'string') throw valueError(name, value, 'a string')
      return writeText(value, target, offset)
    },
    read: readText,
    show: value => JSON.stringify(value)
  }
  return codec
}

/** ASCII text whose words are exactly those of `pattern`. */
export const asciiCodec = <T extends string>(
  name: string,
  phrase: string,
  pattern: Pattern,
  length: Length = {}
): Codec<T> => {
  const codec: Codec<T> = {
    name,
    phrase,
    language: Language.of(pattern, length),
    order: 'bytes',
    orderName: 'lexicographic',
    write(value, target, offset) {
      if (typeof value !== 'string') throw valueError(name, value, 'a string')
      return writeAscii(value, target, offset)
    },
    read: (source, start, end) => readAscii(source, start, end) as T,
    show: value => value
  }
  return codec
}

const asciiSet = (what: string, characters: string): ByteSet => {
  for (const char of characters) {
    if (char.charCodeAt(0) > 0x7f) throw valueError(what, char, 'an ASCII character')
  }
  return ByteSet.chars(characters)
}

export interface TextOptions extends Length {
  /** ASCII characters that cannot occur. */
  readonly except?: string
}

/** Any text but the characters in `except`, as UTF-8. `min` and `max` count bytes. */
export const text = <const N extends string>(
  name: N,
  { except = '', ...length }: TextOptions = {}
): Component<N, string> =>
  component(name, textCodec('text', 'UTF-8 text', Language.of(utf8(asciiSet('except', except)), length)))

/** Text over the ASCII characters written out in `characters`. */
export const alphabet = <const N extends string>(
  name: N,
  characters: string,
  { min = 1, max = Number.POSITIVE_INFINITY }: Length = {}
): Component<N, string> =>
  component(name, asciiCodec('alphabet', 'text', repeat(set(asciiSet('alphabet', characters)), min, max)))

/** One of a few ASCII words, and no other. */
export const word = <const N extends string, const W extends string>(
  name: N,
  ...words: W[]
): Component<N, W> =>
  component(
    name,
    asciiCodec<W>('word', 'word', alt(...words.map(each => exactly(new TextEncoder().encode(each)))))
  )

/** What `escaped` reserves unless told otherwise: NUL and the separators in common use. */
export const SEPARATORS = '\0/:|'

/**
 * The code of each byte: itself, or two bytes when it is reserved or is the neighbour that the reserved ones
 * are written behind. With `:` reserved, `:` is `;0` and `;` is `;1`: both still sort between `9` and `<`, so
 * the order of texts is the order of their codes, and no reserved byte is ever written.
 */
const escapeTable = (reserved: ByteSet): readonly Uint8Array[] => {
  const codes = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte))
  const digits = [...ByteSet.chars('0123456789abcdefghijklmnopqrstuvwxyz').minus(reserved)]
  const alphanumeric = (byte: number): boolean => /[0-9A-Za-z]/.test(String.fromCharCode(byte))
  for (let low = 0; low < 128; low++) {
    if (!reserved.has(low)) continue
    let high = low
    while (reserved.has(high + 1)) high++
    // Prefer the neighbour that ordinary text has less of; below 00 and at 80 (not ASCII) there is none.
    const below = low - 1
    const above = high + 1
    const useAbove = above < 0x80 && (below < 0 || !alphanumeric(above) || alphanumeric(below))
    const lead = useAbove ? above : below
    const run = useAbove ? [low, above] : [below, high]
    const taken = codes[lead]!.length > 1
    if (lead < 0 || taken || run[1]! - run[0]! >= digits.length) {
      throw valueError(
        'escaped',
        reserved.toString(),
        'a set of reserved characters with an unreserved neighbour each'
      )
    }
    for (let byte = run[0]!; byte <= run[1]!; byte++)
      codes[byte] = Uint8Array.of(lead, digits[byte - run[0]!]!)
    low = high
  }
  return codes
}

const escapedCodec = (reserved: ByteSet): Codec<string> => {
  const codes = escapeTable(reserved)
  const plain = ByteSet.from(codes.flatMap((code, byte) => (code.length === 1 && byte < 0x80 ? [byte] : [])))
  const pairs = codes.filter(code => code.length === 2)
  const decode = new Map(
    codes.flatMap((code, byte) => (code.length === 2 ? [[(code[0]! << 8) | code[1]!, byte]] : []))
  )
  const leads = ByteSet.from(pairs.map(code => code[0]!))
  const multibyte = utf8(ByteSet.range(0x00, 0x7f))
  const codec: Codec<string> = {
    name: 'escaped',
    phrase: 'escaped text',
    language: Language.of(
      repeat(alt(set(plain), ...pairs.map(exactly), multibyte), 0, Number.POSITIVE_INFINITY)
    ),
    order: 'bytes',
    orderName: 'lexicographic',
    write(value, target, offset) {
      if (typeof value !== 'string') throw valueError('escaped', value, 'a string')
      let end = offset
      for (let i = 0; i < value.length; i++) {
        const unit = value.charCodeAt(i)
        if (unit > 0x7f) {
          // A whole character at a time, so that a lone surrogate is seen as such.
          const char = String.fromCodePoint(value.codePointAt(i)!)
          end = writeText(char, target, end)
          i += char.length - 1
          continue
        }
        const code = codes[unit]!
        target[end++] = code[0]!
        if (code.length === 2) target[end++] = code[1]!
      }
      return end
    },
    read(source, start, end) {
      const plainText = new Uint8Array(end - start)
      let length = 0
      for (let i = start; i < end; i++) {
        const byte = source[i]!
        plainText[length++] = leads.has(byte) ? decode.get((byte << 8) | source[++i]!)! : byte
      }
      return readText(plainText, 0, length)
    },
    show: value => JSON.stringify(value)
  }
  return codec
}

/** Any text; the characters in `reserved` never appear in the key, and the order of texts is kept. */
export const escaped = <const N extends string>(
  name: N,
  { reserved = SEPARATORS }: { readonly reserved?: string } = {}
): Component<N, string> => component(name, escapedCodec(asciiSet('reserved', reserved)))
