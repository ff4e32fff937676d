/** A store that has lost writes: an admission without the record of its transaction does not count. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Transaction } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { makeOutpoint, type Outpoint, type Topic } from '@quoin/primitives'
import { openStore } from '@quoin/store'
import { OutputStore, outputs as outputKeys, verifyIndex } from '@quoin/txo'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { makeKey, payTo, spend, withKeyHash } from '../../chain/src/verify/test-chain.testing.ts'
import { type RedisServer, startRedis } from '../../store/src/redis/server.testing.ts'
import { isEvaluated } from './gasp/peer-pages.ts'
import { Engine, type QuoinTopic } from './index.ts'

const TOPIC = 'tm_ones' as Topic
const ones: QuoinTopic = {
  getDocumentation: async () => '',
  getMetaData: async () => ({ name: 'ones', shortDescription: '' }),
  admit: ({ transaction }) => ({
    outputs: transaction.outputs.flatMap(({ satoshis }, vout) => (satoshis === 1 ? [vout] : []))
  })
}

const { spends, output, topicOutputs, topicTransactions } = outputKeys.collections
const outpointsOf = ({ txid, outputs }: Transaction): Outpoint[] =>
  outputs.map((_, vout) => makeOutpoint(txid, vout))

/** Deletes the writes that a failover may lose: the record, the spends and the rows; the admission stays. */
const lose = async ({ store }: OutputStore, transaction: Transaction): Promise<void> => {
  const { txid, inputs } = transaction
  const outpoints = outpointsOf(transaction)
  const spent = inputs.map(input => makeOutpoint(input.txid, input.vout))
  const batch = store.batch()
  batch.hdel(spends.encode(), txid, ...spent)
  batch.zrem(topicOutputs.encode(TOPIC), ...outpoints)
  batch.zrem(topicTransactions.encode(TOPIC), txid)
  for (const { key, fields } of await store.hrange(output.scan(txid))) {
    batch.hdel(key, ...fields.map(({ field }) => field))
  }
  await batch.commit()
}

let server: RedisServer
let folder: string
/** No two chains, and no two transactions, alike. */
let seeds = 0
beforeAll(async () => {
  server = await startRedis()
  folder = mkdtempSync(join(tmpdir(), 'quoin-standing-'))
})
afterAll(async () => {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

describe.each([
  ['lmdb', () => `lmdb:${join(folder, 'data')}`],
  ['redis', () => server.url]
] as const)('%s', (_, url) => {
  const key = makeKey('standing')
  let chain: DevChain
  let outputs: OutputStore
  let engine: Engine
  beforeEach(async () => {
    chain = new DevChain({ seed: `standing ${seeds++}` })
    outputs = new OutputStore(await openStore(url()))
    engine = new Engine({ outputs, tracker: chain, topics: { [TOPIC]: ones } })
  })
  afterEach(async () => {
    await engine.close()
    await outputs.store.close()
  })

  const made = async (from: Transaction, vout: number): Promise<Transaction> => {
    const transaction = spend({
      inputs: [{ from, vout, unlock: withKeyHash(key) }],
      outputs: [1, 900 - seeds++].map(each => ({ satoshis: each, script: payTo(key) }))
    })
    await chain.submit(transaction)
    return transaction
  }
  const submit = ({ txid }: Transaction) => engine.submit({ beef: chain.beef(txid), topics: [TOPIC] })
  const expectWhole = async (transaction: Transaction): Promise<void> => {
    const [admitted] = outpointsOf(transaction)
    expect(await outputs.loadOutput(admitted!, { includeTopics: true })).toMatchObject({ topics: [TOPIC] })
    expect(await outputs.isInTopic(TOPIC, admitted!)).toBe(true)
    expect(await isEvaluated(outputs, TOPIC, transaction.txid)).toBe(true)
    const spent = transaction.inputs.map(({ txid, vout }) => makeOutpoint(txid, vout))
    expect(await outputs.spends(spent)).toEqual([transaction.txid])
  }

  it('a submission whose record was lost is evaluated again, and its outputs are restored', async () => {
    const transaction = await made(chain.fund(payTo(key), 1000), 0)
    const first = await submit(transaction)
    await expectWhole(transaction)
    await lose(outputs, transaction)
    expect(await outputs.loadOutput(outpointsOf(transaction)[0]!)).toBeNull()
    expect(await engine.admissions(transaction.txid)).toHaveProperty(TOPIC)
    expect(await isEvaluated(outputs, TOPIC, transaction.txid)).toBe(false)

    expect(await submit(transaction)).toEqual(first)
    await expectWhole(transaction)
    expect((await verifyIndex(outputs.store)).differences).toEqual([])
  })

  it('also after a transaction that spends it came, and brought back its record without the topic', async () => {
    const parent = await made(chain.fund(payTo(key), 1000), 0)
    const first = await submit(parent)
    await lose(outputs, parent)
    const child = await made(parent, 1)
    await submit(child)
    expect(await outputs.record(parent.txid)).toMatchObject({ topics: [] })

    expect(await submit(parent)).toEqual(first)
    for (const each of [parent, child]) await expectWhole(each)
    expect((await verifyIndex(outputs.store)).differences).toEqual([])
  })
})
