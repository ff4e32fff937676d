import { type Bump, formatHash, type Transaction } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { formatTxid, makeOutpoint, type Topic, type Txid } from '@quoin/primitives'
import { openStore } from '@quoin/store'
import { OutputStore } from '@quoin/txo'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Engine } from '../engine.ts'
import { mint, ones, pay, TestNode, TOPIC } from '../gasp/node.testing.ts'
import { overlay } from '../keys.ts'
import { SECTION } from './admitted.ts'
import { rootOf, type TopicAnchor, tacAfter, ZERO_HASH } from './tree.ts'

let chain: DevChain
let nodes: TestNode[]
beforeEach(() => {
  chain = new DevChain()
  nodes = []
})
afterEach(async () => {
  for (const node of nodes) await node.close()
})

const open = async (name = 'node'): Promise<TestNode> => {
  const node = await TestNode.anchored(name, chain)
  nodes.push(node)
  return node
}

/** Of transactions, in the order of the arguments, with the proofs that the chain has. */
const submit = async (node: TestNode, ...transactions: readonly Transaction[]): Promise<void> => {
  for (const transaction of transactions) await node.submit(transaction)
}

/** The anchors from height 1, from the blocks themselves. */
const expectedAnchors = (admitted: readonly Transaction[]): string[] => {
  const names = new Set(admitted.map(({ txid }) => formatTxid(txid)))
  let tac = ZERO_HASH
  return Array.from({ length: chain.height }, (_, i) => {
    const txids = chain.block(i + 1)!.map(({ txid }) => txid)
    const root = rootOf(txids.filter(txid => names.has(formatTxid(txid))))
    tac = tacAfter(tac, chain.header(i + 1)!.header.hash, root)
    return formatHash(tac)
  })
}

const anchorsOf = async ({ engine }: TestNode, topic: Topic = TOPIC): Promise<string[]> =>
  (await engine.anchors!.range(topic, 0, 0xffffffff)).map(({ tac }) => formatHash(tac))

const tipOf = async ({ engine }: TestNode): Promise<TopicAnchor | undefined> => engine.anchors!.tip(TOPIC)

const minted = async (count: number): Promise<Transaction[]> => {
  const all: Transaction[] = []
  for (let i = 0; i < count; i++) all.push(await mint(chain))
  return all
}

