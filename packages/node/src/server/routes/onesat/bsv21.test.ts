/** Tokens over HTTP, with `@1sat/client` 0.0.9 as it is, and what there is beyond it. */
import { AdminClient, Bsv21Client } from '@1sat/client'
import { bsv21 } from '@quoin/bsv21'
import { type Transaction, writeBeef } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { formatTxid } from '@quoin/primitives'
import { openStore, type Store } from '@quoin/store'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TokenNode } from '../../../../../bsv21/src/node.testing.ts'
import * as t from '../../../../../bsv21/src/tokens.testing.ts'
import { createServer, type Server } from '../../index.ts'
import { said } from '../../node.testing.ts'
import type { OpenApi } from '../../openapi.ts'

const [alice, bob, carol] = [t.person(1), t.person(2), t.person(3)]
const MUCH = 2n ** 64n - 1n
const ADMIN = 'a token of the operator'.replaceAll(' ', '-')

let chain: DevChain
let store: Store
let node: TokenNode
let server: Server
let url: string
let id: string
let deployed: Transaction
let moved: Transaction
let forged: Transaction
let silver: Transaction

const fund = (): t.Spent => t.at(chain.fund(alice.address, 1000), 0, alice)

beforeAll(async () => {
  chain = new DevChain()
  store = await openStore('memory:')
  node = new TokenNode(store, { chain, activation: 'all' })
  deployed = t.transaction([fund()], [t.deployMint(alice, MUCH, { sym: 'GOLD', dec: '8' })])
  id = t.tokenIdOf(deployed)
  moved = t.transaction(
    [t.at(deployed, 0, alice), fund()],
    [
      t.transfer(id, MUCH - 100n, t.paidTo(alice)),
      t.transfer(id, 50n, t.paidTo(bob)),
      t.transfer(id, 30n, t.cosigned(bob)),
      t.transfer(id, 15n, t.listedBy(carol, 777)),
      t.burn(id, 5n)
    ]
  )
  forged = t.transaction([fund()], [t.transfer(id, 1n, t.paidTo(bob))])
  silver = t.transaction([fund()], [t.deployMint(bob, 7n, { sym: 'SILVER', icon: '_1' })])
  await t.mined(chain, deployed, moved, forged, silver)
  for (const { txid } of [deployed, moved, forged, silver])
    await node.pipeline.ingest.ingestBeef(chain.beef(txid))
  await node.pipeline.settle()
  const { activation, pipeline } = node
  server = createServer({
    engine: node.engine,
    headers: undefined,
    options: { tokens: { activation, pipeline, sources: [] }, adminToken: ADMIN, heartbeat: 50 }
  })
  ;({ url } = await server.listen())
})
afterAll(async () => {
  await server.close()
  await node.close()
  await store.close()
})

const NONE = { due: 0, leased: 0, waiting: 0, dead: 0 }
const COMPLETE = { complete: true, height: null, sources: [], pending: NONE, discovery: NONE }

const get = (path: string) => said(fetch(`${url}/1sat/bsv21/${path}`))

const client = () => new Bsv21Client(url)

