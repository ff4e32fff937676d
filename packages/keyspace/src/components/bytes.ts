/**
 * Raw bytes in a key: of one length, as hexadecimal text, after their length, ended by 00, or up to the end of the
 * key.
 */
import { copyOf, readHex, toHex, valueError, writeHex } from '@quoin/primitives'
import { Codec, type Component, component } from '../codec.ts'
import { ByteSet } from '../language/byteset.ts'
import { Language } from '../language/language.ts'
import { any, chars, checkLength, type Length, range, repeat, seq } from '../language/pattern.ts'

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
    put(value, target, offset) {
      if (!isBytes(value, length, length)) throw valueError(name, value, `${length} bytes`)
      return put(value, target, offset)
    },
    read: copyOf as (source: Uint8Array, start: number, end: number) => T,
    show
  })

/** Raw bytes: exactly `length` of them, or any number up to the end of the key. */
export const bytes = <const N extends string>(
  name: N,
  { length, max }: { readonly length?: number; readonly max?: number } = {}
): Component<N, Uint8Array> => {
  onlyOne('bytes', length, max)
  if (length !== undefined) return component(name, fixedBytesCodec('bytes', `${length} bytes`, length, toHex))
  const most = max ?? FOREVER
  return component(
    name,
    new Codec<Uint8Array>({
      name: 'bytes',
      phrase: 'raw bytes',
      language: Language.of(repeat(any, 0, most)),
      order: 'bytes',
      orderName: 'lexicographic',
      put(value, target, offset) {
        if (!isBytes(value, 0, most)) throw valueError('bytes', value, lengths(0, most))
        return put(value, target, offset)
      },
      read: copyOf,
      show: toHex
    })
  )
}

export interface HexOptions {
  /** The number of bytes (half the number of digits), if fixed. */
  readonly length?: number
  /** The largest number of bytes. */
  readonly max?: number
}

/** Bytes as lower-case hexadecimal text. */
export const hex = <const N extends string>(
  name: N,
  { length, max }: HexOptions = {}
): Component<N, Uint8Array> => {
  onlyOne('hex', length, max)
  const least = length ?? 0
  const most = length ?? max ?? FOREVER
  return component(
    name,
    new Codec<Uint8Array>({
      name: 'hex',
      phrase: 'hexadecimal encoding',
      language: Language.of(repeat(repeat(chars('0123456789abcdef'), 2), least, most)),
      order: 'bytes',
      orderName: 'lexicographic',
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
  return component(
    name,
    new Codec<Uint8Array>({
      name: 'length-prefixed',
      phrase: '1 byte length and bytes',
      language: countedBytes(min, max),
      // The longer value is the smaller one, yet its word, which begins with its length, is the greater.
      order: max > 1 && max > min ? [new Uint8Array(max), new Uint8Array(max - 1).fill(0xff)] : 'bytes',
      orderName: 'lexicographic',
      put(value, target, offset) {
        if (!isBytes(value, min, max)) throw valueError('length-prefixed', value, lengths(min, max))
        const start = put(Uint8Array.of(value.length), target, offset)
        return put(value, target, start)
      },
      read: (source, start, end) => copyOf(source, start + 1, end),
      show: toHex
    })
  )
}

/** State n > 0 expects n more bytes, and the last state is the end. A pattern would spell out every length. */
const countedBytes = (min: number, max: number): Language => {
  const start = Array.from({ length: max - min + 1 }, (_, i) => ({
    set: ByteSet.of(min + i),
    to: min + i || max + 1
  }))
  const counting = Array.from({ length: max }, (_, i) => [{ set: ByteSet.all, to: i || max + 1 }])
  return Language.from(`counted{${min},${max}}`, {
    edges: [start, ...counting, []],
    accepting: [false, ...counting.map(() => false), true]
  })
}

const terminatedCodec = new Codec<Uint8Array>({
  name: 'terminated',
  phrase: 'bytes without 00, then 00',
  language: Language.of(seq(repeat(range(0x01, 0xff), 0, FOREVER), range(0x00, 0x00))),
  order: 'bytes',
  orderName: 'lexicographic',
  put(value, target, offset) {
    if (!(value instanceof Uint8Array)) throw valueError('terminated', value, 'bytes')
    const end = put(Uint8Array.of(0), target, put(value, target, offset))
    return end
  },
  read: (source, start, end) => copyOf(source, start, end - 1),
  show: toHex
})

/** Bytes other than 00, ended by 00: anything may follow, and the order is kept. */
export const terminated = <const N extends string>(name: N): Component<N, Uint8Array> =>
  component(name, terminatedCodec)
