/**
 * Two keyspaces side by side, by the names of their collections: whose keys are the same bytes, whose changed,
 * and what moving from one to the other would mean for a store that holds such keys.
 */
import { toHex } from '@quoin/primitives'
import type { Collection } from './collection.ts'
import type { AnyKeyspace } from './keyspace.ts'
import type { Language } from './language/language.ts'
import type { Layout } from './layout.ts'
import { keyPattern, walkOrder } from './notation.ts'
import { commonKey } from './proof/overlap.ts'

/** A collection on one side: the pattern of its key, and the order of its keys. */
interface Side {
  readonly key: string
  readonly order: string
}

export interface CollectionChange {
  readonly collection: string
  readonly change: 'same' | 'changed' | 'only in first' | 'only in second'
  readonly first?: Side
  readonly second?: Side
  /** Of a changed collection: a key of both layouts, if there is one. Old and new keys then cannot be told apart. */
  readonly sharedKey?: string
}

/**
 * Compares the layouts of two keyspaces, collection by collection.
 *
 * @example
 * const first = keyspace('app', { notes: collection({ key: ['n', u64('id')] }) })
 * const second = keyspace('app', { notes: collection({ key: ['m', u64('id')] }) })
 * diffKeyspaces(first, second).map(({ change }) => change) // [ 'changed' ]
 */
export const diffKeyspaces = (first: AnyKeyspace, second: AnyKeyspace): readonly CollectionChange[] => {
  const names = new Set([...first.all, ...second.all].map(({ name }) => name))
  return Array.from(names, name => {
    const [a, b] = [first, second].map(space => space.all.find(each => each.name === name))
    if (!b) return { collection: name, change: 'only in first', first: sideOf(a!) }
    if (!a) return { collection: name, change: 'only in second', second: sideOf(b) }
    const both = { collection: name, first: sideOf(a), second: sideOf(b) }
    if (sameKeys(a.layout, b.layout)) return { ...both, change: 'same' }
    const shared = commonKey(a.layout, b.layout, { visited: 0 })
    return { ...both, change: 'changed', ...(shared ? { sharedKey: toHex(shared[0].key) } : {}) }
  })
}

const sideOf = ({ layout, orders }: Collection): Side => ({
  key: keyPattern(layout.parts),
  order: walkOrder(layout.parts, orders, 0)
})

/** The same parts in the same order, each with the same words. */
const sameKeys = (a: Layout, b: Layout): boolean =>
  a.parts.length === b.parts.length &&
  a.parts.every((part, i) => part.kind === b.parts[i]!.kind && sameWords(part.language, b.parts[i]!.language))

/** Minimal automata with canonical numbers are equal exactly when their languages are. */
const sameWords = (a: Language, b: Language): boolean =>
  a.size === b.size &&
  a.accepting.every((accepts, state) => accepts === b.accepting[state]) &&
  a.edges.every(
    (out, state) =>
      out.length === b.edges[state]!.length &&
      out.every(({ set, to }) => b.edges[state]!.some(edge => edge.to === to && edge.set.equals(set)))
  )
