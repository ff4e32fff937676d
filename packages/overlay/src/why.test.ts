/** Each code that `why` answers, and what makes it. */
import type { LookupQuestion } from '@bsv/sdk'
import type { Transaction } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { formatTxid, makeOutpoint } from '@quoin/primitives'
import { openStore } from '@quoin/store'
import { OutputStore } from '@quoin/txo'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makeKey, payTo, spend, withKeyHash } from '../../chain/src/verify/test-chain.testing.ts'
import { Engine, type LookupService, type QuoinTopic, why } from './index.ts'

const about = {
  getDocumentation: async () => '',
  getMetaData: async () => ({ name: '', shortDescription: '' })
}
/** Admits one satoshi; keeps coins while the transaction has more than one output. */
const ones: QuoinTopic = {
  ...about,
  admit: ({ transaction, previousCoins }) => ({
    outputs: transaction.outputs.flatMap(({ satoshis }, vout) => (satoshis === 1 ? [vout] : [])),
    retain: transaction.outputs.length > 1 ? previousCoins.map(({ input }) => input) : [],
    refused: Object.fromEntries(
      transaction.outputs.flatMap(({ satoshis }, vout) => (satoshis > 1 ? [[vout, 'it is too much']] : []))
    )
  })
}
let isBroken: boolean
const shaky: QuoinTopic = {
  ...about,
  admit: () => {
    if (isBroken) throw new Error('out of order')
    return { outputs: [] }
  }
}
const busy: LookupService = {
  ...about,
  admissionMode: 'locking-script',
  spendNotificationMode: 'none',
  outputAdmittedByTopic: async ({ topic }) => {
    if (topic === 'tm_busy') throw new Error('too busy')
  },
  outputEvicted: async () => undefined,
  lookup: async (_: LookupQuestion) => []
}

const key = makeKey('why')
let chain: DevChain
let engine: Engine

beforeEach(async () => {
  isBroken = true
  chain = new DevChain({ seed: 'why' })
  engine = new Engine({
    outputs: new OutputStore(await openStore('memory:')),
    tracker: chain,
    topics: { tm_ones: ones, tm_shaky: shaky, tm_busy: ones },
    lookups: { ls_busy: busy }
  })
})
afterEach(async () => {
  await engine.close()
  await engine.outputs.store.close()
})

const paying = (from: Transaction, vout: number, ...satoshis: number[]): Transaction =>
  spend({
    inputs: [{ from, vout, unlock: withKeyHash(key) }],
    outputs: satoshis.map(each => ({ satoshis: each, script: payTo(key) }))
  })
const submit = async (transaction: Transaction, topic: string): Promise<void> => {
  await chain.submit(transaction, { replace: true })
  await engine.submit({ beef: chain.beef(transaction.txid), topics: [topic] })
}
const submitted = async (topic: string, ...satoshis: number[]): Promise<Transaction> => {
  const transaction = paying(chain.fund(payTo(key), 1000), 0, ...satoshis)
  await submit(transaction, topic)
  return transaction
}
const reasons = async ({ txid }: Transaction, vout = 0, topic: string | undefined = 'tm_ones') =>
  (await why(engine, makeOutpoint(txid, vout), topic)).reasons
const codes = async (...asked: Parameters<typeof reasons>) =>
  (await reasons(...asked)).map(({ code }) => code)

describe('the transaction', () => {
  it('is not known, was not submitted to the topic, or the topic is not there', async () => {
    const unseen = paying(chain.fund(payTo(key), 10), 0, 1)
    expect(await codes(unseen)).toEqual(['transaction-unknown', 'not-submitted'])
    const seen = await submitted('tm_busy', 1)
    expect(await codes(seen)).toEqual(['unmined', 'unspent', 'not-indexed', 'not-submitted', 'untold'])
    expect(await codes(seen, 0, 'tm_nowhere')).toContain('topic-unknown')
  })

  it('waits for a proof, then is mined', async () => {
    const transaction = await submitted('tm_ones', 1)
    expect((await reasons(transaction))[0]).toMatchObject({
      code: 'unmined',
      message: expect.stringMatching(/^The transaction waits for a proof, since 20\d\d-.*Z\.$/)
    })
    chain.mine()
    const answer = await chain.proof(transaction.txid)
    if (answer.status === 'mined') await engine.handleNewMerkleProof(transaction.txid, answer.bump)
    const height = chain.heightOf(transaction.txid)!
    expect((await reasons(transaction))[0]).toMatchObject({ code: 'mined', details: { height } })
  })

  it('was taken back', async () => {
    const transaction = await submitted('tm_ones', 1)
    await engine.outputs.rollback(transaction.txid)
    expect(await codes(transaction)).toContain('rolled-back')
    expect(await codes(transaction)).not.toContain('admitted')
    await submit(transaction, 'tm_ones')
    expect(await codes(transaction)).toContain('admitted')
  })

  it('is in conflict with another', async () => {
    const first = await submitted('tm_ones', 1, 900)
    const [second, rival] = [paying(first, 0, 1), paying(first, 0, 0)]
    await submit(second, 'tm_ones')
    await expect(submit(rival, 'tm_ones')).rejects.toMatchObject({ code: 'ERR_TXO_CONFLICT' })
    const [, conflict] = await reasons(rival)
    expect(conflict).toMatchObject({ code: 'conflict', topic: 'tm_ones' })
    expect(conflict!.message).toContain(formatTxid(second.txid))
    expect(await reasons(first)).toContainEqual(
      expect.objectContaining({ code: 'contested', details: { by: [formatTxid(rival.txid)] } })
    )
  })
})