describe('Bsv21Client', () => {
  it('gets a token as it was deployed, and whether it is indexed', async () => {
    const details = {
      tokenId: id,
      token: { id, op: 'deploy+mint', amt: `${MUCH}`, encoding: 'json', sym: 'GOLD', dec: 8 },
      status: {
        token_id: id,
        is_active: true,
        reason: 'everything is indexed',
        balance: -6000,
        credits: 0,
        debits: 6000,
        output_count: 6,
        fee_per_output: 1000,
        fee_address: '',
        is_whitelisted: false,
        is_blacklisted: false
      }
    }
    expect(await client().getTokenDetails(id)).toEqual({ ...details, completeness: COMPLETE })
    const unknown = `${'ab'.repeat(32)}_0`
    expect(await client().lookupTokens([id, unknown])).toEqual([details])
    await expect(client().getTokenDetails(unknown)).rejects.toMatchObject({ status: 404 })
  })

  it('gets balances, exact beside the number that it expects', async () => {
    expect(await client().getBalance(id, 'p2pkh', bob.address)).toEqual({
      balance: 50,
      utxoCount: 1,
      amount: '50',
      completeness: COMPLETE
    })
    expect(await client().getBalance(id, 'cos', bob.address)).toMatchObject({ balance: 30 })
    expect(await client().getBalance(id, 'list', carol.address)).toMatchObject({ balance: 15 })
    expect(await client().getBalance(id, 'p2pkh', carol.address)).toEqual({
      balance: 0,
      utxoCount: 0,
      amount: '0',
      completeness: COMPLETE
    })
    expect(await client().getBalanceMulti(id, 'p2pkh', [alice.address, bob.address])).toEqual({
      balance: Number(MUCH - 50n),
      utxoCount: 2,
      amount: `${MUCH - 50n}`,
      completeness: COMPLETE
    })
  })

  it('gets unspent outputs and histories with their amounts', async () => {
    const mine = { outpoint: `${formatTxid(moved.txid)}_0`, data: { bsv21: { amt: `${MUCH - 100n}`, id } } }
    const first = { outpoint: id, spend: formatTxid(moved.txid), data: { bsv21: { amt: `${MUCH}` } } }
    const unspent = await client().getUnspent(id, 'p2pkh', alice.address)
    expect(unspent).toMatchObject([mine])
    expect(await client().getUnspentMulti(id, 'p2pkh', [alice.address, bob.address])).toHaveLength(2)
    const history = await client().getHistory(id, 'p2pkh', alice.address)
    expect(history).toHaveLength(2)
    expect(history).toEqual(
      expect.arrayContaining([expect.objectContaining({ outpoint: id }), expect.anything()])
    )
    expect(history.find((each: { outpoint: string }) => each.outpoint === id)).toMatchObject(first)
    expect(await client().getHistoryMulti(id, 'p2pkh', [bob.address])).toHaveLength(1)
  })

  it('gets what a transaction does with a token', async () => {
    const found = await client().getTokenByTxid(id, formatTxid(moved.txid))
    expect(found).toMatchObject({
      txid: formatTxid(moved.txid),
      inputs: [{ txid: formatTxid(deployed.txid), vout: 0, data: { bsv21: { op: 'deploy+mint' } } }],
      block_height: chain.heightOf(moved.txid)
    })
    expect(found.outputs.map(({ vout }: { vout: number }) => vout)).toEqual([0, 1, 2, 3, 4])
    await expect(client().getTokenByTxid(id, formatTxid(forged.txid))).rejects.toMatchObject({ status: 404 })
  })

  it('validates outputs: what was forged is none', async () => {
    const good = `${formatTxid(moved.txid)}_1`
    const bad = `${formatTxid(forged.txid)}_0`
    const found = await client().validateOutputs(id, [good, bad, id], { spend: true, tags: 'bsv21' })
    expect(found.map(({ outpoint }: { outpoint: string }) => outpoint)).toEqual([good, id])
    expect(await client().validateOutputs(id, [good, id], { unspent: true })).toHaveLength(1)
    expect(await client().validateOutput(id, good.replace('_', ':'))).toMatchObject({ outpoint: good })
    await expect(client().validateOutput(id, bad)).rejects.toMatchObject({ status: 404 })
  })
})

