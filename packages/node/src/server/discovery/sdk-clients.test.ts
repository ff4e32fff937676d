/**
 * Clients of `@bsv/sdk` as applications make them, without options: they ask the public trackers, find the node by its
 * advertisements, write, read, register and revoke. Every https host leads to the loopback address of the node.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  GlobalKVStore,
  LockingScript,
  LookupResolver,
  PushDrop,
  RegistryClient,
  Transaction as SdkTransaction,
  SHIPBroadcaster,
  type WalletInterface
} from '@bsv/sdk'
import { createAdvertisements } from '@quoin/discovery'
import { escaped } from '@quoin/keyspace'
import { openDevWallet } from '@quoin/kvstore-client/dev-wallet'
import { definePlugin, type LookupResult, SILENT } from '@quoin/overlay'
import { event } from '@quoin/txo'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { directFetch, replaceFetch } from '../../../../../test/fetch.testing.ts'
import { Host } from '../../../../discovery/src/host.testing.ts'
import { advertise } from '../../cli/discovery/advertise.ts'
import { openWallet } from '../../wallet/open-wallet.ts'
import { loadConfig } from '../config.ts'
import { type Node, startNode } from '../node.ts'

const network = { url: '', asked: [] as string[], dead: undefined as string | undefined }
replaceFetch((input, init) => {
  const url = new URL(String(input instanceof Request ? input.url : input))
  if (url.protocol === 'http:') return directFetch(input, init)
  network.asked.push(url.href)
  if (url.host === network.dead) return Promise.reject(new TypeError('fetch failed'))
  return directFetch(`${network.url}${url.pathname}`, init)
})

/** The registry of baskets, as its topic manager and lookup service have it: tokens of six fields, found by basket. */
const registry = definePlugin({
  name: 'basketmap',
  setup: ({ outputs, events }) => {
    const { basket } = events({ basket: event('basket', 'Definitions by basket.', escaped('basket')) })
    const about = {
      getDocumentation: async () => 'Definitions of baskets.',
      getMetaData: async () => ({ name: 'basketmap', shortDescription: 'Definitions of baskets.' })
    }
    const fieldsOf = (script: Uint8Array): string[] => {
      try {
        return PushDrop.decode(LockingScript.fromBinary([...script])).fields.map(each =>
          Buffer.from(each).toString()
        )
      } catch {
        return []
      }
    }
    return {
      topics: {
        tm_basketmap: {
          ...about,
          admit: ({ transaction }) => ({
            outputs: [...transaction.outputs.keys()].filter(
              vout => fieldsOf(transaction.outputs[vout]!.script).length === 7
            )
          })
        }
      },
      lookups: {
        ls_basketmap: {
          ...about,
          topics: ['tm_basketmap'],
          index: ({ output }) => ({ events: [basket.text(fieldsOf(output.script)[0]!)] }),
          lookup: async (query: unknown): Promise<readonly LookupResult[]> => {
            const { basketID } = query as { basketID: string }
            return (await outputs.search({ keys: [basket.text(basketID)], filterSpent: true })).rows
          }
        }
      }
    }
  }
})

const URI = 'https://node.example.com'
let folder: string
let node: Node
let wallet: WalletInterface
let place: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quoin-sdk-clients-'))
  place = join(folder, 'wallet.json')
  const options = {
    store: 'memory:',
    port: '0',
    blockTime: '0',
    adminToken: 'a-token-of-some-length',
    'advertise.uri': URI,
    'advertise.wallet': place,
    'advertise.tracker': 'true'
  }
  node = await startNode(loadConfig({ options }).config, { logger: SILENT, plugins: [registry] })
  network.url = node.url
  wallet = await openDevWallet({ node: node.url })
  const headers = { authorization: `Bearer ${options.adminToken}` }
  const synced = await directFetch(`${node.url}/admin/syncAdvertisements`, { method: 'POST', headers })
  expect(await synced.json()).toMatchObject({ data: { isDone: true, missing: [] } })
}, 60_000)
afterAll(async () => {
  await node.close()
  await rm(folder, { recursive: true })
  replaceFetch()
})

const basket = {
  definitionType: 'basket' as const,
  basketID: 'coins of a game',
  name: 'Coins',
  iconURL: 'https://example.com/icon.png',
  description: 'Coins that players have.',
  documentationURL: 'https://example.com/coins'
}

it('RegistryClient registers, resolves, lists, updates and removes a definition', async () => {
  const client = new RegistryClient(wallet)
  expect(await client.registerDefinition(basket)).toMatchObject({ status: 'success' })
  expect(network.asked).toContain('https://overlay-us-1.bsvb.tech/lookup')
  expect(network.asked).toContain(`${URI}/submit`)
  expect(await client.resolve('basket', { basketID: basket.basketID })).toMatchObject([basket])
  const [own] = await client.listOwnRegistryEntries('basket')
  expect(own).toMatchObject(basket)
  expect(await client.updateDefinition(own!, { ...basket, name: 'Gold' })).toMatchObject({
    status: 'success'
  })
  expect(await client.resolve('basket', { basketID: basket.basketID })).toMatchObject([{ name: 'Gold' }])
  const [updated] = await client.listOwnRegistryEntries('basket')
  expect(await client.removeDefinition(updated!)).toMatchObject({ status: 'success' })
  expect(await client.resolve('basket', { basketID: basket.basketID })).toEqual([])
}, 60_000)

it('GlobalKVStore writes and reads', async () => {
  const store = new GlobalKVStore({ wallet, protocolID: [1, 'a game'] })
  await store.set('score', '7')
  const { publicKey: controller } = await wallet.getPublicKey({ identityKey: true })
  expect(await store.get({ key: 'score', controller })).toMatchObject({ value: '7' })
  await store.remove('score')
  expect(await store.get({ key: 'score', controller })).toBeUndefined()
}, 60_000)

it('SHIPBroadcaster reaches the node, and lookups do where another advertised host is dead', async () => {
  const other = new Host('dead')
  const ship = await node.dev!.fund(await other.token('SLAP', 'ls_kvstore'), 1)
  const broadcaster = new SHIPBroadcaster(['tm_slap'])
  const beef = node.dev!.chain.beef(ship.txid)
  expect(await broadcaster.broadcast(SdkTransaction.fromBEEF([...beef]))).toMatchObject({ status: 'success' })
  network.dead = 'dead.example.com'
  const { outputs } = await new LookupResolver().query({ service: 'ls_kvstore', query: { key: 'score' } })
  expect(outputs).toEqual([])
  expect(network.asked).toContain('https://dead.example.com/lookup')
}, 60_000)

it('no client finds the node after quoin advertise revoke, which finds older advertisements of one name too', async () => {
  const again = await createAdvertisements(await openWallet(place, node.url), URI, ['ls_basketmap'])
  await node.engine.submit({ beef: Uint8Array.from(again.beef), topics: again.topics })
  const print = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  const options = { uri: URI, url: node.url, wallet: place, tracker: true }
  expect(await advertise('revoke', options)).toBe(0)
  print.mockRestore()
  await expect(
    new LookupResolver().query({ service: 'ls_basketmap', query: { basketID: basket.basketID } })
  ).rejects.toThrow('No competent mainnet hosts found')
}, 60_000)
