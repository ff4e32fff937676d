/** Every keyspace that Quoin ships, and which of them share a store. */
import { bsv21, bsv21Events } from '@quoin/bsv21'
import { chain } from '@quoin/chain'
import { discoveryEvents, discoveryKeys } from '@quoin/discovery'
import { type AnyKeyspace, KeyspaceGroup } from '@quoin/keyspace'
import { kvEvents } from '@quoin/kvstore'
import { broadcasts, overlay } from '@quoin/overlay'
import { storeLayouts, storeRows } from '@quoin/store'
import {
  changeFields,
  EventRegistry,
  outputEvents,
  outputFields,
  outputs,
  progressFields,
  scriptEvents,
  spendFields
} from '@quoin/txo'
import { liquidityProfiles } from './optional-packages.ts'
import { PROVED } from './proved.ts'
import { liveLookups } from './server/live-lookups/keys.ts'

/** The types of events that a node has before plug-ins register theirs. */
export const nodeEvents = (): EventRegistry =>
  new EventRegistry(outputEvents, scriptEvents, bsv21Events, kvEvents, discoveryEvents)

const nodeKeyspaces: readonly AnyKeyspace[] = [
  chain,
  outputs,
  outputEvents.keyspace,
  scriptEvents.keyspace,
  overlay,
  broadcasts,
  bsv21,
  bsv21Events.keyspace,
  kvEvents.keyspace,
  discoveryKeys,
  discoveryEvents.keyspace,
  liveLookups,
  storeLayouts
]

/** The store of a node. Plug-ins join a group of their own process, made by `nodeStore()`. */
export const nodeStore = (): KeyspaceGroup => new KeyspaceGroup('node', nodeKeyspaces, { proved: PROVED })

/** Keyspaces of stores: every raw key belongs to one of them. */
export const storeKeyspaces = async (): Promise<readonly AnyKeyspace[]> => [
  ...new Set([...nodeKeyspaces, ...(await liquidityProfiles()).flat()])
]

/**
 * With the fields of hashes, which are keyspaces of their own, and with the rows that all of these become where a
 * store is a file: the keys of a database, which hold the keys above.
 */
export const shippedKeyspaces = async (): Promise<readonly AnyKeyspace[]> => [
  ...(await storeKeyspaces()),
  outputFields,
  spendFields,
  progressFields,
  changeFields,
  storeRows
]

/** Stores that hold several keyspaces. Liquidity may live beside the node's own keys, in either profile. */
export const shippedStores = async (): Promise<readonly KeyspaceGroup[]> => [
  nodeStore(),
  ...(await liquidityProfiles()).map(profile => {
    const store = new KeyspaceGroup(`node with ${profile[0]!.name}`, nodeStore().members, { proved: PROVED })
    for (const space of profile) store.add(space)
    return store
  })
]
