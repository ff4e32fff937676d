/** Bytes that end themselves: after their length, before a terminator, or as a truncated digest of one length. */
import { compareBytes, copyOf, toHex, valueError } from '@quoin/primitives'
import { Codec } from '../codec.ts'
import { ByteSet } from '../language/byteset.ts'
import { type Edge, Language } from '../language/language.ts'
import { any, type Length, range, repeat, seq, set, word } from '../language/pattern.ts'
import { BYTES_SAMPLES } from './samples.ts'
import { compactSizeCodec, leb128Codec } from './varint.ts'
import { integerCodec } from './wide-integer.ts'

const LENGTH_CODECS = {
  u8: () => integerCodec({ bits: 8 }),
  u16be: () => integerCodec({ bits: 16 }),
  u16le: () => integerCodec({ bits: 16, littleEndian: true }),
  u32be: () => integerCodec({ bits: 32 }),
  u32le: () => integerCodec({ bits: 32, littleEndian: true }),
  leb128: () => leb128Codec(),
  compactSize: () => compactSizeCodec()
} as const

export type LengthPrefix = keyof typeof LENGTH_CODECS
export const LENGTH_PREFIXES = Object.keys(LENGTH_CODECS) as LengthPrefix[]

/** A length, then as many bytes. They sort by length first, in the order of the words of lengths. */
export const lengthPrefixedCodec = (
  prefix: LengthPrefix,
  { min = 0, max = 255 }: Length = {}
): Codec<Uint8Array> => {
  const lengths = LENGTH_CODECS[prefix]()
  const lead = (length: number): Uint8Array => {
    const target = new Uint8Array(16)
    return target.slice(0, lengths.write(BigInt(length), target, 0))
  }
  const leads = Array.from({ length: max - min + 1 }, (_, i) => lead(min + i))
  const fits = (value: unknown): value is Uint8Array =>
    value instanceof Uint8Array && value.length >= min && value.length <= max
  const least = Math.max(1, min)
  return new Codec<Uint8Array>({
    name: prefix === 'u8' ? 'length-prefixed' : `length-prefixed ${prefix}`,
    phrase: prefix === 'u8' ? '1 byte length and bytes' : `${prefix} length and bytes`,
    language: countedWords(prefix, leads, min),
    order: max > least ? disorder() : 'bytes',
    orderName: 'lexicographic',
    samples: BYTES_SAMPLES.filter(fits),
    put(value, target, offset) {
      if (!fits(value)) throw valueError('length-prefixed', value, `${min} to ${max} bytes`)
      const start = leads[value.length - min]!
      const end = offset + start.length + value.length
      if (end > target.length) return end
      target.set(start, offset)
      target.set(value, offset + start.length)
      return end
    },
    read: (source, start, end) => copyOf(source, lengths.language.matcher.firstEnd(source, start), end),
    show: toHex
  })

  /** The longer value is the smaller one, and its word the greater; or else it is greater, and its word the smaller. */
  function disorder(): readonly [Uint8Array, Uint8Array] {
    const [short, long] = [new Uint8Array(least), new Uint8Array(least + 1)]
    return compareBytes(lead(least + 1), lead(least)) > 0 ? [long, short.fill(0xff)] : [short, long]
  }
}

/** The words of lengths as a tree, which leads to the state that expects as many bytes. */
const countedWords = (prefix: string, leads: readonly Uint8Array[], min: number): Language => {
  const edges: Edge[][] = [[]]
  const counting: number[] = []
  /** The state that expects `count` more bytes; 0 is the end. */
  const expecting = (count: number): number => {
    counting[count] ??= edges.push(count === 0 ? [] : [{ set: ByteSet.all, to: expecting(count - 1) }]) - 1
    return counting[count]
  }
  leads.forEach((lead, i) => {
    let at = 0
    lead.forEach((byte, k) => {
      const known = edges[at]!.find(({ set: bytes }) => bytes.has(byte))
      if (known) {
        at = known.to
        return
      }
      const to = k === lead.length - 1 ? expecting(min + i) : edges.push([]) - 1
      edges[at]!.push({ set: ByteSet.of(byte), to })
      at = to
    })
  })
  const end = expecting(0)
  return Language.from(`counted ${prefix}{${min},${leads.length}}`, {
    edges,
    accepting: edges.map((_, state) => state === end)
  })
}

