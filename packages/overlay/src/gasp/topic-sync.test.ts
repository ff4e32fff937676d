/** Pulling a topic from another node: nothing is believed, nothing is passed over. */
import { createServer, type Server } from 'node:http'
import { type Transaction, writeTransaction } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { formatTxid, makeOutpoint, QuoinError, type Txid, toHex } from '@quoin/primitives'
import { outputs as outputKeys, verifyIndex } from '@quoin/txo'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { payTo } from '../../../chain/src/verify/test-chain.testing.ts'
import type { QuoinTopic } from '../types.ts'
import { listening, serveNode } from './http.testing.ts'
import { key, mint, ones, pay, TestNode, TOPIC, withoutBatches } from './node.testing.ts'
import { httpPeer, localPeer, type Peer } from './peer.ts'
import { SyncService } from './service.ts'
import { syncTopic, TopicSync, type TopicSyncOptions } from './topic-sync.ts'
import type { BatchRequest, GraphNode, SyncResponse } from './wire.ts'

let chain: DevChain
let a: TestNode
let b: TestNode
let clock: number
const servers: Server[] = []
beforeEach(async () => {
  chain = new DevChain({ seed: 'topic sync' })
  clock = Date.now() / 1000
  a = await TestNode.open('a', chain)
  b = await TestNode.open('b', chain)
})
afterEach(async () => {
  for (const node of [a, b]) {
    expect((await verifyIndex(node.store)).differences).toEqual([])
    await node.close()
  }
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

const options: TopicSyncOptions = { now: () => clock }
let served: (peer: Peer) => Peer = peer => peer
const pull = (peer: Peer = served(localPeer('a', a.engine)), more: TopicSyncOptions = {}) =>
  syncTopic(b.engine, TOPIC, peer, { ...options, ...more })
/** Later, when what failed is tried again. */
const pullLater = (peer?: Peer, more?: TopicSyncOptions) => {
  clock += 10_000
  return pull(peer, more)
}
const send = async (node: TestNode, transaction: Transaction): Promise<Transaction> => {
  await chain.submit(transaction)
  await node.submit(transaction)
  return transaction
}
const minted = async (node = a, satoshis?: readonly number[]): Promise<Transaction> => {
  const transaction = await mint(chain, satoshis)
  await node.submit(transaction)
  return transaction
}
const same = async (): Promise<void> => expect(await b.state()).toEqual(await a.state())
const dead = async (peer = 'a') =>
  (await new TopicSync(b.engine, TOPIC, { ...localPeer(peer, a.engine) }).queue.list('dead')).items

/** It wants to have seen whatever is spent. */
const needy: QuoinTopic = {
  ...ones(true),
  needs: ({ transaction }) => transaction.inputs.map(({ txid, vout }) => makeOutpoint(txid, vout))
}

describe.each([
  ['in batches', (peer: Peer) => peer],
  ['one by one', withoutBatches]
])('of a Quoin node, %s', (_, how) => {
  beforeEach(() => {
    served = how
  })
  afterEach(() => {
    served = peer => peer
  })

  it('everything comes over: what is mined and what is not, spends, history', async () => {
    const first = await minted()
    const second = await send(a, pay([[first, 0]], [1]))
    chain.mine()
    await minted()
    await send(a, pay([[second, 0]], [0]))
    const late = await mint(chain)
    chain.mine()
    await a.submit(late)
    expect(await pull()).toEqual({ listed: 5, submitted: 5, failed: 0, isBehind: false })
    await same()
    expect((await b.state()).members).toHaveLength(4)
    expect(await pull()).toEqual({ listed: 0, submitted: 0, failed: 0, isBehind: false })
  })

  it('what a topic needs beside a transaction that is proved comes over with it, though the topic has none of it', async () => {
    const c = await TestNode.open('c', chain, { [TOPIC]: needy })
    const funding = chain.fund(payTo(key), 1000)
    const coin = await send(a, pay([[funding, 0]], [1, 900]))
    chain.mine()
    for (const { txid } of [funding, coin]) {
      const answer = await chain.proof(txid)
      if (answer.status === 'mined') await a.engine.handleNewMerkleProof(txid, answer.bump)
    }
    await syncTopic(c.engine, TOPIC, localPeer('a', a.engine), options)
    await pull()
    expect(await c.state()).toEqual(await a.state())
    expect(await c.engine.outputs.transactions.get(funding.txid)).toBeDefined()
    expect(await b.engine.outputs.transactions.get(funding.txid)).toBeUndefined()
    await c.close()
  })

  it('a coin that is burned there is spent here', async () => {
    const coin = await minted()
    await pull()
    expect((await b.state()).unspent).toHaveLength(1)
    await send(a, pay([[coin, 0]], [0]))
    await pull()
    expect((await b.state()).unspent).toEqual([])
    await same()
  })

  it('a run that finds nothing new writes nothing', async () => {
    await minted()
    const reference: Peer = {
      ...localPeer('reference', a.engine),
      syncResponse: (topic, { applied: _, ...request }) =>
        localPeer('reference', a.engine).syncResponse(topic, request)
    }
    for (const peer of [localPeer('a', a.engine), reference]) {
      await pull(peer)
      const { lastWrite } = b.store
      expect(await pull(peer)).toMatchObject({ submitted: 0 })
      expect(b.store.lastWrite).toBe(lastWrite)
    }
  })

  it('a chain of a hundred that is not mined comes over, page by page', async () => {
    let last = await minted()
    for (let i = 0; i < 100; i++) last = await send(a, pay([[last, 0]], [1]))
    expect(await pull(undefined, { page: 7 })).toMatchObject({ listed: 101, submitted: 101, failed: 0 })
    await same()
  })

  it('goes on after a restart where it was, and from the beginning when the peer has a new store', async () => {
    await minted()
    await pull()
    await minted()
    await b.restart()
    expect(await pull()).toMatchObject({ listed: 1, submitted: 1 })
    const before = await a.state()
    await a.close()
    a = await TestNode.open('a', chain)
    await minted()
    expect(await pull()).toMatchObject({ listed: 1, submitted: 1 })
    expect((await b.state()).members).toHaveLength(before.members.length + 1)
  })

  it('what was taken back here and is still there is asked for again', async () => {
    const coin = await minted()
    await pull()
    await b.engine.outputs.rollback(coin.txid)
    expect((await b.state()).members).toEqual([])
    await pull()
    await same()
  })

  it('what is evicted here stays away', async () => {
    const coin = await minted()
    await pull()
    await b.engine.evict(makeOutpoint(coin.txid, 0))
    await a.restart()
    await pullLater()
    expect((await b.state()).members).toEqual([])
  })

  it('a conflict is tried again until one of the two is mined', async () => {
    const coin = await minted()
    await pull()
    const [one, other] = [pay([[coin, 0]], [1]), pay([[coin, 0]], [1, 0])]
    await send(a, one)
    await chain.submit(other, { replace: true })
    await b.submit(other)
    expect(await pull()).toMatchObject({ listed: 1, submitted: 0, failed: 1 })
    await chain.submit(one, { replace: true })
    chain.mine()
    const answer = await chain.proof(one.txid)
    if (answer.status !== 'mined') throw new Error('it is mined')
    await a.engine.handleNewMerkleProof(one.txid, answer.bump)
    expect(await pullLater()).toMatchObject({ submitted: 1, failed: 0 })
    await same()
  })

  it('what the interpreter is too busy for is tried again, and the host of the peer is its client', async () => {
    await minted()
    const busy = new QuoinError('ERR_INTERPRETER_BUSY', 'the queue is full', { seconds: 1 })
    const submit = vi.spyOn(b.engine, 'submit').mockRejectedValueOnce(busy)
    const peer = { ...withoutBatches(localPeer('a', a.engine)), name: 'https://node.example:8443/overlay' }
    expect(await pull(peer)).toMatchObject({ submitted: 0, failed: 1 })
    expect(await pullLater(peer)).toMatchObject({ submitted: 1, failed: 0 })
    expect(submit.mock.calls.map(([{ client }]) => client)).toEqual([
      'node.example:8443',
      'node.example:8443'
    ])
    await same()
  })

  it('a parent that fails keeps its children waiting, and both come when it does', async () => {
    const first = await minted()
    chain.mine()
    await send(a, pay([[first, 0]], [1]))
    chain.mine()
    let isDown = true
    const peer = served(localPeer('a', a.engine))
    const flaky: Peer = {
      ...peer,
      ...(peer.transactions && {
        transactions: (topic: string, { version, txids }: BatchRequest) =>
          peer.transactions!(topic, {
            version,
            txids: txids!.filter(txid => !isDown || formatTxid(txid) !== formatTxid(first.txid))
          })
      }),
      node: request => {
        if (isDown && request.txid === formatTxid(first.txid)) {
          return Promise.reject(new QuoinError('ERR_SYNC_UNAVAILABLE', 'not now'))
        }
        return peer.node(request)
      }
    }
    await pull(flaky)
    expect((await b.state()).members).toEqual([])
    isDown = false
    await pullLater(flaky)
    await same()
    expect((await b.engine.admissions(first.txid))![TOPIC]!.outputsToAdmit).toEqual([0])
  })
})

/** A peer of the reference: it knows nothing of `applied`. */
const plain = (peer: Peer): Peer => ({
  ...peer,
  syncResponse: async (topic, { applied: _, ...request }) => peer.syncResponse(topic, request)
})

describe('of a node that lists outputs only', () => {
  it('what it has comes with the history that is not proved', async () => {
    const first = await minted()
    const second = await send(a, pay([[first, 0]], [1, 0]))
    await send(a, pay([[second, 0]], [1]))
    await minted(a, [1, 1, 3])
    expect(await pull(plain(localPeer('a', a.engine)), { page: 2 })).toMatchObject({ failed: 0 })
    await same()
  })

  it('of a history that is longer than the limits allow, what there is room for comes over, and the coin', async () => {
    let last = await mint(chain, [1])
    await a.submit(last)
    for (let i = 0; i < 6; i++) last = await send(a, pay([[last, 0]], [1]))
    chain.mine()
    for (const { member: txid } of await a.store
      .use(outputKeys.collections.topicTransactions)
      .at(TOPIC)
      .range()) {
      const answer = await chain.proof(txid)
      if (answer.status === 'mined') await a.engine.handleNewMerkleProof(txid, answer.bump)
    }
    const kept = await Promise.all(
      [{ transactions: 3 }, { depth: 1 }, { bytes: 1500 }, {}].map(async limits => {
        const c = await TestNode.open('c', chain, { [TOPIC]: needy })
        const peer = plain(localPeer('a', a.engine))
        expect(await syncTopic(c.engine, TOPIC, peer, { ...options, limits })).toMatchObject({ failed: 0 })
        const { members, unspent } = await c.state()
        expect(unspent).toEqual([`${formatTxid(last.txid)}.0`])
        await c.close()
        return members.length
      })
    )
    expect(kept.at(-1)).toBe(7)
    for (const some of kept.slice(0, -1)) expect(some).toBeLessThan(7)
  })

  it('many outputs of one score, inclusive as the reference has it, neither loop nor are lost', async () => {
    const all = await minted(
      a,
      Array.from({ length: 40 }, () => 1)
    )
    const more = await minted(a)
    const peer = localPeer('a', a.engine)
    const inclusive: Peer = {
      ...peer,
      syncResponse: async (_, { since, limit = 10 }) => {
        const rows = [
          ...all.outputs.map((_, outputIndex) => ({ txid: formatTxid(all.txid), outputIndex, score: 5 })),
          { txid: formatTxid(more.txid), outputIndex: 0, score: 6 }
        ]
        return { UTXOList: rows.filter(({ score }) => score >= since).slice(0, limit), since }
      }
    }
    const report = await pull(inclusive, { page: 10, pages: 20 })
    expect(report).toMatchObject({ failed: 0, isBehind: false })
    await same()
  })
})

describe('a peer that lies gains nothing', () => {
  type Lie = (node: GraphNode, transaction: Transaction) => unknown
  const lying = (lie: Lie): Peer => {
    const peer = withoutBatches(localPeer('a', a.engine))
    return {
      ...peer,
      node: async request => {
        const node = (await peer.node(request)) as GraphNode
        return lie(node, chain.transaction(parse(request.txid))!)
      }
    }
  }
  const parse = (txid: string): Txid => Uint8Array.from(Buffer.from(txid, 'hex')).reverse() as Txid
  const other = (): Transaction => chain.fund(payTo(key), 77)
  const proofOf = async (transaction: Transaction): Promise<string> => {
    const answer = await chain.proof(transaction.txid)
    return answer.status === 'mined' ? toHex(answer.bump.toBytes()) : ''
  }

  const lies: Record<string, () => Lie> = {
    'another transaction': () => {
      const rawTx = toHex(other().raw)
      return node => ({ ...node, rawTx })
    },
    'no transaction': () => node => ({ ...node, rawTx: '00' }),
    'half a transaction': () => node => ({ ...node, rawTx: node.rawTx.slice(0, -2) }),
    'text for bytes': () => node => ({ ...node, rawTx: 'hello' }),
    'a number for text': () => node => ({ ...node, rawTx: 7 }),
    nothing: () => () => null,
    'a list': () => () => [],
    'bytes that are no proof': () => node => ({ ...node, proof: 'ff00' }),
    'a proof of another block': () => node => ({
      ...node,
      ...(node.proof && { proof: `ff${node.proof.slice(2)}` })
    }),
    'a proof with a wrong hash': () => node => ({
      ...node,
      ...(node.proof && { proof: `${node.proof.slice(0, -2)}${node.proof.endsWith('00') ? '01' : '00'}` })
    })
  }
  for (const [name, make] of Object.entries(lies)) {
    it(`${name}: it fails, is tried again, and is a dead letter in the end`, async () => {
      const coin = await minted()
      chain.mine()
      const answer = await chain.proof(coin.txid)
      if (answer.status === 'mined') await a.engine.handleNewMerkleProof(coin.txid, answer.bump)
      const peer = lying(make())
      expect(await pull(peer)).toMatchObject({ listed: 1, submitted: 0, failed: 1 })
      for (let i = 0; i < 10; i++) await pullLater(peer)
      expect((await b.state()).members).toEqual([])
      expect(await dead()).toHaveLength(1)
      // Another peer that has the same is not affected.
      await pull(localPeer('honest', a.engine))
      await same()
    })
  }

  it('a proof of another transaction of the same block is refused', async () => {
    await minted()
    const two = await mint(chain)
    chain.mine()
    const proof = await proofOf(two)
    expect(await pull(lying(node => ({ ...node, proof })))).toMatchObject({ failed: 1 })
    expect((await b.state()).members).toEqual([])
  })

  it('scripts that do not hold are refused, though the peer lists them', async () => {
    const coin = await minted()
    const forged = writeTransaction({
      version: 1,
      inputs: [{ txid: coin.txid, vout: 0, script: new Uint8Array([1, 1]), sequence: 0 }],
      outputs: [{ satoshis: 1, script: payTo(key) }],
      lockTime: 0
    })
    await chain.submit(forged)
    await a.engine.submit({ beef: chain.beef(forged.txid), topics: [TOPIC] }, 'historical-tx-no-spv')
    expect(await pull()).toMatchObject({ listed: 2, submitted: 1, failed: 1 })
    expect((await b.state()).unspent).toHaveLength(1)
  })

  /** Transactions that spend one another without end, made as they are asked for. */
  const endless = (width: number): Peer => {
    const made = new Map<string, Transaction>()
    let salt = 0
    const make = (): Transaction => {
      const transaction = writeTransaction({
        version: 1,
        inputs: Array.from({ length: width }, (_, i) => {
          const txid = Buffer.alloc(32)
          txid.writeUInt32LE(++salt, 0)
          return { txid: new Uint8Array(txid) as Txid, vout: i, script: new Uint8Array(), sequence: 0 }
        }),
        outputs: [{ satoshis: 1, script: payTo(key) }],
        lockTime: 0
      })
      made.set(formatTxid(transaction.txid), transaction)
      return transaction
    }
    const root = make()
    return {
      name: 'endless',
      syncResponse: async () => ({
        UTXOList: [],
        since: 0,
        applied: { transactions: [{ txid: formatTxid(root.txid), score: 1 }], last: 1 }
      }),
      // A hash cannot be met, so whatever else it sends is not what was asked for.
      node: async ({ txid }) => ({
        graphID: '',
        rawTx: toHex((made.get(txid) ?? make()).raw),
        outputIndex: 0
      })
    }
  }

  it('a graph without an end, or that leads back into itself, ends where a txid does not fit', async () => {
    expect(await pull(endless(1))).toMatchObject({ submitted: 0, failed: 1 })
    expect(await pull(endless(50))).toMatchObject({ submitted: 0 })
  })

  it('a graph that is too long, too wide, too deep or too slow is given up', async () => {
    let last = await minted()
    for (let i = 0; i < 20; i++) last = await send(a, pay([[last, 0]], [1]))
    const tip = plain({ ...localPeer('a', a.engine), name: 'a' })
    for (const limits of [{ transactions: 10 }, { depth: 10 }, { bytes: 1000 }]) {
      const node = await TestNode.open('c', chain)
      const report = await syncTopic(node.engine, TOPIC, tip, { ...options, limits })
      expect(report).toMatchObject({ submitted: 0, failed: 1 })
      await node.close()
    }
    const slow: Peer = { ...tip, node: (_, signal) => hanging(signal) }
    const report = await pull(slow, { limits: { milliseconds: 50 } })
    expect(report).toMatchObject({ submitted: 0, failed: 1 })
  })

  const hanging = (signal: AbortSignal | undefined): Promise<never> =>
    new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))

  it('pages without an end fill the queue up to its limit, and no further', async () => {
    let next = 1
    const peer: Peer = {
      name: 'pages',
      syncResponse: async (_, { limit = 1 }): Promise<SyncResponse> => ({
        UTXOList: [],
        since: 0,
        applied: {
          transactions: Array.from({ length: limit }, () => ({
            txid: (next++).toString(16).padStart(64, '0'),
            score: next
          })),
          last: next
        }
      }),
      node: () => Promise.reject(new QuoinError('ERR_SYNC_PEER', 'no'))
    }
    const report = await pull(peer, { page: 100, backlog: 500 })
    expect(report).toMatchObject({ isBehind: true, submitted: 0 })
    expect(report.listed).toBeLessThan(1000)
    expect((await pull(peer, { page: 10, pages: 3, backlog: 1e6 })).listed).toBe(30)
  })

  it('a list that is none, or longer than asked for, is refused and nothing is passed over', async () => {
    await minted()
    const txid = '00'.repeat(32)
    const wrong: unknown[] = [
      null,
      {},
      { UTXOList: 'x', since: 0 },
      { UTXOList: [{ txid: 'x', outputIndex: 0, score: 0 }], since: 0 },
      { UTXOList: [{ txid, outputIndex: -1, score: 0 }], since: 0 },
      { UTXOList: [{ txid, outputIndex: 0, score: -1 }], since: 0 },
      { UTXOList: [{ txid, outputIndex: 0, score: '7' }], since: 0 },
      { UTXOList: [], since: 0, applied: 7 },
      { UTXOList: [], since: 0, applied: { transactions: [{ txid: 1 }], last: 1 } },
      { UTXOList: [], since: 0, applied: { transactions: [], last: -1 } },
      { UTXOList: Array.from({ length: 2000 }, () => ({ txid, outputIndex: 0, score: 1 })), since: 0 }
    ]
    for (const answer of wrong) {
      const peer: Peer = { ...localPeer('a', a.engine), syncResponse: async () => answer }
      await expect(pull(peer)).rejects.toMatchObject({ code: 'ERR_SYNC_PEER' })
    }
    await pull()
    await same()
  })
})

