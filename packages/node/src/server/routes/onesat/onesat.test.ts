/** The 1Sat API with its own client, `@1sat/client` 0.0.9, as it is. */
import { Beef, MerklePath, Transaction as SdkTransaction } from '@bsv/sdk'
import { ChaintracksServiceClient } from '@bsv/wallet-toolbox'
import { formatAddress, formatHash, HeaderStore, hash160, syncHeaders, type Transaction } from '@quoin/chain'
import { formatTxid, toHex } from '@quoin/primitives'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createServer, type Server } from '../../index.ts'
import { key, said, startNode, type TestNode } from '../../node.testing.ts'
import { all, type Clients, clientsOf } from './client.testing.ts'

const ADDRESS = formatAddress(hash160(key.publicKey))
const UNKNOWN = 'ab'.repeat(32)
const LONG_AGO = 1

let node: TestNode
let server: Server
let url: string
let headers: HeaderStore
/** Mined, with a coin that is spent and one that is not; and the spender, which waits. */
let minted: Transaction
let spender: Transaction
let coin: string
let change: string
let next: string
let minedAt: number
let tipAt: number

beforeAll(async () => {
  // The client tells the console what it does.
  vi.spyOn(console, 'log').mockImplementation(() => undefined)
  node = await startNode()
  const { chain, engine } = node
  headers = await HeaderStore.open(engine.outputs.store, { network: 'regtest' })
  minted = await node.minted()
  chain.mine(3)
  await syncHeaders(headers, chain)
  minedAt = chain.heightOf(minted.txid)!
  tipAt = chain.height
  await node.submit(minted, 'tm_ones')
  spender = await node.spent(minted, 0)
  await node.submit(spender, 'tm_ones')
  server = createServer({ engine, headers, options: { heartbeat: 50 } })
  ;({ url } = await server.listen())
  coin = `${formatTxid(minted.txid)}_0`
  change = `${formatTxid(minted.txid)}_1`
  next = `${formatTxid(spender.txid)}_0`
})
afterAll(async () => {
  await server.close()
  await node.close()
  vi.restoreAllMocks()
})

describe('TxoClient', () => {
  const txo = (): Clients['txo'] => clientsOf(url).txo

  it('gets one output with what it asks for', async () => {
    expect(await txo().get(coin, { sats: true, spend: true, block: true })).toEqual({
      outpoint: coin,
      score: expect.closeTo(minedAt, 0),
      satoshis: 1,
      spend: formatTxid(spender.txid),
      blockHeight: minedAt,
      blockIdx: node.chain
        .block(minedAt)!
        .findIndex(({ txid }) => formatTxid(txid) === formatTxid(minted.txid))
    })
    expect(await txo().get(next, { sats: true, block: true })).toEqual({
      outpoint: next,
      score: expect.any(Number),
      satoshis: 1
    })
    expect(await txo().get(coin, { tags: ['p2pkh'] })).toMatchObject({ data: { p2pkh: expect.anything() } })
  })

  it('does not find what is not there', async () => {
    await expect(txo().get(`${UNKNOWN}_0`)).rejects.toMatchObject({ status: 404 })
  })

  it('gets many at once, each at its place', async () => {
    const found = await txo().getBatch([change, `${UNKNOWN}_7`, 'nonsense', coin], { sats: true })
    expect(found.map(each => each?.outpoint)).toEqual([change, undefined, undefined, coin])
    expect(found[1]).toBeNull()
  })

  it('gets spends', async () => {
    expect(await txo().getSpend(coin)).toBe(formatTxid(spender.txid))
    expect(await txo().getSpend(change)).toBeNull()
    expect(await txo().getSpends([change, coin, 'nonsense', coin])).toEqual([
      null,
      formatTxid(spender.txid),
      null,
      formatTxid(spender.txid)
    ])
  })

  it('gets the outputs of a transaction', async () => {
    const found = await txo().getByTxid(formatTxid(minted.txid), { sats: true })
    expect(found.map(({ outpoint, satoshis, spend }) => [outpoint, satoshis, spend])).toEqual([
      [coin, 1, formatTxid(spender.txid)],
      [change, 900, undefined]
    ])
    expect(await txo().getByTxid(UNKNOWN)).toEqual([])
  })

  it('searches by one key or by several, from either end', async () => {
    const own = `own:${ADDRESS}`
    const every = await txo().search(own)
    expect(every.map(({ outpoint }) => outpoint)).toEqual([coin, change, next])
    expect(every[0]).toEqual({ outpoint: coin, score: expect.any(Number) })
    const both = await txo().search([own, 'tp:tm_ones'], { unspent: true, sats: true, events: true })
    expect(both.map(({ outpoint }) => outpoint)).toEqual([change, next])
    expect(both[1]).toMatchObject({ satoshis: 1, events: expect.arrayContaining([own]) })
    expect(await txo().search(`ev:${own}`)).toEqual(every)
    expect(await txo().search([`ev:${own}:spnd`, 'tp:tm_ones'])).not.toEqual([])
    const [last] = await txo().search(own, { rev: true, limit: 1 })
    expect(last!.outpoint).toBe(next)
    const from = await txo().search(own, { from: last!.score })
    expect(from.map(({ outpoint }) => outpoint)).toEqual([next])
    expect(await txo().search('own:1BitcoinEaterAddressDontSendf59kuE')).toEqual([])
  })

  it('is told what is wrong with a question', async () => {
    await expect(txo().search('no such event')).rejects.toMatchObject({ status: 400 })
    await expect(txo().get('nonsense')).rejects.toMatchObject({ status: 400 })
  })
})

