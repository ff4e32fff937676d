/** Broadcasts: what a processor that is slow, wrong, or silent costs a submission, and what the network's verdicts do to the index. */
import { Beef, HeaderStore, syncHeaders, type Transaction, writeBeef } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { bytesKey, formatTxid, makeOutpoint, type Topic } from '@quoin/primitives'
import { openStore, type Store } from '@quoin/store'
import { OutputStore, verifyIndex } from '@quoin/txo'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makeKey, payTo, spend, withKeyHash } from '../../../chain/src/verify/test-chain.testing.ts'
import { startRedis } from '../../../store/src/redis/server.testing.ts'
import { Engine } from '../engine.ts'
import type { QuoinTopic } from '../types.ts'
import { why } from '../why.ts'
import { Broadcaster, type BroadcasterOptions } from './broadcaster.ts'
import { type HttpProcessorOptions, httpProcessor } from './http-processor.ts'
import { ProcessorServer } from './processor-server.testing.ts'

const key = makeKey('broadcast')
const TOPIC = 'tm_ones' as Topic
const ones: QuoinTopic = {
  admit: ({ transaction, previousCoins }) => ({
    outputs: [...transaction.outputs.keys()].filter(vout => transaction.outputs[vout]!.satoshis === 1),
    retain: previousCoins.map(({ input }) => input)
  }),
  getDocumentation: async () => '',
  getMetaData: async () => ({ name: 'ones', shortDescription: '' })
}

let chain: DevChain
let headers: HeaderStore
let store: Store
let engine: Engine
let broadcaster: Broadcaster
let arc: ProcessorServer
let arcade: ProcessorServer
/** The server of a store of its own. */
let closing: (() => Promise<void>) | undefined

beforeEach(async () => {
  chain = new DevChain({ seed: 'broadcast' })
  chain.mine(2)
  store = await openStore('memory:')
  headers = await HeaderStore.open(store, { network: 'regtest' })
  arc = await ProcessorServer.start('arc', chain)
  arcade = await ProcessorServer.start('arcade', chain, 'secret-of-arcade')
})
afterEach(async () => {
  await broadcaster.close()
  await engine.close()
  expect((await verifyIndex(store)).differences).toEqual([])
  await store.close()
  await Promise.all([arc.close(), arcade.close(), closing?.()])
  closing = undefined
})

/** Timers of milliseconds, so that a test waits for what it wants to see and not for a clock. */
const open = (options: Partial<BroadcasterOptions> = {}, http: HttpProcessorOptions = {}): void => {
  const outputs = new OutputStore(store)
  broadcaster = new Broadcaster(outputs, {
    processors: [
      httpProcessor('arc', arc.url, http),
      httpProcessor('arcade', arcade.url, { ...http, token: 'secret-of-arcade' })
    ],
    firstCheck: 0.02,
    timeout: 60_000,
    interval: 5,
    ...options
  })
  const { offer: broadcast, check: checkUnproved } = broadcaster
  engine = new Engine({ outputs, tracker: headers, topics: { [TOPIC]: ones }, broadcast, checkUnproved })
}
const start = (): void => broadcaster.start(engine.proofs)

const paid = async (): Promise<Transaction> => {
  const funded = chain.fund(payTo(key), 1000)
  chain.mine()
  await syncHeaders(headers, chain)
  return funded
}
const spent = (from: Transaction, vout: number, satoshis: readonly number[]): Transaction =>
  spend({
    inputs: [{ from, vout, unlock: withKeyHash(key) }],
    outputs: satoshis.map(each => ({ satoshis: each, script: payTo(key) }))
  })
/** A BEEF of transactions that the chain does not have yet, the last of them the subject. */
const beefOf = (...unsent: readonly Transaction[]): Uint8Array => {
  const known = new Map(unsent.map(each => [bytesKey(each.txid), each]))
  const parents = unsent.flatMap(each => each.inputs).filter(({ txid }) => !known.has(bytesKey(txid)))
  const entries = new Map(
    parents
      .flatMap(({ txid }) => Beef.parse(chain.beef(txid)).transactions)
      .map(each => [bytesKey(each.txid), each])
  )
  const own = unsent.map(transaction => ({ txid: transaction.txid, transaction, bump: undefined }))
  return writeBeef({ version: 1, transactions: [...entries.values(), ...own] })
}
const submit = (...unsent: readonly Transaction[]) =>
  engine.submit({ beef: beefOf(...unsent), topics: [TOPIC] })
