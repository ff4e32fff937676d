import { readFileSync } from 'node:fs'
import { Beef, Bump, formatHash } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { formatTxid, fromHex } from '@quoin/primitives'
import { openStore } from '@quoin/store'
import { OutputStore } from '@quoin/txo'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Engine } from '../engine.ts'
import { mint, ones, pay, TestNode, TOPIC } from '../gasp/node.testing.ts'
import { transactionBatch } from '../gasp/serve-batch.ts'
import { answerAnchors } from './serve.ts'
import { type AnchorQuestion, readAdmittedList, readAnchors, readProof, readTip } from './wire.ts'

let chain: DevChain
let node: TestNode
beforeEach(async () => {
  chain = new DevChain()
  node = await TestNode.anchored('node', chain)
})
afterEach(() => node.close())

const ask = async (question: AnchorQuestion, request: unknown = {}, topic: string = TOPIC) =>
  JSON.parse(JSON.stringify(await answerAnchors(node.engine, question, topic, request)))

const refusal = (code: string) => expect.objectContaining({ code })
const HASH = '00'.repeat(32)

describe('the five questions of BRC-136', () => {
  it('are answered from one block: tip, range, list, proof and raw transactions', async () => {
    const transactions = [await mint(chain), await mint(chain)]
    const other = await mint(chain, [5, 6])
    const [block] = chain.mine()
    const { height, header } = block!
    for (const each of [...transactions, other]) await node.submit(each)

    const tip = await ask('tip')
    expect(tip).toMatchObject({ topic: TOPIC, blockHeight: height, admittedCount: 2 })
    const range = await ask('range', { fromHeight: height - 1, toHeight: height + 5 })
    const [before, last] = readAnchors(range, TOPIC, height - 1, height + 5)
    expect(before).toMatchObject({ height: height - 1, count: 0 })
    expect(formatHash(last!.tac)).toBe(tip.tac)
    expect(formatHash(last!.blockHash)).toBe(formatHash(header.hash))

    const list = await ask('admitted', { blockHeight: height, blockHash: formatHash(header.hash) })
    const admitted = readAdmittedList(list, TOPIC, height)
    expect(admitted.map(({ txid }) => formatTxid(txid)).sort()).toEqual(
      transactions.map(({ txid }) => formatTxid(txid)).sort()
    )
    const txids = admitted.map(({ txid }) => formatTxid(txid))
    const proof = await ask('proof', { blockHeight: height, txids })
    const bump = readProof(proof, height, admitted)
    expect(formatHash(bump.root)).toBe(formatHash(header.merkleRoot))
    expect(Bump.parse(fromHex(proof.merklePath)).txids.map(formatTxid).sort()).toEqual([...txids].sort())

    const raw = await ask('raw', { txids: [txids[0], HASH] }, '')
    expect(raw.missing).toEqual([HASH])
    const found = transactions.find(({ txid }) => formatTxid(txid) === txids[0])!
    expect(raw.transactions).toEqual([{ txid: txids[0], rawTx: Buffer.from(found.raw).toString('hex') }])
    expect(await ask('raw', { txids: [] })).toEqual({ transactions: [], missing: [] })
  })

  it('are refused for unknown topics, topics without anchors, other blocks and other transactions', async () => {
    const transaction = await mint(chain)
    const other = pay([[await mint(chain), 1]], [300])
    await chain.submit(other)
    const height = chain.mine()[0]!.height
    await node.submit(transaction)
    await expect(ask('tip', {}, 'tm_other')).rejects.toEqual(refusal('ERR_TOPIC_UNKNOWN'))
    await expect(ask('admitted', { blockHeight: height, blockHash: HASH })).rejects.toEqual(
      refusal('ERR_SYNC_REQUEST')
    )
    for (const txid of [other.txid, chain.block(1)![0]!.txid]) {
      await expect(ask('proof', { blockHeight: height, txids: [formatTxid(txid)] })).rejects.toEqual(
        refusal('ERR_SYNC_REQUEST')
      )
    }
    const store = await openStore('memory:')
    const engine = new Engine({
      outputs: new OutputStore(store),
      tracker: chain,
      topics: { [TOPIC]: ones(true) }
    })
    await expect(answerAnchors(engine, 'tip', TOPIC, {})).rejects.toEqual(refusal('ERR_ANCHORS_UNSUPPORTED'))
    await engine.close()
    await store.close()
  })

  it.each<[AnchorQuestion, unknown]>([
    ['range', {}],
    ['range', { fromHeight: 5, toHeight: 4 }],
    ['range', { fromHeight: 0, toHeight: 1024 }],
    ['range', { fromHeight: -1, toHeight: 4 }],
    ['range', { fromHeight: 0.5, toHeight: 4 }],
    ['admitted', { blockHeight: '1' }],
    ['admitted', { blockHeight: 1, blockHash: 'ab' }],
    ['proof', { blockHeight: 1, txids: [] }],
    ['proof', { blockHeight: 1, txids: [HASH, HASH] }],
    ['raw', { txids: 'all' }],
    ['raw', { txids: Array.from({ length: 1001 }, () => HASH) }],
    ['raw', []]
  ])('refuse a malformed request: %s %j', async (question, request) => {
    await expect(ask(question, request)).rejects.toEqual(refusal('ERR_SYNC_REQUEST'))
  })

  it('has the empty tip before the start of a topic', async () => {
    const early = new DevChain()
    const engine = new Engine({
      outputs: new OutputStore(node.store),
      tracker: early,
      topics: { [TOPIC]: ones(true) },
      anchors: { blocks: early, start: 1000 }
    })
    const tip = await answerAnchors(engine, 'tip', TOPIC, {})
    expect(tip).toEqual({ topic: TOPIC, blockHeight: -1, tac: HASH })
    expect(readTip(tip, TOPIC)).toBeUndefined()
    await engine.close()
  })
})

