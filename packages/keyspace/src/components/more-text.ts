/** Encoded bytes and identifiers as text of fixed alphabets: base32, base64url, upper-case hexadecimal, UUID. */
import { copyOf, readAscii, toHex, valueError } from '@quoin/primitives'
import { Codec } from '../codec.ts'
import { Language } from '../language/language.ts'
import { alt, any, chars, type Length, type Pattern, range, repeat, seq } from '../language/pattern.ts'
import { BYTES_SAMPLES } from './samples.ts'

const FOREVER = Number.POSITIVE_INFINITY

/** Text of digits of some bits each, most significant first, without padding. */
const radixCodec = (
  name: string,
  phrase: string,
  digits: string,
  bits: number,
  { min = 0, max = FOREVER }: Length
): Codec<Uint8Array> => {
  const inOrder = [...digits].every((digit, i) => i === 0 || digits[i - 1]! < digit)
  const block = bits === 5 ? 5 : bits === 6 ? 3 : 1
  const digit = chars(digits)
  /** The digits of some bytes, of which the last has unused bits that are zero. */
  const wordOf = (count: number): Pattern => {
    const full = Math.floor((8 * count) / bits)
    const spare = 8 * count - full * bits
    if (spare === 0) return repeat(digit, full)
    const last = [...digits].filter((_, i) => i % 2 ** (bits - spare) === 0)
    return seq(repeat(digit, full), chars(last.join('')))
  }
  const tails = (most: number): Pattern =>
    alt(...Array.from({ length: most + 1 }, (_, count) => wordOf(count)))
  const lengths = (): Pattern => {
    if (!Number.isFinite(max)) {
      const whole = Math.ceil(min / block)
      const below = Array.from({ length: Math.max(0, whole * block - min) }, (_, i) => wordOf(min + i))
      return alt(...below, seq(repeat(wordOf(block), whole, FOREVER), tails(block - 1)))
    }
    return alt(...Array.from({ length: max - min + 1 }, (_, i) => wordOf(min + i)))
  }
  // The first digit in the alphabet of the two that are in the wrong order, as the first digits of a word.
  const wrong = [...digits].findIndex((each, i) => i > 0 && digits[i - 1]! > each)
  const leading = (value: number): Uint8Array =>
    new Uint8Array(Math.max(1, min)).fill((value << (8 - bits)) & 0xff, 0, 1)
  return new Codec<Uint8Array>({
    name,
    phrase,
    language: Language.of(lengths()),
    order: inOrder ? 'bytes' : [leading(wrong - 1), leading(wrong)],
    orderName: 'lexicographic',
    samples: BYTES_SAMPLES.filter(({ length }) => length >= min && length <= max),
    put(value, target, offset) {
      if (!(value instanceof Uint8Array) || value.length < min || value.length > max)
        throw valueError(name, value, `${min} to ${max} bytes`)
      let at = offset
      let held = 0
      let count = 0
      for (const byte of value) {
        held = ((held << 8) | byte) & 0xffff
        count += 8
        while (count >= bits) {
          count -= bits
          target[at++] = digits.charCodeAt((held >> count) & (2 ** bits - 1))
        }
      }
      if (count > 0) target[at++] = digits.charCodeAt((held << (bits - count)) & (2 ** bits - 1))
      return at
    },
    read(source, start, end) {
      const bytes: number[] = []
      let held = 0
      let count = 0
      for (let i = start; i < end; i++) {
        held = ((held << bits) | digits.indexOf(String.fromCharCode(source[i]!))) & 0xffff
        count += bits
        if (count >= 8) {
          count -= 8
          bytes.push((held >> count) & 0xff)
        }
      }
      return Uint8Array.from(bytes)
    },
    show: toHex
  })
}

export const BASE32_ALPHABETS = {
  rfc4648: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567',
  lower: 'abcdefghijklmnopqrstuvwxyz234567',
  hex: '0123456789ABCDEFGHIJKLMNOPQRSTUV',
  crockford: '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
} as const

