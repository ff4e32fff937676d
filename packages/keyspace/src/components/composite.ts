/**
 * Components of several parts: a group, an optional part, a repeated part with a separator. Their values are lists.
 * A composite whose words can be read as two values says so (`collision`), which is a failure of P1.
 */
import { copyOf, QuoinError, toHex, valueError } from '@quoin/primitives'
import { Codec, type CodecOptions } from '../codec.ts'
import { Language } from '../language/language.ts'
import { alt, empty, type Pattern, repeat, seq, wordOf } from '../language/pattern.ts'
import { Layout, literal, type ParsedKey, type Part, valuesOf } from '../layout.ts'
import { ambiguity } from '../proof/ambiguity.ts'
import { listAmbiguity } from '../proof/list-ambiguity.ts'
import { ordersOf } from '../proof/order.ts'
import { stepsOf, writeKey } from '../step.ts'

/** The parts of a composite; its value is that of its component when there is one, else the list of their values. */
class Group {
  readonly layout: Layout
  readonly pattern: Pattern
  readonly #codecs: readonly Codec<unknown>[]
  readonly #names: readonly string[]
  #steps: ReturnType<typeof stepsOf> | undefined

  constructor(parts: readonly Part[]) {
    this.layout = new Layout(parts)
    this.pattern = seq(...parts.map(({ language }) => wordOf(language)))
    const components = parts.flatMap(part => (part.kind === 'component' ? [part.component] : []))
    this.#codecs = components.map(({ codec }) => codec)
    this.#names = components.map(({ name }) => name)
  }

