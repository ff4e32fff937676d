/** The overlay routes, byte for byte: what `@bsv/sdk` and other nodes rely on. */
import { Beef as SdkBeef } from '@bsv/sdk'
import { Beef } from '@quoin/chain'
import { type BlockHashes, httpPeer, syncTopic } from '@quoin/overlay'
import { formatTxid, Reader, toHex, Writer } from '@quoin/primitives'
import { changeCursor } from '@quoin/txo'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { said, startNode, type TestNode } from '../node.testing.ts'

let node: TestNode
beforeAll(async () => {
  node = await startNode('memory:', { arcToken: 'for arc' })
})
afterAll(() => node.close())

const admitted = (outputs: number[], retain: number[] = []) => ({
  outputsToAdmit: outputs,
  coinsToRetain: retain,
  coinsRemoved: []
})
const submitRaw = (body: Uint8Array, headers: Record<string, string>) =>
  fetch(`${node.url}/submit`, { method: 'POST', headers, body: body as Uint8Array<ArrayBuffer> })
const BYTES = { 'content-type': 'application/octet-stream' }

describe('POST /submit', () => {
  it('answers a STEAK, the same again', async () => {
    const transaction = await node.minted()
    for (let i = 0; i < 2; i++) {
      const response = await node.submit(transaction, 'tm_ones')
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toBe('application/json')
      expect(await response.json()).toEqual({ tm_ones: admitted([0]) })
    }
  })

  it('of no topics is an empty one', async () => {
    const response = await node.submit(await node.minted())
    expect([response.status, await response.json()]).toEqual([200, {}])
  })

  it('reports what was spent and kept', async () => {
    const first = await node.minted()
    await node.submit(first, 'tm_ones')
    const second = await node.spent(first, 0)
    expect(await (await node.submit(second, 'tm_ones')).json()).toEqual({ tm_ones: admitted([0], [0]) })
  })

  it('takes values beside the BEEF', async () => {
    const beef = node.chain.beef((await node.minted()).txid)
    const writer = new Writer()
    writer.sized(beef)
    writer.bytes(Uint8Array.of(7, 8, 9))
    const headers = { ...BYTES, 'x-topics': '["tm_ones"]', 'x-includes-off-chain-values': 'true' }
    expect((await submitRaw(writer.finish(), headers)).status).toBe(200)
    const { outputs } = await said(node.post('/lookup', { service: 'ls_ones', query: {} }))
    expect(outputs[0].context).toEqual([7, 8, 9])
    expect((await submitRaw(Uint8Array.of(0xfd, 0xff, 0xff, 1), headers)).status).toBe(400)
  })

  it.each(['["tm_ones"]', 'tm_ones', ' tm_ones , tm_ones', ' ["tm_ones"] '])(
    'takes topics as a JSON array or with commas: %s',
    async topics => {
      const beef = node.chain.beef((await node.minted()).txid)
      const response = await submitRaw(beef, { ...BYTES, 'x-topics': topics })
      expect(await said(response)).toMatchObject({ tm_ones: { outputsToAdmit: [0] } })
    }
  )

  it.each([
    ['no topics', {}, 'ERR_REQUEST'],
    ['topics in JSON that is cut off', { 'x-topics': '["tm_ones"' }, 'ERR_REQUEST'],
    ['an object in place of topics', { 'x-topics': '{"tm_ones":1}' }, 'ERR_REQUEST'],
    ['a number among the topics', { 'x-topics': '["tm_ones", 7]' }, 'ERR_REQUEST'],
    ['an empty name between commas', { 'x-topics': 'tm_ones,,tm_ones' }, 'ERR_REQUEST'],
    ['a space within a name', { 'x-topics': 'tm ones' }, 'ERR_REQUEST'],
    ['too many names with commas', { 'x-topics': Array(101).fill('tm_ones').join() }, 'ERR_REQUEST'],
    ['too many topics', { 'x-topics': JSON.stringify(Array(101).fill('tm_ones')) }, 'ERR_REQUEST'],
    ['a topic that nobody has', { 'x-topics': '["tm_nowhere"]' }, 'ERR_TOPIC_UNKNOWN'],
    ['no BEEF', { 'x-topics': '["tm_ones"]' }, 'ERR_BEEF_FORMAT']
  ])('%s: 400 with the reason', async (_, headers, code) => {
    const response = await submitRaw(Uint8Array.of(1, 2, 3), { ...BYTES, ...headers } as Record<
      string,
      string
    >)
    expect(response.status).toBe(400)
    const body = await said(response)
    expect(body).toMatchObject({ status: 'error', code })
    expect(body.message).toBe(body.description)
  })

  it('a coin that is spent by another is a conflict', async () => {
    const first = await node.minted()
    await node.submit(await node.spent(first, 0, [1]), 'tm_ones')
    const response = await node.submit(await node.spent(first, 0, [0]), 'tm_ones')
    expect([response.status, (await said(response)).code]).toEqual([409, 'ERR_TXO_CONFLICT'])
  })
})

