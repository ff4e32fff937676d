/**
 * Integers of fixed width, most significant byte first. Unsigned ones are plain; signed ones have the top bit
 * flipped, so that the bytes sort as the numbers do. `tick9` is the nine-byte form of seed 004.
 */
import { type Codec, type Component, component, valueError } from '../codec.ts'
import { Language } from '../language/language.ts'
import { alt, any, between, range, repeat, seq } from '../language/pattern.ts'

const scratch = new DataView(new ArrayBuffer(8))
const scratchBytes = new Uint8Array(scratch.buffer)

const put64 = (value: bigint, target: Uint8Array, offset: number): number => {
  scratch.setBigUint64(0, value)
  for (let i = 0; i < 8; i++) target[offset + i] = scratchBytes[i]!
  return offset + 8
}

const get64 = (source: Uint8Array, start: number): bigint => {
  for (let i = 0; i < 8; i++) scratchBytes[i] = source[start + i]!
  return scratch.getBigUint64(0)
}

const bigEndian = (value: bigint, width: number): number[] =>
  Array.from({ length: width }, (_, i) => Number((value >> BigInt(8 * (width - 1 - i))) & 0xffn))

const widths = new Map<number, Language>()
const anyOf = (width: number): Language => {
  const known = widths.get(width) ?? Language.of(repeat(any, width))
  widths.set(width, known)
  return known
}

/** An unsigned or signed integer of at most four bytes, as a number. */
const small = (width: number, signed: boolean, max?: number): Codec<number> => {
  const name = `${signed ? 'i' : 'u'}${8 * width}${width > 1 ? 'be' : ''}`
  const bias = signed ? 2 ** (8 * width - 1) : 0
  const low = -bias
  const high = max ?? 2 ** (8 * width) - 1 - bias
  return {
    name,
    phrase: `${width} byte big endian encoding`,
    language:
      max === undefined
        ? anyOf(width)
        : Language.of(between(bigEndian(0n, width), bigEndian(BigInt(max + bias), width))),
    order: 'bytes',
    orderName: 'numeric',
    write(value, target, offset) {
      if (!Number.isInteger(value) || value < low || value > high) {
        throw valueError(name, value, `an integer from ${low} to ${high}`)
      }
      let rest = value + bias
      for (let i = width - 1; i >= 0; i--) {
        target[offset + i] = rest & 0xff
        rest = Math.floor(rest / 256)
      }
      return offset + width
    },
    read(source, start, end) {
      let value = 0
      for (let i = start; i < end; i++) value = value * 256 + source[i]!
      return value - bias
    },
    show: String
  }
}

/** An integer of eight bytes, as a bigint. */
const large = (name: string, bias: bigint, max?: bigint): Codec<bigint> => {
  const low = -bias
  const high = max ?? 2n ** 64n - 1n - bias
  return {
    name,
    phrase: '8 byte big endian encoding',
    language: max === undefined ? anyOf(8) : Language.of(between(bigEndian(0n, 8), bigEndian(max + bias, 8))),
    order: 'bytes',
    orderName: 'numeric',
    write(value, target, offset) {
      if (typeof value !== 'bigint' || value < low || value > high) {
        throw valueError(name, value, `a bigint from ${low} to ${high}`)
      }
      return put64(value + bias, target, offset)
    },
    read: (source, start) => get64(source, start) - bias,
    show: String
  }
}

const tick: Codec<bigint> = {
  name: 'tick9',
  phrase: '9 byte signed tick encoding',
  language: Language.of(
    alt(
      seq(range(0x05, 0x05), range(0x80, 0xff), repeat(any, 7)),
      seq(range(0x06, 0x06), range(0x00, 0x7f), repeat(any, 7))
    )
  ),
  order: 'bytes',
  orderName: 'numeric',
  write(value, target, offset) {
    if (typeof value !== 'bigint' || BigInt.asIntN(64, value) !== value) {
      throw valueError('tick9', value, 'a bigint from -2^63 to 2^63-1')
    }
    target[offset] = value < 0n ? 0x05 : 0x06
    return put64(value, target, offset + 1)
  },
  read: (source, start) => BigInt.asIntN(64, get64(source, start + 1)),
  show: String
}

const U8 = small(1, false)
const U16 = small(2, false)
const U32 = small(4, false)
const U64 = large('u64be', 0n)
const I32 = small(4, true)
const I64 = large('i64be', 2n ** 63n)

export interface Bounded<T> {
  /** The largest value, where it is less than the width allows. */
  readonly max?: T
}

export const u8 = <const N extends string>(name: N, { max }: Bounded<number> = {}): Component<N, number> =>
  component(name, max === undefined ? U8 : small(1, false, max))
export const u16 = <const N extends string>(name: N, { max }: Bounded<number> = {}): Component<N, number> =>
  component(name, max === undefined ? U16 : small(2, false, max))
export const u32 = <const N extends string>(name: N, { max }: Bounded<number> = {}): Component<N, number> =>
  component(name, max === undefined ? U32 : small(4, false, max))
export const u64 = <const N extends string>(name: N, { max }: Bounded<bigint> = {}): Component<N, bigint> =>
  component(name, max === undefined ? U64 : large('u64be', 0n, max))
export const i32 = <const N extends string>(name: N): Component<N, number> => component(name, I32)
export const i64 = <const N extends string>(name: N): Component<N, bigint> => component(name, I64)

/** Seed 004, 0x01: a sign byte (05 below zero, 06 otherwise) before the eight bytes of the two's complement. */
export const tick9 = <const N extends string>(name: N): Component<N, bigint> => component(name, tick)
