/**
 * A codec ties the values of one key component to the words of one regular language, one to one. The language
 * is what is proved about; writing and reading are held to it: every word is checked against the language
 * when it is written, and `read` is only ever given words of it.
 */
import { printValue, QuoinError, toHex, writeUtf8 } from '@quoin/primitives'
import type { Language } from './language/language.ts'

export interface CodecOptions<T> {
  /** The short name, as in layout files: `u64be`, `decimal`. */
  readonly name: string
  /** How documentation says it, with the component's name after "of": `8 byte big endian encoding`. */
  readonly phrase: string
  readonly language: Language
  /**
   * How the order of values shows in their words: `bytes` when the words sort as the values do; `shortlex`
   * when a shorter word is the smaller value and words of one length sort as the values do; otherwise two
   * values, the smaller first, whose words sort the other way.
   */
  readonly order: 'bytes' | 'shortlex' | readonly [T, T]
  /** What the order of values is called: numbers are `numeric`, everything else `lexicographic`. */
  readonly orderName: 'numeric' | 'lexicographic'
  /** The value of the word `source[start..end)`. */
  read(source: Uint8Array, start: number, end: number): T
  /** The value as people write it. */
  show(value: T): string
  /** Writes at `offset` and returns the offset after; past the end of `target` it may write nothing. */
  put?(value: T, target: Uint8Array, offset: number): number
  /** Instead of `put`: the text that stands for the value, as UTF-8. */
  text?(value: T): string
}

/** Use `write`, which checks; `put` and `text` are the unchecked halves of it. */
export class Codec<T> {
  readonly name: string
  readonly phrase: string
  readonly language: Language
  readonly order: CodecOptions<T>['order']
  readonly orderName: CodecOptions<T>['orderName']
  readonly read: CodecOptions<T>['read']
  readonly show: CodecOptions<T>['show']
  readonly put: CodecOptions<T>['put']
  readonly text: CodecOptions<T>['text']
  /** The width of a word when any bytes of it are one, or else -1; known from the first write on. */
  #width: number | undefined

  constructor({ name, phrase, language, order, orderName, read, show, put, text }: CodecOptions<T>) {
    if (!put === !text) {
      throw new QuoinError('ERR_KEYSPACE_DECLARATION', `codec ${name} needs one of put and text`, { name })
    }
    this.name = name
    this.phrase = phrase
    this.language = language
    this.order = order
    this.orderName = orderName
    this.read = read
    this.show = show
    this.put = put
    this.text = text
  }

  /**
   * Writes the word of `value` and returns the offset after it. What was written is checked here, whoever wrote
   * it, so that nothing outside the language is ever produced.
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
    // Text that is not ASCII, does not fit, or is no word: the slow way, which can tell which.
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
