/** A topic ends up the same in whatever order transactions came, and whatever was taken back on the way. */

import type { Transaction } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { formatOutpoint, makeOutpoint, type Topic } from '@quoin/primitives'
import { TxUpdate, verifyIndex } from '@quoin/txo'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { mint, ones, pay, TestNode, TOPIC, token } from './gasp/node.testing.ts'
import { overlay } from './keys.ts'
import { SILENT } from './logger.ts'
import { ReevaluationQueue } from './reevaluation.ts'
import type { QuoinTopic } from './types.ts'
import { verifyAdmissions } from './verify-admissions.ts'

let chain: DevChain
let node: TestNode
const open = async (topic: QuoinTopic): Promise<void> => {
  node = await TestNode.open('node', chain, { [TOPIC]: topic })
}
beforeEach(() => {
  chain = new DevChain({ seed: 'second thoughts' })
})
afterEach(async () => {
  expect((await verifyIndex(node.store)).differences).toEqual([])
  for await (const { finding } of verifyAdmissions(node.store)) expect(finding).toBeUndefined()
  await node.close()
})

const sent = async (transaction: Transaction): Promise<Transaction> => {
  await chain.submit(transaction, { replace: true })
  return transaction
}
const name = ({ txid }: Transaction, vout: number): string => formatOutpoint(makeOutpoint(txid, vout))
const members = async (): Promise<string[]> => (await node.state()).members
const admissionOf = async ({ txid }: Transaction) => (await node.engine.admissions(txid))?.[TOPIC]

describe('a transaction that comes before the one that it spends', () => {
  it('is evaluated again when that is admitted between the evaluation and its acknowledgement', async () => {
    await open(token)
    const { outputs } = node.engine
    const a = await mint(chain)
    const spender = await sent(pay([[a, 0]], [1]))
    await node.submit(a)
    await node.submit(spender)
    let evaluations = 0
    const queue = new ReevaluationQueue(
      outputs,
      {
        reevaluate: async txid => {
          // The commit of an admission enqueues the spender, which is leased.
          if (++evaluations > 1) return false
          const update = new TxUpdate(a.txid).admit('tm_other' as Topic, 0)
          const { judgeAgain } = overlay.collections
          await outputs.commit(
            update.addWrites(batch => outputs.store.queueAt(judgeAgain, []).enqueueIn(batch, txid, 0))
          )
          return false
        },
        readmit: async () => undefined
      },
      SILENT
    )
    await outputs.store.queueAt(overlay.collections.judgeAgain, []).enqueue(spender.txid, 0)
    await queue.settle()
    expect(evaluations).toBe(2)
    await outputs.commit(new TxUpdate(a.txid).removeFromTopic('tm_other' as Topic, 0))
  })

  it('is evaluated again when another process, or a killed one, enqueued it', async () => {
    await open(token)
    node.engine.start()
    const a = await mint(chain)
    await node.submit(a)
    const queue = node.store.queueAt(overlay.collections.judgeAgain, [])
    await queue.enqueue(a.txid, 0)
    await queue.lease(1, 0.5)
    await expect.poll(() => queue.stats(), { timeout: 5000 }).toMatchObject({ due: 0, leased: 0 })
  })

  it('is evaluated again when that comes, and so is its spender', async () => {
    await open(token)
    const [a, b] = [await mint(chain), await mint(chain)]
    const both = await sent(
      pay(
        [
          [a, 0],
          [b, 0]
        ],
        [1, 1]
      )
    )
    const next = await sent(
      pay(
        [
          [both, 0],
          [both, 1]
        ],
        [1, 1]
      )
    )
    await node.submit(next)
    await node.submit(both)
    expect(await members()).toEqual([name(next, 0)])
    await node.submit(a)
    await node.submit(b)
    expect(await admissionOf(both)).toMatchObject({ outputsToAdmit: [0, 1], previousCoins: [0, 1] })
    expect(await admissionOf(next)).toMatchObject({ outputsToAdmit: [0, 1], previousCoins: [0, 1] })
    expect(await members()).toEqual([name(next, 0), name(next, 1)])
  })

  it('in every order there is, alone or all at once, the outcome is the same', async () => {
    const a = await mint(chain)
    const all = (from: Transaction): [Transaction, number][] => [
      [from, 0],
      [from, 1]
    ]
    const b = await sent(pay(all(a), [1, 1]))
    const c = await sent(pay(all(b), [1, 1]))
    const orders = permutations([a, b, c])
    for (const topic of [token, ones(true), ones(false)]) {
      const outcomes = new Set<string>()
      for (const order of [...orders, undefined]) {
        await open(topic)
        if (order) for (const transaction of order) await node.submit(transaction)
        else await Promise.all([c, b, a].map(transaction => node.submit(transaction)))
        outcomes.add(JSON.stringify(await node.state()))
        await node.close()
      }
      expect(outcomes.size).toBe(1)
    }
    await open(token)
  })

  it('also when the topic fails at it and the process ends: that it has to be is committed', async () => {
    let isFailing = true
    await open({
      ...token,
      admit: candidate => {
        if (isFailing && candidate.previousCoins.length > 0) throw new Error('not now')
        return token.admit(candidate)
      }
    })
    const a = await mint(chain)
    const b = await sent(pay([[a, 0]], [0]))
    await node.submit(b)
    await node.submit(a)
    expect(await admissionOf(b)).toMatchObject({ previousCoins: [] })
    await node.restart()
    isFailing = false
    const settled = async () => {
      await node.restart()
      await node.engine.settle()
      return admissionOf(b)
    }
    await expect.poll(settled, { timeout: 5000, interval: 200 }).toMatchObject({ previousCoins: [0] })
    expect(await members()).toEqual([])
  })
})

describe('a coin that left its topic', () => {
  it('is there again when the spender that it left with is taken back', async () => {
    await open(ones(false))
    const a = await mint(chain)
    const b = await sent(pay([[a, 0]], [1]))
    await node.submit(a)
    await node.submit(b)
    expect(await members()).toEqual([name(b, 0)])
    await node.engine.outputs.rollback(b.txid)
    await node.engine.settle()
    expect(await node.state()).toEqual({ members: [name(a, 0)], unspent: [name(a, 0)] })
    await node.submit(b)
    expect(await members()).toEqual([name(b, 0)])
  })

  it('is a coin still for a rival that is mined, and to which its spender gives way', async () => {
    await open(token)
    const a = await mint(chain, [1, 1, 500])
    await node.submit(a)
    const b = await sent(pay([[a, 0]], [1]))
    await node.submit(b)
    const rival = await sent(pay([[a, 0]], [1, 0]))
    chain.mine()
    await node.submit(rival)
    expect(await admissionOf(rival)).toMatchObject({
      outputsToAdmit: [0],
      previousCoins: [0],
      coinsRemoved: [0]
    })
    expect(await members()).toEqual([name(rival, 0)])
  })

  it('does not come back when an operator evicted it', async () => {
    await open(ones(true))
    const a = await mint(chain)
    await node.submit(a)
    await node.engine.evict(makeOutpoint(a.txid, 0))
    const b = await sent(pay([[a, 0]], [1]))
    await node.submit(b)
    expect(await admissionOf(b)).toMatchObject({ previousCoins: [] })
    await node.engine.outputs.rollback(b.txid)
    await node.engine.settle()
    expect(await members()).toEqual([])
  })
})

const permutations = <T>(items: readonly T[]): T[][] =>
  items.length < 2
    ? [[...items]]
    : items.flatMap((item, i) => permutations(items.filter((_, j) => j !== i)).map(rest => [item, ...rest]))