describe('the anchors of a topic', () => {
  it('are those of its admitted transactions in each block, in any order of admission', async () => {
    const [forwards, backwards] = [await open('forwards'), await open('backwards')]
    const first = await minted(3)
    chain.mine(2)
    const second = await minted(2)
    chain.mine()
    await submit(forwards, ...first, ...second)
    await submit(backwards, ...[...first, ...second].reverse())
    const expected = expectedAnchors([...first, ...second])
    expect(await anchorsOf(forwards)).toEqual(expected)
    expect(await anchorsOf(backwards)).toEqual(expected)
    expect(await tipOf(forwards)).toMatchObject({ height: chain.height, count: 2 })
  })

  it('have a transaction from the commit that gives it a block on', async () => {
    const node = await open()
    const [transaction] = await minted(1)
    await submit(node, transaction!)
    const before = await anchorsOf(node)
    chain.mine()
    expect((await anchorsOf(node)).slice(0, -1)).toEqual(before)
    const answer = await chain.proof(transaction!.txid)
    await node.engine.handleNewMerkleProof(transaction!.txid, (answer as { bump: Bump }).bump)
    expect(await anchorsOf(node)).toEqual(expectedAnchors([transaction!]))
  })

  it('change below the tip when an old transaction is admitted late', async () => {
    const node = await open()
    const [late] = await minted(1)
    chain.mine(SECTION)
    const [early] = await minted(1)
    chain.mine()
    await submit(node, early!)
    expect(await anchorsOf(node)).toEqual(expectedAnchors([early!]))
    await submit(node, late!)
    expect(await anchorsOf(node)).toEqual(expectedAnchors([late!, early!]))
  })

  it('do not have transactions that the topic evaluated without admitting any of it', async () => {
    const node = await open()
    const other = pay([[(await mint(chain))!, 1]], [500, 300])
    await chain.submit(other)
    chain.mine()
    await submit(node, other)
    expect(await node.engine.outputs.isApplied(TOPIC, other.txid)).toBe(true)
    expect(await anchorsOf(node)).toEqual(expectedAnchors([]))
  })

  it('have transactions that only spend a coin of the topic, also when the coin comes later', async () => {
    const node = await open()
    const coin = await mint(chain)
    const spender = pay([[coin, 0]], [0])
    await chain.submit(spender)
    chain.mine()
    await submit(node, spender)
    expect(await anchorsOf(node)).toEqual(expectedAnchors([]))
    await submit(node, coin)
    await node.engine.settle()
    expect(await node.engine.outputs.spends([makeOutpoint(coin.txid, 0)])).toEqual([spender.txid])
    expect(await anchorsOf(node)).toEqual(expectedAnchors([coin, spender]))
  })

  it('follow a reorg: blocks that left, and transactions that left with them', async () => {
    const node = await open()
    const [kept, lost] = await minted(2)
    chain.mine(3)
    await submit(node, kept!, lost!)
    await anchorsOf(node)
    const { fork } = await chain.reorg(3, { drop: [lost!.txid] })
    await node.engine.proofs.reconcile(fork + 1)
    expect(await anchorsOf(node)).toEqual(expectedAnchors([kept!]))
    chain.mine(2)
    expect(await anchorsOf(node)).toEqual(expectedAnchors([kept!]))
  })

  it('are the same in another process, which sees the commits of the first', async () => {
    const node = await open()
    const other = new Engine({
      outputs: new OutputStore(node.store),
      tracker: chain,
      topics: node.topics,
      anchors: { blocks: chain, start: 1 }
    })
    const [first, second] = await minted(2)
    chain.mine()
    for (const transactions of [[first!], [first!, second!]]) {
      await submit(node, ...transactions)
      const anchors = await other.anchors!.range(TOPIC, 0, chain.height)
      expect(anchors.map(({ tac }) => formatHash(tac))).toEqual(expectedAnchors(transactions))
    }
    await other.close()
  })

  it('are the same for a store of an earlier version, which has no stamps', async () => {
    const node = await open()
    const [first, second] = await minted(2)
    chain.mine()
    await submit(node, first!)
    const { sectionStamps, blockStamps } = overlay.collections
    const batch = node.store.batch()
    for (const hash of [sectionStamps.encode(TOPIC), blockStamps.encode(TOPIC, 0)]) {
      const fields = await node.store.hgetall(hash)
      expect(fields).toHaveLength(1)
      for (const { field } of fields) batch.hdel(hash, field)
    }
    await batch.commit()
    await node.restart()
    expect(await anchorsOf(node)).toEqual(expectedAnchors([first!]))
    await submit(node, second!)
    expect(await anchorsOf(node)).toEqual(expectedAnchors([first!, second!]))
  })

  it('begin at the start of the topic, and are none without one', async () => {
    const store = await openStore('memory:')
    chain.mine(5)
    const engine = new Engine({
      outputs: new OutputStore(store),
      tracker: chain,
      topics: { tm_late: { ...ones(true), anchoredFrom: 3 }, tm_future: ones(true), tm_none: ones(true) },
      anchors: { blocks: chain, starts: { tm_future: 6 } }
    })
    const heights = async (topic: string): Promise<number[]> =>
      (await engine.anchors!.range(topic as Topic, 0, 100)).map(({ height }) => height)
    expect(await heights('tm_late')).toEqual([3, 4, 5])
    expect(await heights('tm_future')).toEqual([])
    expect(await heights('tm_none')).toEqual([])
    chain.mine()
    expect(await heights('tm_future')).toEqual([6])
    await engine.close()
    await store.close()
  })

  it('lists admitted transactions with their indexes in the block', async () => {
    const node = await open()
    const transactions = await minted(3)
    const [height] = chain.mine().map(block => block.height)
    await submit(node, transactions[2]!, transactions[0]!)
    const index = (txid: Txid): number =>
      chain.block(height!)!.findIndex(each => formatTxid(each.txid) === formatTxid(txid))
    const expected = [transactions[0]!, transactions[2]!]
      .map(({ txid }) => ({ txid: formatTxid(txid), index: index(txid) }))
      .sort((a, b) => a.index - b.index)
    const admitted = await node.engine.anchors!.admitted(TOPIC, height!)
    expect(admitted.map(({ txid, index }) => ({ txid: formatTxid(txid), index }))).toEqual(expected)
  })
})
