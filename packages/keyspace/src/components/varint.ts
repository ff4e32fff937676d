/**
 * Integers of variable length: LEB128 (as in Protobuf and Go), Bitcoin's compact size and Bitcoin Core's VARINT, and
 * CockroachDB's ordered varint. Each number has one word, the shortest. Only CockroachDB's sort as numbers.
 */
import { valueError } from '@quoin/primitives'
import { Codec } from '../codec.ts'
import { Language } from '../language/language.ts'
import { alt, between, type Pattern, range, reversed, seq, word } from '../language/pattern.ts'
import { disorderOf, samplesWithin } from './number-order.ts'
import { bigEndian } from './wide-integer.ts'

export interface VarintOptions {
  /** The width of the numbers; 64 by default. */
  readonly bits?: number
  readonly max?: bigint
}

interface Varint {
  readonly name: string
  readonly phrase: string
  readonly low?: bigint
  readonly high: bigint
  readonly pattern: Pattern
  /** Numbers before which the form of the words changes. */
  readonly edges?: readonly bigint[]
  encode(value: bigint): number[]
  decode(bytes: Uint8Array): bigint
}

const varintCodec = ({
  name,
  phrase,
  low = 0n,
  high,
  pattern,
  edges,
  encode,
  decode
}: Varint): Codec<bigint> =>
  new Codec<bigint>({
    name,
    phrase,
    language: Language.of(pattern),
    order: disorderOf(encode, low, high, edges) ?? 'bytes',
    orderName: 'numeric',
    samples: samplesWithin(low, high),
    put(value, target, offset) {
      if (typeof value !== 'bigint' || value < low || value > high)
        throw valueError(name, value, `a bigint from ${low} to ${high}`)
      const bytes = encode(value)
      for (const [i, byte] of bytes.entries()) target[offset + i] = byte
      return offset + bytes.length
    },
    read: (source, start, end) => decode(source.subarray(start, end)),
    show: String
  })

const highest = (name: string, { bits = 64, max }: VarintOptions): bigint => {
  if (!Number.isInteger(bits) || bits < 1 || bits > 64) throw valueError(`${name} bits`, bits, 'from 1 to 64')
  const widest = 2n ** BigInt(bits) - 1n
  if (max !== undefined && (max < 0n || max > widest))
    throw valueError(`${name} max`, max, `from 0 to ${widest}`)
  return max ?? widest
}

/** Words of one byte per digit of seven bits, from `low` to `high`; `bit` is the top bit of each byte. */
const septets = (low: readonly number[], high: readonly number[], bit: (i: number) => number): Pattern => {
  const digits = (at: number, from: number, to: number): Pattern => range(bit(at) + from, bit(at) + to)
  const free = (from: number): Pattern => seq(...low.slice(from).map((_, i) => digits(from + i, 0, 0x7f)))
  const within = (at: number, floor: boolean, ceiling: boolean): Pattern => {
    if (at === low.length || (!floor && !ceiling)) return free(at)
    let [from, to] = [floor ? low[at]! : 0, ceiling ? high[at]! : 0x7f]
    if (from === to && floor && ceiling) return seq(digits(at, from, to), within(at + 1, true, true))
    const options: Pattern[] = []
    if (floor) options.push(seq(digits(at, from, from++), within(at + 1, true, false)))
    if (ceiling) options.push(seq(digits(at, to, to--), within(at + 1, false, true)))
    if (from <= to) options.push(seq(digits(at, from, to), free(at + 1)))
    return alt(...options)
  }
  return within(0, true, true)
}

const digitsOf = (value: bigint, count: number): number[] =>
  Array.from({ length: count }, (_, i) => Number((value >> BigInt(7 * (count - 1 - i))) & 0x7fn))

/** LEB128 of a number, without redundant bytes. With `zigzag`, of signed ones (Protobuf's sint, Go's varint). */
export const leb128Codec = ({
  zigzag = false,
  ...options
}: VarintOptions & { zigzag?: boolean } = {}): Codec<bigint> => {
  const most = highest('leb128', options)
  if (zigzag && options.max !== undefined) throw valueError('leb128 max', options.max, 'absent with zigzag')
  const lengths = Array.from({ length: 10 }, (_, i) => i + 1).filter(
    count => count === 1 || 2n ** BigInt(7 * (count - 1)) <= most
  )
  const pattern = alt(
    ...lengths.map(count => {
      const low = count === 1 ? 0n : 2n ** BigInt(7 * (count - 1))
      const high = 2n ** BigInt(7 * count) - 1n
      // The last byte has the most significant digit, and its top bit clear.
      return reversed(
        septets(digitsOf(low, count), digitsOf(high < most ? high : most, count), i => (i > 0 ? 0x80 : 0))
      )
    })
  )
  const plain = {
    encode(value: bigint): number[] {
      const bytes: number[] = []
      let rest = value
      for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80)
      return [...bytes, Number(rest)]
    },
    decode: (bytes: Uint8Array): bigint =>
      bytes.reduceRight((value, byte) => (value << 7n) | BigInt(byte & 0x7f), 0n)
  }
  if (!zigzag) {
    return varintCodec({ name: 'leb128', phrase: 'LEB128 encoding', high: most, pattern, ...plain })
  }
  return varintCodec({
    name: 'leb128 zigzag',
    phrase: 'zigzag LEB128 encoding',
    low: -(most + 1n) / 2n,
    high: most / 2n,
    pattern,
    encode: value => plain.encode(value < 0n ? -2n * value - 1n : 2n * value),
    decode(bytes) {
      const value = plain.decode(bytes)
      return value & 1n ? -(value + 1n) / 2n : value / 2n
    }
  })
}

