/**
 * Keys as steps, each a literal and the component after it, for writing and reading.
 * Most layouts can be divided from left to right without trying alternatives: a component of fixed length, one that
 * delimits itself, one up to a byte that it cannot contain, or the one before a tail of fixed length. Any other
 * layout is read through its automaton. Either way the division is the only possible one (P1).
 */
import { QuoinError } from '@quoin/primitives'
import { bufferError, type Codec } from './codec.ts'
import type { Language } from './language/language.ts'
import type { Layout, Part } from './layout.ts'

/** The way to find the end of a component. */
type Cut =
  /** Fixed length, any bytes. */
  | 'width'
  /** Fixed length, checked by its automaton. */
  | 'checked width'
  /** As far as its automaton goes: the next literal begins with a byte outside of its alphabet. */
  | 'run'
  /** The first accepting state: no word is a prefix of another. */
  | 'first end'
  /** All bytes but those of the parts after it, which have a fixed length. */
  | 'tail'
  /** Only by the automaton of the whole key. */
  | 'none'

export interface Step {
  /** The literal before the component. */
  readonly literal: Uint8Array
  readonly codec: Codec<unknown>
  readonly cut: Cut
  /** The length of the component; for the one before a tail, the length of that tail. */
  readonly width: number
}

export interface Steps {
  readonly steps: readonly Step[]
  /** The literal after the last component. */
  readonly last: Uint8Array
}

/** The steps of the parts up to number `count`, which is not included. */
export const stepsOf = ({ parts }: Layout, count = parts.length): Steps => {
  const steps: Step[] = []
  let literal: Uint8Array = new Uint8Array()
  parts.slice(0, count).forEach((part, i) => {
    if (part.kind === 'literal') literal = part.bytes
    else {
      steps.push(stepOf(literal, part.component.codec, parts.slice(i + 1)))
      literal = new Uint8Array()
    }
  })
  return { steps, last: literal }
}

const stepOf = (literal: Uint8Array, codec: Codec<unknown>, after: readonly Part[]): Step => {
  const tail = after.reduce((sum, { language }) => sum + (language.fixedLength ?? Number.NaN), 0)
  const cut = cutOf(codec.language, after[0], tail)
  return { literal, codec, cut, width: cut === 'tail' ? tail : (codec.language.fixedLength ?? 0) }
}

const cutOf = (language: Language, next: Part | undefined, tail: number): Cut => {
  if (language.fixedLength !== undefined) return language.isAllBytes ? 'width' : 'checked width'
  if (!Number.isNaN(tail)) return 'tail'
  if (next?.kind === 'literal' && !language.alphabet.has(next.bytes[0]!)) return 'run'
  return language.isSelfDelimiting ? 'first end' : 'none'
}

/** Writes a key, or as much of it as there are steps, and returns the offset after it. */
export const writeKey = (
  { steps, last }: Steps,
  key: readonly unknown[],
  target: Uint8Array,
  offset: number
): number => {
  if (offset >>> 0 !== offset) throw offsetError(offset)
  let end = offset
  steps.forEach(({ literal, codec }, i) => {
    for (const byte of literal) target[end++] = byte
    end = codec.write(key[i], target, end)
  })
  for (const byte of last) target[end++] = byte
  if (end > target.length) throw bufferError(end, target.length)
  return end
}

const offsetError = (offset: number): QuoinError =>
  new QuoinError('ERR_KEY_BUFFER', `invalid offset in a buffer: ${offset}`, { offset: String(offset) })

/** The components of a key that can be divided, or undefined when the bytes are not a key. */
export const readKey = ({ steps, last }: Steps, key: Uint8Array): unknown[] | undefined => {
  const values: unknown[] = []
  let at = 0
  for (const step of steps) {
    const start = literalEnd(step.literal, key, at)
    at = start < 0 ? -1 : endOf(step, key, start)
    if (at < 0) return undefined
    values.push(step.codec.read(key, start, at))
  }
  return literalEnd(last, key, at) === key.length ? values : undefined
}

/** The offset after the literal, or -1 when the bytes differ. */
const literalEnd = (literal: Uint8Array, key: Uint8Array, offset: number): number =>
  literal.every((byte, i) => key[offset + i] === byte) ? offset + literal.length : -1

/** The end of the component at `start`, or -1 when no word begins there. */
const endOf = ({ codec, cut, width }: Step, key: Uint8Array, start: number): number => {
  const { matcher } = codec.language
  switch (cut) {
    case 'run':
      return matcher.runEnd(key, start)
    case 'first end':
      return matcher.firstEnd(key, start)
    case 'width':
    case 'checked width':
    case 'tail': {
      const end = cut === 'tail' ? key.length - width : start + width
      return end >= start && end <= key.length && matcher.departs(key, start, end) === -1 ? end : -1
    }
    case 'none':
      return -1
  }
}
