/**
 * A collection in use: encodes and decodes keys, and gives the ranges of scans. All of it relies on the proofs of its
 * keyspace.
 */
import { QuoinError, shortHex, toHex, valueError } from '@quoin/primitives'
import type { After, Declaration, KeyOf, KeyPart, PrefixOf } from './declaration.ts'
import { type KeyReader, type KeyWriter, keyReader, keyWriter } from './generate.ts'
import { type Departure, type Layout, valuesOf } from './layout.ts'
import { keyPattern, printable } from './notation.ts'
import type { PromisedScan, Subject } from './proof/findings.ts'
import { type OrderOfPart, ordersOf } from './proof/order.ts'
import { type KeyRange, type RangeOptions, Ranges } from './range.ts'
import { copyWritten } from './scratch-buffer.ts'
import { stepsOf } from './step.ts'
import type { Shape } from './value.ts'

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
  readonly scans: readonly PromisedScan[]
  #write: KeyWriter
  #read: KeyReader
  #orders: readonly OrderOfPart[] | undefined
  readonly #ranges: Ranges

  /** @internal `keyspace` constructs collections, after their proof. */
  constructor(keyspace: string, subject: Subject, declaration: Declaration<P, S, V>) {
    this.keyspace = keyspace
    this.name = subject.name
    this.layout = subject.layout
    this.scans = subject.scans
    this.value = declaration.value
    this.about = declaration.about
    this.#ranges = new Ranges(subject.name, subject.layout, subject.scans, () => this.orders)
    // The first key generates the functions for later ones: a program uses few of the collections it loads.
    this.#write = (target, offset, ...key) => {
      this.#write = keyWriter(stepsOf(this.layout))
      return this.#write(target, offset, ...key)
    }
    this.#read = key => {
      const steps = stepsOf(this.layout)
      const canCut = steps.steps.every(({ cut }) => cut !== 'none')
      this.#read = canCut ? keyReader(steps) : each => this.#parse(each)
      return this.#read(key)
    }
  }

  /** The order of each part of the key. */
  get orders(): readonly OrderOfPart[] {
    this.#orders ??= ordersOf(this.layout)
    return this.#orders
  }

  /** The key as a pattern: `z:own:{address}`. */
  get pattern(): string {
    return keyPattern(this.layout.parts)
  }

  /** Writes the key into `target` at `offset` and returns the offset after it. */
  get encodeInto(): (target: Uint8Array, offset: number, ...key: KeyOf<P>) => number {
    return this.#write
  }

  /** Encodes a key into bytes of its own. */
  encode(...key: KeyOf<P>): Uint8Array {
    return copyWritten(target => this.#write(target, 0, ...key))
  }

  /** Decodes a key. An error names the first byte that does not belong to one. */
  decode(key: Uint8Array): KeyOf<P> {
    const values = this.#read(bytesOnly(key))
    if (!values) throw this.#stray(key)
    return values as KeyOf<P>
  }

  /** Whether the bytes are a key of this collection. */
  owns(key: Uint8Array): boolean {
    return this.#read(bytesOnly(key)) !== undefined
  }

  #parse(key: Uint8Array): unknown[] | undefined {
    const parsed = this.layout.parse(key)
    return 'spans' in parsed ? [...valuesOf(parsed).values()] : undefined
  }

  /** The range of a promised scan: exactly the keys with these leading components. */
  scan(...prefix: PrefixOf<P, S>): KeyRange {
    return this.#ranges.range(prefix)
  }

  /** The part of a promised scan between bounds. */
  range<B extends PrefixOf<P, S>>(prefix: B, options: RangeOptions<After<KeyOf<P>, B>> = {}): KeyRange {
    return this.#ranges.range(prefix, options as RangeOptions<readonly unknown[]>)
  }

  #stray(key: Uint8Array): QuoinError {
    const parsed = this.layout.parse(key)
    if ('spans' in parsed) throw new Error(`unreachable: ${this.name} splits ${shortHex(key)} wrongly`)
    return new QuoinError(
      'ERR_KEY_DECODE',
      `${shortHex(key)} is not a key of ${this.name}: ${describeDeparture(parsed, key)}`,
      { collection: this.name, offset: parsed.offset, expected: parsed.expected.toString() }
    )
  }
}

/** Refuses a key that is not bytes, which JavaScript may pass. */
export const bytesOnly = (key: Uint8Array): Uint8Array => {
  if (!(key instanceof Uint8Array)) throw valueError('key', key, 'bytes')
  return key
}

/** `byte 3 is 41, where '0'-'9' (pool) must stand`. */
export const describeDeparture = (
  { offset, expected, mayEnd, parts }: Departure,
  key: Uint8Array
): string => {
  const is =
    offset < key.length
      ? `byte ${offset} is ${toHex(key.subarray(offset, offset + 1))}`
      : `it ends at byte ${offset}`
  const names = parts
    .map(part => (part.kind === 'component' ? part.component.name : `the literal ${printable(part.bytes)}`))
    .join(' or ')
  const may = [...(mayEnd ? ['the end'] : []), ...(expected.isEmpty ? [] : [`${expected} (${names})`])].join(
    ' or '
  )
  return `${is}, where ${may} must stand`
}
