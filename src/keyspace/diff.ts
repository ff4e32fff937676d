/**
 * Two keyspaces side by side, by the names of their collections: whose keys are the same bytes, whose changed,
 * and what moving from one to the other would mean for a store that holds such keys.
 */

import { toHex } from './bytes.ts'
import type { Collection } from './collection.ts'
import type { AnyKeyspace } from './keyspace.ts'
import type { Layout } from './layout.ts'
import { keyPattern } from './notation.ts'
import { commonKey } from './proof/overlap.ts'

export interface CollectionChange {
  readonly collection: string
  readonly change: 'same' | 'changed' | 'only in first' | 'only in second'
  readonly first?: string
  readonly second?: string
  /** Of a changed one: a key that is one of both layouts, so that old and new keys cannot be told apart. */
  readonly sharedKey?: string
}

export const diffKeyspaces = (first: AnyKeyspace, second: AnyKeyspace): readonly CollectionChange[] => {
  const names = [...new Set([...first.all, ...second.all].map(({ name }) => name))]
  return names.map(name => {
    const [a, b] = [first, second].map(space => space.all.find(each => each.name === name))
    if (!b) return { collection: name, change: 'only in first', first: signature(a!) }
    if (!a) return { collection: name, change: 'only in second', second: signature(b) }
    if (sameKeys(a.layout, b.layout))
      return { collection: name, change: 'same', first: signature(a), second: signature(b) }
    const shared = commonKey(a.layout, b.layout, { visited: 0 })
    return {
      collection: name,
      change: 'changed',
      first: signature(a),
      second: signature(b),
      ...(shared ? { sharedKey: toHex(shared[0].key) } : {})
    }
  })
}

const signature = ({ layout }: Collection): string => keyPattern(layout.parts)

/** The same parts in the same order, each with the same words: minimal automata of equal languages are equal. */
const sameKeys = (a: Layout, b: Layout): boolean =>
  a.parts.length === b.parts.length &&
  a.parts.every((part, i) => {
    const [mine, other] = [part.language, b.parts[i]!.language]
    return (
      part.kind === b.parts[i]!.kind &&
      mine.size === other.size &&
      mine.accepting.every((accepts, state) => accepts === other.accepting[state]) &&
      mine.edges.every(
        (out, state) =>
          out.length === other.edges[state]!.length &&
          out.every(({ set, to }) => other.edges[state]!.some(edge => edge.to === to && edge.set.equals(set)))
      )
    )
  })