it('what the network does not take is refused with its reason, and is no failure of the node', async () => {
  const broadcast = () => Promise.reject(new Error('fee too low'))
  const sending = await startNode('memory:', {}, { engine: { broadcast } })
  const response = await sending.submit(await sending.minted(), 'tm_ones')
  expect(response.status).toBe(400)
  expect(await said(response)).toMatchObject({ code: 'ERR_BROADCAST', message: 'fee too low' })
  await sending.close()
})

describe('POST /lookup', () => {
  it('in JSON has bytes as numbers', async () => {
    const transaction = await node.minted()
    await node.submit(transaction, 'tm_ones')
    const response = await node.post('/lookup', { service: 'ls_ones', query: {} })
    expect(response.headers.get('content-type')).toBe('application/json')
    const { type, outputs } = await said(response)
    expect(type).toBe('output-list')
    const [first] = outputs
    expect(first.outputIndex).toBe(0)
    expect(formatTxid(Beef.parse(Uint8Array.from(first.beef)).subject)).toBe(formatTxid(transaction.txid))
  })

  it('aggregated has outpoints as people read them, and one BEEF of version 2', async () => {
    const response = await node.post('/lookup', { service: 'ls_ones', query: {} }, { 'x-aggregation': 'yes' })
    expect(response.headers.get('content-type')).toBe('application/octet-stream')
    const bytes = new Uint8Array(await response.arrayBuffer())
    const reader = new Reader(bytes, 'ERR_BEEF_FORMAT')
    const count = reader.varint()
    const { outputs } = await said(node.post('/lookup', { service: 'ls_ones', query: {} }))
    expect(count).toBe(outputs.length)
    const found: string[] = []
    for (let i = 0; i < count; i++) {
      const txid = toHex(reader.bytes(32))
      found.push(`${txid} ${reader.varint()} ${toHex(reader.bytes(reader.varint()))}`)
    }
    expect(found).toEqual(
      outputs.map(
        ({ beef, outputIndex, context = [] }: { beef: number[]; outputIndex: number; context?: number[] }) =>
          `${formatTxid(Beef.parse(Uint8Array.from(beef)).subject)} ${outputIndex} ${toHex(Uint8Array.from(context))}`
      )
    )
    const beef = reader.bytes(reader.remaining)
    expect(toHex(beef.subarray(0, 4))).toBe('0200beef')
    expect(SdkBeef.fromBinary([...beef]).isValid()).toBe(true)
  })

  it('aggregated and empty is ten bytes', async () => {
    const empty = await startNode()
    const response = await empty.post(
      '/lookup',
      { service: 'ls_ones', query: {} },
      { 'x-aggregation': 'yes' }
    )
    expect(toHex(new Uint8Array(await response.arrayBuffer()))).toBe('000200beef0000')
    expect(await (await empty.post('/lookup', { service: 'ls_ones', query: {} })).json()).toEqual({
      type: 'output-list',
      outputs: []
    })
    await empty.close()
  })

  it('refuses with the words of the service', async () => {
    const response = await node.post('/lookup', { service: 'ls_ones' })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      status: 'error',
      code: 'ERR_LOOKUP_FAILED',
      message: 'A valid query must be provided'
    })
    expect((await node.post('/lookup', { service: 'ls_nowhere', query: {} })).status).toBe(400)
    expect((await node.post('/lookup', { query: {} })).status).toBe(400)
  })
})

