/** Batches of transactions: served in order up to a limit, verified on arrival, and resumed where a run was cut. */
import { createServer, type Server } from 'node:http'
import { Beef, type BeefTransaction, Bump, type Transaction, writeBeef, writeTransaction } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { formatTxid, type Txid, Writer } from '@quoin/primitives'
import { verifyIndex } from '@quoin/txo'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { payTo } from '../../../chain/src/verify/test-chain.testing.ts'
import { verifyAdmissions } from '../verify-admissions.ts'
import { listening, serveNode } from './http.testing.ts'
import { key, mint, ones, pay, TestNode, TOPIC } from './node.testing.ts'
import { httpPeer, localPeer, type Peer } from './peer.ts'
import { transactionBatch } from './serve-batch.ts'
import { type SyncProgress, syncTopic, TopicSync, type TopicSyncOptions } from './topic-sync.ts'
import type { GraphNode } from './wire.ts'

let chain: DevChain
let a: TestNode
let b: TestNode
let clock: number
const servers: Server[] = []
beforeEach(async () => {
  chain = new DevChain({ seed: 'batches' })
  clock = Date.now() / 1000
  a = await TestNode.open('a', chain)
  b = await TestNode.open('b', chain)
})
afterEach(async () => {
  for (const { store } of [a, b]) {
    expect((await verifyIndex(store)).differences).toEqual([])
    for await (const { finding } of verifyAdmissions(store)) expect(finding).toBeUndefined()
  }
  for (const node of [a, b]) await node.close()
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

const send = async (transaction: Transaction, topic = TOPIC as string): Promise<Transaction> => {
  await chain.submit(transaction)
  await a.submit(transaction, topic)
  return transaction
}
const minted = async (): Promise<Transaction> => {
  const transaction = await mint(chain)
  await a.submit(transaction)
  return transaction
}
/** Transactions of one satoshi, each of which spends the one before. */
const chained = async (count: number): Promise<Transaction[]> => {
  const all = [await minted()]
  while (all.length < count) all.push(await send(pay([[all.at(-1)!, 0]], [1])))
  return all
}
const txidsOf = (transactions: readonly Transaction[]): Txid[] => transactions.map(({ txid }) => txid)
const batch = async (txids: readonly Txid[]): Promise<string[]> => {
  const bytes = await transactionBatch(a.engine, TOPIC, { version: 1, txids: txids.map(formatTxid) })
  return bytes.length === 0 ? [] : Beef.parse(bytes).transactions.map(({ txid }) => formatTxid(txid))
}
const options = (): TopicSyncOptions => ({ now: () => clock })
const same = async (): Promise<void> => expect(await b.state()).toEqual(await a.state())

/** A peer that counts requests, and serves transactions in batches alone. */
const counting = (peer = localPeer('a', a.engine)) => {
  const asked = { batches: 0, transactions: 0 }
  return {
    ...peer,
    asked,
    node: () => Promise.reject(new Error('a single transaction was requested')),
    transactions: (topic, request, signal) => {
      asked.batches++
      asked.transactions += request.txids!.length
      return peer.transactions!(topic, request, signal)
    }
  } satisfies Peer & { asked: typeof asked }
}

describe('a batch', () => {
  it('has the requested transactions, and unproved ancestors that the topic does not list', async () => {
    const deposit = chain.fund(payTo(key), 5000)
    chain.mine()
    const funding = pay([[deposit, 0]], [2000, 2000])
    await chain.submit(funding)
    const coin = await send(pay([[funding, 0]], [1, 900]))
    const next = await send(pay([[coin, 0]], [1]))
    const proved = formatTxid(deposit.txid)
    expect(await batch(txidsOf([coin]))).toEqual([proved, formatTxid(funding.txid), formatTxid(coin.txid)])
    // The log of the topic lists its parent.
    expect(await batch(txidsOf([next]))).toEqual([formatTxid(next.txid)])
    expect((await batch(txidsOf([next, coin]))).sort()).toEqual(
      [proved, ...txidsOf([funding, coin, next]).map(formatTxid)].sort()
    )
  })

  it('leaves out transactions that are not stored', async () => {
    const coin = await minted()
    const unknown = new Uint8Array(32).fill(7) as Txid
    expect(await batch([unknown])).toEqual([])
    expect(await batch([unknown, coin.txid])).toContain(formatTxid(coin.txid))
  })

  it('ends before its limit, after at least one transaction', async () => {
    const script = new Uint8Array(3_000_000).fill(0x61)
    const large: Transaction[] = []
    for (let i = 0; i < 4; i++) {
      const funding = chain.fund(script, 1)
      chain.mine()
      large.push(funding)
      await a.engine.submit({ beef: chain.beef(funding.txid), topics: [TOPIC] })
    }
    expect(await batch(txidsOf(large))).toEqual(txidsOf(large.slice(0, 2)).map(formatTxid))
  })

  it('is refused for other requests', async () => {
    const txid = '11'.repeat(32)
    const ask = (topic: string, request: unknown) => transactionBatch(a.engine, topic, request)
    await expect(ask('tm_none', { version: 1, txids: [txid] })).rejects.toMatchObject({
      code: 'ERR_TOPIC_UNKNOWN'
    })
    await expect(ask(TOPIC, { version: 2, txids: [txid] })).rejects.toMatchObject({
      code: 'ERR_GASP_VERSION_MISMATCH'
    })
    for (const txids of [undefined, [], 'x', [7], ['x'], Array.from({ length: 1001 }, () => txid)]) {
      await expect(ask(TOPIC, { version: 1, txids })).rejects.toMatchObject({ code: 'ERR_SYNC_REQUEST' })
    }
  })
})

describe('a sync in batches', () => {
  it('over HTTP takes few requests, reports its progress, and verifies scripts', async () => {
    await chained(30)
    chain.mine()
    await chained(30)
    const peer = counting(httpPeer(await listening(servers, serveNode(a))))
    const progress: SyncProgress[] = []
    const onProgress = (each: SyncProgress) => progress.push(each)
    const report = await syncTopic(b.engine, TOPIC, peer, { ...options(), page: 40, onProgress })
    expect(report).toEqual({ listed: 60, submitted: 60, failed: 0, isBehind: false })
    expect(peer.asked).toEqual({ batches: 2, transactions: 60 })
    expect(progress.map(({ submitted }) => submitted)).toEqual([40, 60])
    expect(progress.at(-1)!.position).toBeGreaterThan(progress[0]!.position)
    expect(progress.at(-1)!.position).toBeLessThanOrEqual(progress.at(-1)!.last)
    await same()
    const txids = (await a.state()).members.map(member => member.slice(0, 64))
    const parsed = txids.map(txid => Uint8Array.from(Buffer.from(txid, 'hex')).reverse() as Txid)
    expect(await b.engine.outputs.transactions.areVerified(parsed)).toEqual(parsed.map(() => true))
  })

  it('requests rows again that a batch had no room for', async () => {
    await chained(10)
    const peer = counting()
    const small: Peer = {
      ...peer,
      transactions: (topic, { version, txids }) =>
        peer.transactions(topic, { version, txids: txids!.slice(0, 3) }, undefined)
    }
    expect(await syncTopic(b.engine, TOPIC, small, options())).toMatchObject({ submitted: 10, failed: 0 })
    expect(peer.asked.batches).toBe(4)
    await same()
  })

  it('requests no transaction again that arrived before it was cut', async () => {
    await chained(20)
    const peer = counting()
    const cut = new AbortController()
    const admit = b.engine.admit.bind(b.engine)
    let admitted = 0
    b.engine.admit = async (...request) => {
      const steak = await admit(...request)
      if (++admitted === 12) cut.abort(new Error('cut'))
      return steak
    }
    const sync = () => new TopicSync(b.engine, TOPIC, peer, options())
    await expect(sync().run(cut.signal)).rejects.toThrow('cut')
    const before = peer.asked.transactions
    await b.restart()
    expect(await sync().run()).toMatchObject({ listed: 20, failed: 0 })
    expect(peer.asked.transactions - before).toBe(20 - admitted)
    await same()
  })

  it('goes on with single transactions where the peer serves no batches', async () => {
    await chained(5)
    const server = createServer((_, response) => response.writeHead(404).end())
    const older = httpPeer(await listening(servers, server))
    let asked = 0
    const peer: Peer = {
      ...localPeer('a', a.engine),
      transactions: (...request) => {
        asked++
        return older.transactions!(...request)
      }
    }
    const report = await syncTopic(b.engine, TOPIC, peer, { ...options(), page: 2 })
    expect(report).toMatchObject({ submitted: 5, failed: 0 })
    expect(asked).toBe(1)
    await same()
  })
})

describe('a peer that lies in its batches', () => {
  const proofOf = async ({ txid }: Transaction) => {
    const answer = await chain.proof(txid)
    if (answer.status !== 'mined') throw new Error('it is mined')
    return answer.bump
  }
  /** Lies with the same transactions in batches and one by one. */
  const lying = (change: (each: BeefTransaction) => BeefTransaction | undefined): Peer => {
    const peer = localPeer('a', a.engine)
    return {
      ...peer,
      transactions: async (topic, request) => {
        const { transactions } = Beef.parse((await peer.transactions!(topic, request))!)
        const changed = transactions.flatMap(each => change(each) ?? [])
        return changed.length === 0 ? new Uint8Array() : writeBeef({ version: 2, transactions: changed })
      },
      node: async request => {
        const node = (await peer.node(request)) as GraphNode
        const { txid } = request
        const transaction = chain.transaction(Uint8Array.from(Buffer.from(txid, 'hex')).reverse() as Txid)!
        const changed = change({ txid: transaction.txid, transaction, bump: undefined })
        if (!changed) return null
        return {
          ...node,
          rawTx: Buffer.from(changed.transaction!.raw).toString('hex'),
          ...(changed.bump && { proof: Buffer.from(changed.bump.toBytes()).toString('hex') })
        }
      }
    }
  }
  const pull = (peer: Peer) => syncTopic(b.engine, TOPIC, peer, options())
  const is = ({ txid }: { readonly txid: Txid }, other: Transaction): boolean =>
    formatTxid(txid) === formatTxid(other.txid)

  it('with another transaction gets nothing in its place', async () => {
    const [coin, good] = [await minted(), await minted()]
    const other = chain.fund(payTo(key), 77)
    const peer = lying(each =>
      is(each, coin) ? { txid: other.txid, transaction: other, bump: undefined } : each
    )
    expect(await pull(peer)).toMatchObject({ submitted: 1, failed: 1 })
    expect((await b.state()).members).toEqual([`${formatTxid(good.txid)}.0`])
    expect(await b.engine.outputs.transactions.get(other.txid)).toBeUndefined()
  })

  it('with a proof of another transaction, or of a block that the headers do not have, gets nothing', async () => {
    const coin = await minted()
    const two = await mint(chain)
    chain.mine()
    const foreign = Bump.ofBlock(chain.height, [coin.txid, two.txid]).trimmedTo(coin.txid)
    expect(await pull(lying(each => (is(each, coin) ? { ...each, bump: foreign } : each)))).toMatchObject({
      submitted: 0,
      failed: 1
    })
    // As no BEEF is written: the transaction names the proof of the other one.
    const writer = Writer.ofAnySize()
    writer.u32(0xefbe0002)
    writer.varint(1)
    ;(await proofOf(two)).write(writer)
    writer.varint(1)
    writer.u8(1)
    writer.varint(0)
    writer.bytes(coin.raw)
    const bytes = writer.finish()
    const peer: Peer = { ...localPeer('another', a.engine), transactions: async () => bytes }
    await expect(pull(peer)).rejects.toMatchObject({ code: 'ERR_SYNC_PEER' })
    expect((await b.state()).members).toEqual([])
  })

  it('without an ancestor is asked for the graph, and a child waits for its parent', async () => {
    const [first, second] = await chained(2)
    const funding = chain.transaction(first!.inputs[0]!.txid)!
    const peer = lying(each => (is(each, funding) ? undefined : each))
    expect(await pull(peer)).toMatchObject({ submitted: 0 })
    expect((await b.state()).members).toEqual([])
    clock += 10_000
    // The child may be attempted first, and waits again.
    expect(await pull(localPeer('a', a.engine))).toMatchObject({ submitted: 2 })
    await same()
    expect((await b.engine.admissions(second!.txid))![TOPIC]!.previousCoins).toEqual([0])
  })

  it('with scripts that do not hold has its transaction refused, and the others admitted', async () => {
    const [coin, good] = [await minted(), await minted()]
    const forged = writeTransaction({
      version: 1,
      inputs: [{ txid: coin.txid, vout: 0, script: new Uint8Array([1, 1]), sequence: 0 }],
      outputs: [{ satoshis: 1, script: payTo(key) }],
      lockTime: 0
    })
    await chain.submit(forged)
    await a.engine.submit({ beef: chain.beef(forged.txid), topics: [TOPIC] }, 'historical-tx-no-spv')
    expect(await pull(localPeer('a', a.engine))).toMatchObject({ listed: 3, submitted: 2, failed: 1 })
    expect((await b.state()).unspent).toEqual([coin, good].map(({ txid }) => `${formatTxid(txid)}.0`).sort())
  })

  it('with bytes that are no BEEF fails the run, and nothing is passed over', async () => {
    await minted()
    for (const bytes of [
      new Uint8Array([1]),
      new Uint8Array(100),
      new Uint8Array([1, 0, 0xbe, 0xef, 0xff])
    ]) {
      const peer: Peer = { ...localPeer('a', a.engine), transactions: async () => bytes }
      await expect(pull(peer)).rejects.toMatchObject({
        code: 'ERR_SYNC_PEER',
        message: expect.stringContaining('malformed batch')
      })
    }
    expect(await pull(localPeer('a', a.engine))).toMatchObject({ submitted: 1 })
  })

  it('that cuts its answers, hangs, or sends without end fails in time, and loses nothing', async () => {
    await chained(3)
    const peer = localPeer('a', a.engine)
    let what = 'cut'
    const server = createServer((_, response) => {
      if (what === 'cut') {
        response.writeHead(200, { 'content-length': 1000 })
        response.write('x')
        setTimeout(() => response.destroy(), 5)
      }
      if (what === 'endless') {
        const more = (): void => {
          while (!response.destroyed && response.write(new Uint8Array(65_536)));
          if (!response.destroyed) response.once('drain', more)
        }
        more()
      }
    })
    const url = await listening(servers, server)
    const bad = httpPeer(url, { attempts: 2, backoff: 1, timeout: 300, maxBytes: 1_000_000 })
    const messages: Record<string, RegExp> = {
      cut: /cannot be reached/,
      hang: /within 300 ms/,
      endless: /more than 1000000 bytes/
    }
    for (const [kind, message] of Object.entries(messages)) {
      what = kind
      await expect(pull({ ...peer, transactions: bad.transactions! })).rejects.toThrow(message)
    }
    expect(await pull(peer)).toMatchObject({ submitted: 3, failed: 0 })
    await same()
  })
})

describe('a sample', () => {
  it('of none records transactions as unverified; one that spends them is verified with them', async () => {
    const all = await chained(5)
    expect(
      await syncTopic(b.engine, TOPIC, localPeer('a', a.engine), { ...options(), sample: 0 })
    ).toMatchObject({ submitted: 5, failed: 0 })
    await same()
    const verified = (): Promise<boolean[]> => b.engine.outputs.transactions.areVerified(txidsOf(all))
    expect(await verified()).toEqual(all.map(() => false))
    await send(pay([[all.at(-1)!, 0]], [1]))
    expect(await syncTopic(b.engine, TOPIC, localPeer('a', a.engine), options())).toMatchObject({
      submitted: 1,
      failed: 0
    })
    await same()
    expect(await verified()).toEqual(all.map(() => true))
  })

  it('finds scripts that do not hold, and checks the proofs of all', async () => {
    const coin = await minted()
    const forged = writeTransaction({
      version: 1,
      inputs: [{ txid: coin.txid, vout: 0, script: new Uint8Array([1, 1]), sequence: 0 }],
      outputs: [{ satoshis: 1, script: payTo(key) }],
      lockTime: 0
    })
    await chain.submit(forged)
    await a.engine.submit({ beef: chain.beef(forged.txid), topics: [TOPIC] }, 'historical-tx-no-spv')
    const sampled = await TestNode.open('c', chain, { [TOPIC]: ones(true) })
    const pull = (node: TestNode, sample: number) =>
      syncTopic(node.engine, TOPIC, localPeer('a', a.engine), { ...options(), sample })
    expect(await pull(sampled, 1)).toMatchObject({ submitted: 1, failed: 1 })
    expect(await pull(b, 0)).toMatchObject({ submitted: 2, failed: 0 })
    await sampled.close()
    const elsewhere = await TestNode.open('d', new DevChain({ seed: 'another chain' }))
    expect(await pull(elsewhere, 0)).toMatchObject({ submitted: 0 })
    expect((await elsewhere.state()).members).toEqual([])
    await elsewhere.close()
  })
})
