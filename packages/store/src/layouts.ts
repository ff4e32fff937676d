/**
 * The record of layouts: a store keeps the fingerprint of each key layout in it, with the version that wrote it. Stores
 * are opened under the same layouts or under more of them; anything else needs `quoin upgrade`.
 */
import { createHash } from 'node:crypto'
import {
  type AnyKeyspace,
  type Collection,
  canonicalLayout,
  collection,
  describeShape,
  json,
  keyspace
} from '@quoin/keyspace'
import { prefixEnd, QuoinError } from '@quoin/primitives'
import { PROVED } from './proved.ts'
import type { Store, StoreReads } from './store.ts'
import { version } from './version.ts'

/** The layout of one collection, as a store keeps it. */
export interface RecordedCollection {
  /** The key as a pattern, and the kind of its value: for people. */
  readonly key: string
  readonly holds: string
  readonly fingerprint: string
}

interface RecordedKeyspace {
  /** The program that recorded it. */
  readonly version: string
  readonly collections: Readonly<Record<string, RecordedCollection>>
}

/** By the names of keyspaces. */
export type Layouts = Readonly<Record<string, RecordedKeyspace>>

export const storeLayouts = keyspace(
  'layouts',
  {
    layouts: collection({
      key: ['quoin:layouts'],
      value: json<Layouts>(),
      about: 'The key layouts that the store was written under, each with its fingerprint.'
    })
  },
  { about: 'What a store knows of itself.', proved: PROVED }
)

const { layouts: record } = storeLayouts.collections

/** The layouts of a program, as a store would record them. */
export const layoutsOf = (spaces: readonly AnyKeyspace[]): Layouts =>
  Object.fromEntries(
    spaces.map(({ name, all }) => {
      const collections = all.map(
        each =>
          [
            each.name,
            {
              key: each.pattern,
              holds: describeShape(each.value),
              fingerprint: digest(canonicalLayout(each))
            }
          ] as const
      )
      return [name, { version, collections: Object.fromEntries(collections) }] as const
    })
  )

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32)

/** The layouts that a store was written under; undefined when it has no record of them. */
export const recordedLayouts = (reads: StoreReads): Promise<Layouts | undefined> => reads.use(record).get()

/** A collection of a store that a program has otherwise, or does not have. */
export interface LayoutChange {
  readonly keyspace: string
  readonly collection: string
  /** Undefined of a collection that one side lacks. */
  readonly recorded: RecordedCollection | undefined
  readonly declared: RecordedCollection | undefined
}

export interface LayoutComparison {
  readonly state: 'same' | 'compatible' | 'different'
  /** Collections with other keys or values, and recorded ones that the program lacks. */
  readonly changed: readonly LayoutChange[]
  /** Collections that the store has no record of yet. */
  readonly added: readonly LayoutChange[]
}

/** Compares the layouts that a store has recorded with the layouts of a program. Keyspaces that the program lacks are ignored. */
export const compareLayouts = (recorded: Layouts, declared: Layouts): LayoutComparison => {
  const changed: LayoutChange[] = []
  const added: LayoutChange[] = []
  for (const [space, { collections }] of Object.entries(declared)) {
    const known = recorded[space]?.collections ?? {}
    for (const name of new Set([...Object.keys(collections), ...Object.keys(known)])) {
      const change = { keyspace: space, collection: name, recorded: known[name], declared: collections[name] }
      if (change.recorded === undefined) added.push(change)
      else if (change.recorded.fingerprint !== change.declared?.fingerprint) changed.push(change)
    }
  }
  return {
    state: changed.length > 0 ? 'different' : added.length > 0 ? 'compatible' : 'same',
    changed,
    added
  }
}

/** Refuses a store that has keys under other layouts, or under layouts that it has no record of. */
export const checkLayouts = async (
  reads: StoreReads,
  spaces: readonly AnyKeyspace[]
): Promise<LayoutComparison> => {
  const recorded = await recordedLayouts(reads)
  const comparison = compareLayouts(recorded ?? {}, layoutsOf(spaces))
  if (comparison.state === 'different') throw differentLayouts(comparison)
  // A store with a record was claimed, or upgraded. Keys of a plug-in in it may be older than that.
  if (recorded) return comparison
  for (const space of spaces) if (await hasKeys(reads, space)) throw unrecorded(space.name)
  return comparison
}

/** The same, and records the layouts that the store has no record of yet. */
export const claimLayouts = async (store: Store, spaces: readonly AnyKeyspace[]): Promise<void> => {
  const declared = layoutsOf(spaces)
  for (;;) {
    const recorded = await recordedLayouts(store)
    const { state } = await checkLayouts(store, spaces)
    if (state === 'same' || (await replaceLayouts(store, recorded, { ...recorded, ...declared }))) return
  }
}

/** Replaces the record, unless another process has replaced it first. */
export const replaceLayouts = async (
  store: Store,
  before: Layouts | undefined,
  after: Layouts
): Promise<boolean> => {
  const batch = store.batch()
  batch.use(record).at().expect(before)
  batch.use(record).at().set(after)
  return batch.tryCommit()
}

/** Keys that are read of each collection to find one of it: others may begin with the same bytes. */
const SAMPLE = 16

/** Whether the store has keys of a keyspace. Sets and queues are not listed by key, and are passed over. */
export const hasKeys = async (reads: StoreReads, space: AnyKeyspace): Promise<boolean> => {
  for (const each of space.all) {
    const keys = await firstKeys(reads, each)
    if (keys.some(key => each.owns(key))) return true
  }
  return false
}

const firstKeys = async (reads: StoreReads, { layout, value }: Collection): Promise<Uint8Array[]> => {
  const [first] = layout.parts
  const prefix = first?.kind === 'literal' ? first.bytes : new Uint8Array()
  const range = { start: prefix, end: prefixEnd(prefix), reverse: false }
  const limits = { limit: SAMPLE }
  if (value.kind === 'value') return (await reads.range(range, limits)).map(({ key }) => key)
  if (value.kind === 'hash') return (await reads.hrange(range, limits)).map(({ key }) => key)
  return value.kind === 'sorted set' || value.kind === 'log' ? reads.zkeys(range, limits) : []
}

const unrecorded = (space: string): QuoinError =>
  new QuoinError(
    'ERR_STORE_UPGRADE',
    `the store has keys of ${space} and no record of their layout: an earlier version of Quoin, or another ` +
      'program, wrote them. Run: quoin upgrade STORE',
    { keyspace: space }
  )

/** How many changed collections an error names. */
const NAMED = 5

const differentLayouts = ({ changed }: LayoutComparison): QuoinError => {
  const names = changed.map(change => `${change.keyspace}.${change.collection}`)
  const [{ recorded, declared }] = changed as [LayoutChange]
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : ''
  return new QuoinError(
    'ERR_STORE_UPGRADE',
    `the store was written under other key layouts: ${names.slice(0, NAMED).join(', ')}${more} differ ` +
      `(${names[0]} is ${shown(recorded)} in the store and ${shown(declared)} in this version). ` +
      'Run: quoin upgrade STORE',
    { changed: names }
  )
}

const shown = (collection: RecordedCollection | undefined): string =>
  collection ? `${collection.key} => ${collection.holds}` : 'absent'
