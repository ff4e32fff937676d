/**
 * Generates the source of `writeKey` and `readKey`, unrolled for one collection. V8 then inlines each codec at its
 * own place, which about halves the time of a key (`npm run bench -- keyspace`). Where a Content-Security-Policy
 * forbids functions from text, the loops of step.ts do the same work.
 */
import type { ByteSet } from './language/byteset.ts'
import type { Language } from './language/language.ts'
import { freeTails } from './language/matcher.ts'
import { readKey, type Step, type Steps, writeKey } from './step.ts'

// biome-ignore lint/suspicious/noExplicitAny: the collection gives it the types of its key.
export type KeyWriter = (target: Uint8Array, offset: number, ...key: any[]) => number
export type KeyReader = (key: Uint8Array) => unknown[] | undefined

export const keyWriter = (steps: Steps, canGenerate = allowed): KeyWriter => {
  if (!canGenerate) return (target, offset, ...key) => writeKey(steps, key, target, offset)
  const values = steps.steps.map((_, i) => `v${i}`)
  return generate(
    steps,
    `(target, offset${values.map(value => `, ${value}`).join('')}) => {
      if (offset >>> 0 !== offset) return writeKey(steps, [${values}], target, offset)
      let start = 0, end = offset
      ${steps.steps.map((step, i) => writeLiteral(step.literal) + writeComponent(step, i)).join('')}
      ${writeLiteral(steps.last)}
      return end <= target.length ? end : writeKey(steps, [${values}], target, offset)
    }`
  ) as KeyWriter
}

export const keyReader = (steps: Steps, canGenerate = allowed): KeyReader => {
  if (!canGenerate) return key => readKey(steps, key)
  return generate(
    steps,
    `key => {
      let start = 0, at = 0
      ${steps.steps.map((step, i) => readLiteral(step.literal) + readComponent(step, i)).join('')}
      ${readLiteral(steps.last)}
      return at === key.length ? [${steps.steps.map((_, i) => `v${i}`)}] : undefined
    }`
  ) as KeyReader
}

/** Throws under a Content-Security-Policy without `unsafe-eval`. */
const allowed = (() => {
  try {
    return new Function('return true')() as boolean
  } catch {
    return false
  }
})()

/** The source, and the values it refers to: c0 c1 … are the codecs, p0 t0 m0 r0 … their functions. */
const generate = (steps: Steps, source: string): unknown => {
  const scope: Record<string, unknown> = { steps, writeKey }
  steps.steps.forEach(({ codec }, i) => {
    Object.assign(scope, {
      [`c${i}`]: codec,
      [`p${i}`]: codec.put,
      [`t${i}`]: codec.text,
      [`r${i}`]: codec.read,
      [`m${i}`]: codec.language.matcher
    })
  })
  return new Function(...Object.keys(scope), `return ${source}`)(...Object.values(scope))
}

const writeLiteral = (literal: Uint8Array): string =>
  `${Array.from(literal, (byte, i) => `target[end + ${i}] = ${byte};`).join(' ')} end += ${literal.length};\n`

/** `Codec.write` is the slow path: it writes the rest, or refuses with the reason. */
const writeComponent = ({ codec, cut, width }: Step, i: number): string => {
  if (codec.text) {
    return `start = end; end = m${i}.writeAscii(t${i}(v${i}), target, start)
      if (end < 0) end = c${i}.write(v${i}, target, start);\n`
  }
  const head = cut === 'checked width' ? headTest(codec.language) : undefined
  const isWord =
    cut === 'width' || head
      ? `end === start + ${width} && end <= target.length${head ? ` && (${head})` : ''}`
      : `end <= target.length && m${i}.departs(target, start, end) === -1`
  return `start = end; end = p${i}(v${i}, target, start)
      if (!(${isWord})) end = c${i}.write(v${i}, target, start);\n`
}

const readLiteral = (literal: Uint8Array): string =>
  literal.length === 0
    ? ''
    : `if (${Array.from(literal, (byte, i) => `key[at + ${i}] !== ${byte}`).join(' || ')}) return undefined
      at += ${literal.length};\n`

const readComponent = ({ cut, width }: Step, i: number): string => {
  const end = {
    width: `start + ${width}`,
    'checked width': `start + ${width}`,
    tail: `key.length - ${width}`,
    run: `m${i}.runEnd(key, start)`,
    'first end': `m${i}.firstEnd(key, start)`,
    none: '-1'
  }[cut]
  const isOutside =
    cut === 'checked width' || cut === 'tail' ? ` || m${i}.departs(key, start, at) !== -1` : ''
  return `start = at; at = ${end}
      if (at < start || at > key.length${isOutside}) return undefined
      const v${i} = r${i}(key, start, at);\n`
}

/**
 * A test of the bytes at `start` when the first two decide and all others are free: a tick is valid by its sign byte
 * and the top bit after it. Undefined when more than two bytes decide.
 */
const headTest = (language: Language): string | undefined => {
  const free = freeTails(language)
  const test = (state: number, at: number): string | undefined => {
    if (free[state]! >= 0) return 'true'
    if (at === 2) return undefined
    const options = language.edges[state]!.map(({ set, to }) => {
      const rest = test(to, at + 1)
      return rest && isRange(set)
        ? `target[start + ${at}] >= ${set.min} && target[start + ${at}] <= ${set.max} && (${rest})`
        : undefined
    })
    return options.every(option => option !== undefined) ? options.join(' || ') : undefined
  }
  return test(0, 0)
}

const isRange = (set: ByteSet): boolean => [...set].length === set.max - set.min + 1
