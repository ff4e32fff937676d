import { createServer } from 'node:http'
import type { Bump, Transaction } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { toHex } from '@quoin/primitives'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { listening, serveNode } from '../gasp/http.testing.ts'
import { mint, pay, TestNode, TOPIC, withoutBatches } from '../gasp/node.testing.ts'
import { httpPeer, localPeer, type Peer } from '../gasp/peer.ts'
import { type SyncReport, syncTopic, TopicSync } from '../gasp/topic-sync.ts'
import type { AnchorJson } from './wire.ts'

let chain: DevChain
let here: TestNode
let there: TestNode
beforeEach(async () => {
  chain = new DevChain()
  here = await TestNode.anchored('here', chain)
  there = await TestNode.anchored('there', chain)
})
afterEach(async () => {
  await here.close()
  await there.close()
})

/** A peer that lists nothing by GASP: a repair is due to anchors alone. */
const unlisted = (peer: Peer): Peer => ({
  ...peer,
  syncResponse: async () => ({ UTXOList: [], since: 0, applied: { transactions: [], last: 0 } })
})

/** A peer without the extension of short ranges. */
const inFull = (peer: Peer): Peer => ({
  ...peer,
  anchors: (question, topic, request, signal) =>
    peer.anchors!(question, topic, { ...request, short: false }, signal)
})

/** Mined transactions, one in each of so many blocks. */
const minedBlocks = async (count: number): Promise<Transaction[]> => {
  const all: Transaction[] = []
  for (let i = 0; i < count; i++) {
    all.push(await mint(chain))
    chain.mine()
  }
  return all
}

const admit = async (node: TestNode, transactions: readonly Transaction[]): Promise<void> => {
  for (const each of transactions) await node.submit(each)
}

const tacOf = async ({ engine }: TestNode): Promise<string> => toHex((await engine.anchors!.tip(TOPIC))!.tac)

const expectEqual = async (): Promise<void> => expect(await tacOf(here)).toBe(await tacOf(there))

const pull = (peer: Peer): Promise<SyncReport> => syncTopic(here.engine, TOPIC, peer)

/** The requests that a peer was asked. */
const recorded = (peer: Peer): { readonly peer: Peer; readonly asked: string[] } => {
  const asked: string[] = []
  return {
    asked,
    peer: {
      ...peer,
      anchors: (question, ...rest) => {
        asked.push(question)
        return peer.anchors!(question, ...rest)
      }
    }
  }
}

