/** The output store over HTTP. */

import { formatAddress, hash160, parseTransaction, type Transaction } from '@quoin/chain'
import { formatTxid } from '@quoin/primitives'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { key, said, startNode, type TestNode } from '../node.testing.ts'

const address = formatAddress(hash160(key.publicKey))
const own = `own:${address}`

let node: TestNode
let minted: Transaction[]
beforeAll(async () => {
  node = await startNode()
  minted = []
  for (let i = 0; i < 5; i++) {
    minted.push(await node.minted())
    await node.submit(minted[i]!, 'tm_ones')
  }
})
afterAll(() => node.close())

const json = async (path: string) => {
  const response = await node.get(path)
  expect([path, response.status]).toEqual([path, 200])
  return said(response)
}
const id = (transaction: Transaction): string => formatTxid(transaction.txid)

describe('by transaction and outpoint', () => {
  it('has what is known, and by topic what it admitted', async () => {
    const txid = id(minted[0]!)
    const { outputs } = await json(`/txo/tx/${txid}`)
    expect(outputs.map((each: { outpoint: string }) => each.outpoint)).toEqual([`${txid}.0`, `${txid}.1`])
    expect(outputs[0]).toMatchObject({ satoshis: 1, spend: null, block: null, topics: ['tm_ones'] })
    expect(outputs[0].events).toContain(own)
    expect((await json(`/txo/tx/${txid}?topic=tm_ones`)).outputs).toHaveLength(1)
    expect((await json(`/txo/tx/${txid}?topic=tm_other`)).outputs).toEqual([])
  })

  it('takes outpoints in any of the forms', async () => {
    const txid = id(minted[0]!)
    for (const separator of '._:i') {
      expect((await json(`/txo/outpoint/${txid}${separator}1`)).outpoint).toBe(`${txid}.1`)
    }
    const { rawtx, output, ...rest } = await json(
      `/txo/outpoint/${txid}.1?include=rawtx&include=output&include=proof`
    )
    expect(parseTransaction(Buffer.from(rawtx, 'hex')).txid).toEqual(minted[0]!.txid)
    expect(output.satoshis).toBe(900)
    expect(Object.keys(rest).sort()).toEqual(['outpoint', 'proof', 'score'])
  })

  it.each([
    [404, `/txo/tx/${'00'.repeat(32)}`],
    [404, `/txo/outpoint/${'00'.repeat(32)}.0`],
    [400, '/txo/tx/nonsense'],
    [400, `/txo/outpoint/${'00'.repeat(32)}.01`],
    [400, `/txo/outpoint/${'00'.repeat(32)}.4294967296`],
    [400, `/txo/tx/${'00'.repeat(32)}?include=nothing`],
    [400, '/txo/history'],
    [400, '/txo/history?events=nothing:of:the:kind'],
    [400, `/txo/history?events=${own}&limit=0`],
    [400, `/txo/history?events=${own}&limit=1001`],
    [400, `/txo/history?events=${own}&limit=1&limit=2`],
    [400, `/txo/history?events=${own}&cursor=nonsense`],
    [400, `/txo/history?events=${own}&from=1e999`],
    [400, `/txo/search?key=${own}&join=sideways`],
    [400, '/txo/search?key=tp:not%20a%20topic'],
    [400, '/txo/balance']
  ])('%i %s', async (status, path) => {
    const response = await node.get(path)
    expect(response.status).toBe(status)
    expect(await response.json()).toMatchObject({ status: 'error', code: expect.stringMatching(/^ERR_/) })
  })
})

describe('an address whose checksum is wrong is refused', () => {
  const wrong = `${address.slice(0, -1)}${address.endsWith('2') ? '3' : '2'}`
  it.each([
    `/txo/balance?events=own:${wrong}`,
    `/txo/balance?events=${own}&events=own:${wrong}`,
    `/txo/history?events=own:${wrong}`,
    `/txo/unspent?events=own:${wrong}`,
    `/txo/search?key=own:${wrong}`,
    `/txo/search?key=own:${wrong}:spnd`,
    `/1sat/txo/search?key=own:${wrong}`,
    `/1sat/owner/${wrong}/balance`,
    `/1sat/owner/${wrong}/txos`,
    `/1sat/owner/sync?owner=${wrong}`
  ])('%s', async path => {
    const response = await node.get(path)
    expect([response.status, (await said(response)).code]).toEqual([400, 'ERR_KEY_VALUE'])
  })
})

