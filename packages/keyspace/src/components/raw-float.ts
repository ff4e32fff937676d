/** Floats of 32 and 64 bits: IEEE 754 as it stands in either endianness, which does not sort, or sortable. */
import { copyOf, valueError } from '@quoin/primitives'
import { Codec } from '../codec.ts'
import { Language } from '../language/language.ts'
import { alt, between, reversed } from '../language/pattern.ts'
import { bigEndian } from './wide-integer.ts'

export interface FloatOptions {
  readonly bits: 32 | 64
  /** The sign bit of positive and all bits of negative numbers flipped, so that they sort. */
  readonly sortable: boolean
  readonly littleEndian: boolean
}

export const floatCodec = ({ bits, sortable, littleEndian }: FloatOptions): Codec<number> => {
  const width = bits / 8
  const sign = 2n ** BigInt(bits - 1)
  const all = 2n * sign - 1n
  const infinity = bits === 64 ? 0x7ff0000000000000n : 0x7f800000n
  const flip = (value: bigint): bigint => (!sortable ? value : value & sign ? all - value : value + sign)
  const unflip = (value: bigint): bigint => (!sortable ? value : value & sign ? value - sign : all - value)
  const range = (a: bigint, b: bigint) => {
    const [low, high] = a < b ? [a, b] : [b, a]
    return between(bigEndian(low, width), bigEndian(high, width))
  }
  // From 0 to infinity, and from the greatest negative number to -infinity: no NaN, and no word for -0.
  const pattern = alt(range(flip(0n), flip(infinity)), range(flip(sign + 1n), flip(sign + infinity)))
  const name = `f${bits}${littleEndian ? 'le' : 'be'}${sortable ? ' sortable' : ''}`
  const view = new DataView(new ArrayBuffer(8))
  return new Codec<number>({
    name,
    phrase: `${bits} bit float${sortable ? ', sortable' : ''}, ${littleEndian ? 'little' : 'big'} endian`,
    language: Language.of(littleEndian ? reversed(pattern) : pattern),
    order: !sortable ? [-1, 1] : littleEndian ? [bits === 64 ? 0.1 : Math.fround(0.1), 1] : 'bytes',
    orderName: 'numeric',
    samples: [1, 10, 2, 0.5, -1],
    put(value, target, offset) {
      if (typeof value !== 'number' || Number.isNaN(value) || (bits === 32 && Math.fround(value) !== value))
        throw valueError(name, value, `a number of ${bits} bits other than NaN`)
      const given = value === 0 ? 0 : value
      if (bits === 64) view.setFloat64(0, given)
      else view.setFloat32(0, given)
      const word = bigEndian(flip(bits === 64 ? view.getBigUint64(0) : BigInt(view.getUint32(0))), width)
      for (const [i, byte] of (littleEndian ? word.reverse() : word).entries()) target[offset + i] = byte
      return offset + width
    },
    read(source, start, end) {
      const word = copyOf(source, start, end)
      if (littleEndian) word.reverse()
      const value = unflip(word.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n))
      if (bits === 64) view.setBigUint64(0, value)
      else view.setUint32(0, Number(value))
      return bits === 64 ? view.getFloat64(0) : view.getFloat32(0)
    },
    show: String
  })
}
