/**
 * A Quoin node and the engine of `@bsv/overlay` 0.4.6, unmodified, over real HTTP, in both directions: they converge as
 * far as the reference can. What it cannot is listed in the last part.
 */
import type { Server } from 'node:http'
import { Engine as ReferenceEngine, type TopicManager as ReferenceManager } from '@bsv/overlay'
import { Transaction as SdkTransaction } from '@bsv/sdk'
import type { Transaction } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { formatTxid } from '@quoin/primitives'
import { changeCursor } from '@quoin/txo'
import type { Knex } from 'knex'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { payTo } from '../../../chain/src/verify/test-chain.testing.ts'
import { openKnex } from '../../../overlay-storage/src/knex-storage.testing.ts'
import { listening, serveNode, serveReference } from './http.testing.ts'
import { about, key, mint, pay, TestNode, TOPIC } from './node.testing.ts'
import { syncTopic } from './topic-sync.ts'

/** The same plug-in runs in both. */
const manager = {
  ...about('ones'),
  identifyAdmissibleOutputs: async (beef: number[], previousCoins: number[]) => ({
    outputsToAdmit: SdkTransaction.fromBEEF(beef).outputs.flatMap(({ satoshis }, vout) =>
      satoshis === 1 ? [vout] : []
    ),
    coinsToRetain: previousCoins
  })
}

let chain: DevChain
let node: TestNode
let reference: ReferenceEngine
let knex: Knex
let clock: number
let [nodeUrl, referenceUrl] = ['', '']
const servers: Server[] = []

beforeEach(async () => {
  for (const level of ['log', 'info', 'warn', 'error', 'debug'] as const) {
    vi.spyOn(console, level).mockImplementation(() => undefined)
  }
  chain = new DevChain({ seed: 'reference' })
  clock = Date.now() / 1000
  node = await TestNode.open('quoin', chain, { [TOPIC]: manager })
  nodeUrl = await listening(servers, serveNode(node))
  const opened = await openKnex()
  knex = opened.knex
  reference = new ReferenceEngine(
    { [TOPIC]: manager as ReferenceManager },
    {},
    opened.storage,
    chain,
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
    { [TOPIC]: [nodeUrl] }
  )
  referenceUrl = await listening(servers, serveReference(reference))
})
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
  await node.close()
  await knex.destroy()
  vi.restoreAllMocks()
})

const unspentThere = async (): Promise<string[]> =>
  (await reference.storage.findUTXOsForTopic(TOPIC))
    .map(({ txid, outputIndex }) => `${txid}.${outputIndex}`)
    .sort()
const unspentHere = async (): Promise<string[]> => (await node.state()).unspent
const submitThere = async (transaction: Transaction): Promise<void> => {
  await reference.submit({ beef: [...chain.beef(transaction.txid)], topics: [TOPIC] })
}
const pull = () => {
  clock += 10_000
  return syncTopic(node.engine, TOPIC, referenceUrl, { now: () => clock, attempts: 1 })
}
const outpoint = (transaction: Transaction, vout = 0): string => `${formatTxid(transaction.txid)}.${vout}`
/** Each mined, in this order. */
const sent = async (transaction: Transaction): Promise<Transaction> => {
  await chain.submit(transaction)
  return transaction
}

/** Mined and not mined, many outputs of one transaction, a chain with funding that is not proved. */
const various = async (submit: (transaction: Transaction) => Promise<unknown>): Promise<void> => {
  const mined = await mint(chain)
  chain.mine()
  await submit(mined)
  await submit(await mint(chain, [1, 1, 1, 500]))
  const first = await mint(chain)
  await submit(first)
  const second = await sent(pay([[first, 0]], [1]))
  await submit(second)
  await submit(await sent(pay([[second, 0]], [1])))
}