  write(value: unknown, target: Uint8Array, offset: number): number {
    this.#steps ??= stepsOf(this.layout)
    const values = this.#codecs.length === 1 ? [value] : value
    if (!Array.isArray(values) || values.length !== this.#codecs.length)
      throw valueError('group', value, `a list of ${this.#codecs.length} values`)
    return writeKey(this.#steps, values, target, offset)
  }

  read(word: Uint8Array): unknown {
    const parsed = this.layout.parse(word)
    if (!('spans' in parsed))
      throw new QuoinError('ERR_KEY_DECODE', `${toHex(word)} is not a word of the group`)
    return this.valueOf(parsed)
  }

  valueOf(reading: ParsedKey): unknown {
    const values = valuesOf(reading)
    const list = this.#names.map(name => values.get(name))
    return list.length === 1 ? list[0] : list
  }

  show(value: unknown): string {
    const values = this.#codecs.length === 1 ? [value] : (value as unknown[])
    return this.#codecs.map((codec, i) => codec.show(values[i])).join(', ')
  }

  /** Samples of the components side by side. */
  get samples(): readonly unknown[] {
    const lists = this.#codecs.map(codec => codec.samples ?? [])
    if (lists.some(list => list.length === 0)) return []
    if (lists.length === 1) return lists[0]!
    return [0, 1].map(i => lists.map(list => list[Math.min(i, list.length - 1)]))
  }

  get collision(): readonly [unknown, unknown] | undefined {
    const inner = this.#codecs.findIndex(codec => codec.collision)
    if (inner >= 0) {
      const samples = this.#codecs.map(codec =>
        codec.read(Uint8Array.from(codec.language.completion(0)), 0, codec.language.minLength)
      )
      const [one, other] = this.#codecs[inner]!.collision!.map(value => samples.with(inner, value))
      return samples.length === 1 ? [one![0], other![0]] : [one, other]
    }
    const readings = ambiguity(this.layout, { visited: 0 })
    return readings && [this.valueOf(readings[0]), this.valueOf(readings[1])]
  }

  /** Two words of the group, each followed by a word of `after`, that sort against their values. */
  disorder(after: readonly Part[] = []): readonly [ParsedKey, ParsedKey] | undefined {
    const layout = new Layout([...this.layout.parts, ...after])
    return ordersOf(layout)
      .slice(0, this.layout.parts.length)
      .find(({ value }) => value)?.value
  }

  get order(): CodecOptions<unknown>['order'] {
    const wrong = this.disorder()
    return wrong ? [this.valueOf(wrong[0]), this.valueOf(wrong[1])] : 'bytes'
  }
}

/** Several parts as one component. */
export const groupCodec = (parts: readonly Part[]): Codec<unknown> => {
  const group = new Group(parts)
  const { collision } = group
  return new Codec<unknown>({
    name: 'group',
    phrase: 'encodings',
    language: Language.of(group.pattern),
    order: group.order,
    orderName: 'lexicographic',
    samples: group.samples,
    ...(collision && { collision }),
    put: (value, target, offset) => group.write(value, target, offset),
    read: (source, start, end) => group.read(copyOf(source, start, end)),
    show: value => `(${group.show(value)})`
  })
}

/** The parts, or nothing: the value null. */
export const optionalCodec = (parts: readonly Part[]): Codec<unknown> => {
  const group = new Group(parts)
  const emptyValue = group.layout.minLength === 0 ? [null, group.read(new Uint8Array())] : undefined
  const collision = (emptyValue as readonly [unknown, unknown] | undefined) ?? group.collision
  return new Codec<unknown>({
    name: 'optional',
    phrase: 'optional encoding',
    language: Language.of(alt(empty, group.pattern)),
    order: group.order,
    orderName: 'lexicographic',
    samples: [null, ...group.samples],
    ...(collision && { collision }),
    put: (value, target, offset) => (value === null ? offset : group.write(value, target, offset)),
    read: (source, start, end) => (start === end ? null : group.read(copyOf(source, start, end))),
    show: value => (value === null ? '(absent)' : group.show(value))
  })
}

export interface RepeatedOptions {
  readonly separator?: Uint8Array
  readonly min?: number
  readonly max?: number
}

/** The parts any number of times within bounds, with the separator between two of them. */
export const repeatedCodec = (
  parts: readonly Part[],
  { separator = new Uint8Array(), min = 0, max = Number.POSITIVE_INFINITY }: RepeatedOptions = {}
): Codec<unknown> => {
  if (max < 1) throw valueError('repeated max', max, 'at least 1')
  const group = new Group(parts)
  const between = separator.length > 0 ? [literal(separator)] : []
  const next = seq(...[...between, ...parts].map(({ language }) => wordOf(language)))
  const some = seq(group.pattern, repeat(next, Math.max(0, min - 1), max - 1))
  const bounds = { separator, min, max }
  const read = (word: Uint8Array): unknown[] => {
    const items = splitList(Language.of(group.pattern), word, bounds)
    if (!items) throw new QuoinError('ERR_KEY_DECODE', `${toHex(word)} is not a list of the parts`)
    return items.map(each => group.read(each))
  }
  // Lists first differ in one item, and the rest of the list follows it. Later items have less after them.
  const rest = Language.of(repeat(next, 0, max - Math.max(1, min)))
  const tail: Part = {
    kind: 'component',
    component: { name: '\0rest', codec: plainCodec(rest) },
    language: rest
  }
  const lead = Array.from({ length: min - 1 }, () => [
    ...group.layout.shortest(0).map(step => step.byte),
    ...separator
  ])
  const wrong = group.disorder([tail])
  const item = group.collision
  const lists = item ? undefined : listAmbiguity(group.layout, between, { min, max })
  const collision = item
    ? ([0, 1] as const).map(i => Array.from({ length: Math.max(1, min) }, () => item[i]))
    : lists?.map(words => words.map(word => group.read(word)))
  return new Codec<unknown>({
    name: 'repeated',
    phrase: 'list of encodings',
    language: Language.of(min === 0 ? alt(empty, some) : some),
    order: wrong
      ? (wrong.map(({ key }) => read(Uint8Array.from([...lead.flat(), ...key]))) as [unknown, unknown])
      : 'bytes',
    orderName: 'lexicographic',
    samples: min <= 1 ? group.samples.slice(0, 3).map(value => [value]) : [],
    ...(collision && { collision: collision as [unknown, unknown] }),
    put(value, target, offset) {
      if (!Array.isArray(value) || value.length < min || value.length > max)
        throw valueError('repeated', value, `a list of ${min} to ${max} values`)
      let at = offset
      for (const [i, each] of value.entries()) {
        if (i > 0) for (const byte of separator) target[at++] = byte
        at = group.write(each, target, at)
      }
      return at
    },
    read: (source, start, end) => read(copyOf(source, start, end)),
    show: value => `[${(value as unknown[]).map(each => group.show(each)).join(', ')}]`
  })
}

/** Splits a list into its items; undefined if no reading exists. An ambiguous list is split by one of its readings. */
const splitList = (
  item: Language,
  word: Uint8Array,
  { separator, min, max }: Required<RepeatedOptions>
): Uint8Array[] | undefined => {
  if (word.length === 0 && min === 0) return []
  const failed = new Set<string>()
  const from = (start: number, count: number): Uint8Array[] | undefined => {
    if (count === max || failed.has(`${start} ${count}`)) return undefined
    failed.add(`${start} ${count}`)
    for (let end = start; end <= word.length; end++) {
      if (item.matcher.departs(word, start, end) !== -1) continue
      if (end === word.length && count + 1 >= min) return [word.subarray(start, end)]
      if (!separator.every((byte, i) => word[end + i] === byte)) continue
      const items = from(end + separator.length, count + 1)
      if (items) return [word.subarray(start, end), ...items]
    }
    return undefined
  }
  return from(0, 0)
}

/** The codec of words that stand for themselves. */
const plainCodec = (language: Language): Codec<Uint8Array> =>
  new Codec<Uint8Array>({
    name: 'bytes',
    phrase: 'bytes',
    language,
    order: 'bytes',
    orderName: 'lexicographic',
    put(value, target, offset) {
      target.set(value, offset)
      return offset + value.length
    },
    read: copyOf,
    show: toHex
  })