describe('newer clients', () => {
  const post = (path: string, body: unknown) =>
    fetch(`${url}/1sat/bsv21/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body)
    })

  it('look tokens up by another path', async () => {
    expect(await said(post('tokens', [id]))).toEqual(await client().lookupTokens([id]))
  })

  it('ask for the states of outputs, each in its place and its spelling', async () => {
    const unspent = `${formatTxid(moved.txid)}.1`
    const bad = `${formatTxid(forged.txid)}_0`
    expect(await said(post(`${id}/outputs/status`, [unspent, bad, id, `${'ab'.repeat(32)}_0`]))).toEqual([
      { outpoint: unspent, state: 'valid' },
      { outpoint: bad, state: 'unknown' },
      { outpoint: id, state: 'spent' },
      { outpoint: `${'ab'.repeat(32)}_0`, state: 'unknown' }
    ])
    const early = t.transaction([t.at(silver, 0, bob)], [t.transfer(id, 1n, t.paidTo(bob))])
    const batch = store.batch()
    batch.use(bsv21.collections.arrived).at(early.txid).set(early.raw)
    await batch.commit()
    expect(await said(post(`${id}/outputs/status`, [`${formatTxid(early.txid)}_0`]))).toMatchObject([
      { state: 'queued' }
    ])
    expect((await post(`${id}/outputs/status`, ['nonsense'])).status).toBe(400)
  })

  it('submit transactions of tokens to the overlay of tokens', async () => {
    const answer = await fetch(`${url}/1sat/bsv21/overlay/submit`, {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream', 'x-topics': `tm_${id}` },
      body: chain.beef(moved.txid)
    })
    expect(await said(answer)).toMatchObject({ [`tm_${id}`]: { outputsToAdmit: expect.any(Array) } })
  })
})

describe('beyond the client', () => {
  it('who has a token, the most first, in pages', async () => {
    const { holders, cursor } = await get(`${id}/holders?limit=2`)
    expect(holders).toEqual([
      {
        address: alice.address,
        amount: `${MUCH - 100n}`,
        locks: { p2pkh: { amount: `${MUCH - 100n}`, outputs: 1 } }
      },
      {
        address: bob.address,
        amount: '80',
        locks: { cos: { amount: '30', outputs: 1 }, p2pkh: { amount: '50', outputs: 1 } }
      }
    ])
    const rest = await get(`${id}/holders?limit=2&cursor=${encodeURIComponent(cursor)}`)
    expect(rest.holders).toMatchObject([{ address: carol.address, amount: '15' }])
  })

  it('what an address has of every token, under every lock, in pages', async () => {
    const owner = (who: t.Person, query = '') =>
      said(fetch(`${url}/1sat/owner/${who.address}/tokens${query}`))
    const mine = {
      id,
      sym: 'GOLD',
      dec: 8,
      amount: '80',
      locks: { cos: { amount: '30', outputs: 1 }, p2pkh: { amount: '50', outputs: 1 } }
    }
    const more = {
      id: t.tokenIdOf(silver),
      sym: 'SILVER',
      dec: 0,
      icon: `${formatTxid(silver.txid)}_1`,
      amount: '7',
      locks: { p2pkh: { amount: '7', outputs: 1 } }
    }
    const both = [mine, more].sort((a, b) => (a.id < b.id ? -1 : 1))
    expect(await owner(bob)).toEqual({ tokens: both, cursor: null, completeness: COMPLETE })
    const first = await owner(bob, '?limit=1')
    expect(first).toMatchObject({ tokens: [both[0]], cursor: expect.any(String) })
    const rest = await owner(bob, `?limit=1&cursor=${encodeURIComponent(first.cursor)}`)
    expect(rest).toMatchObject({ tokens: [both[1]], cursor: null })
    expect(await owner(carol)).toMatchObject({ tokens: [{ id, locks: { list: { amount: '15' } } }] })
    expect(await owner(t.person(77))).toMatchObject({ tokens: [], cursor: null })
  })

  it.each([
    ['an address that is none', 'nobody/tokens'],
    ['an address with another letter', '1HdvFwjcMgRdB8Cwgzcaady1GYd7a9Ffyd/tokens'],
    ['a page without rows', '1HdvFwjcMgRdB8Cwgzcaady1GYd7a9Ffyc/tokens?limit=0'],
    ['a cursor that is none', '1HdvFwjcMgRdB8Cwgzcaady1GYd7a9Ffyc/tokens?cursor=none']
  ])('what it is asked of %s is refused', async (_, path) => {
    const response = await fetch(`${url}/1sat/owner/${path}`)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ status: 'error' })
  })

  it('what there is of it', async () => {
    expect(await get(`${id}/supply`)).toEqual({
      minted: `${MUCH}`,
      supply: `${MUCH - 5n}`,
      burned: '5',
      listed: '15',
      ltm: '0',
      pow20: '0',
      holders: 3,
      listings: 1,
      completeness: COMPLETE
    })
  })

  it('what is for sale', async () => {
    expect((await get(`${id}/listings`)).listings).toMatchObject([
      { outpoint: `${formatTxid(moved.txid)}_3`, seller: carol.address, amount: '15', price: 777 }
    ])
  })

  it('tokens by the beginnings of their symbols', async () => {
    expect((await get('tokens?sym=GO')).tokens).toMatchObject([{ id, sym: 'GOLD' }])
    expect((await get('tokens?sym=OLD')).tokens).toEqual([])
    expect((await get('tokens?limit=1000')).tokens.length).toBeGreaterThan(1)
    const first = await get('tokens?sym=G&limit=1')
    expect(first).toMatchObject({ tokens: [{ sym: 'GOLD' }], cursor: expect.any(String) })
    expect(await get(`tokens?sym=G&limit=1&cursor=${first.cursor}`)).toEqual({ tokens: [], cursor: null })
    expect(await get(`tokens?sym=S&cursor=${first.cursor}`)).toMatchObject({ code: 'ERR_STORE_CURSOR' })
    expect((await get('tokens')).tokens).toHaveLength(2)
  })

  it('why a transfer did not count', async () => {
    const { reasons } = await get(`${id}/why/${formatTxid(forged.txid)}_0`)
    expect(reasons).toContainEqual(
      expect.objectContaining({
        code: 'refused',
        message: expect.stringContaining('exceed its valid inputs')
      })
    )
  })

  it('the status of a token that nobody has deployed', async () => {
    expect(await get(`${'cd'.repeat(32)}_0/status`)).toMatchObject({ discovered: false, is_active: true })
  })

  it('changes of a token, from a position on', async () => {
    const response = await fetch(`${url}/1sat/bsv21/${id}/live?after=0`)
    const reader = response.body!.getReader()
    let text = ''
    while (!text.includes(`${formatTxid(moved.txid)}_4`)) {
      const { value, done } = await reader.read()
      if (done) throw new Error(`it ended: ${text}`)
      text += Buffer.from(value).toString()
    }
    await reader.cancel()
    expect(text).toContain('event: saved')
    expect(text).not.toContain(formatTxid(forged.txid))
  })

  it.each(['nonsense', `${'ab'.repeat(32)}_0/holders?limit=0`, `${'ab'.repeat(32)}_00`])(
    'refuses %s',
    async path => {
      expect((await fetch(`${url}/1sat/bsv21/${path}`)).status).toBe(400)
    }
  )
})

it('all of it is described, each route by a name and a path of its own', async () => {
  const { paths } = (await said(fetch(`${url}/openapi.json`))) as OpenApi
  expect(Object.keys(paths)).toContain('/1sat/bsv21/{token}/{lock}/{address}/balance')
  const names = Object.values(paths).flatMap(methods => Object.values(methods).map(each => each.operationId))
  expect(new Set(names).size).toBe(names.length)
  const shapes = Object.keys(paths).map(path => path.replaceAll(/\{\w+\}/g, '{}'))
  expect(new Set(shapes).size).toBe(shapes.length)
})

describe('AdminClient', () => {
  const authorized: typeof fetch = (input, init) =>
    fetch(input, {
      ...init,
      headers: { ...(init?.headers as Record<string, string>), authorization: `Bearer ${ADMIN}` }
    })

  it('keeps the lists, with the token', async () => {
    const admin = new AdminClient(url, { fetch: authorized })
    expect(await admin.getSetupStatus()).toEqual({ configured: true })
    const other = `${'ef'.repeat(32)}_1`
    await admin.addToBlacklist(other)
    await admin.addToWhitelist(`tm_${other}`)
    expect(await admin.getWhitelist()).toEqual([other])
    expect(await admin.getBlacklist()).toEqual([other])
    expect(await get(`${other}/status`)).toMatchObject({ is_active: false, reason: 'blacklisted' })
    await admin.removeFromBlacklist(other)
    expect(await get(`${other}/status`)).toMatchObject({ is_active: true, reason: 'whitelisted' })
    await admin.removeFromWhitelist(other)
    expect(await admin.getWhitelist()).toEqual([])
    expect(await admin.getActiveTopics()).toEqual(['tm_bsv21'])
    expect(await admin.getActiveLookups()).toEqual(['ls_bsv21'])
    expect(await admin.getProgress()).toEqual([])
  })

  it('shows what the pipeline gave up, with reasons, and tries it again', async () => {
    const wrong = t.transaction([t.at(moved, 1, carol), fund()], [t.transfer(id, 50n, t.paidTo(carol))])
    chain.mine()
    await node.pipeline.ingest.ingestBeef(
      writeBeef({ version: 1, transactions: [{ txid: wrong.txid, transaction: wrong, bump: undefined }] })
    )
    for (const { txid } of wrong.inputs) {
      if (!(await node.outputs.record(txid))) await node.pipeline.ingest.ingestBeef(chain.beef(txid))
    }
    await node.pipeline.settle()
    const queue = `${url}/admin/queues/tok:${id}`
    const dead = async () => (await said(authorized(`${queue}/dead`))).data.items
    expect(await dead()).toMatchObject([
      { item: `${formatTxid(wrong.txid)}.0`, errorClass: 'ERR_TX_INVALID', reason: expect.any(String) }
    ])
    const retried = await said(
      authorized(`${queue}/retry`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{}'
      })
    )
    expect(retried.data).toEqual({ retried: 1 })
    expect(await dead()).toEqual([])
    const { data } = await said(authorized(`${url}/admin/queues`))
    expect(data).toContainEqual(expect.objectContaining({ name: 'bsv21', dead: 0 }))
  })

  it('does nothing without it', async () => {
    await expect(new AdminClient(url).getWhitelist()).rejects.toMatchObject({ status: 401 })
  })
})
