/** Every keyspace that Quoin ships, and which of them share a store. */
import { bsv21, bsv21Events } from './bsv21/index.ts'
import { type AnyKeyspace, KeyspaceGroup } from './keyspace/index.ts'
import { liquidityChain, liquiditySeed } from './liquidity/index.ts'
import { storeRows } from './store/index.ts'
import {
  outputEvents,
  outputFields,
  outputs,
  progressFields,
  satoshisFields,
  spendFields
} from './txo/index.ts'

/** The store of a node. Plug-ins join a group of their own process, made by `nodeStore()`. */
export const nodeStore = (): KeyspaceGroup =>
  new KeyspaceGroup('node', [outputs, outputEvents.keyspace, bsv21, bsv21Events.keyspace])

/** Keyspaces of stores: what a raw key can be. */
export const storeKeyspaces: readonly AnyKeyspace[] = [
  outputs,
  outputEvents.keyspace,
  bsv21,
  bsv21Events.keyspace,
  liquiditySeed,
  liquidityChain
]

/**
 * With the fields of hashes, which are keyspaces of their own, and with the rows that all of these become where a
 * store is a file: those are the keys of a database, and hold the keys above.
 */
export const shippedKeyspaces: readonly AnyKeyspace[] = [
  ...storeKeyspaces,
  outputFields,
  satoshisFields,
  spendFields,
  progressFields,
  storeRows
]

/** Stores that hold several keyspaces. Liquidity may live beside the node's own keys, in either profile. */
export const shippedStores = (): readonly KeyspaceGroup[] => [
  nodeStore(),
  ...[liquiditySeed, liquidityChain].map(profile => {
    const store = new KeyspaceGroup(`node with ${profile.name}`, nodeStore().members)
    store.add(profile)
    return store
  })
]
