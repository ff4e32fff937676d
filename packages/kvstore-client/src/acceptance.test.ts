/**
 * One script of the unmodified clients of @bsv/sdk against a stock node with a development wallet: `GlobalKVStore`,
 * `LocalKVStore` and `Historian`, over blocks, delivered proofs and a reorg.
 */
import {
  GlobalKVStore,
  HTTPSOverlayLookupFacilitator,
  LocalKVStore,
  LookupResolver,
  Transaction,
  type WalletInterface
} from '@bsv/sdk'
import { kvStoreInterpreter } from '@bsv/sdk/kvstore/kvStoreInterpreter'
import { Historian } from '@bsv/sdk/overlay-tools/Historian'
import { loadConfig, type Node, startNode } from 'quoin'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openDevWallet } from './dev-wallet/index.ts'
import { sdkClients } from './sdk-clients.testing.ts'

const STEPS = 60

let node: Node
let wallet: WalletInterface
let controller: string
beforeAll(async () => {
  const options = { store: 'memory:', chain: 'dev', port: '0', logLevel: 'error', blockTime: '0' }
  node = await startNode(loadConfig({ options }).config)
  wallet = await openDevWallet({ node: node.url })
  controller = (await wallet.getPublicKey({ identityKey: true })).publicKey
})
afterAll(() => node.close())

const store = (config: object = {}): GlobalKVStore =>
  sdkClients(new GlobalKVStore({ wallet, networkPreset: 'local', ...config }), node.url)
const chain = async (path: string): Promise<void> => {
  expect((await fetch(`${node.url}/dev/${path}`, { method: 'POST' })).status).toBe(200)
}
const keysOf = (found: unknown): string[] => (found as { key: string }[]).map(({ key }) => key).sort()

it('creates, updates and deletes', async () => {
  const kv = store()
  await kv.set('life', 'one')
  await chain('mine')
  await kv.set('life', 'two', { tags: ['t'] })
  expect(await kv.get({ key: 'life', controller })).toMatchObject({ value: 'two', tags: ['t'] })
  expect(await kv.get({ key: 'life' })).toHaveLength(1)
  await kv.remove('life')
  expect(await kv.get({ key: 'life', controller })).toBeUndefined()
  await expect(kv.remove('life')).rejects.toThrow('did not exist')
})

it('finds tags, all of them and any', async () => {
  const kv = store()
  await kv.set('tag a', 'x', { tags: ['red', 'big'] })
  await kv.set('tag b', 'x', { tags: ['red'] })
  await kv.set('tag c', 'x', { tags: ['blue', 'red '] })
  const found = async (query: object) => keysOf(await kv.get({ tags: ['red', 'big'], ...query }))
  expect(await found({})).toEqual(['tag a'])
  expect(await found({ tagQueryMode: 'all' })).toEqual(['tag a'])
  expect(await found({ tagQueryMode: 'any' })).toEqual(['tag a', 'tag b'])
  expect(await found({ tags: ['blue', 'red '], controller })).toEqual(['tag c'])
})

it('has one entry under a protocol in mixed case', async () => {
  const protocolID = [1, 'My Notes']
  const kv = store({ protocolID })
  await kv.set('note', 'one')
  await kv.set('note', 'two')
  expect(await kv.get({ key: 'note', controller })).toMatchObject({ value: 'two', protocolID })
  expect(await kv.get({ protocolID: protocolID as [1, string] })).toHaveLength(1)
  const read = await kv.get({ key: 'note', controller }, { history: true })
  expect(read).toMatchObject({ history: ['one', 'two'] })
})

it(`walks ${STEPS} steps, mined and not, over a reorg in the middle, and verifies them`, async () => {
  const kv = store()
  const values = Array.from({ length: STEPS }, (_, i) => `step ${i}`)
  for (const [i, value] of values.entries()) {
    await kv.set('long', value, i % 3 === 0 ? { tags: ['long'] } : {})
    // Several steps in one block, blocks of one step, and a tail that is not mined.
    if (i < STEPS - 5 && (i % 7 === 6 || i % 10 === 0)) await chain('mine')
    if (i === STEPS / 2) await chain('reorg?depth=3')
  }
  const read = await kv.get({ key: 'long', controller }, { history: true })
  expect(read).toMatchObject({ value: `step ${STEPS - 1}`, history: values })

  await chain('mine')
  const resolver = new LookupResolver({
    networkPreset: 'local',
    hostOverrides: { ls_kvstore: [node.url] },
    facilitator: new HTTPSOverlayLookupFacilitator(fetch, true),
    reputationStorage: { get: () => undefined, set: () => undefined }
  })
  const { outputs } = await resolver.query({ service: 'ls_kvstore', query: { key: 'long', controller } })
  const transaction = Transaction.fromBEEF(outputs[0]!.beef)
  expect(await transaction.verify(node.headers!)).toBe(true)
  const context = { key: 'long', protocolID: [1, 'kvstore'] as [1, string] }
  expect(await new Historian(kvStoreInterpreter).buildHistory(transaction, context)).toEqual(values)
})

it('keeps local values, over blocks and a reorg', async () => {
  const kv = new LocalKVStore(wallet, 'acceptance')
  for (const value of ['one', 'two', 'three']) {
    await kv.set('k', value)
    await chain('mine')
  }
  await chain('reorg?depth=2')
  expect(await kv.get('k')).toBe('three')
  await kv.set('k', 'four')
  expect(await kv.get('k')).toBe('four')
  await kv.remove('k')
  expect(await kv.get('k', 'none')).toBe('none')
})