describe('a comparison of anchors', () => {
  it.each([
    ['in short', (peer: Peer) => peer, 0],
    ['by the routes of BRC-136', (peer: Peer) => inFull(withoutBatches(peer)), 2]
  ] as const)('fetches what is missing far behind the tip, %s', async (_, form, lists) => {
    const all = await minedBlocks(24)
    await admit(there, all)
    await admit(
      here,
      all.filter((_, i) => i !== 3 && i !== 20)
    )
    const { peer, asked } = recorded(form(unlisted(localPeer('there', there.engine))))
    const { anchors } = await pull(peer)
    expect(anchors).toMatchObject({
      fetched: 2,
      missing: 0,
      extra: 0,
      agreed: chain.height,
      height: chain.height
    })
    await expectEqual()
    expect(asked.filter(each => each === 'admitted')).toHaveLength(lists)
    const again = recorded(unlisted(localPeer('there', there.engine)))
    expect((await pull(again.peer)).anchors).toMatchObject({ fetched: 0, agreed: chain.height })
    expect(again.asked).toEqual(['tip'])
  })

  it('fetches the proof of a transaction that is not mined here', async () => {
    const transaction = await mint(chain)
    await here.submit(transaction)
    chain.mine()
    await there.submit(transaction)
    const { anchors } = await pull(unlisted(localPeer('there', there.engine)))
    expect(anchors).toMatchObject({ fetched: 1, missing: 0, agreed: chain.height })
    await expectEqual()
  })

  it('reports what the peer lacks, and is not repeated while nothing changes', async () => {
    const all = await minedBlocks(6)
    await admit(here, all.slice(2))
    await admit(there, all.slice(0, 4))
    const sync = new TopicSync(here.engine, TOPIC, unlisted(localPeer('there', there.engine)))
    expect((await sync.run()).anchors).toMatchObject({ fetched: 2, missing: 0, extra: 2 })
    const { peer, asked } = recorded(unlisted(localPeer('there', there.engine)))
    expect((await syncTopic(here.engine, TOPIC, peer)).anchors).toMatchObject({ fetched: 0, extra: 2 })
    expect(asked).toEqual(['tip'])
    await syncTopic(there.engine, TOPIC, localPeer('here', here.engine))
    await expectEqual()
    expect((await sync.run()).anchors).toMatchObject({ extra: 0, agreed: chain.height })
  })

  it('takes the transactions of compared blocks out of the listing of the peer', async () => {
    const all = await minedBlocks(3)
    const unmined = await mint(chain)
    await admit(there, [...all, unmined])
    await admit(here, all)
    const sync = new TopicSync(here.engine, TOPIC, localPeer('there', there.engine))
    expect(await sync.run()).toMatchObject({ listed: 1, submitted: 1 })
    const later = await minedBlocks(1)
    await admit(there, later)
    const report = await sync.run()
    expect(report).toMatchObject({ listed: 0 })
    expect(report.anchors).toMatchObject({ fetched: 1, missing: 0 })
    await expectEqual()
  })

  it('admits parents before children, and a child that only spends', async () => {
    const parent = await mint(chain)
    const child = pay([[parent, 0]], [1])
    const last = pay([[child, 0]], [0])
    for (const each of [child, last]) await chain.submit(each)
    chain.mine()
    await admit(there, [parent, child, last])
    const { anchors } = await pull(unlisted(localPeer('there', there.engine)))
    expect(anchors).toMatchObject({ fetched: 3, missing: 0 })
    await expectEqual()
    expect(await here.state()).toEqual(await there.state())
  })

  it('stops where the chains of the nodes part', async () => {
    const [first] = await minedBlocks(2)
    const fork = chain.height
    const other = await TestNode.anchored('other', DevChain.from(chain.toJSON()))
    for (const [node, satoshis] of [
      [here, 800],
      [other, 700]
    ] as const) {
      const own = await mint(node.chain, [1, satoshis])
      node.chain.mine(2)
      await admit(node, [first!, own])
    }
    const { anchors } = await pull(localPeer('other', other.engine))
    expect(anchors).toMatchObject({ fetched: 0, missing: 0, agreed: fork, height: fork })
    await other.close()
  })
})

