/**
 * For tests: the laws of a codec, as a suite that is handed the codec, its values and an independent reading of
 * what its words are. The independent part never uses the code under test.
 */

import { compareBytes, QuoinError } from '@quoin/primitives'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Codec, type CodecOptions } from '../codec.ts'
import type { Language } from '../language/language.ts'
import { notCanonical } from '../proof/canonical.ts'

export interface Lawful<T> {
  readonly codec: Codec<T>
  readonly kind: 'number' | 'bigint' | 'string' | 'bytes'
  readonly values: fc.Arbitrary<T>
  /** Two values that are likely to be close in the order. Any two unless given. */
  readonly pairs?: fc.Arbitrary<readonly [T, T]>
  /** Bytes that are likely to be almost a word, besides the random and the mutated ones. */
  readonly near?: fc.Arbitrary<Uint8Array>
  /** The word of a value, by an independent encoder. */
  readonly encode: (value: T) => Uint8Array
  /** Whether bytes are a word, by an independent reading. */
  readonly isWord: (bytes: Uint8Array) => boolean
  /** What the codec must claim: an order of its words, or two values in disorder. */
  readonly order: 'bytes' | 'shortlex' | 'disorder'
  readonly compare: (a: T, b: T) => number
  /** The value that comes back, where it is not the one that was written. */
  readonly normal?: (value: T) => T
}

const RUNS = { numRuns: 300 }
const FILLER = 0xa5

export const codecLaws = <T>(title: string, lawful: Lawful<T>): void => {
  const { codec, kind, values, near, encode, isWord, order, compare, normal = value => value } = lawful
  const pairs = lawful.pairs ? fc.oneof(lawful.pairs, fc.tuple(values, values)) : fc.tuple(values, values)
  const words = values.map(encode)
  const almost = near ?? words
  const candidates = fc.oneof(fc.uint8Array({ maxLength: 16 }), mutated(words), almost, mutated(almost))

  describe(title, () => {
    it('writes the word that an independent encoder writes, at any offset, and touches nothing around it', () => {
      fc.assert(
        fc.property(values, fc.nat(9), fc.nat(3), (value, offset, spare) => {
          const word = encode(value)
          const target = new Uint8Array(offset + word.length + spare).fill(FILLER)
          expect(codec.write(value, target, offset)).toBe(offset + word.length)
          expect(target).toStrictEqual(framed(word, offset, spare))
        }),
        RUNS
      )
    })

    it('reads back the value it wrote, at any offset', () => {
      fc.assert(
        fc.property(values, fc.nat(9), fc.nat(3), (value, offset, spare) => {
          const word = wordOf(codec, value)
          const source = framed(word, offset, spare)
          expect(codec.read(source, offset, offset + word.length)).toStrictEqual(normal(value))
        }),
        RUNS
      )
    })

    it('refuses a buffer that is too small, be it by one byte', () => {
      fc.assert(
        fc.property(values, fc.nat(9), fc.nat(), (value, offset, size) => {
          const needed = offset + encode(value).length
          fc.pre(needed > 0)
          for (const length of [needed - 1, size % needed]) {
            expect(errorOf(() => codec.write(value, new Uint8Array(length), offset))).toMatchObject({
              code: 'ERR_KEY_BUFFER',
              details: { needed, given: length }
            })
          }
        }),
        RUNS
      )
    })

    it('accepts exactly the bytes that an independent reading accepts', () => {
      fc.assert(
        fc.property(candidates, fc.nat(9), fc.nat(3), (bytes, offset, spare) => {
          const departs = codec.language.matcher.departs(
            framed(bytes, offset, spare),
            offset,
            offset + bytes.length
          )
          expect(departs === -1).toBe(isWord(bytes))
        }),
        { numRuns: 1000 }
      )
    })

    it('says where bytes stop being a word, as a walk along its automaton does', () => {
      fc.assert(
        fc.property(candidates, fc.nat(9), fc.nat(3), (bytes, offset, spare) => {
          const source = framed(bytes, offset, spare)
          const end = offset + bytes.length
          expect(codec.language.matcher.departs(source, offset, end)).toBe(
            departure(codec.language, source, offset, end)
          )
        }),
        RUNS
      )
    })

    it('writes every word it accepts back as the same bytes', () => {
      fc.assert(
        fc.property(fc.oneof(candidates, words), bytes => {
          fc.pre(codec.language.matcher.departs(bytes, 0, bytes.length) === -1)
          expect(wordOf(codec, codec.read(bytes, 0, bytes.length))).toStrictEqual(bytes)
        }),
        RUNS
      )
      expect(notCanonical(codec)).toBeUndefined()
    })

    if (order === 'disorder') {
      it('does not claim an order, and shows two values whose words sort the other way', () => {
        expect(codec.order).toHaveLength(2)
        const [low, high] = codec.order as readonly [T, T]
        expect(compare(low, high)).toBeLessThan(0)
        expect(compareBytes(wordOf(codec, low), wordOf(codec, high))).toBeGreaterThan(0)
      })
    } else {
      it(`sorts its words as the values sort (${order})`, () => {
        expect(codec.order).toBe(order)
        expect(codec.orderName).toBe(kind === 'number' || kind === 'bigint' ? 'numeric' : 'lexicographic')
        fc.assert(
          fc.property(pairs, ([a, b]) => {
            const [one, other] = [wordOf(codec, a), wordOf(codec, b)]
            const shorter = order === 'shortlex' ? one.length - other.length : 0
            expect(Math.sign(shorter || compareBytes(one, other))).toBe(Math.sign(compare(a, b)))
          }),
          RUNS
        )
      })
    }

    if (kind === 'string') {
      it('writes a text exactly when the text has a word', () => {
        const given = candidates.map(bytes => new TextDecoder().decode(bytes))
        fc.assert(
          fc.property(given, text => {
            if (isWord(encode(text as T))) expect(wordOf(codec, text as T)).toStrictEqual(encode(text as T))
            else expect(refusal(codec, text)).toMatchObject({ code: 'ERR_KEY_VALUE' })
          }),
          RUNS
        )
      })
    }

    it('refuses values of another type', () => {
      for (const [type, stranger] of STRANGERS) {
        if (type !== kind) expect(refusal(codec, stranger), type).toMatchObject({ code: 'ERR_KEY_VALUE' })
      }
    })
  })
}