describe('by events', () => {
  it('balances are kept, and text', async () => {
    expect(await json(`/txo/balance?events=${own}`)).toEqual({ satoshis: '4505', outputs: 10, cursor: null })
    const txid = minted.map(each => `events=txid:${id(each)}`).join('&')
    expect(await json(`/txo/balance?${txid}`)).toEqual({ satoshis: '4505', outputs: 10, cursor: null })
  })

  it('pages neither repeat nor skip', async () => {
    const all = (await json(`/txo/history?events=${own}`)).outputs
    expect(all).toHaveLength(10)
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const page: { outputs: { outpoint: string }[]; cursor: string | null } = await json(
        `/txo/history?events=${own}&limit=3${cursor ? `&cursor=${cursor}` : ''}`
      )
      seen.push(...page.outputs.map(each => each.outpoint))
      ;({ cursor } = page)
    } while (cursor)
    expect(seen).toEqual(all.map((each: { outpoint: string }) => each.outpoint))
    const back = (await json(`/txo/history?events=${own}&reverse=true`)).outputs
    expect(back).toEqual([...all].reverse())
  })

  it('what is spent leaves the unspent, and stays in the history', async () => {
    const spent = await node.spent(minted[4]!, 0, [1])
    await node.submit(spent, 'tm_ones')
    const history = (await json(`/txo/history?events=txid:${id(minted[4]!)}`)).outputs
    expect(history.map((each: { spend: string | null }) => each.spend)).toEqual([id(spent), null])
    expect((await json(`/txo/unspent?events=txid:${id(minted[4]!)}`)).outputs).toHaveLength(1)
    expect((await json(`/txo/search?key=${own}:spnd`)).outputs).toHaveLength(1)
  })

  it('topics and events are joined', async () => {
    const keys = `key=${own}&key=tp:tm_ones`
    const intersect = (await json(`/txo/search?${keys}&join=intersect&unspent=true`)).outputs
    expect(intersect.every((each: { satoshis: number }) => each.satoshis === 1)).toBe(true)
    expect(intersect).toHaveLength(5)
    const difference = (await json(`/txo/search?${keys}&join=difference`)).outputs
    expect(difference.every((each: { satoshis: number }) => each.satoshis === 900)).toBe(true)
    expect((await json('/txo/search?key=tp:tm_nobody')).outputs).toEqual([])
  })
})

describe('transactions as bytes', () => {
  it('with what proves them, alone, and their proofs', async () => {
    const txid = id(minted[0]!)
    const bytes = async (path: string): Promise<Uint8Array> => {
      const response = await node.get(path)
      expect(response.headers.get('content-type')).toBe('application/octet-stream')
      return new Uint8Array(await response.arrayBuffer())
    }
    expect([...(await bytes(`/beef/${txid}`)).subarray(0, 4)]).toEqual([1, 1, 1, 1])
    expect(await bytes(`/beef/${txid}/tx`)).toEqual(new Uint8Array(minted[0]!.raw))
    expect((await node.get(`/beef/${txid}/proof`)).status).toBe(404)
    for (const part of ['', '/tx', '/proof']) {
      expect((await node.get(`/beef/${'00'.repeat(32)}${part}`)).status).toBe(404)
      expect((await node.get(`/beef/xyz${part}`)).status).toBe(400)
    }
  })
})

describe('keys', () => {
  it('are all described, and each explained', async () => {
    const { keyspaces } = await json('/keyspace')
    expect(keyspaces.map(({ name }: { name: string }) => name)).toContain('outputs')
    const raw = Buffer.from(`z:${own}`).toString('hex')
    const { found, matches } = await json(`/keyspace/explain/${raw}`)
    expect(found).toBe(true)
    expect(matches[0].spans.map(({ text }: { text: string }) => text)).toContain(address)
    expect(await json('/keyspace/explain/00ff')).toMatchObject({ found: false, matches: [] })
    expect((await node.get('/keyspace/explain/0g')).status).toBe(400)
  })
})