const serve = (node: TestNode): Promise<string> => listening(servers, serveNode(node))

describe('over HTTP', () => {
  it('a topic is pulled, and what was taken back there meanwhile is let go', async () => {
    const url = await serve(a)
    const coin = await minted()
    await send(a, pay([[coin, 0]], [1]))
    expect(await syncTopic(b.engine, TOPIC, url)).toMatchObject({ submitted: 2, failed: 0 })
    await same()
    await expect(
      httpPeer(url).node({ graphID: `${'11'.repeat(32)}.0`, txid: '11'.repeat(32), outputIndex: 0 })
    ).rejects.toMatchObject({ code: 'ERR_SYNC_PEER', details: { gone: true } })
  })

  it('a node that hangs, is not there, sends too much, or speaks something else is an error in time', async () => {
    const quick = { attempts: 2, backoff: 1, maxBytes: 1000 }
    const cases: [string, RegExp][] = [
      ['hang', /within 100 ms/],
      ['large', /more than 1000 bytes/],
      ['html', /not JSON/],
      ['broken', /status 500/],
      ['redirect', /cannot be reached/]
    ]
    for (const [what, message] of cases) {
      let asked = 0
      const url = await listening(
        servers,
        createServer((_, response) => {
          asked++
          if (what === 'large') response.end('x'.repeat(100_000))
          if (what === 'html') response.end('<html>')
          if (what === 'broken') response.writeHead(500).end('oh')
          if (what === 'redirect') response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()
        })
      )
      const timeout = what === 'hang' ? 100 : 10_000
      await expect(syncTopic(b.engine, TOPIC, url, { ...quick, timeout })).rejects.toThrow(message)
      expect(asked).toBe(['hang', 'broken', 'redirect'].includes(what) ? 2 : 1)
    }
    await expect(syncTopic(b.engine, TOPIC, 'http://127.0.0.1:1', quick)).rejects.toThrow(/cannot be reached/)
    for (const url of ['ftp://x', 'nonsense', 'http://user:secret@x', 'http://x?y']) {
      expect(() => httpPeer(url)).toThrow('expected http or https')
    }
  })
})

