/**
 * A collection in use: keys to bytes and back, and the ranges that walk it. Everything here rests on what was
 * proved when its keyspace was defined.
 */
import { QuoinError } from '../error.ts'
import { compareBytes as compare, prefixEnd, successor, toHex } from './bytes.ts'
import type { After, Declaration, KeyOf, KeyPart, Prefixes, PrefixOf } from './declaration.ts'
import { type KeyReader, keyReader, keyWriter } from './generate.ts'
import { type Departure, type Layout, type Part, valuesOf } from './layout.ts'
import type { PromisedScan, Subject } from './proof/findings.ts'
import type { OrderOfPart } from './proof/order.ts'
import { inexactScan } from './proof/scan.ts'
import { written } from './scratch.ts'
import { type Steps, stepsOf, writeKey } from './step.ts'
import type { Shape } from './value.ts'

/** Keys from `start` up to but not including `end`; null has no end. Walked from the end when `reverse`. */
export interface KeyRange {
  readonly start: Uint8Array
  readonly end: Uint8Array | null
  readonly reverse: boolean
}

type Bound<Rest extends readonly unknown[]> = Exclude<Prefixes<Rest>, readonly []>

/**
 * Which part of a scan to walk. `gt gte lt lte` compare values: the components after the prefix, some or all.
 * `after` and `before` are places in the walk itself, for resuming it: all components after the prefix.
 */
export interface RangeOptions<Rest extends readonly unknown[]> {
  readonly gt?: Bound<Rest>
  readonly gte?: Bound<Rest>
  readonly lt?: Bound<Rest>
  readonly lte?: Bound<Rest>
  readonly after?: Rest
  readonly before?: Rest
  readonly reverse?: boolean
}

export class Collection<
  P extends readonly KeyPart[] = readonly KeyPart[],
  S extends readonly unknown[] = readonly unknown[],
  V extends Shape = Shape
