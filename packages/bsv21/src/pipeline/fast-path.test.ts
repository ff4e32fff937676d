/** The fast path: transactions that bypass the queues, those that do not, and the progress of a source. */

import { Beef, type Transaction, writeBeef } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { makeOutpoint, QuoinError, type TokenId } from '@quoin/primitives'
import { openStore, type Queue, type Store } from '@quoin/store'
import { outputs as outputKeys, progressFields } from '@quoin/txo'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { bsv21 } from '../keys.ts'
import { TokenNode, type TokenNodeOptions } from '../node.testing.ts'
import type { Delivery, Source } from '../source/source.ts'
import * as t from '../tokens.testing.ts'
import { topicOf } from '../topic-names.ts'
import { discoveryQueue, queueOfToken } from './queues.ts'

const [alice, bob] = [t.person(1), t.person(2)]
const XPUB =
  'xpub661MyMwAqRbcF221R74MPqdipLsgUevAAX4hZP2rywyEeShpbe3v2r9ciAvSGT6FB22TEmFLdUyeEDJL4ekG8s9H5WXbzDQPr6eW1zEYYy9'
const PLACE: [Uint8Array] = [new Uint8Array(32)]

describe('the short way', () => {
  let chain: DevChain
  let store: Store
  let node: TokenNode
  let id: TokenId
  let last: Transaction
  let isBobs = false

  const open = (options: Partial<TokenNodeOptions> = {}): TokenNode =>
    new TokenNode(store, { chain, activation: 'all', ...options })
  const beefOf = (transaction: Transaction): Beef =>
    Beef.of([{ txid: transaction.txid, transaction, bump: undefined }])
  const toSourceTransaction = (transaction: Transaction) => ({
    txid: transaction.txid,
    beef: beefOf(transaction),
    mined: undefined
  })
  const take = (...transactions: readonly Transaction[]): Promise<number> =>
    node.pipeline.ingest.ingest({
      transactions: transactions.map(toSourceTransaction),
      reorgFrom: undefined,
      mark: () => undefined
    })
  /** Moves all of the token on: from alice to bob, and back. */
  const next = async (): Promise<Transaction> => {
    const [by, to] = isBobs ? [bob, alice] : [alice, bob]
    const made = t.transaction([t.at(last, 0, by)], [t.transfer(id, 1000n, t.paidTo(to))])
    await chain.submit(made)
    isBobs = !isBobs
    last = made
    return made
  }
  const queued = async (): Promise<number> => {
    const [discovered, ofToken] = await Promise.all([
      discoveryQueue(store).stats(),
      queueOfToken(store, id).stats()
    ])
    return [discovered, ofToken].reduce(
      (sum, each) => sum + each.due + each.leased + each.waiting + each.dead,
      0
    )
  }
  const holder = async (): Promise<string | undefined> =>
    (await node.tokens.holders(id, { limit: 10 })).holders[0]?.address

  beforeEach(async () => {
    chain = new DevChain()
    store = await openStore('memory:')
    node = open()
    isBobs = false
    last = t.transaction([t.at(chain.fund(alice.address, 1000), 0, alice)], [t.deployMint(alice, 1000n)])
    await chain.submit(last)
    chain.mine()
    id = t.tokenIdOf(last)
    await node.pipeline.ingest.ingestBeef(chain.beef(last.txid))
    await node.pipeline.settle()
  })
  afterEach(async () => {
    await node.close()
    await store.close()
  })

  it('takes what is to be had at once past the queues', async () => {
    const first = await next()
    const second = await next()
    expect(await take(first, second)).toBe(0)
    expect(await holder()).toBe(alice.address)
    expect(await queued()).toBe(0)
    expect(await store.use(bsv21.collections.arrived).get(second.txid)).toBeUndefined()
  })

  it('lets what is spent go first, in whichever order it comes', async () => {
    const [first, second, third] = [await next(), await next(), await next()]
    expect(await take(third, second, first)).toBe(0)
    expect(await holder()).toBe(bob.address)
  })

  it('lets what another delivery brought go first', async () => {
    const [first, second] = [await next(), await next()]
    expect(await Promise.all([take(first), take(second)])).toEqual([0, 0])
    expect(await holder()).toBe(alice.address)
  })

  it('leaves what rests on something unknown for the queues, and wakes it', async () => {
    const [first, second] = [await next(), await next()]
    expect(await take(second)).toBe(1)
    await node.pipeline.settle()
    expect(await discoveryQueue(store).stats()).toMatchObject({ waiting: 1 })
    expect(await take(first)).toBe(0)
    await node.pipeline.settle()
    expect(await holder()).toBe(alice.address)
    expect(await queued()).toBe(0)
  })

  it('does not overtake what is in the queues', async () => {
    const [first, second] = [await next(), await next()]
    chain.mine()
    await node.activation.add('blacklist', id)
    const withProofs = (transaction: Transaction) => ({
      txid: transaction.txid,
      beef: Beef.parse(chain.beef(transaction.txid)),
      mined: undefined
    })
    const bring = (transaction: Transaction): Promise<number> =>
      node.pipeline.ingest.ingest({
        transactions: [withProofs(transaction)],
        reorgFrom: undefined,
        mark: () => undefined
      })
    expect(await bring(first)).toBe(1)
    await node.activation.remove('blacklist', id)
    // By itself it would be evaluated without its coins, and again after its parent.
    expect(await bring(second)).toBe(1)
    await node.pipeline.settle()
    expect(await holder()).toBe(alice.address)
    expect(await queued()).toBe(0)
  })

  it('clears what was given up when it comes right', async () => {
    const [first, second] = [await next(), await next()]
    const giveUp = async <T>(queue: Queue<T>, item: T): Promise<void> => {
      await queue.enqueue(item, 1)
      const [lease] = await queue.lease(1, 60)
      await queue.fail(lease!, { outcome: 'dead', reason: 'in the way' })
    }
    await giveUp(discoveryQueue(store), first.txid)
    await giveUp(queueOfToken(store, id), makeOutpoint(second.txid, 0))
    expect(await queued()).toBe(2)
    expect(await take(first, second)).toBe(0)
    await node.pipeline.settle()
    expect(await holder()).toBe(alice.address)
    expect(await queued()).toBe(0)
  })

  it('leaves for the queues a transaction whose topic failed', async () => {
    const moved = await next()
    const failed = { outputsToAdmit: [], coinsToRetain: [], coinsRemoved: [] }
    vi.spyOn(node.engine, 'submit').mockResolvedValueOnce({
      [topicOf(id)]: { ...failed, error: { code: 'ERR_TOPIC_TIMEOUT', message: 'it took too long' } }
    })
    expect(await take(moved)).toBe(1)
    await node.pipeline.settle()
    expect(await holder()).toBe(bob.address)
  })

  it('leaves for the queues what the interpreter is too busy for, and they try it again', async () => {
    const moved = await next()
    const busy = new QuoinError('ERR_INTERPRETER_BUSY', 'the queue is full', { seconds: 1 })
    const submit = vi.spyOn(node.engine, 'submit').mockRejectedValueOnce(busy).mockRejectedValueOnce(busy)
    const delivery: Delivery = {
      transactions: [toSourceTransaction(moved)],
      reorgFrom: undefined,
      mark: () => undefined
    }
    expect(await node.pipeline.ingest.ingest(delivery, { source: 'a source' })).toBe(1)
    expect(submit.mock.calls.map(([{ client }]) => client)).toEqual(['a source'])
    await node.pipeline.settle()
    // Not a dead letter: due again after a second.
    expect(await queueOfToken(store, id).stats()).toMatchObject({ due: 1, dead: 0 })
    await expect
      .poll(
        async () => {
          await node.pipeline.settle()
          return holder()
        },
        { timeout: 15_000 }
      )
      .toBe(bob.address)
  })

  it('takes nothing else for what it was said to be', async () => {
    const [first, second] = [await next(), await next()]
    // The one that is meant is not what the BEEF is about.
    const transactions = [second, first].map(transaction => ({
      txid: transaction.txid,
      transaction,
      bump: undefined
    }))
    const beef = Beef.parse(writeBeef({ version: 1, transactions }))
    const bring = (beef: Beef): Promise<number> =>
      node.pipeline.ingest.ingest({
        transactions: [{ txid: second.txid, beef, mined: undefined }],
        reorgFrom: undefined,
        mark: () => undefined
      })
    // And here it is not there.
    expect(await bring(beefOf(first))).toBe(1)
    expect(await bring(beef)).toBeGreaterThan(0)
    await node.pipeline.settle()
    expect(await holder()).toBe(alice.address)
  })

  it('leaves for the queues what may be good with something that can be fetched', async () => {
    await node.close()
    node = open({ fetch: { name: 'the chain', transaction: async txid => Beef.parse(chain.beef(txid)) } })
    const [, second] = [await next(), await next()]
    chain.mine()
    // It is proved, so the topic can evaluate it, but its parents were not delivered.
    expect(await node.pipeline.ingest.ingestBeef(chain.beef(second.txid))).toBe(1)
    await node.pipeline.settle()
    await node.engine.settle()
    expect(await holder()).toBe(alice.address)
  })

  it('notes which address is paid for a token that is deployed', async () => {
    await node.close()
    node = open({ feeXpub: XPUB })
    const deployed = t.transaction(
      [t.at(chain.fund(alice.address, 1000), 0, alice)],
      [t.deployMint(alice, 5n)]
    )
    await chain.submit(deployed)
    chain.mine()
    expect(await node.pipeline.ingest.ingestBeef(chain.beef(deployed.txid))).toBe(0)
    const token = t.tokenIdOf(deployed)
    const { feeAddress } = await node.activation.status(token)
    expect(await store.use(bsv21.collections.fees).get(feeAddress!)).toBe(token)
  })

  it('is told of a proof of what it has', async () => {
    const moved = await next()
    await take(moved)
    chain.mine()
    expect(await node.pipeline.ingest.ingestBeef(chain.beef(moved.txid))).toBe(0)
    expect((await node.outputs.record(moved.txid))?.position?.height).toBe(chain.heightOf(moved.txid))
  })

  it('does not wait for ever for what came while it was looked for', async () => {
    await node.close()
    const [first, second] = [await next(), await next()]
    node = open({
      isShared: true,
      fetch: {
        name: 'one that is too late',
        // Somebody else brings it while this place is asked.
        transaction: async () => {
          await take(first)
          return undefined
        }
      }
    })
    await take(second)
    await node.pipeline.settle()
    expect(await holder()).toBe(alice.address)
    expect(await queued()).toBe(0)
  })

  describe('of a source', () => {
    let committed: number[]
    let wrong: Set<number>

    /** Deliveries of one transaction each; what is wrong with a place shows when it is to be kept. */
    const sourceOf = (made: readonly Transaction[]): Source => ({
      name: 'a list',
      status: { state: 'reading', at: undefined, end: undefined, transactions: 0, lastError: undefined },
      async *deliveries(from, { signal } = {}): AsyncGenerator<Delivery, void, undefined> {
        const kept = await from
          .use(outputKeys.collections.progress)
          .at()
          .get(progressFields.collections.file, ...PLACE)
        for (let at = kept?.bytes ?? 0; at < made.length; at++) {
          yield {
            transactions: [toSourceTransaction(made[at]!)],
            reorgFrom: undefined,
            mark: batch => {
              if (wrong.delete(at)) throw new Error('no room')
              committed.push(at)
              batch
                .use(outputKeys.collections.progress)
                .at()
                .set(progressFields.collections.file, PLACE, { bytes: at + 1, head: '' })
            }
          }
        }
        // There may be more, some day.
        await new Promise<void>(resolve => {
          if (signal?.aborted) resolve()
          else signal?.addEventListener('abort', () => resolve())
        })
      }
    })

    beforeEach(() => {
      committed = []
      wrong = new Set()
    })

    const follow = async (made: readonly Transaction[]): Promise<void> => {
      await node.close()
      node = open({ sources: [sourceOf(made)] })
      node.pipeline.start()
      for (let tries = 0; committed.at(-1) !== made.length - 1; tries++) {
        if (tries > 500) throw new Error(`only ${committed} came`)
        await new Promise(resolve => setTimeout(resolve, 10))
      }
    }

    it('says how far that is in the order of its deliveries', async () => {
      const made = [await next(), await next(), await next(), await next()]
      // The first has to wait, the others are done before it.
      const [first, ...others] = made as [Transaction, ...Transaction[]]
      await follow([...others, first])
      expect(committed).toEqual([0, 1, 2, 3])
    })

    it('does not let that run ahead', async () => {
      const many = 5000
      let [ahead, most] = [0, 0]
      const empty: Source = {
        name: 'nothing',
        status: { state: 'reading', at: undefined, end: undefined, transactions: 0, lastError: undefined },
        async *deliveries(): AsyncGenerator<Delivery, void, undefined> {
          for (let at = 0; at < many; at++) {
            most = Math.max(most, ++ahead)
            const mark = (): void => {
              ahead--
              committed.push(at)
            }
            yield { transactions: [], reorgFrom: undefined, mark }
          }
        }
      }
      await node.close()
      node = open({ sources: [empty] })
      node.pipeline.start()
      await vi.waitFor(() => expect(committed).toHaveLength(many), 10_000)
      expect(most).toBeLessThan(many / 2)
    })

    it('begins again where a delivery failed, and not after it', async () => {
      const made = [await next(), await next(), await next(), await next()]
      wrong.add(1)
      await follow(made)
      expect(committed).toEqual([0, 1, 2, 3])
      expect(await holder()).toBe(alice.address)
    })
  })
})
