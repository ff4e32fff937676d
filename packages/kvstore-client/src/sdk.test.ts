/**
 * `GlobalKVStore` of @bsv/sdk, unmodified, with a real wallet, against a node over HTTP. With `networkPreset: 'local'` it
 * calls http://localhost:8080 and nothing else, so this is the one test that needs that port.
 */
import { GlobalKVStore, PushDrop, Utils, type WalletInterface } from '@bsv/sdk'
import { getOverlayHostReputationTracker } from '@bsv/sdk/overlay-tools/HostReputationTracker'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { GlobalKV } from './global.ts'
import { type KvNode, startKvNode } from './node.testing.ts'
import { startChain, type TestChain } from './wallet.testing.ts'

const PORT = 8080

let chain: TestChain
let node: KvNode | undefined
let wallet: WalletInterface
let controller: string

const listen = async (): Promise<void> => {
  node = await startKvNode(chain, PORT).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error
    throw new Error(`port ${PORT} is taken, and GlobalKVStore calls no other: end what listens there`)
  })
}
/** The client keeps a grudge against hosts that failed. */
const forgive = (): void => getOverlayHostReputationTracker().reset()

beforeAll(async () => {
  chain = await startChain()
  wallet = await chain.wallet()
  controller = (await wallet.getPublicKey({ identityKey: true })).publicKey
  await listen()
})
beforeEach(forgive)
afterAll(async () => {
  await node?.close()
  await chain.close()
})

const sdk = (): GlobalKVStore => new GlobalKVStore({ wallet, networkPreset: 'local' })
const quoin = (): GlobalKV => new GlobalKV({ wallet, network: 'local' })
type Read = Exclude<Awaited<ReturnType<GlobalKVStore['get']>>, unknown[]>
const readBySdk = async (key: string, history = false): Promise<Read> =>
  (await sdk().get({ key, controller }, { history })) as Read
const txidOf = (outpoint: string): string => outpoint.slice(0, 64)

