/**
 * Elements of FoundationDB's tuple layer: a type code, then bytes that end themselves. A tuple is its elements side by
 * side; a nested tuple stands between 05 and 00.
 */
import { copyOf, toHex, valueError } from '@quoin/primitives'
import { Codec } from '../codec.ts'
import { Language } from '../language/language.ts'
import { alt, any, between, range, repeat, seq, word, wordOf } from '../language/pattern.ts'
import type { Part } from '../layout.ts'
import { literal } from '../layout.ts'
import { copyWritten } from '../scratch-buffer.ts'
import { groupCodec } from './composite.ts'
import { styledTextCodec } from './escape.ts'
import { uuidCodec } from './more-text.ts'
import { samplesWithin } from './number-order.ts'
import { floatCodec } from './raw-float.ts'
import { BYTES_SAMPLES } from './samples.ts'
import { bigEndian } from './wide-integer.ts'

/** A codec whose words begin with a type code. */
const coded = <T>(name: string, code: number, codec: Codec<T>): Codec<T> =>
  new Codec<T>({
    name,
    phrase: `FoundationDB ${name.slice(4)}`,
    language: Language.of(seq(range(code, code), wordOf(codec.language))),
    order: codec.order,
    orderName: codec.orderName,
    ...(codec.samples && { samples: codec.samples }),
    ...(codec.collision && { collision: codec.collision }),
    put(value, target, offset) {
      const bytes = copyWritten(buffer => codec.write(value, buffer, 0))
      for (const [i, byte] of [code, ...bytes].entries()) target[offset + i] = byte
      return offset + 1 + bytes.length
    },
    read: (source, start, end) => codec.read(copyOf(source, start + 1, end), 0, end - start - 1),
    show: codec.show
  })

const WIDTHS = [1, 2, 3, 4, 5, 6, 7, 8]
const MOST = 2n ** 64n - 1n

/** 14 plus or minus the number of bytes, then the number, of a negative one its complement. */
const integer = (): Codec<bigint> =>
  new Codec<bigint>({
    name: 'fdb int',
    phrase: 'FoundationDB integer',
    language: Language.of(
      alt(
        word([0x14]),
        ...WIDTHS.map(width => {
          const [low, high] = [2n ** BigInt(8 * (width - 1)), 2n ** BigInt(8 * width) - 1n]
          return seq(
            range(0x14 + width, 0x14 + width),
            between(bigEndian(low, width), bigEndian(high, width))
          )
        }),
        ...WIDTHS.map(width => {
          const [low, high] = [2n ** BigInt(8 * (width - 1)), 2n ** BigInt(8 * width) - 1n]
          return seq(
            range(0x14 - width, 0x14 - width),
            between(bigEndian(0n, width), bigEndian(high - low, width))
          )
        })
      )
    ),
    order: 'bytes',
    orderName: 'numeric',
    samples: samplesWithin(-MOST, MOST),
    put(value, target, offset) {
      if (typeof value !== 'bigint' || value < -MOST || value > MOST)
        throw valueError('fdb int', value, 'a bigint of at most 64 bits')
      const size = value < 0n ? -value : value
      const width = WIDTHS.find(each => size < 2n ** BigInt(8 * each))!
      const bytes =
        value === 0n
          ? [0x14]
          : value > 0n
            ? [0x14 + width, ...bigEndian(value, width)]
            : [0x14 - width, ...bigEndian(2n ** BigInt(8 * width) - 1n + value, width)]
      for (const [i, byte] of bytes.entries()) target[offset + i] = byte
      return offset + bytes.length
    },
    read(source, start, end) {
      const value = source.subarray(start + 1, end).reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
      return source[start]! >= 0x14 ? value : value - (2n ** BigInt(8 * (0x14 - source[start]!)) - 1n)
    },
    show: String
  })

/** Bytes with 00 as 00 FF, ended by 00. */
const escapedBytes = (): Codec<Uint8Array> =>
  new Codec<Uint8Array>({
    name: 'fdb bytes',
    phrase: 'FoundationDB bytes',
    language: Language.of(
      seq(repeat(alt(range(0x01, 0xff), word([0x00, 0xff])), 0, Number.POSITIVE_INFINITY), word([0x00]))
    ),
    order: 'bytes',
    orderName: 'lexicographic',
    samples: BYTES_SAMPLES,
    put(value, target, offset) {
      if (!(value instanceof Uint8Array)) throw valueError('fdb bytes', value, 'bytes')
      let at = offset
      for (const byte of value) {
        target[at++] = byte
        if (byte === 0) target[at++] = 0xff
      }
      target[at++] = 0
      return at
    },
    read(source, start, end) {
      const bytes: number[] = []
      for (let i = start; i < end - 1; i++) {
        bytes.push(source[i]!)
        if (source[i] === 0) i++
      }
      return Uint8Array.from(bytes)
    },
    show: toHex
  })

const flag = (): Codec<boolean> =>
  new Codec<boolean>({
    name: 'fdb bool',
    phrase: 'FoundationDB boolean',
    language: Language.of(range(0x26, 0x27)),
    order: 'bytes',
    orderName: 'numeric',
    samples: [false, true],
    put(value, target, offset) {
      if (typeof value !== 'boolean') throw valueError('fdb bool', value, 'true or false')
      target[offset] = value ? 0x27 : 0x26
      return offset + 1
    },
    read: (source, start) => source[start] === 0x27,
    show: String
  })

export const FDB_ELEMENTS = {
  bytes: () => coded('fdb bytes', 0x01, escapedBytes()),
  string: () => coded('fdb string', 0x02, styledTextCodec({ style: 'fdb' })),
  int: integer,
  float: () => coded('fdb float', 0x20, floatCodec({ bits: 32, sortable: true, littleEndian: false })),
  double: () => coded('fdb double', 0x21, floatCodec({ bits: 64, sortable: true, littleEndian: false })),
  bool: flag,
  uuid: () => coded('fdb uuid', 0x30, uuidCodec('binary')),
  versionstamp: () => coded('fdb versionstamp', 0x33, versionstamp())
} as const satisfies Readonly<Record<string, () => Codec<unknown>>>

export type FdbElement = keyof typeof FDB_ELEMENTS

const versionstamp = (): Codec<Uint8Array> =>
  new Codec<Uint8Array>({
    name: 'versionstamp',
    phrase: '12 byte versionstamp',
    language: Language.of(repeat(any, 12)),
    order: 'bytes',
    orderName: 'lexicographic',
    put(value, target, offset) {
      if (!(value instanceof Uint8Array) || value.length !== 12)
        throw valueError('versionstamp', value, '12 bytes')
      for (const [i, byte] of value.entries()) target[offset + i] = byte
      return offset + 12
    },
    read: copyOf,
    show: toHex
  })

/** A tuple of elements: side by side as a key, or nested in another tuple between 05 and 00. */
export const fdbTupleCodec = (elements: readonly Codec<unknown>[], nested: boolean): Codec<unknown> => {
  const parts = elements.map(
    (codec, i): Part => ({ kind: 'component', component: { name: `${i}`, codec }, language: codec.language })
  )
  return groupCodec(nested ? [literal(Uint8Array.of(0x05)), ...parts, literal(Uint8Array.of(0x00))] : parts)
}
