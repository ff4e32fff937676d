/** Explains a raw key: its owner and the bytes of each component, or the nearest collection. */

import { toHex } from '@quoin/primitives'
import { bytesOnly, type Collection, describeDeparture } from './collection.ts'
import type { Departure, Span } from './layout.ts'
import { printable } from './notation.ts'

export interface ExplainedSpan {
  readonly start: number
  readonly end: number
  readonly hex: string
  /** The component's name; undefined for a literal. */
  readonly component?: string
  readonly codec?: string
  /** The value as text for people, or the text of a literal. */
  readonly text: string
}

export type Explanation =
  | {
      readonly found: true
      readonly keyspace: string
      readonly collection: string
      readonly spans: readonly ExplainedSpan[]
      readonly holds: Collection['value']
    }
  | {
      readonly found: false
      /** The collection that accepts the most bytes of the key; undefined without collections. */
      readonly nearest?: {
        readonly keyspace: string
        readonly collection: string
        readonly offset: number
        readonly expected: string
        readonly message: string
      }
    }

interface Space {
  readonly name: string
  readonly all: readonly Collection[]
}

export const explain = (key: Uint8Array, spaces: readonly Space[]): Explanation => {
  bytesOnly(key)
  let nearest: { departure: Departure; collection: Collection } | undefined
  for (const collection of spaces.flatMap(space => space.all)) {
    const parsed = collection.layout.parse(key)
    if ('spans' in parsed) {
      return {
        found: true,
        keyspace: collection.keyspace,
        collection: collection.name,
        spans: parsed.spans.map(span => explainSpan(key, span)),
        holds: collection.value
      }
    }
    if (!nearest || parsed.offset > nearest.departure.offset) nearest = { departure: parsed, collection }
  }
  if (!nearest) return { found: false }
  const { departure, collection } = nearest
  return {
    found: false,
    nearest: {
      keyspace: collection.keyspace,
      collection: collection.name,
      offset: departure.offset,
      expected: departure.expected.toString(),
      message: describeDeparture(departure, key)
    }
  }
}

const explainSpan = (key: Uint8Array, { part, start, end }: Span): ExplainedSpan => {
  const bytes = key.subarray(start, end)
  const hex = toHex(bytes)
  if (part.kind === 'literal') return { start, end, hex, text: printable(bytes) }
  const { name, codec } = part.component
  return {
    start,
    end,
    hex,
    component: name,
    codec: codec.name,
    text: codec.show(codec.read(key, start, end))
  }
}