export const base32Codec = (alphabet: keyof typeof BASE32_ALPHABETS, length: Length): Codec<Uint8Array> =>
  radixCodec('base32', `base32 encoding (${alphabet})`, BASE32_ALPHABETS[alphabet], 5, length)

export const base64urlCodec = (length: Length): Codec<Uint8Array> =>
  radixCodec(
    'base64url',
    'base64url encoding',
    'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_',
    6,
    length
  )

export const hexUpperCodec = (length: Length): Codec<Uint8Array> =>
  radixCodec('hex upper-case', 'upper-case hexadecimal encoding', '0123456789ABCDEF', 4, length)

const UUIDS = ['018f3c1e4b7a7c3d9e21a4b5c6d7e8f9', '018f3c1e4b7a7c3d9e21a4b5c6d7e8fa']
const hexDigits = chars('0123456789abcdef')

/** A UUID as 16 bytes, or as 36 characters in lower case. */
export const uuidCodec = (form: 'binary' | 'text'): Codec<string> =>
  new Codec<string>({
    name: form === 'text' ? 'uuid text' : 'uuid',
    phrase: form === 'text' ? 'UUID text' : '16 byte UUID',
    language: Language.of(
      form === 'binary'
        ? repeat(any, 16)
        : seq(
            ...[8, 4, 4, 4, 12].flatMap((count, i) => [
              ...(i > 0 ? [chars('-')] : []),
              repeat(hexDigits, count)
            ])
          )
    ),
    order: 'bytes',
    orderName: 'lexicographic',
    samples: UUIDS.map(dashed),
    put(value, target, offset) {
      if (typeof value !== 'string' || !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value))
        throw valueError('uuid', value, 'a UUID in lower case')
      const bytes =
        form === 'text'
          ? Array.from(value, char => char.charCodeAt(0))
          : value
              .replaceAll('-', '')
              .match(/../g)!
              .map(pair => Number.parseInt(pair, 16))
      for (const [i, byte] of bytes.entries()) target[offset + i] = byte
      return offset + bytes.length
    },
    read: (source, start, end) =>
      form === 'text' ? readAscii(source, start, end) : dashed(toHex(copyOf(source, start, end))),
    show: value => value
  })

const dashed = (hex: string): string =>
  [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')

const digit = range(0x30, 0x39)
const twoDigits = (from: string, to: string): Pattern =>
  alt(
    ...Array.from({ length: Number(to) - Number(from) + 1 }, (_, i) => {
      const text = `${Number(from) + i}`.padStart(2, '0')
      return seq(chars(text[0]!), chars(text[1]!))
    })
  )

/**
 * Times as text of one length, in UTC: `2026-03-01T12:00:00Z`, with a fixed number of digits of the second. The shape
 * is proved and not the calendar: the words have days up to 31 in every month.
 */
export const timestampCodec = (fraction: number, suffix: string): Codec<string> => {
  const day = seq(
    repeat(digit, 4),
    chars('-'),
    twoDigits('01', '12'),
    chars('-'),
    twoDigits('01', '31'),
    chars('T'),
    twoDigits('00', '23'),
    chars(':'),
    twoDigits('00', '59'),
    chars(':'),
    twoDigits('00', '60')
  )
  const parts = fraction === 0 ? [day] : [day, chars('.'), repeat(digit, fraction)]
  const zeros = fraction === 0 ? '' : `.${'0'.repeat(fraction)}`
  return new Codec<string>({
    name: 'timestamp',
    phrase: 'RFC 3339 text',
    language: Language.of(seq(...parts, ...Array.from(suffix, char => chars(char)))),
    order: 'bytes',
    orderName: 'lexicographic',
    samples: ['2026-03-01T12:00:00', '2026-03-01T12:00:01'].map(text => `${text}${zeros}${suffix}`),
    text(value) {
      if (typeof value !== 'string') throw valueError('timestamp', value, 'a time as text')
      return value
    },
    read: readAscii,
    show: value => value
  })
}
