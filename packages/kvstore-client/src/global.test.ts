/** The global profile of BRC-35: the client on a real wallet, against a real node over HTTP. */
import { OP, ProtoWallet, PushDrop, Transaction, Utils, type WalletInterface } from '@bsv/sdk'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { shows } from '../../kvstore/src/shows.testing.ts'
import { GlobalKV, type GlobalKVOptions } from './global.ts'
import { mint, newKey, startWorld, submitTo, valuesOf, type World } from './world.testing.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

const store = (options?: GlobalKVOptions): GlobalKV => world.store(options)
const actionsOf = (wallet: WalletInterface) => vi.spyOn(wallet, 'createAction')

describe('the global store', () => {
  it('§E global create, lookup, update, and delete for one tuple', async () => {
    const key = newKey()
    const kv = store()
    expect(await kv.get(key)).toBeUndefined()
    const created = await kv.set(key, 'first', { tags: ['profile', 'public'] })
    const controller = await kv.identity()
    expect(await kv.get(key)).toEqual({
      protocolID: [1, 'kvstore'],
      key,
      value: 'first',
      controller,
      tags: ['profile', 'public'],
      outpoint: created,
      satoshis: 1
    })
    const updated = await kv.set(key, 'second')
    expect(updated).not.toBe(created)
    shows('E-1', await kv.get(key)).toMatchObject({ value: 'second', tags: [], outpoint: updated })
    expect(await kv.remove(key)).toMatch(/^[0-9a-f]{64}$/)
    expect(await kv.get(key)).toBeUndefined()
    expect(await kv.remove(key)).toBeUndefined()
  })

  it('§E global queries by key, controller, protocolID, and tags with both all and any', async () => {
    const [ours, theirs] = [store(), store({ wallet: world.bob })]
    const protocolID = [1, 'query test'] as const
    const options = { protocolID }
    await ours.set('a', 'of alice', { ...options, tags: ['red', 'big'] })
    await ours.set('b', 'of alice too', { ...options, tags: ['red'] })
    await theirs.set('a', 'of bob', { ...options, tags: ['blue', 'big'] })
    const found = async (query: object): Promise<string[]> =>
      valuesOf((await ours.list({ protocolID, ...query })).entries).sort()
    expect(await found({})).toEqual(['of alice', 'of alice too', 'of bob'])
    expect(await found({ key: 'a' })).toEqual(['of alice', 'of bob'])
    expect(await found({ controller: await theirs.identity() })).toEqual(['of bob'])
    expect(await found({ tags: ['red', 'big'] })).toEqual(['of alice'])
    expect(await found({ tags: ['red', 'big'], tagQueryMode: 'all' })).toEqual(['of alice'])
    shows('E-2', await found({ tags: ['red', 'blue'], tagQueryMode: 'any' })).toEqual([
      'of alice',
      'of alice too',
      'of bob'
    ])
    expect(valuesOf((await ours.list({ tags: ['blue', 'big'] })).entries)).toEqual(['of bob'])
    expect(await ours.get('a', { ...options, controller: await theirs.identity() })).toMatchObject({
      value: 'of bob'
    })

    const [first, second] = [
      await ours.list({ protocolID, limit: 2, sortOrder: 'asc' }),
      await ours.list({ protocolID, skip: 2, sortOrder: 'asc' })
    ]
    expect(valuesOf([...first.entries, ...second.entries])).toEqual(['of alice', 'of alice too', 'of bob'])
    const next = await ours.list({ protocolID, limit: 2, sortOrder: 'asc', cursor: first.cursor! })
    expect([valuesOf(next.entries), next.cursor]).toEqual([['of bob'], undefined])
  })

  it('§2.1 a token has one satoshi', async () => {
    const key = newKey()
    await store().set(key, 'cheap')
    shows('2.1-1', (await store().get(key))?.satoshis).toBe(1)
  })

  it('§2.3 updates keep the tuple, and what they replace is no state', async () => {
    const key = newKey()
    const kv = store()
    const outpoints = [
      await kv.set(key, 'one', { tags: ['a'] }),
      await kv.set(key, 'two', { tags: ['b'] }),
      await kv.set(key, 'three')
    ]
    const tuple = { protocolID: [1, 'kvstore'], key, controller: await kv.identity() }
    for (const step of await kv.history(key)) shows('2.3-2', step).toMatchObject(tuple)
    const { entries } = await kv.list({ key })
    shows(
      '3.4-2',
      entries.map(({ outpoint }) => outpoint)
    ).toEqual([outpoints[2]])
    expect((await kv.list({ key, tags: ['a', 'b'], tagQueryMode: 'any' })).entries).toEqual([])
  })

  it('§B global emitters: lock before the fields, fields in order, the identity key, and a signature over them', async () => {
    const key = newKey()
    const kv = store()
    const outpoint = await kv.set(key, 'value', { tags: ['tag'] })
    const raw = await fetch(`${world.node.url}/beef/${outpoint.slice(0, 64)}/tx`)
    const transaction = Transaction.fromBinary([...new Uint8Array(await raw.arrayBuffer())])
    const script = transaction.outputs[Number(outpoint.slice(65))]!.lockingScript
    shows('3.2-1 5-1 B-1', script.chunks[1]!.op).toBe(OP.OP_CHECKSIG)
    const { fields, lockingPublicKey } = PushDrop.decode(script)
    const signature = fields.pop()!
    const controller = await kv.identity()
    shows('B-2', fields.map(field => Utils.toUTF8(field)).toSpliced(3, 1)).toEqual([
      '[1,"kvstore"]',
      key,
      'value',
      '["tag"]'
    ])
    shows('3.2-6 B-3', Utils.toHex(fields[3]!)).toBe(controller)
    const scope = { protocolID: [1, 'kvstore'] as [1, string], keyID: key, counterparty: controller }
    const anyone = new ProtoWallet('anyone')
    shows('B-4', await anyone.verifySignature({ ...scope, data: fields.flat(), signature })).toEqual({
      valid: true
    })
    expect(lockingPublicKey.toString()).toBe((await anyone.getPublicKey(scope)).publicKey)
  })

  it('§3.5 a query has at least one selector', async () => {
    for (const query of [{}, { tags: [] }, { limit: 5, sortOrder: 'asc' as const }]) {
      await shows('3.5-1', store().list(query)).rejects.toMatchObject({ code: 'ERR_KV_ENTRY' })
    }
  })

  it('§E global history reconstruction across successive updates', async () => {
    const key = newKey()
    const kv = store()
    const outpoints: string[] = []
    for (const value of ['one', 'two', 'three', 'two']) outpoints.push(await kv.set(key, value))
    const history = await kv.history(key)
    shows('E-4', valuesOf(history)).toEqual(['one', 'two', 'three', 'two'])
    expect(history.map(({ outpoint }) => outpoint)).toEqual(outpoints)
    await kv.remove(key)
    expect(await kv.history(key)).toEqual([])
  })

  it('§3.6 the history is whole when every step is mined, and is asked for (G1)', async () => {
    const key = newKey()
    const kv = store()
    const values = Array.from({ length: 6 }, (_, i) => `step ${i}`)
    for (const value of values) await world.node.prove((await kv.set(key, value)).slice(0, 64))
    shows('3.6-1 3.6-3', valuesOf(await kv.history(key))).toEqual(values)
    expect(await kv.get(key)).toMatchObject({ value: 'step 5' })
    await kv.set(key, 'after that')
    expect(valuesOf(await kv.history(key))).toEqual([...values, 'after that'])
  })

  it('§6.3 entries of several protocols with one key are apart, in reads and in writes (G2, G3)', async () => {
    const key = newKey()
    const kv = store()
    const other = { protocolID: [2, 'another protocol of ours'] as const }
    await kv.set(key, 'usual')
    await kv.set(key, 'other', other)
    await kv.set(key, 'other, updated', other)
    await kv.set(key, 'usual, updated')
    shows('6.3-1 6.3-2', [(await kv.get(key))?.value, (await kv.get(key, other))?.value]).toEqual([
      'usual, updated',
      'other, updated'
    ])
    expect(valuesOf(await kv.history(key, other))).toEqual(['other', 'other, updated'])
    await kv.remove(key, other)
    expect([(await kv.get(key))?.value, (await kv.get(key, other))?.value]).toEqual([
      'usual, updated',
      undefined
    ])
    const byDefault = store(other)
    await byDefault.set(key, 'its own default')
    expect((await kv.get(key, other))?.value).toBe('its own default')
  })

  it('§3.4 several live tokens are an ambiguity, never one of them (G4)', async () => {
    const key = newKey()
    const kv = store()
    const first = await kv.set(key, 'one')
    const { beef, outpoint: second } = await mint(world.alice, key, 'another')
    await submitTo(world.node, beef)
    const ambiguous = {
      code: 'ERR_KV_AMBIGUOUS',
      details: { outpoints: expect.arrayContaining([first, second]) }
    }
    const actions = actionsOf(world.alice)
    await shows('3.4-5', kv.get(key)).rejects.toMatchObject(ambiguous)
    await expect(kv.history(key)).rejects.toMatchObject(ambiguous)
    await expect(kv.set(key, 'a third')).rejects.toMatchObject(ambiguous)
    await expect(kv.remove(key)).rejects.toMatchObject(ambiguous)
    expect(actions).not.toHaveBeenCalled()
    actions.mockRestore()
    const { entries } = await kv.list({ key })
    expect(entries.map(({ value, isAmbiguous }) => [value, isAmbiguous]).sort()).toEqual([
      ['another', true],
      ['one', true]
    ])
    await kv.set(key, 'the one', { collapse: true })
    expect(await kv.get(key)).toMatchObject({ value: 'the one' })
    expect(valuesOf(await kv.history(key)).sort()).toEqual(['another', 'one', 'the one'])
  })

  it('§2.2 an empty value is refused before anything is made (G7)', async () => {
    const actions = actionsOf(world.alice)
    const refused = { code: 'ERR_KV_ENTRY', details: { field: 'value' } }
    await expect(store().set(newKey(), '')).rejects.toMatchObject(refused)
    await expect(store().set(newKey(), 5 as unknown as string)).rejects.toMatchObject(refused)
    expect(actions).not.toHaveBeenCalled()
    actions.mockRestore()
  })

  it.each([
    ['key', ''],
    ['key', '\ud800'],
    ['controller', '04ab'],
    ['protocolID', [1, 'kv_store']],
    ['protocolID', [3, 'kvstore']]
  ])('§2.2 a %s that is none (%j) is refused', async (field, bad) => {
    const refused = { code: 'ERR_KV_ENTRY', details: { field } }
    const { key, ...options } = { key: 'k', [field]: bad }
    await expect(store().get(key, options)).rejects.toMatchObject(refused)
    if (field === 'protocolID') {
      expect(() => store(options)).toThrow(expect.objectContaining(refused))
    }
  })

  it('§2.3 writes to one tuple take turns, through whichever object', async () => {
    const key = newKey()
    const writers = [store(), store(), store()]
    const values = Array.from({ length: 6 }, (_, i) => `v${i}`)
    const made = await Promise.all(values.map((value, i) => writers[i % 3]!.set(key, value)))
    const history = await writers[0]!.history(key)
    expect(valuesOf(history).sort()).toEqual(values)
    shows('2.3-3 Security-4', history.map(({ outpoint }) => outpoint).sort()).toEqual(made.sort())
    // Those through one object, in the order they were asked for.
    for (const i of [0, 1, 2]) {
      const order = valuesOf(history)
      expect(order.indexOf(`v${i}`)).toBeLessThan(order.indexOf(`v${i + 3}`))
    }
  })

  it('reads without a wallet, and says that it cannot write', async () => {
    const key = newKey()
    await store().set(key, 'for all')
    const reader = new GlobalKV({ host: `${world.node.url}/` })
    const controller = await store().identity()
    expect((await reader.get(key, { controller }))?.value).toBe('for all')
    expect(valuesOf(await reader.history(key, { controller }))).toEqual(['for all'])
    await expect(reader.get(key)).rejects.toMatchObject({ code: 'ERR_KV_WALLET' })
    await expect(reader.set(key, 'mine')).rejects.toMatchObject({ code: 'ERR_KV_WALLET' })
  })
})