describe('OwnerClient', () => {
  const owner = (): Clients['owner'] => clientsOf(url).owner

  it('streams the outputs of an address, and ends', async () => {
    const events = await all(owner().getTxos(ADDRESS))
    expect(events.map(({ type }) => type)).toEqual(['sync', 'txo', 'txo', 'done'])
    expect(events[1]).toMatchObject({ data: { outpoint: change, satoshis: 900, blockHeight: minedAt } })
    const [, only] = await all(owner().getTxos(ADDRESS, { rev: true, limit: 1 }))
    expect(only).toMatchObject({ data: { outpoint: next } })
  })

  it('has a balance, exact as a text', async () => {
    expect(await owner().getBalance(ADDRESS)).toEqual({ balance: 901, count: 2, satoshis: '901' })
  })

  it('syncs what addresses got and spent, in order', async () => {
    const progress: unknown[] = []
    const synced = await all(owner().sync([ADDRESS], 0, each => progress.push(each)))
    // What comes and what goes in one transaction has one score.
    const [first, second, ...last] = synced.map(({ outpoint, spendTxid }) => `${outpoint} ${spendTxid}`)
    const spentBy = formatTxid(spender.txid)
    expect([first, second]).toEqual([`${coin} ${spentBy}`, `${change} undefined`])
    expect(last.sort()).toEqual([`${coin} ${spentBy}`, `${next} undefined`].sort())
    expect(progress).toEqual([{ phase: 'done' }])
    const rest = await all(owner().sync([ADDRESS], synced[2]!.score))
    expect(rest).toEqual(synced.slice(2))
  })

  it('goes on from the id of the last event', async () => {
    const response = await fetch(`${url}/1sat/owner/sync?owner=${ADDRESS}&from=${LONG_AGO}`, {
      headers: { 'last-event-id': '1000000' }
    })
    const text = await response.text()
    expect(text.match(/^data: \{"outpoint"/gm)).toHaveLength(2)
    expect(text.endsWith('event: done\ndata: {}\n\n')).toBe(true)
  })

  it('is refused what is no address', async () => {
    await expect(all(owner().getTxos('nobody'))).rejects.toThrow('400')
    await expect(all(owner().sync(['nobody']))).rejects.toThrow('400')
    await expect(owner().getBalance('nobody')).rejects.toMatchObject({ status: 400 })
  })
})

describe('BeefClient', () => {
  const beef = (): Clients['beef'] => clientsOf(url).beef

  it('gets a transaction with what proves it, alone, and its proof', async () => {
    const id = formatTxid(minted.txid)
    const whole = SdkTransaction.fromAtomicBEEF(Array.from(await beef().getBeef(id)))
    expect(whole.id('hex')).toBe(id)
    expect(toHex(await beef().getRawTx(id))).toBe(toHex(minted.raw))
    expect(MerklePath.fromBinary(Array.from(await beef().getProof(id))).blockHeight).toBe(minedAt)
  })

  it('does not find what is not there', async () => {
    await expect(beef().getBeef(UNKNOWN)).rejects.toMatchObject({ status: 404 })
    await expect(beef().getProof(formatTxid(spender.txid))).rejects.toMatchObject({ status: 404 })
  })
})

describe('OverlayClient', () => {
  const overlay = (): Clients['overlay'] => clientsOf(url).overlay

  it('lists topics and lookup services', async () => {
    expect(await overlay().listTopicManagers()).toMatchObject({ tm_ones: { name: 'ones' } })
    expect(await overlay().listLookupServiceProviders()).toMatchObject({ ls_ones: { name: 'remembering' } })
  })

  it('submits a transaction', async () => {
    const submitted = await node.minted()
    const answer = await overlay().submit(node.chain.beef(submitted.txid), ['tm_ones'])
    expect(answer).toMatchObject({ tm_ones: { outputsToAdmit: [0] } })
    expect(await clientsOf(url).txo.get(`${formatTxid(submitted.txid)}_0`)).toBeDefined()
  })

  it('may name topics with commas, and is refused what is no list', async () => {
    const submitted = await node.minted()
    const submit = (topics: string): Promise<Response> =>
      fetch(`${url}/1sat/overlay/submit`, {
        method: 'POST',
        headers: { 'content-type': 'application/octet-stream', 'x-topics': topics },
        body: node.chain.beef(submitted.txid)
      })
    expect(await said(submit('tm_ones, tm_ones'))).toMatchObject({ tm_ones: { outputsToAdmit: [0] } })
    for (const topics of ['[', '["tm_ones", 7]', 'tm ones', '[]x']) {
      expect((await submit(topics)).status).toBe(400)
    }
  })
})

describe('ChaintracksServiceClient of @bsv/wallet-toolbox', () => {
  const service = () => new ChaintracksServiceClient('test', `${url}/1sat/chaintracks`)

  it('reads the tip, headers by height and by hash, and ranges', async () => {
    const tip = await headers.tip()
    const hash = formatHash(tip.header.hash)
    expect(await service().getPresentHeight()).toBe(tipAt)
    expect(await service().findChainTipHash()).toBe(hash)
    const found = await service().findChainTipHeader()
    expect(found).toEqual({
      version: tip.header.version,
      previousHash: formatHash(tip.header.previous),
      merkleRoot: formatHash(tip.header.merkleRoot),
      time: tip.header.time,
      bits: tip.header.bits,
      nonce: tip.header.nonce,
      height: tipAt,
      hash
    })
    expect(await service().findHeaderForHeight(tipAt)).toEqual(found)
    expect(await service().findHeaderForBlockHash(hash)).toEqual(found)
    expect(await service().findHeaderForHeight(tipAt + 1)).toBeUndefined()
    expect(await service().findHeaderForBlockHash(UNKNOWN)).toBeUndefined()
    expect(await service().getHeaders(2, 10)).toBe(await clientsOf(url).chaintracks.getHeaders(2, 10))
    expect(await service().getInfo()).toMatchObject({ chain: 'regtest', heightLive: tipAt, packages: [] })
    expect(await service().isListening()).toBe(true)
  })

  it('is the chain tracker of a wallet: it verifies a BEEF, and no other root', async () => {
    const beef = Beef.fromBinary(Array.from(await clientsOf(url).beef.getBeef(formatTxid(minted.txid))))
    expect(await beef.verify(service())).toBe(true)
    const { merkleRoot } = (await service().findHeaderForHeight(2))!
    expect(await service().isValidRootForHeight(merkleRoot, 2)).toBe(true)
    expect(await service().isValidRootForHeight(merkleRoot, 3)).toBe(false)
    expect(await service().isValidRootForHeight(merkleRoot, tipAt + 1)).toBe(false)
  })

  it('fails for queries that are none', async () => {
    await expect(service().getHeaders(2, 10_001)).rejects.toThrow('ERR_REQUEST')
    await expect(service().findHeaderForBlockHash('ab')).rejects.toThrow('ERR_REQUEST')
  })
})

describe('ChaintracksClient', () => {
  const chaintracks = (): Clients['chaintracks'] => clientsOf(url).chaintracks

  it('follows the chain', async () => {
    const tip = await chaintracks().findChainTipHeader()
    expect(tip).toMatchObject({ height: tipAt, prevHash: expect.stringMatching(/^[0-9a-f]{64}$/) })
    expect(await chaintracks().currentHeight()).toBe(tipAt)
    expect(await chaintracks().getChain()).toBe('regtest')
    expect(await chaintracks().findHeaderForBlockHash(tip.hash)).toEqual(tip)
    expect(await chaintracks().findHeaderForHeight(tipAt)).toEqual(tip)
    expect(await chaintracks().findHeaderForHeight(tipAt + 1)).toBeUndefined()
    expect(await chaintracks().findHeaderForBlockHash(UNKNOWN)).toBeUndefined()
  })

  it('is a chain tracker for the SDK', async () => {
    const { merkleRoot } = (await chaintracks().findHeaderForHeight(2))!
    expect(await chaintracks().isValidRootForHeight(merkleRoot, 2)).toBe(true)
    expect(await chaintracks().isValidRootForHeight(merkleRoot, 3)).toBe(false)
    const id = formatTxid(minted.txid)
    const beef = Beef.fromBinary(Array.from(await clientsOf(url).beef.getBeef(id)))
    expect(await beef.verify(chaintracks())).toBe(true)
  })

  it('gets headers as bytes', async () => {
    const bytes = await chaintracks().getHeaders(2, 10)
    expect(bytes).toBe((await headers.range(2, 10)).map(({ header }) => toHex(header.raw)).join(''))
    expect(await chaintracks().getHeaderBytes(3)).toHaveLength(80)
  })

  it('streams the tip as it moves', async () => {
    const ending = new AbortController()
    const response = await fetch(`${url}/1sat/chaintracks/tip/stream`, { signal: ending.signal })
    const heights: number[] = []
    const reading = (async () => {
      for await (const chunk of response.body!) {
        for (const [, height] of Buffer.from(chunk)
          .toString()
          .matchAll(/"height":(\d+)/g))
          heights.push(Number(height))
      }
    })().catch((error: unknown) => expect(ending.signal.aborted, String(error)).toBe(true))
    await expect.poll(() => heights).toEqual([tipAt])
    node.chain.mine()
    await syncHeaders(headers, node.chain)
    await expect.poll(() => heights).toEqual([tipAt, tipAt + 1])
    ending.abort()
    await reading
  })
})

describe('OneSatServices', () => {
  it('finds what the node can do, and whether an output is there', async () => {
    const services = clientsOf(url).services
    expect(await services.getCapabilities()).toEqual([
      'beef',
      'txo',
      'owner',
      'overlay',
      'ordfs',
      'chaintracks'
    ])
    const there = await services.getUtxoStatus('', undefined, change)
    expect(there).toMatchObject({ status: 'success', isUtxo: true })
    expect(await services.getUtxoStatus('', undefined, coin)).toMatchObject({ isUtxo: false })
    expect(await services.getUtxoStatus('', undefined, `${UNKNOWN}_0`)).toMatchObject({ isUtxo: false })
    services.close()
  })
})
