/**
 * Ranges of keys: promised scans, and parts of them between bounds. In bytes they are half open, whatever the bounds
 * on values, so that any ordered store can walk them in either direction.
 */
import { compareBytes, prefixEnd, QuoinError, successor, valueError } from '@quoin/primitives'
import { type Prefixes, partsSpanned } from './declaration.ts'
import { type Layout, valuesOf } from './layout.ts'
import type { PromisedScan } from './proof/findings.ts'
import type { OrderOfPart } from './proof/order.ts'
import { inexactScan } from './proof/scan.ts'
import { copyWritten } from './scratch-buffer.ts'
import { type Steps, stepsOf, writeKey } from './step.ts'

/** Keys from `start` up to but not including `end`; null means no upper bound. Walked from the end when `reverse`. */
export interface KeyRange {
  readonly start: Uint8Array
  readonly end: Uint8Array | null
  readonly reverse: boolean
}

type Bound<Rest extends readonly unknown[]> = Exclude<Prefixes<Rest>, readonly []>

/**
 * Bounds of a walk in a scan. `gt gte lt lte` compare values: the components after the prefix, some or all. `after`
 * and `before` are keys of the walk, to resume it: all components after the prefix.
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

type Values = readonly unknown[]

/** The ranges of one collection. */
export class Ranges {
  readonly #name: string
  readonly #layout: Layout
  readonly #scans: readonly PromisedScan[]
  readonly #orders: () => readonly OrderOfPart[]
  /** The number of components of a whole key. */
  readonly #components: number
  /** The steps to write the first parts, by number of parts. */
  readonly #steps: Steps[] = []
  /** By number of components: whether a prefix of as many finds exactly the keys that have them. */
  readonly #exact: boolean[] = []

  constructor(
    name: string,
    layout: Layout,
    scans: readonly PromisedScan[],
    orders: () => readonly OrderOfPart[]
  ) {
    this.#name = name
    this.#layout = layout
    this.#scans = scans
    this.#orders = orders
    this.#components = layout.parts.filter(part => part.kind === 'component').length
  }

  /** The part of the scan under `prefix` within the bounds. */
  range(
    prefix: Values,
    { gt, gte, lt, lte, after, before, reverse = false }: RangeOptions<Values> = {}
  ): KeyRange {
    for (const bound of [prefix, gt, gte, lt, lte, after, before]) {
      if (bound !== undefined && !Array.isArray(bound))
        throw valueError(this.#name, bound, 'a list of components')
    }
    const base = this.#encode(prefix, this.#promised(prefix))
    const starts = [
      base,
      ...(gte ? [this.#from(prefix, gte)] : []),
      ...(gt ? [this.#past(prefix, gt)] : []),
      ...(after ? [successor(this.#place(prefix, after))] : [])
    ]
    const ends = [
      prefixEnd(base),
      ...(lt ? [this.#from(prefix, lt)] : []),
      ...(lte ? [this.#past(prefix, lte)] : []),
      ...(before ? [this.#place(prefix, before)] : [])
    ]
    const start = starts.reduce((a, b) => (isBelow(a, b) ? b : a))
    const end = ends.reduce((a, b) => (isBelow(a, b) ? a : b))
    if (start && isBelow(start, end)) return { start, end, reverse }
    // The bounds exclude each other.
    return { start: base, end: base, reverse }
  }

  /** The number of parts of the promised scan under as many components. */
  #promised(prefix: Values): number {
    const scan = this.#scans.find(({ components }) => components.length === prefix.length)
    if (scan?.parts !== undefined) return scan.parts
    const promised = this.#scans.map(({ components }) => `[${components.join(', ')}]`).join(' ') || 'none'
    throw new QuoinError(
      'ERR_SCAN_NOT_PROMISED',
      `${this.#name} promises no scan under ${prefix.length} components (promised: ${promised})`,
      { collection: this.#name, promised }
    )
  }

  /** The least bytes of keys whose next components are at or above `bound`. */
  #from(prefix: Values, bound: Values): Uint8Array {
    return this.#encode([...prefix, ...bound], this.#comparable(prefix, bound))
  }

  /** The least bytes above keys whose next components are `bound`; null when there are none. */
  #past(prefix: Values, bound: Values): Uint8Array | null {
    const bytes = this.#encode([...prefix, ...bound], this.#comparable(prefix, bound))
    return prefix.length + bound.length === this.#components ? successor(bytes) : prefixEnd(bytes)
  }

  #place(prefix: Values, rest: Values): Uint8Array {
    if (prefix.length + rest.length === this.#components)
      return this.#encode([...prefix, ...rest], this.#layout.parts.length)
    throw new QuoinError(
      'ERR_KEY_VALUE',
      `${this.#name}: a place in the walk needs all ${this.#components} components`
    )
  }

  /** The number of parts up to the end of a bound. Refuses a bound whose order the keys do not have. */
  #comparable(prefix: Values, bound: Values): number {
    const count = prefix.length + bound.length
    const parts = partsSpanned(this.#layout.parts, count)
    this.#layout.parts.slice(partsSpanned(this.#layout.parts, prefix.length), parts).forEach(part => {
      const disorder = this.#orders()[this.#layout.parts.indexOf(part)]!.value
      if (part.kind === 'literal' || !disorder) return
      const { name, codec } = part.component
      const [small, large] = disorder.map(reading => codec.show(valuesOf(reading).get(name)))
      throw this.#notComparable(
        `does not walk in the order of ${name} (${large} comes before ${small}): resume with \`after\` or \`before\`, or filter`
      )
    })
    if (count < this.#components) {
      this.#exact[count] ??= inexactScan(this.#layout, parts, { visited: 0 }) === undefined
      if (!this.#exact[count]) {
        throw this.#notComparable(
          `has no exact prefix of ${count} components: give all ${this.#components} in the bound`
        )
      }
    }
    return parts
  }

  #notComparable(reason: string): QuoinError {
    return new QuoinError('ERR_RANGE_ORDER', `${this.#name} ${reason}`, { collection: this.#name })
  }

  #encode(values: Values, parts: number): Uint8Array {
    this.#steps[parts] ??= stepsOf(this.#layout, parts)
    const steps = this.#steps[parts]
    return copyWritten(target => writeKey(steps, values, target, 0))
  }
}

/** Null is above all bytes. */
const isBelow = (a: Uint8Array | null, b: Uint8Array | null): boolean =>
  a !== null && (b === null || compareBytes(a, b) < 0)