describe('the reference pulls from Quoin', () => {
  it('all that is not spent comes over, and what comes later', async () => {
    await various(transaction => node.submit(transaction))
    await reference.startGASPSync()
    expect(await unspentThere()).toEqual(await unspentHere())
    expect(await unspentHere()).toHaveLength(5)
    const late = await mint(chain)
    chain.mine()
    await node.submit(late)
    await reference.startGASPSync()
    expect(await unspentThere()).toEqual(await unspentHere())
    expect(await unspentThere()).toContain(outpoint(late))
  })

  it('with an input beside the coin that is proved, which its own kind cannot give', async () => {
    const funding = chain.fund(payTo(key), 500)
    chain.mine()
    const first = await mint(chain)
    await node.submit(first)
    const both = await sent(
      pay(
        [
          [funding, 0],
          [first, 0]
        ],
        [1]
      )
    )
    await node.submit(both)
    await reference.startGASPSync()
    expect(await unspentThere()).toEqual([outpoint(both)])
  })

  it('remembers a position of ours as its last interaction', async () => {
    await node.submit(await mint(chain))
    await reference.startGASPSync()
    expect(await reference.storage.getLastInteraction(nodeUrl, TOPIC)).toBe(changeCursor(1, 0))
  })
})

describe('Quoin pulls from the reference', () => {
  it('all that is not spent comes over, and what comes later', async () => {
    await various(submitThere)
    expect(await pull()).toMatchObject({ failed: 0 })
    expect(await unspentHere()).toEqual(await unspentThere())
    expect(await unspentHere()).toHaveLength(5)
    const late = await mint(chain)
    chain.mine()
    await submitThere(late)
    await pull()
    expect(await unspentHere()).toEqual(await unspentThere())
  })

  it('what it cannot give now is tried again, and comes when it can', async () => {
    const funding = chain.fund(payTo(key), 500)
    chain.mine()
    const first = await mint(chain)
    await submitThere(first)
    const both = await sent(
      pay(
        [
          [funding, 0],
          [first, 0]
        ],
        [1]
      )
    )
    await submitThere(both)
    expect(await pull()).toMatchObject({ failed: 1 })
    expect(await unspentHere()).toEqual([])
    chain.mine()
    const answer = await chain.proof(both.txid)
    if (answer.status !== 'mined') throw new Error('it is mined')
    const proved = SdkTransaction.fromBEEF([...chain.beef(both.txid)])
    await reference.storage.updateTransactionBEEF(formatTxid(both.txid), proved.toBEEF())
    expect(await pull()).toMatchObject({ failed: 0 })
    expect(await unspentHere()).toEqual([outpoint(both)])
  })

  it('back and forth they have the same', async () => {
    const [here, there] = [await mint(chain), await mint(chain)]
    await node.submit(here)
    await submitThere(there)
    for (let round = 0; round < 2; round++) {
      await reference.startGASPSync()
      await pull()
    }
    expect(await unspentHere()).toEqual([outpoint(here), outpoint(there)].sort())
    expect(await unspentThere()).toEqual(await unspentHere())
  })
})

describe('what the reference cannot', () => {
  it('it neither tells nor hears of coins that are spent without a new one', async () => {
    const [a, b] = [await mint(chain), await mint(chain)]
    await node.submit(a)
    await submitThere(b)
    await reference.startGASPSync()
    await pull()
    await node.submit(await sent(pay([[a, 0]], [0])))
    await submitThere(await sent(pay([[b, 0]], [0])))
    await reference.startGASPSync()
    await pull()
    expect(await unspentThere()).toEqual([outpoint(a)])
    expect(await unspentHere()).toEqual([outpoint(b)])
  })

  it('it does not give the history of what is mined, and does not ask for it', async () => {
    const first = await mint(chain)
    const second = await sent(pay([[first, 0]], [1]))
    chain.mine()
    await node.submit(first)
    await node.submit(second)
    await reference.startGASPSync()
    expect((await node.state()).members).toHaveLength(2)
    expect(await reference.storage.findOutput(formatTxid(first.txid), 0, TOPIC)).toBeFalsy()
    expect((await reference.storage.findOutput(formatTxid(second.txid), 0, TOPIC))!.outputsConsumed).toEqual(
      []
    )
  })

  it('it passes over what failed, and never asks for it again', async () => {
    const coin = await mint(chain)
    await node.submit(coin)
    const { isValidRootForHeight } = chain
    chain.isValidRootForHeight = async () => false
    await reference.startGASPSync()
    chain.isValidRootForHeight = isValidRootForHeight
    await reference.startGASPSync()
    expect(await unspentThere()).toEqual([])
    expect(await reference.storage.getLastInteraction(nodeUrl, TOPIC)).toBe(changeCursor(1, 0))
  })
})
