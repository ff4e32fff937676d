/** The collections of a profile as raw rows meet them: which one a key is of, and where all of its keys are. */
import type { Collection, KeyRange } from '@quoin/keyspace'
import { compareBytes, prefixEnd, startsWith } from '@quoin/primitives'
import { liquidityChain, liquiditySeed } from '../keys.ts'
import { type Layout, liquidityBeside, liquiditySeedBeside, type Profile } from '../profile.ts'

/** Those that the profile declares, and what the document leaves out. */
const profileCollections = (profile: Profile): readonly Collection[] =>
  profile === 'chain' ? liquidityChain.all : [...liquiditySeed.all, ...liquiditySeedBeside.all]

/** What belongs to a state beside either profile, and is not part of a dump. */
const BESIDE: readonly string[] = [
  liquidityBeside.collections.reserves,
  liquidityBeside.collections.params
].map(({ name }) => name)

/** The bytes that all keys of a collection begin with. */
const beginningOf = ({ layout }: Collection): Uint8Array => {
  const bytes: number[] = []
  for (const part of layout.parts) {
    if (part.kind !== 'literal') break
    bytes.push(...part.bytes)
  }
  return Uint8Array.from(bytes)
}

/** Finds the collection that owns a key. Those that may are few, by how keys begin. */
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
  /** Whether a key in the range is one of ours: other keyspaces may have keys that begin alike. */
  readonly owns: (key: Uint8Array) => boolean
}

/** Where all keys are that a dump of a state has; with `beside`, also those that it does not have. */
export const wholeRanges = ({ profile }: Layout, beside: boolean): WholeRange[] => {
  const more = beside ? liquidityBeside.all.filter(({ name }) => BESIDE.includes(name)) : []
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