describe('by itself', () => {
  it('runs its peers, says how it stands, and stops', async () => {
    await minted()
    const down: Peer = {
      ...localPeer('down', a.engine),
      syncResponse: () => Promise.reject(new QuoinError('ERR_SYNC_UNAVAILABLE', 'down cannot be reached'))
    }
    const service = new SyncService(b.engine, {
      peers: { [TOPIC]: [down, localPeer('a', a.engine)] },
      interval: 10,
      jitter: 0.5
    })
    service.start()
    service.start()
    await expect.poll(() => b.state(), { timeout: 5000 }).toEqual(await a.state())
    await minted()
    await expect.poll(async () => (await b.state()).members.length, { timeout: 5000 }).toBe(2)
    await service.stop()
    const [first, second] = await service.status()
    expect(first).toMatchObject({
      topic: TOPIC,
      peer: 'down',
      running: false,
      lastError: 'down cannot be reached',
      lastSuccess: undefined
    })
    expect(second).toMatchObject({ peer: 'a', lastError: undefined, queued: 0, dead: 0, lag: 0 })
    await minted()
    await new Promise(resolve => setTimeout(resolve, 50))
    expect((await b.state()).members).toHaveLength(2)
  })

  it('a topic that is not there is an error', () => {
    expect(() => new TopicSync(b.engine, 'tm_none', localPeer('a', a.engine))).toThrow(
      'no topic is called tm_none'
    )
  })
})
