/** The collections of a profile for raw rows: the owner of a key, and the ranges of all keys. */
import type { Collection, KeyRange } from '@quoin/keyspace'
import { compareBytes, prefixEnd, startsWith } from '@quoin/primitives'
import { liquidityChain, liquiditySeed } from '../keys.ts'
import { type Layout, liquidityAux, liquiditySeedAux, type Profile } from '../profile.ts'

/** The collections of the profile and of the keys beside it. */
const profileCollections = (profile: Profile): readonly Collection[] =>
  profile === 'chain' ? liquidityChain.all : [...liquiditySeed.all, ...liquiditySeedAux.all]

/** Collections of this package that are part of a state and not of a dump. */
const BESIDE: readonly string[] = [liquidityAux.collections.reserves, liquidityAux.collections.params].map(
  ({ name }) => name
)

/** The literal bytes in front of every key of a collection. */
const beginningOf = ({ layout }: Collection): Uint8Array => {
  const bytes: number[] = []
  for (const part of layout.parts) {
    if (part.kind !== 'literal') break
    bytes.push(...part.bytes)
  }
  return Uint8Array.from(bytes)
}

/** Finds the collection that owns a key, among the few that share its first bytes. */
export const ownerFinder = (profile: Profile): ((key: Uint8Array) => Collection | undefined) => {
  const byFirst = new Map<number, { readonly beginning: Uint8Array; readonly collection: Collection }[]>()
  for (const collection of profileCollections(profile)) {
    const beginning = beginningOf(collection)
    const others = byFirst.get(beginning[0]!) ?? []
    byFirst.set(beginning[0]!, [...others, { beginning, collection }])
  }
  return key =>
    byFirst
      .get(key[0]!)
      ?.find(({ beginning, collection }) => startsWith(key, beginning) && collection.owns(key))?.collection
}

export interface WholeRange {
  readonly range: KeyRange
  /** Whether a key in the range belongs to the state: another keyspace may share first bytes. */
  readonly owns: (key: Uint8Array) => boolean
}

/** The ranges that hold a dumped state; with `beside`, also the keys that a dump leaves out. */
export const wholeRanges = ({ profile }: Layout, beside: boolean): WholeRange[] => {
  const more = beside ? liquidityAux.all.filter(({ name }) => BESIDE.includes(name)) : []
  return [...profileCollections(profile), ...more]
    .map(collection => {
      const start = beginningOf(collection)
      return {
        range: { start, end: prefixEnd(start), reverse: false },
        owns: (key: Uint8Array) => collection.owns(key)
      }
    })
    .sort((a, b) => compareBytes(a.range.start, b.range.start))
}
