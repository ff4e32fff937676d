/** What a node answers to others: the wire of the reference, in the order of arrival. */

import type { Transaction } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { formatTxid, makeOutpoint, toHex } from '@quoin/primitives'
import { changeCursor, MAX_CHANGES } from '@quoin/txo'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { mint, pay, TestNode, TOPIC } from './node.testing.ts'
import { foreignNode, syncResponse } from './serve.ts'
import type { ListedOutput } from './wire.ts'

let chain: DevChain
let node: TestNode
beforeEach(async () => {
  chain = new DevChain({ seed: 'serve' })
  node = await TestNode.open('a', chain)
})
afterEach(() => node.close())

const ask = (since: number, limit?: number) =>
  syncResponse(node.engine, TOPIC, { version: 1, since, ...(limit !== undefined && { limit }) })
const minted = async (satoshis?: readonly number[]): Promise<Transaction> => {
  const transaction = await mint(chain, satoshis)
  await node.submit(transaction)
  return transaction
}
const row = ({ txid }: Transaction, outputIndex: number, score: number): ListedOutput => ({
  txid: formatTxid(txid),
  outputIndex,
  score
})

/** The cursor of the last change that an entry of the log can have. */
const end = (position: number): number => changeCursor(position, MAX_CHANGES - 1)

describe('the list of outputs', () => {
  it('is what the topic has and nobody spent, in the order of arrival, and echoes since', async () => {
    const [a, b] = [await minted(), await minted([1, 1, 500])]
    const [first, second, third] = [changeCursor(1, 0), changeCursor(2, 0), changeCursor(2, 1)]
    const UTXOList = [row(a, 0, first), row(b, 0, second), row(b, 1, third)]
    expect(await ask(0)).toEqual({ UTXOList, since: 0 })
    expect(await ask(first)).toEqual({ UTXOList: UTXOList.slice(1), since: first })
    expect(await ask(second)).toEqual({ UTXOList: UTXOList.slice(2), since: second })
    const c = pay([[b, 0]], [1])
    await chain.submit(c)
    await node.submit(c)
    // The entry of c begins with the spend of b.0.
    expect((await ask(0)).UTXOList).toEqual([UTXOList[0], UTXOList[2], row(c, 0, changeCursor(3, 1))])
  })

  it('has what arrives mined after what arrived before it', async () => {
    await minted()
    const old = await mint(chain)
    chain.mine(3)
    await minted()
    await node.submit(old)
    expect((await ask(end(2))).UTXOList).toEqual([row(old, 0, changeCursor(3, 0))])
  })

  it('hundreds of outputs of one moment are paged through, each once, whatever the limit', async () => {
    const many = Array.from({ length: 300 }, () => 1)
    await minted(many)
    await minted(many)
    for (const limit of [1, 7, 100, 300, 1000]) {
      const seen: ListedOutput[] = []
      for (let since = 0; ; ) {
        const { UTXOList } = await ask(since, limit)
        expect(UTXOList.length).toBeLessThanOrEqual(limit)
        seen.push(...UTXOList)
        if (UTXOList.length < limit) break
        since = Math.max(...UTXOList.map(({ score }) => score))
      }
      expect(new Set(seen.map(({ txid, outputIndex }) => `${txid}.${outputIndex}`)).size).toBe(600)
      expect(seen).toHaveLength(600)
    }
  })

  it('a coin whose spender is taken back arrives again, and what is taken back leaves', async () => {
    const a = await minted()
    const b = pay([[a, 0]], [1])
    await chain.submit(b)
    await node.submit(b)
    await node.engine.outputs.rollback(b.txid)
    expect((await ask(0)).UTXOList).toEqual([row(a, 0, changeCursor(3, 0))])
    await node.submit(b)
    expect((await ask(end(3))).UTXOList).toEqual([row(b, 0, changeCursor(4, 1))])
    await node.engine.outputs.rollback(a.txid)
    expect((await ask(0)).UTXOList).toEqual([])
    await node.submit(a)
    expect((await ask(0)).UTXOList).toHaveLength(1)
  })

  it('leaves out what an operator evicted, and what was spent outside the topic', async () => {
    const [a, b] = [await minted(), await minted()]
    await node.engine.evict(makeOutpoint(a.txid, 0))
    const c = pay([[b, 0]], [1])
    await chain.submit(c)
    await node.engine.outputs.saveSpend(makeOutpoint(b.txid, 0), c.txid)
    expect((await ask(0)).UTXOList).toEqual([])
  })

  it('who has seen more than there is begins anew', async () => {
    await minted()
    expect((await ask(1_700_000_000_000)).UTXOList).toHaveLength(1)
    expect((await ask(end(1))).UTXOList).toHaveLength(0)
  })

  it('a request of another version, or that is none, is refused', async () => {
    await expect(syncResponse(node.engine, TOPIC, { version: 2, since: 0 })).rejects.toMatchObject({
      code: 'ERR_GASP_VERSION_MISMATCH',
      details: { currentVersion: 1, foreignVersion: 2 }
    })
    for (const request of [
      null,
      [],
      'x',
      { version: 1 },
      { version: 1, since: -1 },
      { version: 1, since: '0' }
    ]) {
      await expect(syncResponse(node.engine, TOPIC, request)).rejects.toMatchObject({
        code: expect.stringMatching(/ERR_SYNC_REQUEST|ERR_GASP_VERSION_MISMATCH/)
      })
    }
    for (const limit of [-1, 1.5, '10', {}]) {
      await expect(syncResponse(node.engine, TOPIC, { version: 1, since: 0, limit })).rejects.toMatchObject({
        code: 'ERR_SYNC_REQUEST'
      })
    }
    await expect(syncResponse(node.engine, 'tm_none', { version: 1, since: 0 })).rejects.toMatchObject({
      code: 'ERR_TOPIC_UNKNOWN'
    })
    expect((await syncResponse(node.engine, TOPIC, { version: 1, since: 0, limit: 1e9 })).UTXOList).toEqual(
      []
    )
  })
})