describe('what there is', () => {
  it('topics and lookups, with their documentation', async () => {
    expect(await said(node.get('/listTopicManagers'))).toEqual({
      tm_ones: { name: 'ones', shortDescription: 'about ones' }
    })
    expect(await said(node.get('/listLookupServiceProviders'))).toEqual({
      ls_ones: { name: 'remembering', shortDescription: 'about remembering' }
    })
    const document = async (path: string): Promise<[number, string | null, string]> => {
      const response = await node.get(path)
      return [response.status, response.headers.get('content-type'), await response.text()]
    }
    const type = 'text/markdown; charset=utf-8'
    expect(await document('/getDocumentationForTopicManager?manager=tm_ones')).toEqual([200, type, '# ones'])
    expect(await document('/getDocumentationForLookupServiceProvider?lookupService=ls_ones')).toEqual([
      200,
      type,
      '# remembering'
    ])
    expect(await document('/getDocumentationForTopicManager')).toEqual([200, type, 'No documentation found!'])
  })

  it('and why an output is what it is', async () => {
    const transaction = await node.minted()
    await node.submit(transaction, 'tm_ones')
    const { reasons } = await said(node.get(`/why/${formatTxid(transaction.txid)}.0?topic=tm_ones`))
    expect(reasons.map(({ code }: { code: string }) => code)).toContain('admitted')
  })
})

describe('POST /arc-ingest', () => {
  const bearer = { authorization: 'Bearer for arc' }

  it('takes proofs that lead to a block, from whoever has the token', async () => {
    const transaction = await node.minted()
    await node.submit(transaction, 'tm_ones')
    node.chain.mine()
    const answer = await node.chain.proof(transaction.txid)
    if (answer.status !== 'mined') throw new Error('not mined')
    const txid = formatTxid(transaction.txid)
    const body = { txid, merklePath: toHex(answer.bump.toBytes()), blockHeight: answer.bump.height }
    expect((await node.post('/arc-ingest', body)).status).toBe(401)
    expect((await node.post('/arc-ingest', body, { authorization: 'Bearer of news' })).status).toBe(403)
    const response = await node.post('/arc-ingest', body, bearer)
    expect(await response.json()).toMatchObject({ status: 'success' })
    expect((await node.get(`/beef/${txid}/proof`)).status).toBe(200)
    const other = await node.minted()
    await node.submit(other, 'tm_ones')
    const wrong = await node.post('/arc-ingest', { ...body, txid: formatTxid(other.txid) }, bearer)
    expect([wrong.status, (await said(wrong)).code]).toEqual([400, 'ERR_PROOF_INVALID'])
  })

  it('takes news without a proof, and does nothing', async () => {
    const news = { txid: '00'.repeat(32), txStatus: 'SEEN_ON_NETWORK', merklePath: '' }
    expect((await node.post('/arc-ingest', news, bearer)).status).toBe(200)
  })

  it('is not there without a token to ask for', async () => {
    const open = await startNode()
    expect((await open.post('/arc-ingest', {})).status).toBe(404)
    await open.close()
  })
})