const isAdmitted = ({ txid }: Transaction): Promise<boolean> =>
  engine.outputs.isInTopic(TOPIC, makeOutpoint(txid, 0))
const statusOf = async ({ txid }: Transaction) => (await broadcaster.records.get(txid))?.status
const becomes = (transaction: Transaction, status: string) =>
  expect.poll(() => statusOf(transaction), { timeout: 10_000, interval: 5 }).toBe(status)
const eventsOf = async ({ txid }: Transaction): Promise<string[]> =>
  (await broadcaster.records.eventsAfter(0, 1000)).flatMap(({ entry }) =>
    entry.txid === formatTxid(txid) ? [entry.txStatus] : []
  )

describe('before admission', () => {
  it('a transaction goes to the first processor, once, and its status is kept in the commit that admits it', async () => {
    open({}, { callback: { url: 'https://node.example/arc-ingest', token: 'secret-of-callbacks' } })
    const transaction = spent(await paid(), 0, [1, 900])
    expect(await submit(transaction)).toMatchObject({ [TOPIC]: { outputsToAdmit: [0] } })
    expect(await submit(transaction)).toMatchObject({ [TOPIC]: { outputsToAdmit: [0] } })
    expect([arc.submissions, arcade.submissions]).toEqual([[formatTxid(transaction.txid)], []])
    expect(arc.headers).toMatchObject({
      'x-callbackurl': 'https://node.example/arc-ingest',
      'x-callbacktoken': 'secret-of-callbacks'
    })
    expect(await broadcaster.records.get(transaction.txid)).toMatchObject({
      status: 'seen',
      txStatus: 'SEEN_ON_NETWORK',
      submissions: 1,
      processor: `arc ${arc.url}`
    })
    expect(await broadcaster.records.counts()).toEqual({ queued: 0, sent: 0, seen: 1, rejected: 0 })
  })

  it('nothing is kept of a transaction that the network refuses', async () => {
    open()
    const funded = await paid()
    const rival = spent(funded, 0, [2, 900])
    await chain.submit(rival)
    const transaction = spent(funded, 0, [1, 900])
    await expect(submit(transaction)).rejects.toMatchObject({
      code: 'ERR_BROADCAST',
      details: { txStatus: 'DOUBLE_SPEND_ATTEMPTED', competingTxs: [formatTxid(rival.txid)] }
    })
    expect(await engine.outputs.transactions.get(transaction.txid)).toBeUndefined()
    expect(await statusOf(transaction)).toBeUndefined()
    expect(arcade.submissions).toEqual([])
  })

  it.each([
    ['failing', 60_000],
    ['swapping', 60_000],
    ['babbling', 60_000],
    ['cutting', 60_000],
    ['holding', 2000]
  ] as const)('the next processor is asked where the first is %s', async (behaviour, timeout) => {
    open({ timeout })
    arc.behaviour = behaviour
    const [first, second] = [spent(await paid(), 0, [1, 900]), spent(await paid(), 0, [1, 900])]
    await submit(first)
    expect([arc.submissions, arcade.submissions]).toEqual([
      [formatTxid(first.txid)],
      [formatTxid(first.txid)]
    ])
    expect(await broadcaster.records.get(first.txid)).toMatchObject({ status: 'sent', txStatus: 'RECEIVED' })
    // A processor that has failed is asked last.
    await submit(second)
    expect(arc.submissions).toHaveLength(1)
    expect(arcade.submissions).toHaveLength(2)
  })

  it('a submission ends while every processor holds it, keeps nothing, and succeeds when it is repeated', async () => {
    open({ timeout: 600 })
    arc.behaviour = arcade.behaviour = 'holding'
    const transaction = spent(await paid(), 0, [1, 900])
    await expect(submit(transaction)).rejects.toMatchObject({
      code: 'ERR_BROADCAST_UNAVAILABLE',
      details: { seconds: 5 }
    })
    await arc.until(() => arc.held === 1)
    expect(await engine.outputs.transactions.get(transaction.txid)).toBeUndefined()
    await engine.close()
    open({ timeout: 60_000 })
    arc.release()
    arcade.release()
    await submit(transaction)
    expect(await isAdmitted(transaction)).toBe(true)
  })

  it('a policy of one processor does not decide, that of all does', async () => {
    open()
    const transaction = spent(await paid(), 0, [1, 900])
    const refusal = { txStatus: '', code: 465, extraInfo: 'fee too low' }
    for (const server of [arc, arcade]) server.verdicts.set(formatTxid(transaction.txid), refusal)
    await expect(submit(transaction)).rejects.toMatchObject({
      code: 'ERR_BROADCAST',
      message: expect.stringContaining('fee too low')
    })
    arcade.verdicts.clear()
    await submit(transaction)
    expect(await isAdmitted(transaction)).toBe(true)
  })

  it('unmined ancestors go first, and a transaction that no topic is concerned with does not go', async () => {
    open()
    const parent = spent(await paid(), 0, [500, 400])
    const child = spent(parent, 0, [1, 400])
    await submit(parent)
    expect(arc.submissions).toEqual([])
    await submit(parent, child)
    expect(arc.submissions).toEqual([parent, child].map(({ txid }) => formatTxid(txid)))
    expect(await Promise.all([statusOf(parent), statusOf(child)])).toEqual(['seen', 'seen'])
  })
})