/** Bytes other than `terminator`, then the terminator. */
export const terminatedCodec = (
  terminator: number,
  { min = 0, max = Number.POSITIVE_INFINITY }: Length = {}
): Codec<Uint8Array> => {
  const fits = (value: unknown): value is Uint8Array =>
    value instanceof Uint8Array && value.length >= min && value.length <= max && !value.includes(terminator)
  const content = set(ByteSet.all.minus(ByteSet.of(terminator)))
  const start = new Uint8Array(min).fill(terminator === 0 ? 1 : 0)
  return new Codec<Uint8Array>({
    name: 'terminated',
    phrase: `bytes without ${toHex([terminator])}, then ${toHex([terminator])}`,
    language: Language.of(seq(repeat(content, min, max), range(terminator, terminator))),
    // After the shorter value comes the terminator, which must be below all that may continue the longer one.
    order: terminator === 0 || max === min ? 'bytes' : [start, Uint8Array.of(...start, 0)],
    orderName: 'lexicographic',
    samples: BYTES_SAMPLES.filter(fits),
    put(value, target, offset) {
      if (!fits(value)) throw valueError('terminated', value, `bytes without ${toHex([terminator])}`)
      const end = offset + value.length + 1
      if (end > target.length) return end
      target.set(value, offset)
      target[end - 1] = terminator
      return end
    },
    read: (source, from, end) => copyOf(source, from, end - 1),
    show: toHex
  })
}

/** The first bytes of a digest. Two digests may share them, so that a key does not tell one from the other. */
export const truncatedCodec = (length: number, of: number): Codec<Uint8Array> => {
  if (length >= of) throw valueError('truncated length', length, `less than the ${of} bytes of the digest`)
  const digest = (last: number): Uint8Array => {
    const bytes = Uint8Array.from({ length: of }, (_, i) => (0xa1 + 17 * i) & 0xff)
    bytes[of - 1] = last
    return bytes
  }
  return new Codec<Uint8Array>({
    name: 'truncated',
    phrase: `first ${length} of ${of} bytes`,
    language: Language.of(repeat(any, length)),
    order: 'bytes',
    orderName: 'lexicographic',
    collision: [digest(1), digest(2)],
    samples: [digest(1)],
    put(value, target, offset) {
      if (!(value instanceof Uint8Array) || value.length !== of)
        throw valueError('truncated', value, `${of} bytes`)
      for (let i = 0; i < length; i++) target[offset + i] = value[i]!
      return offset + length
    },
    read(source, start, end) {
      const bytes = new Uint8Array(of)
      bytes.set(source.subarray(start, end))
      return bytes
    },
    show: toHex
  })
}

/** Names that stand for fixed words: `{ open: 01, closed: 02 }`, in the order of declaration. */
export const enumerationCodec = (words: ReadonlyMap<string, Uint8Array>): Codec<string> => {
  const names = [...words.keys()]
  const hexes = new Map(Array.from(words, ([name, bytes]) => [toHex(bytes), name]))
  if (hexes.size < words.size) throw valueError('enum values', names.join(), 'different bytes for each name')
  const wrong = names.findIndex(
    (name, i) => i > 0 && toHex(words.get(names[i - 1]!)!) > toHex(words.get(name)!)
  )
  return new Codec<string>({
    name: 'enum',
    phrase: 'one of fixed words',
    language: Language.of({ kind: 'alt', options: Array.from(words.values(), word) }),
    order: wrong < 0 ? 'bytes' : [names[wrong - 1]!, names[wrong]!],
    orderName: 'as declared',
    samples: names,
    put(value, target, offset) {
      const bytes = words.get(value)
      if (!bytes) throw valueError('enum', value, `one of ${names.join(', ')}`)
      for (const [i, byte] of bytes.entries()) target[offset + i] = byte
      return offset + bytes.length
    },
    read: (source, start, end) => hexes.get(toHex(copyOf(source, start, end)))!,
    show: value => value
  })
}
