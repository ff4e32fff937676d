/**
 * Integers of fixed width, most significant byte first. Unsigned ones are plain; signed ones have the top bit
 * flipped, so that the bytes sort as the numbers do.
 */
import { valueError } from '@quoin/primitives'
import { Codec, type Component, component } from '../codec.ts'
import { Language } from '../language/language.ts'
import { any, between, repeat } from '../language/pattern.ts'

/**
 * The view of the last buffer. Most keys share one buffer, and a cached view is several times faster than eight
 * single bytes.
 */
let viewed: Uint8Array = new Uint8Array()
let view: DataView = new DataView(viewed.buffer)
const viewOf = (bytes: Uint8Array): DataView => {
  if (bytes === viewed) return view
  viewed = bytes
  view = new DataView(bytes.buffer, bytes.byteOffset)
  return view
}

const isUnsigned = (value: bigint): boolean =>
  typeof value === 'bigint' && BigInt.asUintN(64, value) === value
const isSigned = (value: bigint): boolean => typeof value === 'bigint' && BigInt.asIntN(64, value) === value

/** Writes the low 64 bits of `value`, if they fit. */
const put64 = (value: bigint, target: Uint8Array, offset: number): number => {
  if (offset + 8 <= target.length) viewOf(target).setBigUint64(offset, value)
  return offset + 8
}

/** In two halves: each value may be in another array, and a new view for each would take ten times as long. */
const readU64 = (source: Uint8Array, start: number): bigint => {
  const high = readU32(source, start)
  const low = BigInt(readU32(source, start + 4))
  return high === 0 ? low : (BigInt(high) << 32n) | low
}
const readU32 = (source: Uint8Array, at: number): number =>
  ((source[at]! << 24) | (source[at + 1]! << 16) | (source[at + 2]! << 8) | source[at + 3]!) >>> 0

const bigEndian = (value: bigint, width: number): number[] =>
  Array.from({ length: width }, (_, i) => Number((value >> BigInt(8 * (width - 1 - i))) & 0xffn))

const anyOf = (width: number): Language => Language.of(repeat(any, width))

/** An unsigned or signed integer of at most four bytes, as a number. */
const small = (width: number, signed: boolean, max?: number): Codec<number> => {
  const name = `${signed ? 'i' : 'u'}${8 * width}${width > 1 ? 'be' : ''}`
  const bias = signed ? 2 ** (8 * width - 1) : 0
  const low = -bias
  const widest = 2 ** (8 * width) - 1 - bias
  const high = max ?? widest
  if (!Number.isInteger(high) || high < 0 || high > widest)
    throw valueError(`${name} max`, max, `from 0 to ${widest}`)
  return new Codec({
    name,
    phrase: `${width} byte big endian encoding`,
    language:
      max === undefined
        ? anyOf(width)
        : Language.of(between(bigEndian(0n, width), bigEndian(BigInt(max + bias), width))),
    order: 'bytes',
    orderName: 'numeric',
    put(value, target, offset) {
      if (!Number.isInteger(value) || value < low || value > high) {
        throw valueError(name, value, `an integer from ${low} to ${high}`)
      }
      const bits = value + bias
      for (let i = 0; i < width; i++) target[offset + i] = bits >>> (8 * (width - 1 - i))
      return offset + width
    },
    read(source, start, end) {
      let value = 0
      for (let i = start; i < end; i++) value = value * 256 + source[i]!
      return value - bias
    },
    show: String
  })
}

const SIGNED = 'a bigint from -2^63 to 2^63-1'

const unsigned64 = (max?: bigint): Codec<bigint> => {
  const widest = 2n ** 64n - 1n
  const high = max ?? widest
  if (typeof high !== 'bigint' || high < 0n || high > widest) {
    throw valueError('u64be max', max, `a bigint from 0 to ${widest}`)
  }
  return new Codec({
    name: 'u64be',
    phrase: '8 byte big endian encoding',
    language: max === undefined ? anyOf(8) : Language.of(between(bigEndian(0n, 8), bigEndian(max, 8))),
    order: 'bytes',
    orderName: 'numeric',
    put(value, target, offset) {
      // A value above `max` is refused by the check of the language.
      if (!isUnsigned(value)) throw valueError('u64be', value, `a bigint from 0 to ${high}`)
      return put64(value, target, offset)
    },
    read: readU64,
    show: String
  })
}

const signed64 = new Codec<bigint>({
  name: 'i64be',
  phrase: '8 byte big endian encoding with the top bit flipped',
  language: anyOf(8),
  order: 'bytes',
  orderName: 'numeric',
  put(value, target, offset) {
    if (!isSigned(value)) throw valueError('i64be', value, SIGNED)
    const end = put64(value, target, offset)
    target[offset]! ^= 0x80
    return end
  },
  read: (source, start) => viewOf(source).getBigUint64(start) - 2n ** 63n,
  show: String
})

const U8 = small(1, false)
const U16 = small(2, false)
const U32 = small(4, false)
const U64 = unsigned64()
const I32 = small(4, true)

export interface MaxOption<T> {
  /** The largest value, if less than the width allows. */
  readonly max?: T
}

export const u8 = <const N extends string>(name: N, { max }: MaxOption<number> = {}): Component<N, number> =>
  component(name, max === undefined ? U8 : small(1, false, max))
export const u16 = <const N extends string>(name: N, { max }: MaxOption<number> = {}): Component<N, number> =>
  component(name, max === undefined ? U16 : small(2, false, max))
export const u32 = <const N extends string>(name: N, { max }: MaxOption<number> = {}): Component<N, number> =>
  component(name, max === undefined ? U32 : small(4, false, max))
export const u64 = <const N extends string>(name: N, { max }: MaxOption<bigint> = {}): Component<N, bigint> =>
  component(name, max === undefined ? U64 : unsigned64(max))
export const i32 = <const N extends string>(name: N): Component<N, number> => component(name, I32)
export const i64 = <const N extends string>(name: N): Component<N, bigint> => component(name, signed64)