describe('the output', () => {
  it('is admitted, or refused with the reason that the topic gave', async () => {
    const transaction = await submitted('tm_ones', 1, 900, 0)
    expect(await codes(transaction)).toEqual(['unmined', 'unspent', 'not-indexed', 'admitted'])
    expect((await reasons(transaction, 1)).at(-1)).toEqual({
      code: 'refused',
      topic: 'tm_ones',
      message: 'tm_ones did not admit it, because it is too much.',
      details: { reason: 'it is too much' }
    })
    expect((await reasons(transaction, 2)).at(-1)!.message).toContain('gave no reason')
    expect(await codes(transaction, 3)).toEqual(['unmined', 'output-unknown'])
  })

  it('is spent, and kept for the history, or not', async () => {
    const first = await submitted('tm_ones', 1, 900)
    const second = paying(first, 0, 1, 0)
    await submit(second, 'tm_ones')
    expect(await reasons(first)).toContainEqual({
      code: 'spent',
      message: `It is spent by ${formatTxid(second.txid)}.`,
      details: { by: formatTxid(second.txid) }
    })
    expect((await reasons(first)).at(-1)!.message).toBe('tm_ones admitted it, and keeps it for its history.')
    const third = paying(second, 0, 1)
    await submit(third, 'tm_ones')
    expect((await reasons(second)).at(-1)).toMatchObject({
      code: 'removed',
      details: { by: formatTxid(third.txid) }
    })
    expect(await codes(first)).toContain('history-removed')
  })

  it('is evicted', async () => {
    const transaction = await submitted('tm_ones', 1)
    await engine.evict(makeOutpoint(transaction.txid, 0))
    expect(await codes(transaction)).toEqual(['unmined', 'unspent', 'evicted', 'not-indexed', 'removed'])
  })

  it('is indexed', async () => {
    const transaction = await submitted('tm_ones', 1)
    await engine.outputs.saveOutputs(transaction.txid, [{ vout: 0, satoshis: 1, data: { note: 'hello' } }])
    expect(await reasons(transaction)).toContainEqual({
      code: 'indexed',
      message: `It is found by txid:${formatTxid(transaction.txid)}, data note.`,
      details: { by: [`txid:${formatTxid(transaction.txid)}`, 'data note'] }
    })
  })
})

describe('the topic', () => {
  it('failed, until it did not', async () => {
    const transaction = await submitted('tm_shaky', 1)
    const [, failed] = await reasons(transaction, 0, 'tm_shaky')
    expect(failed).toMatchObject({ code: 'failed', details: { message: 'out of order' } })
    isBroken = false
    await submit(transaction, 'tm_shaky')
    expect(await codes(transaction, 0, 'tm_shaky')).toContain('refused')
    expect(engine.failures.of(transaction.txid).size).toBe(0)
  })

  it('is every one, unless one is named', async () => {
    const transaction = await submitted('tm_ones', 1)
    const { reasons: all } = await why(engine, makeOutpoint(transaction.txid, 0))
    expect(all.filter(({ topic }) => topic).map(({ topic, code }) => [topic, code])).toEqual([
      ['tm_ones', 'admitted'],
      ['tm_shaky', 'not-submitted'],
      ['tm_busy', 'not-submitted']
    ])
  })
})

it('a delivery to a lookup service is pending, with the reason', async () => {
  const transaction = await submitted('tm_busy', 1)
  expect((await reasons(transaction, 0, 'tm_busy')).at(-1)).toEqual({
    code: 'untold',
    message: 'The delivery to the lookup service ls_busy is pending: too busy.',
    details: { service: 'ls_busy', reason: 'too busy' }
  })
})

it('as many failures are remembered as there is room for', () => {
  const { failures } = engine
  const txid = (number: number) =>
    new Uint8Array(Buffer.alloc(32).fill(0)).fill(number % 256, 0, 1).fill(number >> 8, 1, 2) as never
  for (let i = 0; i <= 10_000; i++) failures.add(txid(i), ['tm_ones'], new Error(`${i}`))
  expect(failures.of(txid(0)).size).toBe(0)
  expect(failures.of(txid(1)).get('tm_ones')).toMatchObject({ code: 'ERR_TOPIC_FAILED', message: '1' })
  expect(failures.of(txid(10_000)).size).toBe(1)
})