describe('GlobalKVStore of @bsv/sdk on a node of Quoin', () => {
  it('§E creates, updates, reads, walks the history of and deletes an entry', async () => {
    const store = sdk()
    const created = await store.set('sdk', 'one', { tags: ['a', 'b'] })
    expect(created).toMatch(/^[0-9a-f]{64}\.0$/)
    expect(await readBySdk('sdk')).toEqual({
      key: 'sdk',
      value: 'one',
      controller,
      protocolID: [1, 'kvstore'],
      tags: ['a', 'b']
    })
    await store.set('sdk', 'two')
    await store.set('sdk', 'three', { tags: ['c'] })
    expect(await readBySdk('sdk', true)).toMatchObject({ value: 'three', history: ['one', 'two', 'three'] })
    expect(await store.get({ tags: ['c'] })).toMatchObject([{ key: 'sdk', value: 'three' }])
    expect(await store.get({ tags: ['a', 'c'], tagQueryMode: 'any' })).toHaveLength(1)
    expect(await store.get({ tags: ['a', 'c'] })).toEqual([])
    expect(await store.remove('sdk')).toMatch(/^[0-9a-f]{64}$/)
    expect(await readBySdk('sdk')).toBeUndefined()
  })

  it('§3.6 walks the whole history when every step is mined', async () => {
    const values = ['one', 'two', 'three', 'four', 'five']
    for (const value of values) await node!.prove(txidOf(await sdk().set('mined', value)))
    expect(await readBySdk('mined', true)).toMatchObject({ value: 'five', history: values })
    await sdk().set('mined', 'six')
    expect((await readBySdk('mined', true))?.history).toEqual([...values, 'six'])
  })

  it('§E and GlobalKV read, update and delete entries of each other', async () => {
    await quoin().set('ours', 'by us', { tags: ['x'] })
    expect(await readBySdk('ours')).toMatchObject({ value: 'by us', tags: ['x'] })
    await sdk().set('ours', 'by them')
    expect(await quoin().get('ours')).toMatchObject({ value: 'by them', tags: [] })
    await quoin().set('ours', 'by us again')
    expect((await readBySdk('ours', true))?.history).toEqual(['by us', 'by them', 'by us again'])
    expect((await quoin().history('ours')).map(({ value }) => value)).toEqual([
      'by us',
      'by them',
      'by us again'
    ])
    await sdk().remove('ours')
    expect(await quoin().get('ours')).toBeUndefined()
    await sdk().set('theirs', 'by them')
    await quoin().remove('theirs')
    expect(await readBySdk('theirs')).toBeUndefined()
  })

  it.each([
    [
      'a character of each plane of Unicode',
      Array.from({ length: 17 }, (_, i) => String.fromCodePoint(i * 0x10000 + 0x41)).join('')
    ],
    ['100 kB', '0123456789'.repeat(10_000)],
    ['one byte', '\x01']
  ])('§2.2 and GlobalKV bring back to each other a value of %s', async (name, value) => {
    await quoin().set(`${name}, ours`, value, { tags: [name] })
    expect(await readBySdk(`${name}, ours`)).toMatchObject({ value, tags: [name] })
    await sdk().set(`${name}, theirs`, value, { tags: [name] })
    expect(await quoin().get(`${name}, theirs`)).toMatchObject({ value, tags: [name] })
  })

  it('§2.2 and GlobalKV have one entry under a protocol in mixed case', async () => {
    const protocolID: [1, string] = [1, 'My Notes']
    const theirs = new GlobalKVStore({ wallet, networkPreset: 'local', protocolID })
    const ours = new GlobalKV({ wallet, network: 'local', protocolID })
    expect(ours.protocolID).toEqual([1, 'my notes'])
    const read = async (by: object) => (await theirs.get({ key: 'note', ...by })) as Read

    await theirs.set('note', 'one')
    const updated = await theirs.set('note', 'two', { tags: ['mixed case'] })
    expect(await read({ controller })).toMatchObject({ value: 'two', protocolID })
    expect(await theirs.get({ protocolID })).toMatchObject([{ value: 'two' }])
    expect(await ours.get('note')).toMatchObject({ value: 'two', outpoint: updated })
    expect((await ours.history('note')).map(({ value }) => value)).toEqual(['one', 'two'])
    expect((await ours.list({ protocolID: [1, ' my NOTES '] })).entries).toHaveLength(1)

    await ours.set('note', 'three')
    expect(await read({ controller })).toMatchObject({ value: 'three', protocolID: [1, 'my notes'] })
    expect((await ours.history('note')).map(({ value }) => value)).toEqual(['one', 'two', 'three'])
    await theirs.remove('note')
    expect(await ours.get('note')).toBeUndefined()
  })

  it('§6.3 picks the token of another protocol for its update, where GlobalKV does not (G2)', async () => {
    const other = { protocolID: [2, 'another one'] as const }
    await quoin().set('two protocols', 'usual')
    await quoin().set('two protocols', 'other', other)
    await expect(sdk().set('two protocols', 'updated')).rejects.toThrow()
    await quoin().set('two protocols', 'updated')
    expect([
      (await quoin().get('two protocols'))?.value,
      (await quoin().get('two protocols', other))?.value
    ]).toEqual(['updated', 'other'])
  })

  it('§3.4 cannot update under a protocol of its own choice, where GlobalKV can (G3)', async () => {
    const protocolID: [2, string] = [2, 'chosen for this']
    await sdk().set('chosen', 'created', { protocolID })
    await expect(sdk().set('chosen', 'updated', { protocolID })).rejects.toThrow()
    await quoin().set('chosen', 'updated', { protocolID })
    expect((await quoin().history('chosen', { protocolID })).map(({ value }) => value)).toEqual([
      'created',
      'updated'
    ])
  })

  it('§3.4 takes one of two live tokens for the entry, where GlobalKV says that they are two (G4)', async () => {
    const first = await quoin().set('twice', 'one')
    const lockingScript = await new PushDrop(wallet).lock(
      ['[1,"kvstore"]', 'twice', 'two']
        .map(text => Utils.toArray(text, 'utf8'))
        .concat([Utils.toArray(controller, 'hex')]),
      [1, 'kvstore'],
      'twice',
      'anyone',
      true
    )
    const { tx, txid } = await wallet.createAction({
      description: 'a second token',
      outputs: [{ lockingScript: lockingScript.toHex(), satoshis: 1, outputDescription: 'a second token' }],
      options: { acceptDelayedBroadcast: false, randomizeOutputs: false }
    })
    await fetch(`${node!.url}/submit`, {
      method: 'POST',
      headers: { 'x-topics': '["tm_kvstore"]' },
      body: Uint8Array.from(tx!)
    })
    expect((await readBySdk('twice'))?.value).toMatch(/^(one|two)$/)
    await expect(quoin().get('twice')).rejects.toMatchObject({
      code: 'ERR_KV_AMBIGUOUS',
      details: { outpoints: expect.arrayContaining([first, `${txid}.0`]) }
    })
  })

  it('§2.2 writes an empty value that it cannot read, which GlobalKV refuses to (G7)', async () => {
    await sdk().set('empty', '')
    expect(await readBySdk('empty')).toBeUndefined()
    expect(await quoin().get('empty')).toMatchObject({ value: '' })
    await expect(quoin().set('empty', '')).rejects.toMatchObject({ code: 'ERR_KV_ENTRY' })
  })

  it('§2.3 mints again what it cannot look up and says that all is well, where GlobalKV does neither (G5, G6)', async () => {
    await sdk().set('outage', 'one')
    await node!.close()
    node = undefined
    expect(await readBySdk('outage')).toBeUndefined()
    forgive()
    const said = vi.spyOn(console, 'error').mockImplementation(() => {})
    await expect(sdk().set('outage', 'two')).resolves.toMatch(/\.0$/)
    expect(said).toHaveBeenCalled()
    said.mockRestore()
    await expect(quoin().get('outage')).rejects.toMatchObject({ code: 'ERR_KV_HOST' })
    await expect(quoin().set('outage', 'two')).rejects.toMatchObject({ code: 'ERR_KV_HOST' })
    await listen()
  })
})