describe('sync between nodes', () => {
  it('lists outputs of a topic, and gives their transactions', async () => {
    const other = await startNode()
    const transaction = await other.minted()
    await other.submit(transaction, 'tm_ones')
    const request = { version: 1, since: 0, limit: 10 }
    const response = await other.post('/requestSyncResponse', request, { 'x-bsv-topic': 'tm_ones' })
    const txid = formatTxid(transaction.txid)
    const score = changeCursor(1, 0)
    expect(await response.json()).toEqual({ UTXOList: [{ txid, outputIndex: 0, score }], since: 0 })
    const asked = { graphID: `${txid}.0`, txid, outputIndex: 0, metadata: true }
    expect(await (await other.post('/requestForeignGASPNode', asked)).json()).toMatchObject({
      graphID: `${txid}.0`,
      rawTx: toHex(transaction.raw)
    })
    expect((await other.post('/requestSyncResponse', request)).status).toBe(400)
    const future = await other.post(
      '/requestSyncResponse',
      { ...request, version: 2 },
      { 'x-bsv-topic': 'tm_ones' }
    )
    expect([future.status, (await said(future)).code]).toEqual([400, 'ERR_GASP_VERSION_MISMATCH'])
    await other.close()
  })

  it('answers the questions of BRC-136, and shows the anchor in the status', async () => {
    const blocks: BlockHashes = {
      currentHeight: () => other.chain.currentHeight(),
      hashes: (from, count) => other.chain.hashes(from, count)
    }
    const other = await startNode('memory:', {}, { engine: { anchors: { blocks, start: 1 } } })
    const transaction = await other.minted()
    const [block] = other.chain.mine()
    await other.submit(transaction, 'tm_ones')
    const topic = { 'x-bsv-topic': 'tm_ones' }
    const tip = await said(other.post('/requestTopicAnchorTip', {}, topic))
    expect(tip).toMatchObject({ topic: 'tm_ones', blockHeight: block!.height, admittedCount: 1 })
    const txid = formatTxid(transaction.txid)
    expect(tip.basmRoot).toBe(txid)
    const range = { fromHeight: block!.height, toHeight: block!.height }
    expect(await said(other.post('/requestTopicAnchorRange', range, topic))).toEqual({
      topic: 'tm_ones',
      anchors: [expect.objectContaining({ tac: tip.tac })]
    })
    const at = { blockHeight: block!.height }
    const { admitted: list } = await said(other.post('/requestAdmittedList', at, topic))
    const blockIndex = other.chain.block(block!.height)!.findIndex(each => formatTxid(each.txid) === txid)
    expect(list).toEqual([{ txid, blockIndex }])
    const proof = await said(other.post('/requestCompoundMerklePath', { ...at, txids: [txid] }, topic))
    expect(proof.merklePath).toMatch(/^[0-9a-f]+$/)
    expect(await said(other.post('/requestRawTransactions', { txids: [txid] }))).toEqual({
      transactions: [{ txid, rawTx: toHex(transaction.raw) }],
      missing: []
    })
    const { anchors: shown } = await said(other.get('/status'))
    expect(shown).toEqual({ tm_ones: { start: 1, height: block!.height, tac: tip.tac } })
    for (const path of ['/requestTopicAnchorTip', '/requestTopicAnchorRange']) {
      const body = path.endsWith('Tip') ? {} : range
      const refused = await node.post(path, body, topic)
      expect([refused.status, (await said(refused)).code]).toEqual([501, 'ERR_ANCHORS_UNSUPPORTED'])
      expect((await node.post(path, body)).status).toBe(400)
    }
    await other.close()
  })

  it('brings another node into step', async () => {
    const other = await startNode('memory:', {}, { engine: { tracker: node.chain } })
    const transaction = await node.minted()
    await node.submit(transaction, 'tm_ones')
    await syncTopic(other.engine, 'tm_ones', httpPeer(node.url))
    const [ours, theirs] = await Promise.all(
      [node, other].map(each => said(each.get('/txo/search?key=tp:tm_ones&unspent=true&limit=1000')))
    )
    const names = (page: { outputs: { outpoint: string }[] }) =>
      page.outputs.map(({ outpoint }) => outpoint).sort()
    expect(names(theirs)).toEqual(names(ours))
    expect(names(theirs)).toContain(`${formatTxid(transaction.txid)}.0`)
    await other.close()
  })
})
