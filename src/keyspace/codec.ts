/**
 * A codec ties the values of one key component to the words of one regular language, one to one. The language
 * is what is proved about; `write` and `read` are held to it: `writeWord` checks what `write` produced against
 * the language, and `read` is only ever given words of it.
 */
import { QuoinError } from '../error.ts'
import { toHex } from './bytes.ts'
import type { Language } from './language/language.ts'

export interface Codec<T> {
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
  /** Writes at `offset` and returns the offset after; past the end of `target` it may write nothing. */
  write(value: T, target: Uint8Array, offset: number): number
  /** The value of the word `source[start..end)`. */
  read(source: Uint8Array, start: number, end: number): T
  /** The value as people write it. */
  show(value: T): string
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

export const valueError = (codec: string, value: unknown, expected: string): QuoinError =>
  new QuoinError('ERR_KEY_VALUE', `${codec}: ${show(value)} is not ${expected}`, {
    codec,
    value: show(value),
    expected
  })

/**
 * Writes the word of `value` and makes sure that it is one: the buffer was long enough, and the bytes belong to
 * the language. Every key is written through here, so that nothing outside the language is ever produced.
 */
export const writeWord = <T>(codec: Codec<T>, value: T, target: Uint8Array, offset: number): number => {
  const end = codec.write(value, target, offset)
  if (end > target.length) throw bufferError(end, target.length)
  const { language } = codec
  if (
    language.isAllBytes ? end - offset === language.fixedLength : language.departs(target, offset, end) === -1
  ) {
    return end
  }
  throw strayValue(codec, value, target, offset, end)
}

const strayValue = <T>(
  { name, language }: Codec<T>,
  value: T,
  target: Uint8Array,
  start: number,
  end: number
): QuoinError => {
  const offset = language.departs(target, start, end)
  const found =
    offset < end
      ? `${toHex(target.subarray(offset, offset + 1))} at byte ${offset - start}`
      : `its end at byte ${end - start}`
  const expected = language.expected(target, start, offset).toString() || 'the end'
  return new QuoinError(
    'ERR_KEY_VALUE',
    `${name}: ${show(value)} has ${found}, where ${expected} must stand`,
    {
      codec: name,
      value: show(value),
      offset: offset - start,
      expected
    }
  )
}

const bufferError = (needed: number, given: number): QuoinError =>
  new QuoinError('ERR_KEY_BUFFER', `the key needs ${needed} bytes, the buffer has ${given}`, {
    needed,
    given
  })

const show = (value: unknown): string => {
  if (value instanceof Uint8Array)
    return `bytes ${toHex(value.subarray(0, 40))}${value.length > 40 ? '…' : ''}`
  if (typeof value === 'string') return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value)
  return typeof value === 'bigint' ? `${value}n` : String(value)
}
