/** Clients of `@bsv/sdk` with default presets find a node by SHIP and SLAP: every host is redirected to its loopback address. */
import {
  HTTPSOverlayBroadcastFacilitator,
  HTTPSOverlayLookupFacilitator,
  LookupResolver,
  Transaction as SdkTransaction,
  TopicBroadcaster
} from '@bsv/sdk'
import type { Transaction } from '@quoin/chain'
import { definePlugin, type QuoinLookup } from '@quoin/overlay'
import { formatTxid } from '@quoin/primitives'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Host } from '../../../discovery/src/host.testing.ts'
import { loadConfig } from './config.ts'
import { type Node, startNode } from './node.ts'

const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined }
const host = new Host('node')
let node: Node
let asked: URL[]

beforeEach(async () => {
  asked = []
  // The facilitator of broadcasts takes no other client in this version of the SDK.
  vi.stubGlobal('fetch', redirected)
  const options = { store: 'memory:', port: '0', blockTime: '0' }
  node = await startNode(loadConfig({ options }).config, { logger: SILENT })
})
afterEach(async () => {
  vi.unstubAllGlobals()
  await node.close()
})

const { fetch: direct } = globalThis
const redirected: typeof fetch = (input, init) => {
  const url = new URL(String(input))
  if (url.protocol === 'http:') return direct(input, init)
  asked.push(url)
  return direct(`${node.url}${url.pathname}`, init)
}
const resolver = (): LookupResolver =>
  new LookupResolver({
    facilitator: new HTTPSOverlayLookupFacilitator(redirected),
    reputationStorage: { get: () => undefined, set: () => undefined }
  })
const advertise = async (protocol: 'SHIP' | 'SLAP', name: string): Promise<Transaction> =>
  node.dev!.fund(await host.token(protocol, name), 1)
const submit = async (transaction: Transaction, topic: string): Promise<void> => {
  const headers = { 'content-type': 'application/octet-stream', 'x-topics': topic }
  const body = Buffer.from(node.dev!.chain.beef(transaction.txid))
  const response = await fetch(`${node.url}/submit`, { method: 'POST', headers, body })
  expect(await response.json()).toMatchObject({ [topic]: { outputsToAdmit: [0] } })
}

it('a lookup finds the host of its service, and asks it', async () => {
  await expect(resolver().query({ service: 'ls_ship', query: 'findAll' })).rejects.toThrow(
    'No competent mainnet hosts'
  )
  await submit(await advertise('SLAP', 'ls_ship'), 'tm_slap')
  const shipped = await advertise('SHIP', 'tm_kvstore')
  await submit(shipped, 'tm_ship')
  asked = []
  const { outputs } = await resolver().query({ service: 'ls_ship', query: { topics: ['tm_kvstore'] } })
  expect(outputs.map(({ beef }) => SdkTransaction.fromBEEF(beef).id('hex'))).toEqual([
    formatTxid(shipped.txid)
  ])
  expect(asked.at(-1)!.host).toBe('node.example.com')
})

it('a broadcast finds the host of its topic, and submits to it', async () => {
  await submit(await advertise('SLAP', 'ls_ship'), 'tm_slap')
  await submit(await advertise('SHIP', 'tm_slap'), 'tm_ship')
  const transaction = await advertise('SLAP', 'ls_kvstore')
  const broadcaster = new TopicBroadcaster(['tm_slap'], {
    resolver: resolver(),
    facilitator: new HTTPSOverlayBroadcastFacilitator()
  })
  const beef = node.dev!.chain.beef(transaction.txid)
  expect(await broadcaster.broadcast(SdkTransaction.fromBEEF([...beef]))).toMatchObject({ status: 'success' })
  expect(asked.at(-1)!.href).toBe('https://node.example.com/submit')
  const { outputs } = await resolver().query({ service: 'ls_slap', query: { service: 'ls_kvstore' } })
  expect(outputs).toHaveLength(1)
})

it('discovery: false turns it off', async () => {
  await node.close()
  const options = { store: 'memory:', port: '0', blockTime: '0', discovery: 'false' }
  node = await startNode(loadConfig({ options }).config, { logger: SILENT })
  const managers = await (await fetch(`${node.url}/listTopicManagers`)).json()
  expect(Object.keys(managers as object)).toEqual(['tm_bsv21', 'tm_kvstore'])
})

it('a lookup that takes too long for clients says why before they give up', async () => {
  await node.close()
  const slow: QuoinLookup = {
    index: () => undefined,
    lookup: () => new Promise(() => undefined),
    getDocumentation: async () => '',
    getMetaData: async () => ({ name: 'slow', shortDescription: 'Never answers.' })
  }
  const options = { store: 'memory:', port: '0', blockTime: '0', 'limits.lookupAnswer': '20' }
  const plugins = [definePlugin({ name: 'slow', setup: () => ({ lookups: { ls_slow: slow } }) })]
  node = await startNode(loadConfig({ options }).config, { logger: SILENT, plugins })
  const body = JSON.stringify({ service: 'ls_slow', query: {} })
  const response = await fetch(`${node.url}/lookup`, { method: 'POST', body })
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
  expect(await response.json()).toMatchObject({
    code: 'ERR_LOOKUP_TIMEOUT',
    message: 'ls_slow did not answer within 20 ms; ask for less, or again (limits.lookupAnswer)',
    details: { service: 'ls_slow', milliseconds: 20 }
  })
  expect(loadConfig({}).config.limits.lookupAnswer).toBeLessThan(2000)
})
