/**
 * Integers of any width, in either endianness and sign. Big-endian ones sort as numbers when they are unsigned or have
 * their top bit flipped. Little-endian ones and plain two's complement do not, and their codecs show two numbers.
 */
import { valueError } from '@quoin/primitives'
import { Codec } from '../codec.ts'
import { Language } from '../language/language.ts'
import { alt, any, between, type Pattern, repeat, reversed } from '../language/pattern.ts'
import { disorderOf, samplesWithin } from './number-order.ts'

export interface IntegerOptions {
  /** A multiple of 8. */
  readonly bits: number
  readonly signed?: boolean
  readonly littleEndian?: boolean
  /** Of a signed integer: the top bit is flipped, so that negative numbers come first. */
  readonly flipped?: boolean
  readonly min?: bigint
  readonly max?: bigint
}

const MAX_BITS = 256

export const integerCodec = (options: IntegerOptions): Codec<bigint> => {
  const { bits, signed = false, littleEndian = false, flipped = !littleEndian } = options
  if (!Number.isInteger(bits / 8) || bits < 8 || bits > MAX_BITS)
    throw valueError('integer bits', bits, `a multiple of 8 from 8 to ${MAX_BITS}`)
  const width = bits / 8
  const name = `${signed ? 'i' : 'u'}${bits}${width === 1 ? '' : littleEndian ? 'le' : 'be'}`
  const [least, greatest] = signed
    ? [-(2n ** BigInt(bits - 1)), 2n ** BigInt(bits - 1) - 1n]
    : [0n, 2n ** BigInt(bits) - 1n]
  const { min: low = least, max: high = greatest } = options
  if (low < least || high > greatest || low > high)
    throw valueError(`${name} bounds`, `${low} to ${high}`, `within ${least} to ${greatest}`)
  const bias = signed && flipped ? 2n ** BigInt(bits - 1) : 0n
  const unsigned = (value: bigint): bigint => BigInt.asUintN(bits, value + bias)
  const bytesOf = (value: bigint): number[] => {
    const bits64 = unsigned(value)
    const bytes = Array.from({ length: width }, (_, i) => Number((bits64 >> BigInt(8 * i)) & 0xffn))
    return littleEndian ? bytes : bytes.reverse()
  }
  const ranges: Pattern[] =
    bias === 0n && low < 0n && high >= 0n
      ? [upTo(unsigned(0n), unsigned(high), width), upTo(unsigned(low), unsigned(-1n), width)]
      : [upTo(unsigned(low), unsigned(high), width)]
  const whole = low === least && high === greatest
  const pattern = whole ? repeat(any, width) : alt(...ranges)
  return new Codec<bigint>({
    name: signed && !flipped && width > 1 ? `${name} (two's complement)` : name,
    phrase: `${width} byte ${littleEndian ? 'little' : 'big'} endian encoding${signed ? (flipped ? ' with the top bit flipped' : " in two's complement") : ''}`,
    language: Language.of(littleEndian && !whole ? reversed(pattern) : pattern),
    order: disorderOf(bytesOf, low, high) ?? 'bytes',
    orderName: 'numeric',
    samples: samplesWithin(low, high),
    put(value, target, offset) {
      if (typeof value !== 'bigint' || value < low || value > high)
        throw valueError(name, value, `a bigint from ${low} to ${high}`)
      for (const [i, byte] of bytesOf(value).entries()) target[offset + i] = byte
      return offset + width
    },
    read(source, start, end) {
      let value = 0n
      for (let i = 0; i < width; i++)
        value = (value << 8n) | BigInt(source[littleEndian ? end - 1 - i : start + i]!)
      return bias === 0n && signed ? BigInt.asIntN(bits, value) : value - bias
    },
    show: String
  })
}

const upTo = (low: bigint, high: bigint, width: number): Pattern =>
  between(bigEndian(low, width), bigEndian(high, width))

export const bigEndian = (value: bigint, width: number): number[] =>
  Array.from({ length: width }, (_, i) => Number((value >> BigInt(8 * (width - 1 - i))) & 0xffn))
