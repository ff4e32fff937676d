/**
 * Text with reserved characters escaped in the common styles, as tables of units: each reserved character has a code,
 * all others are themselves. A style may end the text with a terminator, and is then self-delimiting.
 */
import { QuoinError, quote, valueError, writeUtf8 } from '@quoin/primitives'
import { Codec } from '../codec.ts'
import { ByteSet } from '../language/byteset.ts'
import { Language } from '../language/language.ts'
import { alt, repeat, seq, set, utf8, word } from '../language/pattern.ts'
import { TEXT_SAMPLES } from './samples.ts'

export interface EscapeStyle {
  readonly about: string
  /** Whether the reserved characters are the writer's choice. */
  readonly choosesReserved: boolean
  /** The code of each reserved character, and of the lead of codes, as bytes. */
  codes(reserved: readonly number[]): ReadonlyMap<number, readonly number[]>
  readonly terminator?: readonly number[]
}

const each = (
  reserved: readonly number[],
  code: (byte: number) => readonly number[],
  ...lead: number[]
): ReadonlyMap<number, readonly number[]> => new Map([...lead, ...reserved].map(byte => [byte, code(byte)]))

const hexDigits = (byte: number): number[] =>
  Array.from(byte.toString(16).toUpperCase().padStart(2, '0'), digit => digit.charCodeAt(0))

export const ESCAPE_STYLES = {
  doubling: {
    about: 'a reserved character is written twice',
    choosesReserved: true,
    codes: reserved => each(reserved, byte => [byte, byte])
  },
  backslash: {
    about: 'a backslash before a reserved character',
    choosesReserved: true,
    codes: reserved => each(reserved, byte => [0x5c, byte], 0x5c)
  },
  percent: {
    about: 'a reserved character as % and two digits',
    choosesReserved: true,
    codes: reserved => each(reserved, byte => [0x25, ...hexDigits(byte)], 0x25)
  },
  fdb: {
    about: 'FoundationDB: 00 as 00 FF, ended by 00',
    choosesReserved: false,
    codes: () => new Map([[0x00, [0x00, 0xff]]]),
    terminator: [0x00]
  },
  cockroach: {
    about: 'CockroachDB: 00 as 00 FF, ended by 00 01',
    choosesReserved: false,
    codes: () => new Map([[0x00, [0x00, 0xff]]]),
    terminator: [0x00, 0x01]
  }
} satisfies Readonly<Record<string, EscapeStyle>>

export type EscapeStyleName = keyof typeof ESCAPE_STYLES

export interface StyledOptions {
  readonly style: EscapeStyleName
  /** The reserved characters, of a style that lets the writer choose. */
  readonly reserved?: string
}

export const styledTextCodec = ({ style: name, reserved = '' }: StyledOptions): Codec<string> => {
  const style: EscapeStyle = ESCAPE_STYLES[name]
  if (style.choosesReserved !== reserved.length > 0) {
    throw valueError(
      `escaped ${name}`,
      reserved,
      style.choosesReserved ? 'at least one reserved character' : 'absent: the style reserves 00'
    )
  }
  const bytes = Array.from(reserved, char => {
    if (char > '\x7f') throw valueError('reserved', char, 'an ASCII character')
    return char.charCodeAt(0)
  })
  const codes = style.codes(bytes)
  const plain = ByteSet.range(0x00, 0x7f).minus(ByteSet.from(codes.keys()))
  const end = style.terminator ?? []
  const texts = new Map(Array.from(codes, ([byte, code]) => [String.fromCharCode(byte), code]))
  const language = Language.of(
    seq(
      repeat(
        alt(set(plain), ...Array.from(codes.values(), word), utf8(ByteSet.range(0x00, 0x7f))),
        0,
        Number.POSITIVE_INFINITY
      ),
      word(end)
    )
  )
  return new Codec<string>({
    name: `escaped (${name})`,
    phrase: `escaped text (${style.about})`,
    language,
    order: unitDisorder(codes, end) ?? 'bytes',
    orderName: 'lexicographic',
    samples: TEXT_SAMPLES,
    put(value, target, offset) {
      if (typeof value !== 'string') throw valueError('escaped', value, 'a string')
      const given = new Uint8Array(4 * value.length)
      const written = writeUtf8(value, given, 0)
      let at = offset
      for (const byte of given.subarray(0, written)) {
        for (const unit of texts.get(String.fromCharCode(byte)) ?? [byte]) target[at++] = unit
      }
      for (const byte of end) target[at++] = byte
      return at
    },
    read(source, start, stop) {
      const decoded: number[] = []
      const last = stop - end.length
      for (let i = start; i < last; ) {
        const found = [...codes].find(([, code]) => code.every((byte, k) => source[i + k] === byte))
        decoded.push(found ? found[0] : source[i]!)
        i += found ? found[1].length : 1
      }
      return decodeUtf8(Uint8Array.from(decoded))
    },
    show: quote
  })
}

/** Two texts whose words sort the other way: by the codes of a character, or by a terminator that is not the least. */
const unitDisorder = (
  codes: ReadonlyMap<number, readonly number[]>,
  terminator: readonly number[]
): readonly [string, string] | undefined => {
  const unit = (byte: number): readonly number[] => codes.get(byte) ?? [byte]
  for (let low = 0; low < 0x7f; low++) {
    for (let high = low + 1; high < 0x80; high++) {
      if (compareCodes(unit(low), unit(high)) > 0)
        return [String.fromCharCode(low), String.fromCharCode(high)]
    }
  }
  for (let byte = 0; byte < 0x80 && terminator.length > 0; byte++) {
    if (compareCodes(terminator, unit(byte)) > 0) return ['a', `a${String.fromCharCode(byte)}`]
  }
  return undefined
}

const compareCodes = (a: readonly number[], b: readonly number[]): number => {
  for (let i = 0; i < Math.min(a.length, b.length); i++) if (a[i] !== b[i]) return a[i]! - b[i]!
  return a.length - b.length
}

const decodeUtf8 = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new QuoinError('ERR_KEY_DECODE', 'escaped text is not UTF-8', { cause })
  }
}
