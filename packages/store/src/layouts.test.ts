import { txid } from '@quoin/chain/components'
import {
  type AnyKeyspace,
  collection,
  hash,
  json,
  keyspace,
  rawValue,
  sortedSetOf,
  u32,
  u64
} from '@quoin/keyspace'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { bytes } from '../../store-contract/src/steps.ts'
import { ENGINES } from './engines.testing.ts'
import { checkLayouts, claimLayouts, compareLayouts, layoutsOf, recordedLayouts, Store } from './index.ts'
import { storeRows } from './ordered/layout.ts'
import { SCHEMA_VERSION } from './ordered/schema.ts'

const notes = (id: typeof u64 | typeof u32 = u64): AnyKeyspace =>
  keyspace('notes', { note: collection({ key: ['note:', id('id')], value: rawValue('text') }) })
const moreNotes = keyspace('notes', {
  note: collection({ key: ['note:', u64('id')], value: rawValue('text') }),
  tag: collection({ key: ['tag:', u64('id')], value: json<string>() })
})
const fields = keyspace('fields', { name: collection({ key: ['name'], value: json<string>() }) })
const other = keyspace('other', { names: collection({ key: ['names'], value: hash(fields) }) })
const sets = keyspace('sets', {
  members: collection({ key: ['z:', u32('id')], value: sortedSetOf(txid('txid')) })
})

describe('the layouts of a store', () => {
  it('are the same, compatible when collections were added, and different otherwise', () => {
    const recorded = layoutsOf([notes()])
    expect(compareLayouts(recorded, layoutsOf([notes()]))).toEqual({ state: 'same', changed: [], added: [] })
    expect(compareLayouts(recorded, layoutsOf([moreNotes]))).toMatchObject({
      state: 'compatible',
      added: [{ keyspace: 'notes', collection: 'tag', recorded: undefined }]
    })
    expect(compareLayouts(recorded, layoutsOf([notes(u32)]))).toMatchObject({
      state: 'different',
      changed: [{ keyspace: 'notes', collection: 'note', recorded: { key: 'note:{id}' } }]
    })
    // Of an older program, which does not know a collection of the store.
    expect(compareLayouts(layoutsOf([moreNotes]), recorded)).toMatchObject({
      state: 'different',
      changed: [{ keyspace: 'notes', collection: 'tag', declared: undefined }]
    })
    // Of another program, or of a plug-in that is not loaded.
    expect(compareLayouts(layoutsOf([notes(), other]), recorded)).toMatchObject({ state: 'same' })
  })

  it('of the rows of embedded engines are those of this schema version', () => {
    // Other rows need another SCHEMA_VERSION, and a conversion in `upgrade/`.
    const fingerprints = Object.values(layoutsOf([storeRows])['store-rows']!.collections).map(
      each => each.fingerprint
    )
    expect({ version: SCHEMA_VERSION, fingerprints }).toMatchInlineSnapshot(`
      {
        "fingerprints": [
          "6c57132693f79618412bb969dc0c1084",
          "f53ea68cba4bdcf122e26a949a4cefc5",
          "b6d8c6f10dd24b837d79e46491a2bfc9",
          "9f9b2deefc53e0b237dcae5bd976acb4",
          "0f7fb8334dd68ce16650bf4b0939d24c",
          "770bad8559499b52dc564aab9a9eea4c",
          "11e34cb56f944bc1f721dee641041b19",
          "13eeeb26806d80f84d1e255e0f683d85",
          "a8ee17492f7aeaed5ca2d9db4208fa9e",
          "4a2d3759b08b0ab0e0ab4f7d768ebfcc",
          "bd255cffc1087c59998b831f8ee55bac",
          "a4c7545617aefb3982d7e9dcea9ce97a",
        ],
        "version": 2,
      }
    `)
  })
})

describe.each(Object.entries(ENGINES))('the record of layouts on %s', (_, harness) => {
  beforeAll(() => harness.start?.())
  afterAll(() => harness.stop?.())
  let store: Store
  beforeEach(async () => {
    store = new Store(await harness.open())
  })
  afterEach(() => store.close())
  const upgrade = { code: 'ERR_STORE_UPGRADE' }

  it('is made when layouts are claimed, and grows with new collections', async () => {
    await claimLayouts(store, [notes()])
    expect(await recordedLayouts(store)).toEqual(layoutsOf([notes()]))
    await claimLayouts(store, [moreNotes, other])
    expect(await recordedLayouts(store)).toEqual(layoutsOf([moreNotes, other]))
    expect(await checkLayouts(store, [moreNotes])).toMatchObject({ state: 'same' })
  })

  it('is complete when several processes claim at once', async () => {
    await Promise.all([claimLayouts(store, [moreNotes]), claimLayouts(store, [other])])
    expect(await recordedLayouts(store)).toEqual(layoutsOf([moreNotes, other]))
  })

  it('refuses other layouts, and names them', async () => {
    await claimLayouts(store, [notes()])
    const refusal = {
      ...upgrade,
      message: expect.stringMatching(/notes\.note differ.*note:\{id\} => text.*quoin upgrade/s),
      details: { changed: ['notes.note'] }
    }
    await expect(checkLayouts(store, [notes(u32)])).rejects.toMatchObject(refusal)
    await expect(claimLayouts(store, [notes(u32)])).rejects.toMatchObject(refusal)
    expect(await recordedLayouts(store)).toEqual(layoutsOf([notes()]))
  })

  it('refuses keys without a record, of each kind, and nothing else', async () => {
    await store.set(bytes('another program'), bytes('x'))
    await store.set(bytes('note:'), bytes('too short to be a note'))
    expect(await checkLayouts(store, [notes(), other, sets])).toMatchObject({ state: 'compatible' })
    await store.hset(bytes('names'), bytes('name'), bytes('"n"'))
    await expect(claimLayouts(store, [notes(), other])).rejects.toMatchObject({
      ...upgrade,
      details: { keyspace: 'other' }
    })
    await store.hdel(bytes('names'), bytes('name'))
    await store.zadd(sets.collections.members.encode(7), { member: new Uint8Array(32), score: 1 })
    await expect(claimLayouts(store, [other, sets])).rejects.toMatchObject({
      ...upgrade,
      details: { keyspace: 'sets' }
    })
    expect(await recordedLayouts(store)).toBeUndefined()
  })

  it('takes keys of a keyspace that joins a recorded store for keys of its layout', async () => {
    await claimLayouts(store, [notes()])
    await store.hset(bytes('names'), bytes('name'), bytes('"n"'))
    await claimLayouts(store, [notes(), other])
    expect(await recordedLayouts(store)).toEqual(layoutsOf([notes(), other]))
  })
})