describe('with admission', () => {
  it('a submission does not wait for the network, and is sent when the network answers', async () => {
    open({ when: 'with' })
    arc.behaviour = arcade.behaviour = 'holding'
    start()
    const transaction = spent(await paid(), 0, [1, 900])
    expect(await submit(transaction)).toMatchObject({ [TOPIC]: { outputsToAdmit: [0] } })
    await arc.until(() => arc.held === 1)
    expect(await statusOf(transaction)).toBe('queued')
    expect((await why(engine, makeOutpoint(transaction.txid, 0))).reasons).toContainEqual(
      expect.objectContaining({ code: 'broadcast', message: expect.stringContaining('waits to be sent') })
    )
    arc.release()
    arcade.release()
    await becomes(transaction, 'seen')
    expect(await eventsOf(transaction)).toEqual(['RECEIVED', 'SEEN_ON_NETWORK'])
    expect([...arc.submissions, ...arcade.submissions]).toEqual([formatTxid(transaction.txid)])
  })

  it('a processor that took a transaction and did not answer is asked about it, and does not get it twice', async () => {
    open({ when: 'with', processors: [httpProcessor('arc', arc.url)] })
    arc.behaviour = 'cutting'
    start()
    const transaction = spent(await paid(), 0, [1, 900])
    await submit(transaction)
    await expect
      .poll(async () => (await broadcaster.records.get(transaction.txid))?.checks, { timeout: 10_000 })
      .toBeGreaterThan(0)
    arc.release()
    await becomes(transaction, 'seen')
    expect(arc.submissions).toEqual([formatTxid(transaction.txid)])
  })

  it('what a process leaves in the outbox is sent by the next one', async () => {
    open({ when: 'with' })
    const transaction = spent(await paid(), 0, [1, 900])
    await submit(transaction)
    await broadcaster.close()
    await engine.close()
    expect(arc.submissions).toEqual([])
    open({ when: 'with' })
    start()
    await becomes(transaction, 'seen')
    expect(arc.submissions).toEqual([formatTxid(transaction.txid)])
  })

  it('processes that share an outbox on Redis send each transaction once', async () => {
    const redis = await startRedis()
    await store.close()
    store = await openStore(redis.url)
    headers = await HeaderStore.open(store, { network: 'regtest' })
    const stores = [store, await openStore(redis.url)]
    open({ when: 'with' })
    const other = new Broadcaster(new OutputStore(stores[1]!), {
      processors: [httpProcessor('arc', arc.url)],
      firstCheck: 60,
      interval: 5
    })
    const transactions: Transaction[] = []
    for (let i = 0; i < 12; i++) transactions.push(spent(await paid(), 0, [1, 900]))
    await Promise.all(transactions.map(each => submit(each)))
    start()
    other.start(engine.proofs)
    for (const each of transactions) await becomes(each, 'seen')
    await other.close()
    await stores[1]!.close()
    closing = () => redis.stop()
    expect(arc.submissions.toSorted()).toEqual(transactions.map(({ txid }) => formatTxid(txid)).sort())
  })

  it('a refused transaction is rolled back with its descendants, which `why` says', async () => {
    open({ when: 'with' })
    const funded = await paid()
    const rival = spent(funded, 0, [2, 900])
    const parent = spent(funded, 0, [1, 900])
    const child = spent(parent, 1, [1, 800])
    await chain.submit(rival)
    await submit(parent)
    await submit(parent, child)
    expect(await Promise.all([isAdmitted(parent), isAdmitted(child)])).toEqual([true, true])
    start()
    await becomes(parent, 'rejected')
    await becomes(child, 'rejected')
    expect(await Promise.all([isAdmitted(parent), isAdmitted(child)])).toEqual([false, false])
    expect(await engine.outputs.spends([makeOutpoint(funded.txid, 0)])).toEqual([null])
    const codes = async ({ txid }: Transaction) => (await why(engine, makeOutpoint(txid, 0))).reasons
    expect(await codes(parent)).toContainEqual(
      expect.objectContaining({
        code: 'network-refused',
        details: expect.objectContaining({ competing: [formatTxid(rival.txid)] })
      })
    )
    expect(await codes(child)).toContainEqual(
      expect.objectContaining({
        message: expect.stringContaining(`its ancestor ${formatTxid(parent.txid)} was refused`)
      })
    )
    expect(await broadcaster.outbox.stats()).toMatchObject({ due: 0, leased: 0, dead: 0 })
    // A peer that has not heard of the refusal does not bring it back.
    const historical = { beef: beefOf(parent), topics: [TOPIC] }
    await expect(engine.admit(historical)).rejects.toMatchObject({ code: 'ERR_BROADCAST' })
    // The network decides before it is admitted again.
    await expect(submit(parent)).rejects.toMatchObject({ code: 'ERR_BROADCAST' })
    expect(await isAdmitted(parent)).toBe(false)
  })

  it('failures roll nothing back', async () => {
    open({ when: 'with', timeout: 60_000, firstCheck: 0.001 })
    start()
    const transaction = spent(await paid(), 0, [1, 900])
    arc.behaviour = arcade.behaviour = 'failing'
    await submit(transaction)
    for (const behaviour of ['failing', 'swapping', 'babbling', 'cutting'] as const) {
      arc.behaviour = arcade.behaviour = behaviour
      const { checks } = (await broadcaster.records.get(transaction.txid))!
      await expect
        .poll(async () => (await broadcaster.records.get(transaction.txid))!.checks, {
          timeout: 10_000,
          interval: 5
        })
        .toBeGreaterThan(checks + 1)
      expect(await isAdmitted(transaction)).toBe(true)
    }
    expect(await statusOf(transaction)).toBe('queued')
    arc.behaviour = 'right'
    await becomes(transaction, 'seen')
  })

  it('an orphan is submitted again after its parents', async () => {
    open({ when: 'with' })
    const parent = spent(await paid(), 0, [500, 400])
    const child = spent(parent, 0, [1, 400])
    start()
    await submit(parent, child)
    await becomes(child, 'seen')
    expect(arc.submissions).toEqual([parent, child].map(({ txid }) => formatTxid(txid)))
    expect(await statusOf(parent)).toBe('seen')
  })
})

