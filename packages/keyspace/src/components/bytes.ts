/**
 * Raw bytes in a key: of one length, as hexadecimal text, after their length, ended by 00, or up to the end of the
 * key.
 */
import { copyOf, readHex, toHex, valueError, writeHex } from '@quoin/primitives'
import { Codec, type Component, component } from '../codec.ts'
import { Language } from '../language/language.ts'
import { any, chars, checkLength, type Length, repeat } from '../language/pattern.ts'
import { lengthPrefixedCodec, terminatedCodec } from './delimited.ts'
import { BYTES_SAMPLES } from './samples.ts'

const FOREVER = Number.POSITIVE_INFINITY

const put = (value: Uint8Array, target: Uint8Array, offset: number): number => {
  const end = offset + value.length
  if (end <= target.length) target.set(value, offset)
  return end
}

const isBytes = (value: unknown, min: number, max: number): value is Uint8Array =>
  value instanceof Uint8Array && value.length >= min && value.length <= max

const onlyOne = (codec: string, length: number | undefined, max: number | undefined): void => {
  if (length !== undefined && max !== undefined)
    throw valueError(codec, `length ${length} and max ${max}`, 'one bound')
}

const lengths = (min: number, max: number): string =>
  min === max ? `${min} bytes` : max === FOREVER ? `at least ${min} bytes` : `${min} to ${max} bytes`

const sampleBytes = (length: number, last: number): Uint8Array =>
  Uint8Array.from({ length }, (_, i) => (0xa1 + 0x11 * i + (i === length - 1 ? last : 0)) & 0xff)

/** The codec of all bytes of one `length`, shared by every fixed-width component that is not a number. */
export const fixedBytesCodec = <T extends Uint8Array>(
  name: string,
  phrase: string,
  length: number,
  show: (value: T) => string
): Codec<T> =>
  new Codec({
    name,
    phrase,
    language: Language.of(repeat(any, length)),
    order: 'bytes',
    orderName: 'lexicographic',
    samples: [0, 1].map(last => sampleBytes(length, last) as T),
    put(value, target, offset) {
      if (!isBytes(value, length, length)) throw valueError(name, value, `${length} bytes`)
      return put(value, target, offset)
    },
    read: copyOf as (source: Uint8Array, start: number, end: number) => T,
    show
  })

/** Bounds on a number of bytes; of hexadecimal text, half the number of digits. */
export interface BytesOptions extends Length {
  /** The number of bytes, if fixed. */
  readonly length?: number
}

/** Raw bytes: exactly `length` of them, or any number within bounds, up to the end of the key. */
export const bytes = <const N extends string>(
  name: N,
  { length, min = 0, max }: BytesOptions = {}
): Component<N, Uint8Array> => {
  onlyOne('bytes', length, max)
  const fixed = length ?? (min === max ? max : undefined)
  if (fixed !== undefined) return component(name, fixedBytesCodec('bytes', `${fixed} bytes`, fixed, toHex))
  const most = max ?? FOREVER
  checkLength({ min, max: most })
  return component(
    name,
    new Codec<Uint8Array>({
      name: 'bytes',
      phrase: 'raw bytes',
      language: Language.of(repeat(any, min, most)),
      order: 'bytes',
      orderName: 'lexicographic',
      samples: BYTES_SAMPLES.filter(value => isBytes(value, min, most)),
      put(value, target, offset) {
        if (!isBytes(value, min, most)) throw valueError('bytes', value, lengths(min, most))
        return put(value, target, offset)
      },
      read: copyOf,
      show: toHex
    })
  )
}

/** Bytes as lower-case hexadecimal text. */
export const hex = <const N extends string>(
  name: N,
  { length, min = 0, max }: BytesOptions = {}
): Component<N, Uint8Array> => {
  onlyOne('hex', length, max)
  const least = length ?? min
  const most = length ?? max ?? FOREVER
  return component(
    name,
    new Codec<Uint8Array>({
      name: 'hex',
      phrase: 'hexadecimal encoding',
      language: Language.of(repeat(repeat(chars('0123456789abcdef'), 2), least, most)),
      order: 'bytes',
      orderName: 'lexicographic',
      samples: BYTES_SAMPLES.filter(value => isBytes(value, least, most)),
      put(value, target, offset) {
        if (!isBytes(value, least, most)) throw valueError('hex', value, lengths(least, most))
        return writeHex(value, target, offset)
      },
      read: (source, start, end) => readHex(source, start, end),
      show: toHex
    })
  )
}

/**
 * One byte of length, then that many bytes. It delimits itself, so anything may follow; it sorts by length first.
 * Where order matters, use `terminated`.
 */
export const lengthPrefixed = <const N extends string>(
  name: N,
  { min = 0, max = 255 }: Length = {}
): Component<N, Uint8Array> => {
  checkLength({ min, max })
  if (max > 255) throw valueError('length-prefixed max', max, 'at most 255')
  return component(name, lengthPrefixedCodec('u8', { min, max }))
}

const TERMINATED = terminatedCodec(0x00)

/** Bytes other than 00, ended by 00: anything may follow, and the order is kept. */
export const terminated = <const N extends string>(name: N): Component<N, Uint8Array> =>
  component(name, TERMINATED)