describe('a peer that lies', () => {
  const lying = (change: (question: string, answer: never) => unknown): Peer => {
    const peer = inFull(unlisted(withoutBatches(localPeer('there', there.engine))))
    return {
      ...peer,
      anchors: async (question, ...rest) =>
        change(question, (await peer.anchors!(question, ...rest)) as never)
    }
  }
  const cases: [string, (question: string, answer: Record<string, unknown>) => unknown][] = [
    [
      'about the count of a block',
      (question, answer) =>
        question === 'range'
          ? {
              ...answer,
              anchors: (answer['anchors'] as AnchorJson[]).map(each => ({ ...each, admittedCount: 4 }))
            }
          : answer
    ],
    [
      'about the root of a block',
      (question, answer) =>
        question === 'range'
          ? {
              ...answer,
              anchors: (answer['anchors'] as AnchorJson[]).map(each => ({
                ...each,
                basmRoot: 'ab'.repeat(32)
              }))
            }
          : answer
    ],
    [
      'about the list of a block',
      (question, answer) =>
        question === 'admitted' ? { ...answer, admitted: [{ txid: 'ab'.repeat(32), blockIndex: 1 }] } : answer
    ],
    [
      'about the index of a transaction',
      (question, answer) =>
        question === 'admitted'
          ? {
              ...answer,
              admitted: (answer['admitted'] as { txid: string; blockIndex: number }[]).map(each => ({
                ...each,
                blockIndex: each.blockIndex + 1
              }))
            }
          : answer
    ],
    [
      'about a raw transaction',
      (question, answer) =>
        question === 'raw'
          ? {
              ...answer,
              transactions: (answer['transactions'] as { txid: string; rawTx: string }[]).map(each => ({
                ...each,
                rawTx: each.rawTx.replace(/00000000$/, '01000000')
              }))
            }
          : answer
    ],
    [
      'by leaving out raw transactions',
      (question, answer) => (question === 'raw' ? { transactions: [] } : answer)
    ],
    ['about the topic', (_, answer) => ({ ...answer, topic: 'tm_other' })]
  ]

  it.each(cases)('%s has nothing admitted, and is listed all the same', async (_, change) => {
    const [transaction] = await minedBlocks(1)
    await admit(there, [transaction!])
    const report = await pull(lying(change as never))
    expect(report).toMatchObject({ submitted: 0 })
    expect(report).not.toHaveProperty('anchors')
    expect(await here.engine.admissions(transaction!.txid)).toBeUndefined()
    const { syncResponse } = localPeer('there', there.engine)
    expect(await pull({ ...lying(change as never), syncResponse })).toMatchObject({ listed: 1, submitted: 1 })
  })

  it.each<[string, (short: { roots: string[]; prefixes: string[]; tac: string }) => object]>([
    [
      'other prefixes',
      short => ({ ...short, prefixes: short.prefixes.map(each => each.replace(/./g, 'a')) })
    ],
    ['another root', short => ({ ...short, roots: short.roots.map(() => 'ab'.repeat(32)) })],
    ['fewer blocks', short => ({ ...short, roots: [], prefixes: [] })]
  ])('in short, with %s, is asked in full', async (_, change) => {
    const all = await minedBlocks(3)
    await admit(there, all)
    await admit(here, all.slice(1))
    const peer = unlisted(localPeer('there', there.engine))
    const { anchors } = await pull({
      ...peer,
      anchors: async (...question) => {
        const answer = (await peer.anchors!(...question)) as { short?: never }
        return answer.short ? { ...answer, short: change(answer.short) } : answer
      }
    })
    expect(anchors).toMatchObject({ fetched: 1, missing: 0, extra: 0, agreed: chain.height })
  })

  it('with a proof of another chain has nothing admitted', async () => {
    const [transaction] = await minedBlocks(1)
    await here.submit(await mint(chain))
    const proof = (await chain.proof(transaction!.txid)) as { bump: Bump }
    await admit(there, [transaction!])
    expect(proof.bump.height).toBe(chain.height)
    await chain.reorg(1, { drop: [transaction!.txid] })
    const { anchors } = await pull(unlisted(localPeer('there', there.engine)))
    expect(anchors).toMatchObject({ fetched: 1, missing: 1 })
    expect(await here.engine.admissions(transaction!.txid)).toBeUndefined()
  })
})

describe('over HTTP', () => {
  const servers: ReturnType<typeof createServer>[] = []
  afterEach(() => {
    for (const server of servers.splice(0)) server.close()
  })

  it('a node serves its anchors', async () => {
    const all = await minedBlocks(3)
    await admit(there, all)
    const peer = httpPeer(await listening(servers, serveNode(there)))
    const { anchors } = await pull(unlisted(peer))
    expect(anchors).toMatchObject({ fetched: 3, agreed: chain.height })
  })

  it.each([
    [400, { status: 'error', message: 'not enabled', code: 'BASM_UNSUPPORTED' }],
    [404, {}],
    [501, { status: 'error', code: 'ERR_ANCHORS_UNSUPPORTED', message: 'no anchors' }]
  ])('a node without anchors is synced by GASP: status %i', async (status, body) => {
    const server = createServer((_, response) => response.writeHead(status).end(JSON.stringify(body)))
    const { anchors } = httpPeer(await listening(servers, server))
    const [transaction] = await minedBlocks(1)
    await admit(there, [transaction!])
    const report = await pull({ ...localPeer('there', there.engine), anchors: anchors! })
    expect(report).toMatchObject({ submitted: 1 })
    expect(report).not.toHaveProperty('anchors')
  })
})
