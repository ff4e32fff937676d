/** Answers about tokens say as of which block and source position they are, and what work is pending. */
import type { Delivery, Source, SourceStatus } from '@quoin/bsv21'
import { HeaderStore, type Transaction, writeBeef } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { openStore, type Store } from '@quoin/store'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TokenNode } from '../../../../../bsv21/src/node.testing.ts'
import * as t from '../../../../../bsv21/src/tokens.testing.ts'
import { createServer, type Server } from '../../index.ts'
import { said } from '../../node.testing.ts'

const [alice, bob] = [t.person(1), t.person(2)]
const NONE = { due: 0, leased: 0, waiting: 0, dead: 0 }
let chain: DevChain
let store: Store
let node: TokenNode
let server: Server
let url: string
let status: SourceStatus

/** A source that is as far as a test says. */
const source: Source = {
  name: 'blocks',
  get status() {
    return status
  },
  saved: async () => 800,
  async *deliveries(): AsyncGenerator<Delivery, void, undefined> {}
}

beforeEach(async () => {
  chain = new DevChain()
  store = await openStore('memory:')
  status = { state: 'idle', at: undefined, end: undefined, transactions: 0, lastError: undefined }
  node = new TokenNode(store, { chain, activation: 'listed', isShared: true, sources: [source] })
  const { activation, pipeline, engine } = node
  const headers = await HeaderStore.open(store, { network: 'regtest' })
  server = createServer({ engine, headers, options: { tokens: { activation, pipeline, sources: [] } } })
  ;({ url } = await server.listen())
})
afterEach(async () => {
  await server.close()
  await node.close()
  await store.close()
})

const fund = (): t.Spent => t.at(chain.fund(alice.address, 1000), 0, alice)
const ingest = async (...made: readonly Transaction[]): Promise<void> => {
  for (const { txid } of made) await node.pipeline.ingest.ingestBeef(chain.beef(txid))
}
const get = (path: string) => said(fetch(`${url}/1sat/bsv21/${path}`))
const headerOf = async (path: string): Promise<string | null> =>
  (await fetch(`${url}/1sat/bsv21/${path}`)).headers.get('x-completeness')

/** As a source that has no more than the transaction itself gives it. */
const bare = (transaction: Transaction): Uint8Array =>
  writeBeef({ version: 1, transactions: [{ txid: transaction.txid, transaction, bump: undefined }] })

const token = async (): Promise<{ id: string; deployed: Transaction }> => {
  const deployed = t.transaction([fund()], [t.deployMint(alice, 9n)])
  await t.mined(chain, deployed)
  return { id: t.tokenIdOf(deployed), deployed }
}

describe('an answer', () => {
  it('is complete when nothing is pending', async () => {
    const { id, deployed } = await token()
    await node.activation.add('whitelist', t.tokenIdOf(deployed))
    await ingest(deployed)
    await node.pipeline.settle()
    const { completeness } = await get(`${id}/supply`)
    const sources = [{ name: 'blocks', at: 800, end: null }]
    expect(completeness).toEqual({ complete: true, height: 0, sources, pending: NONE, discovery: NONE })
    const header =
      'complete=?1, height=0, sources=(800), due=0, leased=0, waiting=0, dead=0, ' +
      'discovery-due=0, discovery-leased=0, discovery-waiting=0, discovery-dead=0'
    for (const path of [
      id,
      `${id}/supply`,
      `${id}/holders`,
      `${id}/listings`,
      `${id}/status`,
      `${id}/p2pkh/${alice.address}/balance`,
      `${id}/p2pkh/${alice.address}/unspent`,
      `${id}/p2pkh/${alice.address}/history`,
      `${id}/outputs/${id}`
    ]) {
      expect(await headerOf(path), path).toBe(header)
    }
  })

  it('is not before a transaction is dispatched, nor while a token waits for its activation', async () => {
    const { id, deployed } = await token()
    await ingest(deployed)
    expect((await get(`${id}/status`)).completeness).toMatchObject({
      complete: false,
      discovery: { ...NONE, due: 1 }
    })
    await node.pipeline.settle()
    expect((await get(id)).completeness).toMatchObject({
      complete: false,
      pending: { ...NONE, due: 1 },
      discovery: NONE
    })
    expect(await headerOf(`${id}/p2pkh/${bob.address}/unspent`)).toContain('complete=?0')
  })

  it('is not while a dead letter of the token is left', async () => {
    const { id, deployed } = await token()
    await node.activation.add('whitelist', t.tokenIdOf(deployed))
    await ingest(deployed)
    await node.pipeline.settle()
    // The signature is bob's, and the transaction is not mined.
    const forged = t.transaction([t.at(deployed, 0, bob)], [t.transfer(id, 9n, t.paidTo(bob))])
    await node.pipeline.ingest.ingestBeef(bare(forged))
    await node.pipeline.settle()
    expect((await get(`${id}/supply`)).completeness).toMatchObject({
      complete: false,
      pending: { ...NONE, dead: 1 }
    })
  })

  it('is not while a source is behind its end', async () => {
    const { id, deployed } = await token()
    await node.activation.add('whitelist', t.tokenIdOf(deployed))
    await ingest(deployed)
    await node.pipeline.settle()
    status = { ...status, state: 'reading', at: 850, end: 900 }
    expect((await get(id)).completeness).toMatchObject({
      complete: false,
      sources: [{ name: 'blocks', at: 850, end: 900 }]
    })
    status = { ...status, at: 900 }
    expect((await get(id)).completeness).toMatchObject({ complete: true })
  })

  it('of all tokens counts those with work, as the status does', async () => {
    const { deployed } = await token()
    await ingest(deployed)
    const holdings = await said(fetch(`${url}/1sat/owner/${alice.address}/tokens`))
    expect(holdings.completeness).toMatchObject({ complete: false, discovery: { ...NONE, due: 1 } })
    const { tokens } = await said(fetch(`${url}/status`))
    expect(tokens).toMatchObject({
      discovery: { ...NONE, due: 1 },
      completeness: { complete: false, discovery: { ...NONE, due: 1 } }
    })
  })
})