describe('what becomes of it', () => {
  it('a proof ends the tracking, in its own commit, and a reorg resumes it', async () => {
    open()
    const transaction = spent(await paid(), 0, [1, 900])
    await submit(transaction)
    chain.mine()
    await syncHeaders(headers, chain)
    const proof = await chain.proof(transaction.txid)
    if (proof.status !== 'mined') throw new Error('the chain has not mined it')
    await engine.handleNewMerkleProof(transaction.txid, proof.bump)
    expect(await broadcaster.records.get(transaction.txid)).toMatchObject({
      status: 'mined',
      height: chain.height
    })
    expect(await broadcaster.outbox.stats()).toMatchObject({ due: 0 })
    const { removed } = await chain.reorg(1, { drop: [transaction.txid] })
    expect(removed).toHaveLength(1)
    await syncHeaders(headers, chain)
    await engine.proofs.reconcile(0)
    expect(await statusOf(transaction)).toBe('sent')
    expect(await broadcaster.outbox.stats()).toMatchObject({ due: 1 })
    start()
    await becomes(transaction, 'seen')
    expect(await eventsOf(transaction)).toEqual(
      ['RECEIVED', 'SEEN_ON_NETWORK', 'MINED', 'SENT_TO_NETWORK', 'SEEN_ON_NETWORK'].slice(1)
    )
  })

  it('a processor that says it is mined proves it', async () => {
    open()
    const transaction = spent(await paid(), 0, [1, 900])
    await submit(transaction)
    chain.mine()
    await syncHeaders(headers, chain)
    await arc.learnProof(formatTxid(transaction.txid))
    start()
    await becomes(transaction, 'mined')
    expect((await engine.outputs.record(transaction.txid))?.position?.height).toBe(chain.height)
  })

  it('what is not mined after a while is submitted again', async () => {
    open({ rebroadcast: 0.05 })
    const transaction = spent(await paid(), 0, [1, 900])
    await submit(transaction)
    start()
    await arc.until(() => arc.submissions.length === 3)
    expect(await statusOf(transaction)).toBe('seen')
  })

  it('what every processor has lost is submitted again', async () => {
    open()
    const transaction = spent(await paid(), 0, [1, 900])
    await submit(transaction)
    arc.forget(formatTxid(transaction.txid))
    start()
    await arc.until(() => arc.submissions.length === 2)
    expect(arc.checks).toContain(formatTxid(transaction.txid))
  })

  it('reports that come late, twice or for strangers change nothing', async () => {
    open()
    const transaction = spent(await paid(), 0, [1, 900])
    await submit(transaction)
    const answer = { txStatus: 'SEEN_MULTIPLE_NODES', verdict: 'seen', processor: 'arc' } as const
    for (let i = 0; i < 2; i++) expect(await broadcaster.report(transaction.txid, answer)).toBe(true)
    await broadcaster.report(transaction.txid, { txStatus: 'STORED', verdict: 'sent', processor: 'arc' })
    expect(await eventsOf(transaction)).toEqual(['SEEN_ON_NETWORK', 'SEEN_MULTIPLE_NODES'])
    const stranger = spent(await paid(), 0, [1, 900])
    expect(await broadcaster.report(stranger.txid, answer)).toBe(false)
    expect(await statusOf(stranger)).toBeUndefined()
  })

  it('what is mined after a refusal is admitted again by its proof, with its descendants by theirs', async () => {
    open()
    const parent = spent(await paid(), 0, [1, 900])
    const child = spent(parent, 1, [1, 800])
    await submit(parent)
    await submit(parent, child)
    const answer = { txStatus: 'DOUBLE_SPEND_ATTEMPTED', verdict: 'refused', processor: 'arc' } as const
    await broadcaster.report(parent.txid, answer)
    expect([await statusOf(child), await isAdmitted(parent), await isAdmitted(child)]).toEqual([
      'rejected',
      false,
      false
    ])
    const unproved = await chain.proof(parent.txid)
    expect(unproved.status).toBe('unmined')
    chain.mine()
    await syncHeaders(headers, chain)
    for (const { txid } of [parent, child]) {
      const proof = await chain.proof(txid)
      if (proof.status !== 'mined') throw new Error('the chain has not mined it')
      await engine.handleNewMerkleProof(txid, proof.bump)
    }
    expect([await isAdmitted(parent), await isAdmitted(child)]).toEqual([true, true])
    expect([await statusOf(parent), await statusOf(child)]).toEqual(['mined', 'mined'])
    expect(await engine.outputs.spends([makeOutpoint(parent.txid, 1)])).toEqual([child.txid])
  })

  it('a refusal of what the headers confirm is ignored', async () => {
    open()
    const transaction = spent(await paid(), 0, [1, 900])
    await submit(transaction)
    chain.mine()
    await syncHeaders(headers, chain)
    const proof = await chain.proof(transaction.txid)
    if (proof.status !== 'mined') throw new Error('the chain has not mined it')
    await engine.handleNewMerkleProof(transaction.txid, proof.bump)
    await broadcaster.report(transaction.txid, { txStatus: 'REJECTED', verdict: 'refused', processor: 'arc' })
    expect(await statusOf(transaction)).toBe('mined')
    expect(await isAdmitted(transaction)).toBe(true)
  })
})
