/** Explains a raw key: its owner and the bytes of each component, or the nearest collection. */

import { bytesOnly, type Collection, describeDeparture } from './collection.ts'
import type { Departure } from './layout.ts'
import { type ExplainedSpan, spansOf } from './span.ts'

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
        spans: spansOf(parsed),
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