> {
  readonly name: string
  readonly keyspace: string
  readonly layout: Layout
  readonly value: V
  readonly about: string | undefined
  /** The order that each part of the key gives. */
  readonly orders: readonly OrderOfPart[]
  readonly scans: readonly PromisedScan[]
  /** Writes the key into `target` at `offset` and returns the offset after it. */
  readonly encodeInto: (target: Uint8Array, offset: number, ...key: KeyOf<P>) => number
  readonly #steps: Steps
  /** The steps of each promised scan prefix and range bound, by the number of parts they span. */
  readonly #prefixes: Steps[] = []
  readonly #read: KeyReader
  /** For each number of components, whether a prefix of that many finds exactly the keys that have them. */
  readonly #exact: (boolean | undefined)[] = []

  /** @internal Collections are made by `keyspace`, which proves them first. */
  constructor(
    keyspace: string,
    subject: Subject,
    orders: readonly OrderOfPart[],
    declaration: Declaration<P, S, V>
  ) {
    this.keyspace = keyspace
    this.name = subject.name
    this.layout = subject.layout
    this.scans = subject.scans
    this.orders = orders
    this.value = declaration.value
    this.about = declaration.about
    this.#steps = stepsOf(subject.layout)
    this.encodeInto = keyWriter(this.#steps)
    const canCut = this.#steps.steps.every(({ cut }) => cut !== 'none')
    this.#read = canCut ? keyReader(this.#steps) : key => this.#parse(key)
  }

  /** The key as bytes of its own. */
  encode(...key: KeyOf<P>): Uint8Array {
    return this.#fresh(key, this.layout.parts.length)
  }

  /** The components of a key; a coded error names the byte where the bytes are not one. */
  decode(key: Uint8Array): KeyOf<P> {
    const values = this.#read(key)
    if (!values) throw this.#stray(key)
    return values as KeyOf<P>
  }

  /** Whether the bytes are a key of this collection. */
  owns(key: Uint8Array): boolean {
    return this.#read(key) !== undefined
  }

  #parse(key: Uint8Array): unknown[] | undefined {
    const parsed = this.layout.parse(key)
    return 'spans' in parsed ? [...valuesOf(parsed).values()] : undefined
  }

  /** The range of a promised scan: exactly the keys with these leading components. */
  scan(...prefix: PrefixOf<P, S>): KeyRange {
    return this.#range(prefix, {})
  }

  /** The part of a promised scan between bounds. */
  range<B extends PrefixOf<P, S>>(prefix: B, options: RangeOptions<After<KeyOf<P>, B>> = {}): KeyRange {
    return this.#range(prefix, options as RangeOptions<readonly unknown[]>)
  }

  #range(prefix: readonly unknown[], options: RangeOptions<readonly unknown[]>): KeyRange {
    const scan = this.scans.find(({ components }) => components.length === prefix.length)
    if (scan?.parts === undefined) {
      const promised = this.scans.map(({ components }) => `[${components.join(', ')}]`).join(' ') || 'none'
      throw new QuoinError(
        'ERR_SCAN_NOT_PROMISED',
        `${this.name} promises no scan under ${prefix.length} components (promised: ${promised})`,
        { collection: this.name, promised }
      )
    }
    const base = this.#fresh(prefix, scan.parts)
    const { gt, gte, lt, lte, after, before, reverse = false } = options
    const starts = [
      base,
      gte && this.#below(prefix, gte as readonly unknown[]),
      gt && this.#above(prefix, gt as readonly unknown[]),
      after && this.#place(prefix, after)
    ]
    const ends = [
      prefixEnd(base),
      lte && this.#above(prefix, lte as readonly unknown[]),
      lt && this.#below(prefix, lt as readonly unknown[]),
      before && this.#fresh(this.#whole(prefix, before), this.layout.parts.length)
    ]
    return { start: greatest(starts), end: least(ends), reverse }
  }

  /** The least bytes at or above every key whose next components are `bound`. */
  #below(prefix: readonly unknown[], bound: readonly unknown[]): Uint8Array {
    return this.#fresh([...prefix, ...bound], this.#ordered(prefix, bound))
  }

  /** The least bytes above every key whose next components are `bound`; null when nothing is above. */
  #above(prefix: readonly unknown[], bound: readonly unknown[]): Uint8Array | null {
    const parts = this.#ordered(prefix, bound)
    const bytes = this.#fresh([...prefix, ...bound], parts)
    return parts === this.layout.parts.length && this.#isWhole(prefix, bound)
      ? successor(bytes)
      : prefixEnd(bytes)
  }

  #place(prefix: readonly unknown[], rest: readonly unknown[]): Uint8Array {
    return successor(this.#fresh(this.#whole(prefix, rest), this.layout.parts.length))
  }

  #isWhole(prefix: readonly unknown[], rest: readonly unknown[]): boolean {
    return prefix.length + rest.length === this.#components
  }

  #whole(prefix: readonly unknown[], rest: readonly unknown[]): readonly unknown[] {
    if (this.#isWhole(prefix, rest)) return [...prefix, ...rest]
    throw new QuoinError(
      'ERR_KEY_VALUE',
      `${this.name}: a place in the walk needs all ${this.#components} components`
    )
  }

  get #components(): number {
    return this.layout.parts.filter(part => part.kind === 'component').length
  }

  /** The number of parts up to the bound, after making sure that comparing its values means something. */
  #ordered(prefix: readonly unknown[], bound: readonly unknown[]): number {
    const count = prefix.length + bound.length
    const parts = partsSpanned(this.layout.parts, count)
    let seen = 0
    this.layout.parts.forEach((part, i) => {
      if (part.kind === 'literal' || ++seen <= prefix.length || seen > count) return
      const { value } = this.orders[i]!
      if (!value) return
      const [small, large] = value.map(reading =>
        part.component.codec.show(valuesOf(reading).get(part.component.name))
      )
      throw new QuoinError(
        'ERR_RANGE_ORDER',
        `${this.name} does not walk in the order of ${part.component.name} (${large} comes before ${small}): resume with \`after\` or \`before\`, or filter`,
        { collection: this.name, component: part.component.name }
      )
    })
    if (count < this.#components) {
      this.#exact[count] ??= inexactScan(this.layout, parts, { visited: 0 }) === undefined
      if (!this.#exact[count]) {
        throw new QuoinError(
          'ERR_RANGE_ORDER',
          `${this.name}: no prefix of ${count} components is exact, so give all ${this.#components} in the bound`,
          { collection: this.name }
        )
      }
    }
    return parts
  }

  #fresh(key: readonly unknown[], parts: number): Uint8Array {
    this.#prefixes[parts] ??= parts === this.layout.parts.length ? this.#steps : stepsOf(this.layout, parts)
    const steps = this.#prefixes[parts]
    return written(target => writeKey(steps, key, target, 0))
  }

  #stray(key: Uint8Array): QuoinError {
    const parsed = this.layout.parse(key)
    if ('spans' in parsed) throw new Error(`unreachable: ${this.name} splits ${toHex(key)} wrongly`)
    return new QuoinError(
      'ERR_KEY_DECODE',
      `${toHex(key)} is not a key of ${this.name}: ${describeDeparture(parsed, key)}`,
      { collection: this.name, offset: parsed.offset, expected: parsed.expected.toString() }
    )
  }
}

/** `byte 3 is 41, where '0'-'9' of pool may stand`. */
export const describeDeparture = (
  { offset, expected, mayEnd, parts }: Departure,
  key: Uint8Array
): string => {
  const is =
    offset < key.length
      ? `byte ${offset} is ${toHex(key.subarray(offset, offset + 1))}`
      : `it ends at byte ${offset}`
  const names = parts
    .map(part => (part.kind === 'component' ? part.component.name : 'a separator'))
    .join(' or ')
  const may = [...(mayEnd ? ['the end'] : []), ...(expected.isEmpty ? [] : [`${expected} (${names})`])].join(
    ' or '
  )
  return `${is}, where ${may} must stand`
}

/** The number of parts from the start of a key to the start of component number `count`. */
export const partsSpanned = (parts: readonly Part[], count: number): number => {
  let seen = 0
  const at = parts.findIndex(part => part.kind === 'component' && seen++ === count)
  return at < 0 ? parts.length : at
}

type MaybeBytes = Uint8Array | null | undefined

const greatest = (candidates: readonly MaybeBytes[]): Uint8Array =>
  candidates.reduce<Uint8Array>(
    (best, each) => (each && compare(each, best) > 0 ? each : best),
    new Uint8Array()
  )

const least = (candidates: readonly MaybeBytes[]): Uint8Array | null =>
  candidates.reduce<Uint8Array | null>(
    (best, each) => (each && (!best || compare(each, best) < 0) ? each : best),
    null
  )