/** Bitcoin's compact size: one byte below 253, else fd, fe or ff and 2, 4 or 8 bytes, least significant first. */
export const compactSizeCodec = (options: VarintOptions = {}): Codec<bigint> => {
  const most = highest('compactSize', options)
  const forms = [
    { lead: [], width: 1, low: 0n, high: 0xfcn },
    { lead: [0xfd], width: 2, low: 0xfdn, high: 0xffffn },
    { lead: [0xfe], width: 4, low: 0x10000n, high: 0xffffffffn },
    { lead: [0xff], width: 8, low: 0x100000000n, high: 2n ** 64n - 1n }
  ].filter(({ low }) => low <= most)
  return varintCodec({
    name: 'compactSize',
    phrase: 'compact size encoding',
    high: most,
    edges: [0xfdn],
    pattern: alt(
      ...forms.map(({ lead, width, low, high }) =>
        seq(word(lead), reversed(between(bigEndian(low, width), bigEndian(high < most ? high : most, width))))
      )
    ),
    encode(value) {
      const { lead, width } = forms.find(({ high }) => value <= high)!
      return [...lead, ...bigEndian(value, width).reverse()]
    },
    decode: bytes =>
      bytes
        .subarray(bytes.length === 1 ? 0 : 1)
        .reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n)
  })
}

/**
 * The VARINT of Bitcoin Core's databases: seven bits per byte, most significant first, and each longer word counts on
 * from the greatest shorter one.
 */
export const bitcoinVarintCodec = (options: VarintOptions = {}): Codec<bigint> => {
  const most = highest('bitcoinVarint', options)
  const encode = (value: bigint): number[] => {
    const bytes = [Number(value & 0x7fn)]
    for (let rest = value; rest > 0x7fn; ) {
      rest = (rest >> 7n) - 1n
      bytes.unshift(Number(rest & 0x7fn) | 0x80)
    }
    return bytes
  }
  const firstOf = (length: number): bigint =>
    Array.from({ length: length - 1 }, (_, i) => 2n ** BigInt(7 * (i + 1))).reduce(
      (sum, each) => sum + each,
      0n
    )
  const lengths = Array.from({ length: 10 }, (_, i) => i + 1).filter(length => firstOf(length) <= most)
  const digits = (value: bigint): number[] => encode(value).map(byte => byte & 0x7f)
  return varintCodec({
    name: 'bitcoinVarint',
    phrase: "encoding as Bitcoin Core's VARINT",
    high: most,
    edges: lengths.map(firstOf),
    pattern: alt(
      ...lengths.map(length => {
        const next = firstOf(length + 1) - 1n
        return septets(digits(firstOf(length)), digits(next < most ? next : most), i =>
          i < length - 1 ? 0x80 : 0
        )
      })
    ),
    encode,
    decode: bytes =>
      bytes.reduce(
        (value, byte, i) => (value << 7n) + BigInt(byte & 0x7f) + (i < bytes.length - 1 ? 1n : 0n),
        0n
      )
  })
}

/** CockroachDB's varint: the first byte is the length and the sign, so that the bytes sort as the numbers do. */
export const cockroachVarintCodec = ({
  signed = false,
  ...options
}: VarintOptions & { signed?: boolean } = {}): Codec<bigint> => {
  const most = signed ? 2n ** 63n - 1n : highest('cockroachVarint', options)
  if (signed && (options.max !== undefined || options.bits !== undefined))
    throw valueError('cockroachVarint', 'signed', 'without bits and max')
  const widths = Array.from({ length: 8 }, (_, i) => i + 1)
  const negative = widths.map(width => ({
    lead: 0x88 - width,
    width,
    low: width === 8 ? -(2n ** 63n) : -(2n ** BigInt(8 * width) - 1n),
    high: width === 1 ? -1n : -(2n ** BigInt(8 * (width - 1)))
  }))
  const positive = widths
    .map(width => ({
      lead: 0xf5 + width,
      width,
      low: width === 1 ? SMALL + 1n : 2n ** BigInt(8 * (width - 1)),
      high: 2n ** BigInt(8 * width) - 1n
    }))
    .filter(({ low }) => low <= most)
  const forms = [...(signed ? negative : []), ...positive]
  const unsigned = (value: bigint, width: number): number[] =>
    bigEndian(BigInt.asUintN(8 * width, value), width)
  return varintCodec({
    name: signed ? 'cockroachVarint signed' : 'cockroachVarint',
    phrase: "encoding as CockroachDB's varint",
    ...(signed && { low: -(2n ** 63n) }),
    high: most,
    edges: [SMALL + 1n],
    pattern: alt(
      range(0x88, 0x88 + Number(most < SMALL ? most : SMALL)),
      ...forms.map(({ lead, width, low, high }) =>
        seq(range(lead, lead), between(unsigned(low, width), unsigned(high < most ? high : most, width)))
      )
    ),
    encode(value) {
      if (value >= 0n && value <= SMALL) return [0x88 + Number(value)]
      const { lead, width } = forms.find(({ low, high }) => value >= low && value <= high)!
      return [lead, ...unsigned(value, width)]
    },
    decode(bytes) {
      const [lead, ...rest] = bytes
      if (rest.length === 0) return BigInt(lead! - 0x88)
      const value = rest.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
      if (lead! >= 0x88) return value
      return rest.length === 8 ? BigInt.asIntN(64, value) : value - 2n ** BigInt(8 * rest.length)
    }
  })
}

/** The greatest number in one byte. */
const SMALL = 109n
