/**
 * Declarations of collections: a key of literals and components, a value, and promised scans. The types of keys and
 * prefixes follow from the declaration.
 */
import { copyOf, fromHex, isWellFormed, QuoinError, quote } from '@quoin/primitives'
import { Codec, type Component } from './codec.ts'
import { literal, type Part } from './layout.ts'
import type { PromisedScan } from './proof/findings.ts'
import { rawValue, type Shape } from './value.ts'

/** A string is literal text, bytes are literal bytes, any other part is a component. */
// biome-ignore lint/suspicious/noExplicitAny: a key mixes components of any value types; each is inferred.
export type KeyPart = string | Uint8Array | Component<string, any>

/** Literal bytes in hexadecimal: `raw('01')`. */
export const raw = (hexadecimal: string): Uint8Array => fromHex(hexadecimal)

/** The values of a key, in order: `[bigint, bigint]`. Any values when the types do not know the key. */
export type KeyOf<P extends readonly KeyPart[]> = number extends P['length']
  ? // biome-ignore lint/suspicious/noExplicitAny: nothing is known of them.
    any[]
  : P extends readonly [infer Head, ...infer Tail extends readonly KeyPart[]]
    ? Head extends Component<string, infer T>
      ? [T, ...KeyOf<Tail>]
      : KeyOf<Tail>
    : []

/** The names of a key's components, in order. */
export type NamesOf<P extends readonly KeyPart[]> = P extends readonly [
  infer Head,
  ...infer Tail extends readonly KeyPart[]
]
  ? Head extends Component<infer N, unknown>
    ? [N, ...NamesOf<Tail>]
    : NamesOf<Tail>
  : []

/** Every prefix of a tuple, including the empty one and the whole. */
export type Prefixes<T extends readonly unknown[]> = T extends readonly [...infer Init, unknown]
  ? T | Prefixes<Init>
  : []

/** The rest of a tuple after a prefix. */
export type After<T extends readonly unknown[], Begin extends readonly unknown[]> = Begin extends readonly [
  unknown,
  ...infer B
]
  ? T extends readonly [unknown, ...infer R]
    ? After<R, B>
    : []
  : T

/**
 * A promised scan: iteration under these leading components finds exactly the keys that have them. With `order:
 * 'value'` it also promises that the remaining components are in the order of their values. The prefix includes the
 * literal before the next component, unless `trailing` is false.
 */
export type Scan<Names extends readonly string[] = readonly string[]> =
  | Names
  | { readonly prefix: Names; readonly order?: 'value'; readonly trailing?: boolean }

type ScanNames<S> = S extends { readonly prefix: infer N } ? N : S

type TakeAs<T extends readonly unknown[], N> = N extends readonly [unknown, ...infer More]
  ? T extends readonly [infer Head, ...infer Tail]
    ? [Head, ...TakeAs<Tail, More>]
    : []
  : []

/** The values of each promised prefix; never, without promised scans. */
export type PrefixOf<P extends readonly KeyPart[], S extends readonly unknown[]> = number extends P['length']
  ? KeyOf<P>
  : S extends readonly []
    ? [never]
    : { [I in keyof S]: TakeAs<KeyOf<P>, ScanNames<S[I]>> }[number]

export interface Declaration<
  P extends readonly KeyPart[] = readonly KeyPart[],
  S extends readonly unknown[] = readonly unknown[],
  V extends Shape = Shape
> {
  readonly key: P
  readonly scans: S
  readonly value: V
  /** One sentence for the generated documentation. */
  readonly about?: string
}

/**
 * Declares a collection.
 *
 * @example
 * const { ticks } = keyspace('pools', {
 *   ticks: collection({
 *     key: [raw('01'), u64('pool'), ':', i64('tick')],
 *     scans: [{ prefix: ['pool'], order: 'value' }]
 *   })
 * }).collections
 * ticks.decode(ticks.encode(1n, -5n)) // [ 1n, -5n ]
 * toHex(ticks.range([1n]).start) // '0100000000000000013a'
 */
// NoInfer: the constraint in `keyspace` must not widen the types of the declaration.
export const collection = <
  const P extends readonly KeyPart[],
  const S extends readonly Scan<Prefixes<NamesOf<P>>>[] = readonly [],
  V extends Shape = ReturnType<typeof rawValue>
>(declared: {
  readonly key: P
  readonly scans?: S
  readonly value?: V
  readonly about?: string
}): Declaration<P, NoInfer<S>, NoInfer<V>> => ({
  key: declared.key,
  scans: declared.scans ?? ([] as unknown as S),
  value: declared.value ?? (rawValue() as Shape as V),
  ...(declared.about === undefined ? {} : { about: declared.about })
})

/** The parts of a key, neighbouring literals joined; names must be distinct. */
export const partsOf = (key: readonly KeyPart[]): readonly Part[] => {
  const parts: Part[] = []
  const names = new Set<string>()
  for (const each of key) {
    if (typeof each === 'string' || each instanceof Uint8Array) {
      const bytes = typeof each === 'string' ? literalText(each) : copyOf(each)
      const last = parts.at(-1)
      if (last?.kind === 'literal') parts[parts.length - 1] = literal(Uint8Array.of(...last.bytes, ...bytes))
      else if (bytes.length > 0) parts.push(literal(bytes))
      continue
    }
    if (!(each?.codec instanceof Codec) || typeof each.name !== 'string') {
      throw new QuoinError(
        'ERR_KEYSPACE_DECLARATION',
        'invalid part of a key: expected text, bytes or a component'
      )
    }
    if (names.has(each.name)) {
      throw new QuoinError('ERR_KEYSPACE_DECLARATION', `two components are called ${each.name}`, {
        name: each.name
      })
    }
    names.add(each.name)
    parts.push({ kind: 'component', component: each, language: each.codec.language })
  }
  if (parts.length === 0) throw new QuoinError('ERR_KEYSPACE_DECLARATION', 'a key needs at least one part')
  return parts
}

const literalText = (text: string): Uint8Array => {
  if (!isWellFormed(text)) {
    throw new QuoinError('ERR_KEYSPACE_DECLARATION', `literal text has a lone surrogate: ${quote(text)}`)
  }
  return new TextEncoder().encode(text)
}

/**
 * The scan under `names`, in any order, distinct components of the key. They must lead the key (P7); without
 * `trailing` the prefix ends with the last of them.
 */
export const promisedScan = (
  parts: readonly Part[],
  names: readonly string[],
  order: 'value' | undefined,
  trailing = true
): PromisedScan => {
  const all = parts.flatMap(part => (part.kind === 'component' ? [part.component.name] : []))
  const components = all.filter(name => names.includes(name))
  const leading = components.every((name, i) => all[i] === name)
  const last = parts.findIndex(part => part.kind === 'component' && part.component.name === components.at(-1))
  const span = trailing || components.length === 0 ? partsSpanned(parts, components.length) : last + 1
  return { components, parts: leading ? span : undefined, order }
}

/** The number of parts from the start of a key to the start of component number `count`. */
export const partsSpanned = (parts: readonly Part[], count: number): number => {
  let seen = 0
  const at = parts.findIndex(part => part.kind === 'component' && seen++ === count)
  return at < 0 ? parts.length : at
}