describe('a batch by positions in a block', () => {
  const batch = (block: unknown) => transactionBatch(node.engine, TOPIC, { version: 1, block })

  it('has the transactions at these positions, and none of another block', async () => {
    const transactions = [await mint(chain), await mint(chain), await mint(chain)]
    const { height, header } = chain.mine()[0]!
    for (const each of transactions) await node.submit(each)
    const admitted = await node.engine.anchors!.admitted(TOPIC, height)
    const hash = formatHash(header.hash)
    const beef = Beef.parse(await batch({ height, hash, positions: [2, 0, 7] }))
    expect(beef.transactions.map(({ txid }) => formatTxid(txid)).sort()).toEqual(
      [admitted[0]!, admitted[2]!].map(({ txid }) => formatTxid(txid)).sort()
    )
    expect(await batch({ height, hash: HASH, positions: [0] })).toEqual(new Uint8Array())
  })

  it.each([
    null,
    { height: -1, hash: HASH, positions: [0] },
    { height: 1, hash: 'AB', positions: [0] },
    { height: 1, hash: HASH, positions: [] },
    { height: 1, hash: HASH, positions: [-1] },
    { height: 1, hash: HASH, positions: Array.from({ length: 1001 }, (_, i) => i) }
  ])('is refused when it is malformed: %j', async block => {
    await expect(batch(block)).rejects.toEqual(refusal('ERR_SYNC_REQUEST'))
  })
})

describe('answers of a peer are refused', () => {
  const { mustReject } = JSON.parse(
    readFileSync(new URL('fixtures/brc136-vectors.json', import.meta.url), 'utf8')
  ) as { readonly mustReject: readonly Record<string, unknown>[] }
  const listOf = ({ admitted, txids }: Record<string, unknown>) =>
    admitted ?? (txids as string[] | undefined)?.map((txid, blockIndex) => ({ txid, blockIndex }))

  it('whose lists repeat a txid or an index, as in the vectors', () => {
    const lists = mustReject
      .filter(each => !('anchorAdmittedCount' in each))
      .flatMap(each => listOf(each) ?? [])
    expect(lists.length).toBeGreaterThan(0)
    for (const each of mustReject) {
      if ('tip' in each || 'anchorAdmittedCount' in each) continue
      const answer = { topic: TOPIC, blockHeight: 7, admitted: listOf(each) }
      expect(() => readAdmittedList(answer, TOPIC, 7)).toThrow(refusal('ERR_SYNC_PEER'))
    }
  })

  it('whose tip without a height has a hash, as in the vectors', () => {
    const [{ tip }] = mustReject.filter(each => 'tip' in each) as [{ tip: object }]
    expect(() => readTip({ topic: TOPIC, ...tip }, TOPIC)).toThrow(refusal('ERR_SYNC_PEER'))
  })

  it.each([
    [{ topic: 'tm_other', anchors: [] }],
    [{ topic: TOPIC, anchors: 'none' }],
    [{ topic: TOPIC, anchors: [{ blockHeight: 8 }] }],
    [
      {
        topic: TOPIC,
        anchors: [{ blockHeight: 7, admittedCount: 1, blockHash: HASH, basmRoot: 'AB', tac: HASH }]
      }
    ],
    [{ topic: TOPIC, anchors: Array.from({ length: 3 }, () => ({})) }],
    [null]
  ])('whose anchors are malformed: %j', answer => {
    expect(() => readAnchors(answer, TOPIC, 7, 8)).toThrow(refusal('ERR_SYNC_PEER'))
  })
})