describe('the list of transactions', () => {
  it('has those that only spend, too, and outputs are left to those who do not know it', async () => {
    const a = await minted()
    const burned = pay([[a, 0]], [0])
    await chain.submit(burned)
    await node.submit(burned)
    const other = await minted([5])
    const ask = (applied: number) => syncResponse(node.engine, TOPIC, { version: 1, since: 0, applied })
    expect(await ask(0)).toEqual({
      UTXOList: [],
      since: 0,
      applied: {
        transactions: [
          { txid: formatTxid(a.txid), score: changeCursor(1, 0) },
          { txid: formatTxid(burned.txid), score: changeCursor(2, 0) }
        ],
        last: end(2)
      }
    })
    expect((await ask(end(1))).applied!.transactions).toHaveLength(1)
    expect(await node.engine.admissions(other.txid)).toBeDefined()
  })
})

describe('a node of a graph', () => {
  const ask = (transaction: Transaction, outputIndex: number) =>
    foreignNode(node.engine, {
      graphID: `${formatTxid(transaction.txid)}.${outputIndex}`,
      txid: formatTxid(transaction.txid),
      outputIndex,
      metadata: true
    })

  it('is the transaction, with a proof where there is one', async () => {
    const a = await minted()
    const unmined = await ask(a, 0)
    expect(unmined).toEqual({
      graphID: `${formatTxid(a.txid)}.0`,
      rawTx: toHex(a.raw),
      outputIndex: 0
    })
    chain.mine()
    const answer = await chain.proof(a.txid)
    if (answer.status !== 'mined') throw new Error('it is mined')
    await node.engine.handleNewMerkleProof(a.txid, answer.bump)
    expect(await ask(a, 0)).toEqual({ ...unmined, proof: toHex(answer.bump.trimmedTo(a.txid).toBytes()) })
  })

  it('is refused when it is not there, or the question is none', async () => {
    const a = await minted()
    await expect(ask(a, 9)).rejects.toMatchObject({ code: 'ERR_TX_UNKNOWN' })
    await expect(ask(await mint(chain), 0)).rejects.toMatchObject({ code: 'ERR_TX_UNKNOWN' })
    const good = { graphID: `${formatTxid(a.txid)}.0`, txid: formatTxid(a.txid), outputIndex: 0 }
    for (const wrong of [
      null,
      { ...good, graphID: 'x' },
      { ...good, txid: 'zz' },
      { ...good, outputIndex: -1 },
      { ...good, outputIndex: 2 ** 33 },
      { ...good, txid: 7 }
    ]) {
      await expect(foreignNode(node.engine, wrong)).rejects.toMatchObject({ code: 'ERR_SYNC_REQUEST' })
    }
  })
})
