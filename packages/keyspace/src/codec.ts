/**
 * A codec is a bijection between the values of a key component and the words of a regular language. Proofs are about
 * the language, and both directions keep to it: a written word is checked against the language, and `read` gets words
 * only.
 */
import { printValue, QuoinError, toHex, writeUtf8 } from '@quoin/primitives'
import type { Language } from './language/language.ts'

export type OrderName =
  | 'numeric'
  | 'lexicographic'
  | 'numeric, descending'
  | 'lexicographic, descending'
  | 'as declared'
  | 'as declared, descending'

export interface CodecOptions<T> {
  /** The short name, as in layout files: `u64be`, `decimal`. */
  readonly name: string
  /** The codec in documentation, before "of" and the component's name: `8 byte big endian encoding`. */
  readonly phrase: string
  readonly language: Language
  /**
   * The order of words against the order of values: `bytes` when they agree; `shortlex` when a shorter word is the
   * smaller value and words of one length agree; `longer first` when they agree, but a word that begins another is the
   * greater value; otherwise two values, the smaller first, whose words sort the other way.
   */
  readonly order: 'bytes' | 'shortlex' | 'longer first' | readonly [T, T]
  /** The name of the order of values: `numeric` for numbers, otherwise `lexicographic`. */
  readonly orderName: OrderName
  /** Two values with one word, of a codec that is not injective: an ambiguity of every key that has the component. */
  readonly collision?: readonly [T, T]
  /** Values that people recognise, some of which begin others: witnesses use them. */
  readonly samples?: readonly T[]
  /** The value of the word `source[start..end)`. */
  read(source: Uint8Array, start: number, end: number): T
  /** The value as text for people. */
  show(value: T): string
  /** Writes at `offset` and returns the offset after the word. Without room for the word it may write nothing. */
  put?(value: T, target: Uint8Array, offset: number): number
  /** Instead of `put`: the word as text, which is written as UTF-8. */
  text?(value: T): string
}

/** Callers use `write`, which checks; `put` and `text` do not. */
export class Codec<T> {
  readonly name: string
  readonly phrase: string
  readonly language: Language
  readonly order: CodecOptions<T>['order']
  readonly orderName: OrderName
  readonly collision: CodecOptions<T>['collision']
  readonly samples: CodecOptions<T>['samples']
  readonly read: CodecOptions<T>['read']
  readonly show: CodecOptions<T>['show']
  readonly put: CodecOptions<T>['put']
  readonly text: CodecOptions<T>['text']
  /**
   * The width of words when every sequence of that many bytes is a word, or else -1; known from the first write on.
   */
  #width: number | undefined

  constructor(options: CodecOptions<T>) {
    const { name, phrase, language, order, orderName, collision, samples, read, show, put, text } = options
    if (!put === !text) {
      throw new QuoinError('ERR_KEYSPACE_DECLARATION', `codec ${name} needs one of put and text`, { name })
    }
    this.name = name
    this.phrase = phrase
    this.language = language
    this.order = order
    this.orderName = orderName
    this.collision = collision
    this.samples = samples
    this.read = read
    this.show = show
    this.put = put
    this.text = text
  }

  /**
   * Writes the word of `value` and returns the offset after it. The written bytes are checked, so `put` cannot
   * produce anything outside of the language.
   */
  write(value: T, target: Uint8Array, offset: number): number {
    if (!this.put) return this.#writeText(value, target, offset)
    const end = this.put(value, target, offset)
    if (end > target.length) throw bufferError(end, target.length)
    this.#width ??= this.language.isAllBytes ? this.language.fixedLength! : -1
    if (end - offset === this.#width || this.language.matcher.departs(target, offset, end) === -1) return end
    throw strayValue(this, value, target, offset, end)
  }

  #writeText(value: T, target: Uint8Array, offset: number): number {
    const text = this.text!(value)
    const fast = this.language.matcher.writeAscii(text, target, offset)
    if (fast >= 0) return fast
    // Text that is not ASCII, does not fit or is not a word: the slow path tells which.
    const end = writeUtf8(text, target, offset)
    if (end > target.length) throw bufferError(end, target.length)
    if (this.language.matcher.departs(target, offset, end) === -1) return end
    throw strayValue(this, value, target, offset, end)
  }
}

/** A named part of a key. */
export interface Component<Name extends string = string, T = unknown> {
  readonly name: Name
  readonly codec: Codec<T>
}

export const component = <const Name extends string, T>(name: Name, codec: Codec<T>): Component<Name, T> => ({
  name,
  codec
})

const strayValue = <T>(
  { name, language }: Codec<T>,
  value: T,
  target: Uint8Array,
  start: number,
  end: number
): QuoinError => {
  const offset = language.matcher.departs(target, start, end)
  const found =
    offset < end
      ? `${toHex(target.subarray(offset, offset + 1))} at byte ${offset - start}`
      : `its end at byte ${end - start}`
  const expected = language.expected(target, start, offset).toString() || 'the end'
  return new QuoinError(
    'ERR_KEY_VALUE',
    `${name}: ${printValue(value)} has ${found}, where ${expected} must stand`,
    {
      codec: name,
      value: printValue(value),
      offset: offset - start,
      expected
    }
  )
}

export const bufferError = (needed: number, given: number): QuoinError =>
  new QuoinError('ERR_KEY_BUFFER', `the key needs ${needed} bytes, the buffer has ${given}`, {
    needed,
    given
  })