const STRANGERS: readonly (readonly [string, unknown])[] = [
  ['undefined', undefined],
  ['null', null],
  ['boolean', true],
  ['number', 1],
  ['bigint', 1n],
  ['string', '1'],
  ['bytes', Uint8Array.of(1)],
  ['array of bytes', [1]],
  ['array of 16-bit numbers', Uint16Array.of(1)],
  ['object', { length: 1, 0: 1 }],
  ['symbol', Symbol('1')],
  ['function', () => 1]
]

/** The word of `value`, alone. */
export const wordOf = <T>(codec: Codec<T>, value: T): Uint8Array => {
  const target = new Uint8Array(4096)
  return target.slice(0, codec.write(value, target, 0))
}

/** The codec with some of its parts replaced. */
export const altered = <T>(codec: Codec<T>, parts: Partial<CodecOptions<T>>): Codec<T> =>
  new Codec({ ...codec, ...parts } as CodecOptions<T>)

/** Whether the bytes are a word of the codec. */
export const accepts = (codec: Codec<unknown>, bytes: Uint8Array): boolean =>
  codec.language.matcher.departs(bytes, 0, bytes.length) === -1

/** The error of a value that the codec must refuse. */
export const refusal = (codec: Codec<unknown>, value: unknown): QuoinError =>
  errorOf(() => wordOf(codec, value))

/** The QuoinError that `act` must throw. */
export const errorOf = (act: () => unknown): QuoinError => {
  let result: unknown
  try {
    result = act()
  } catch (error) {
    if (error instanceof QuoinError) return error
    throw error
  }
  throw new Error(`nothing was refused, and the result is ${String(result)}`)
}

export const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1')
export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)
export const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
export const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'))

export const byNumber = <T extends number | bigint>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0)
export const byBytes = (a: Uint8Array, b: Uint8Array): number => Buffer.compare(a, b)

/** The order of Unicode code points, where U+1F600 is above U+FF5E. UTF-16 has it below. */
export const byCodePoint = (a: string, b: string): number => {
  const [one, other] = [a, b].map(text => Array.from(text, char => char.codePointAt(0)!))
  for (let i = 0; ; i++) {
    if (i === one!.length || i === other!.length) return one!.length - other!.length
    if (one![i] !== other![i]) return one![i]! - other![i]!
  }
}

/** Texts over `characters`, from `min` to `max` of them. */
export const textOver = (characters: string, min: number, max: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...characters), minLength: min, maxLength: max })

/** Two texts with a common beginning, one of them perhaps the beginning of the other. */
export const withCommonStart = (texts: fc.Arbitrary<string>): fc.Arbitrary<readonly [string, string]> =>
  fc.tuple(texts, texts, texts).map(([start, a, b]) => [start + a, start + b] as const)

/** Where the bytes leave the automaton, their end when they end too soon, or -1 when they are a word. */
const departure = ({ edges, accepting }: Language, bytes: Uint8Array, start: number, end: number): number => {
  let state = 0
  for (let i = start; i < end; i++) {
    const edge = edges[state]!.find(({ set }) => set.has(bytes[i]!))
    if (!edge) return i
    state = edge.to
  }
  return accepting[state] ? -1 : end
}

const framed = (bytes: Uint8Array, offset: number, spare: number): Uint8Array => {
  const whole = new Uint8Array(offset + bytes.length + spare).fill(FILLER)
  whole.set(bytes, offset)
  return whole
}

/** Words as they are, with one byte changed, added or removed, or cut short. */
const mutated = (words: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array> => {
  const byte = fc.oneof(
    fc.nat(255),
    fc.constantFrom(...'\0/09:AFaf|_.\x7f\x80\xff').map(c => c.charCodeAt(0))
  )
  const edit = fc.constantFrom('none', 'replace', 'flip', 'insert', 'remove', 'truncate')
  return fc.tuple(words, edit, fc.nat(), byte).map(([word, change, where, replacement]) => {
    const at = where % (word.length + 1)
    const [before, after] = [[...word.subarray(0, at)], [...word.subarray(at)]]
    switch (change) {
      case 'replace':
        return Uint8Array.from([...before, replacement, ...after.slice(1)])
      case 'flip':
        return Uint8Array.from([...before, (after[0] ?? 0) ^ (1 << (replacement & 7)), ...after.slice(1)])
      case 'insert':
        return Uint8Array.from([...before, replacement, ...after])
      case 'remove':
        return Uint8Array.from([...before, ...after.slice(1)])
      case 'truncate':
        return Uint8Array.from(before)
      default:
        return word
    }
  })
}
