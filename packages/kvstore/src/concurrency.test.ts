/** Fifty writers on one tuple, through one node and through two: one live token, or a conflict that is reported. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Transaction } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { localPeer, syncTopic, why } from '@quoin/overlay'
import { formatTxid, type Outpoint } from '@quoin/primitives'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { randomFrom } from '../../chain/src/verify/test-chain.testing.ts'
import { Author, coinOf, compose, type Entry, KvNode } from './author.testing.ts'
import { TOPIC } from './history.ts'

const WRITERS = 50
const AT_ONCE = 10
const ann = new Author('ann')
const writers = Array.from({ length: WRITERS }, (_, i) => `writer ${i}`)
const EXACT = { key: 'greeting', controller: ann.controller }
let chain: DevChain
let nodes: KvNode[]
beforeEach(async () => {
  chain = new DevChain({ seed: 'writers' })
  nodes = [await KvNode.open({ chain }), await KvNode.open({ chain })]
})
afterEach(async () => {
  for (const node of nodes) await node.close()
})

const codes = async (node: KvNode, outpoint: Outpoint): Promise<string[]> =>
  (await why(node.engine, outpoint, TOPIC)).reasons.map(({ code }) => code)

/** Every writer wants to spend the same token; who gets it, and what the others are told. */
const race = async (prior: readonly Entry[], nodeOf: (writer: number) => KvNode) => {
  const rivals = writers.map(value => compose(coinOf(chain), [[ann, { value }]], prior))
  const outcomes = await Promise.allSettled(rivals.map((each, i) => nodeOf(i).propose(each)))
  return {
    won: rivals.filter((_, i) => outcomes[i]!.status === 'fulfilled'),
    told: outcomes.flatMap(each => (each.status === 'rejected' ? [each.reason.code as string] : []))
  }
}

const sync = async (): Promise<void> => {
  for (const [from, to] of [nodes, nodes.toReversed()]) {
    await syncTopic(to!.engine, TOPIC, localPeer('other', from!.engine))
  }
}

const mined = async (transaction: Transaction): Promise<void> => {
  await chain.submit(transaction)
  chain.mine()
  const answer = await chain.proof(transaction.txid)
  if (answer.status !== 'mined') throw new Error('it is not mined')
  for (const { engine } of nodes)
    await engine.handleNewMerkleProof(transaction.txid, answer.bump).catch(() => undefined)
}

describe('§2.3 §3.4 through one node', () => {
  it('§2.3 §3.4 of fifty that spend one token one is taken, and each of the others is told of the conflict', async () => {
    const [node] = nodes
    const first = await node!.set(ann, { value: 'first' })
    const { won, told } = await race([first], () => node!)
    expect(won).toHaveLength(1)
    expect(told).toEqual(Array.from({ length: WRITERS - 1 }, () => 'ERR_TXO_CONFLICT'))
    const found = await node!.lookup(EXACT)
    expect(
      found.map(({ outpoint, context }) => [formatTxid(outpoint.subarray(0, 32) as never), context])
    ).toEqual([[formatTxid(won[0]!.txid), undefined]])
    expect(await codes(node!, first.outpoint)).toContain('contested')
  })

  it('§3.4 fifty that create without looking are fifty live tokens, each of them reported as ambiguous', async () => {
    const [node] = nodes
    const { won, told } = await race([], () => node!)
    expect([won.length, told.length]).toEqual([WRITERS, 0])
    const found = await node!.lookup({ ...EXACT, limit: 2 * WRITERS })
    expect(found.map(({ context }) => context)).toEqual(writers.map(() => ({ ambiguous: WRITERS })))
    expect(await codes(node!, found[0]!.outpoint)).toContain('ambiguous')
  })

  it('§2.3 fifty that look, spend what is live, and try again, ten at a time, come to one token', async () => {
    const [node] = nodes
    await node!.set(ann, { value: 'first' })
    const random = randomFrom(50)
    const writeOnce = async (value: string): Promise<void> => {
      const coin = coinOf(chain)
      for (let attempt = 0; attempt < 20 * WRITERS; attempt++) {
        const [live] = await node!.lookup({ ...EXACT, history: false })
        const prior = {
          author: ann,
          transaction: live!.transactions[0]!.transaction!,
          vout: 0,
          outpoint: live!.outpoint
        }
        const mine = compose(coin, [[ann, { value }]], [prior])
        try {
          await node!.propose(mine)
        } catch (error) {
          expect((error as { code: string }).code).toMatch(/^ERR_(TXO_CONFLICT|TX_UNKNOWN)$/)
          await sleep(random() * 50)
          continue
        }
        await chain.submit(mine)
        chain.mine()
        return
      }
      throw new Error(`${value} never got through`)
    }
    for (let first = 0; first < WRITERS; first += AT_ONCE) {
      await Promise.all(writers.slice(first, first + AT_ONCE).map(writeOnce))
    }
    const [only, ...others] = await node!.lookup({ ...EXACT, history: true })
    expect(others).toEqual([])
    expect(only!.context).toBeUndefined()
    expect(only!.transactions.length).toBeGreaterThan(WRITERS)
  })
})

describe('§2.3 §3.4 through two nodes', () => {
  it('§3.4 each node has one live token, and the chain decides which is the one of both', async () => {
    const first = await nodes[0]!.set(ann, { value: 'first' })
    await nodes[1]!.submit(first.transaction)
    const { won, told } = await race([first], writer => nodes[writer % 2]!)
    expect(won).toHaveLength(2)
    expect(told).toEqual(Array.from({ length: WRITERS - 2 }, () => 'ERR_TXO_CONFLICT'))
    for (const node of nodes) expect(await node.lookup(EXACT)).toHaveLength(1)
    // The other's token is a conflict to each: refused, recorded, and never a second live one.
    await sync()
    for (const node of nodes) {
      const found = await node.lookup(EXACT)
      expect(found).toHaveLength(1)
      expect(found[0]!.context).toBeUndefined()
      expect(await codes(node, first.outpoint)).toContain('contested')
    }
    const [winner] = won
    await mined(winner!)
    for (const node of nodes) await node.submit(winner!)
    for (const node of nodes) {
      const found = await node.lookup(EXACT)
      expect(found.map(({ transactions }) => formatTxid(transactions[0]!.txid))).toEqual([
        formatTxid(winner!.txid)
      ])
    }
  })

  it('§3.4 what was created on both without looking is ambiguous on both, once they have heard of each other', async () => {
    const [a, b] = nodes
    await a!.set(ann, { value: 'here' })
    await b!.set(ann, { value: 'there' })
    await sync()
    for (const node of nodes) {
      const found = await node.lookup(EXACT)
      expect(found.map(({ value }) => value).sort()).toEqual(['here', 'there'])
      expect(found.map(({ context }) => context)).toEqual([{ ambiguous: 2 }, { ambiguous: 2 }])
    }
  })
})
