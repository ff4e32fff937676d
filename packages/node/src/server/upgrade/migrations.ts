/**
 * Migrations: small named steps, each from some fingerprints of collections to others. A step that was cut off runs again
 * and finds in the store which rows are left.
 */

import { txid } from '@quoin/chain/components'
import { type Collection, collection, json, type Keyspace, keyspace, rawValue, u32 } from '@quoin/keyspace'
import { successor } from '@quoin/primitives'
import { type Layouts, layoutsOf, type Store } from '@quoin/store'
import { writeCompactAdmissions, writeFactsOnce } from './facts-once.ts'
import { LAYOUTS_0_1 } from './layouts-0.1.ts'
import { writeMembershipLogs } from './membership.ts'
import { type Migration, type MigrationOptions, rangeOf } from './migration.ts'

/** Builds of version 0.1 before proofs and judgements were kept beside their transactions. */
const apartChain = keyspace('chain', {
  proof: collection({ key: ['p:', txid('txid')], value: rawValue('BUMP') })
})
const apartOverlay = keyspace('overlay', {
  judgements: collection({ key: ['j:', txid('txid')], value: json() }),
  offChainValues: collection({ key: ['j:', txid('txid'), ':values'], value: json() }),
  evicted: collection({ key: ['j:', txid('txid'), ':gone'], value: json() }),
  evictions: collection({ key: ['j:', txid('txid'), ':evicted', u32('vout')], value: json() })
})

/** The collections of version 0.1 that they became. */
const besideChain = keyspace('chain', {
  proof: collection({ key: ['t:', txid('txid'), ':proof'], value: rawValue('BUMP') })
})
const besideOverlay = keyspace('overlay', {
  judgements: collection({ key: ['t:', txid('txid'), ':judged'], value: json() }),
  offChainValues: collection({ key: ['t:', txid('txid'), ':values'], value: json() }),
  evicted: collection({ key: ['t:', txid('txid'), ':gone'], value: json() }),
  evictions: collection({ key: ['t:', txid('txid'), ':evicted', u32('vout')], value: json() })
})

const apart = [apartChain, apartOverlay] as const
const beside = [besideChain, besideOverlay] as const

export const MIGRATIONS: readonly Migration[] = [
  {
    name: 'move proofs and judgements beside their transactions',
    from: layoutsOf(apart),
    to: layoutsOf(beside),
    async run(store, options) {
      let done = 0
      for (const [i, space] of apart.entries()) {
        for (const from of space.all) {
          const to = (beside[i] as Keyspace).all.find(({ name }) => name === from.name)!
          done = await moveRows(store, from, to, done, options)
        }
      }
    }
  },
  writeMembershipLogs,
  writeFactsOnce,
  writeCompactAdmissions
]

/**
 * The layouts of a store without a record: version 0.1, in the form of the build whose keys it has.
 */
export const identifyLayouts = async (store: Store): Promise<Layouts> => {
  for (const space of apart) {
    for (const each of space.all) {
      const rows = await store.range(rangeOf(each), { limit: 1 })
      if (rows.some(({ key }) => each.owns(key))) return overlaid(LAYOUTS_0_1, layoutsOf(apart))
    }
  }
  return LAYOUTS_0_1
}

/** Layouts after a migration. */
export const migrated = (layouts: Layouts, { to, removed = {} }: Migration): Layouts =>
  overlaid(
    Object.fromEntries(
      Object.entries(layouts).map(([name, space]) => {
        const gone = removed[name]?.collections ?? {}
        const kept = Object.entries(space.collections).filter(([each]) => !Object.hasOwn(gone, each))
        return [name, { ...space, collections: Object.fromEntries(kept) }]
      })
    ),
    to
  )

/** Layouts with some collections replaced. */
export const overlaid = (layouts: Layouts, changed: Layouts): Layouts => {
  const merged = Object.entries(changed).map(([name, space]) => {
    const collections = { ...layouts[name]?.collections, ...space.collections }
    return [name, { ...space, collections }] as const
  })
  return { ...layouts, ...Object.fromEntries(merged) }
}

/** Whether each of the collections has the recorded layout. */
export const includesLayouts = (recorded: Layouts, wanted: Layouts): boolean =>
  Object.entries(wanted).every(([name, { collections }]) =>
    Object.entries(collections).every(
      ([each, { fingerprint }]) => recorded[name]?.collections[each]?.fingerprint === fingerprint
    )
  )

/** Rows that are moved in one batch. */
const PAGE = 500

/** Moves key-values to the same key of another collection. A row that is there already is the later one, and stays. */
const moveRows = async (
  store: Store,
  from: Collection,
  to: Collection,
  before: number,
  { onProgress, signal }: MigrationOptions
): Promise<number> => {
  let done = before
  const range = rangeOf(from)
  for (let { start } = range; ; ) {
    signal?.throwIfAborted()
    const rows = await store.range({ ...range, start }, { limit: PAGE })
    const moved = rows.filter(({ key }) => from.owns(key))
    const targets = moved.map(({ key }) => to.encode(...from.decode(key)))
    const there = await store.mget(targets)
    const batch = store.batch()
    for (const [i, { key, value }] of moved.entries()) {
      if (there[i] === undefined) batch.set(targets[i]!, value)
      batch.del(key)
    }
    await batch.commit()
    done += moved.length
    onProgress(done)
    if (rows.length < PAGE) return done
    start = successor(rows.at(-1)!.key)
  }
}
