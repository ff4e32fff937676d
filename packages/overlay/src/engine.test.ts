/** What the engine promises: one commit, one answer, real membership, and plug-ins of either form. */
import type { LookupService as ForeignLookup, TopicManager as ForeignTopic } from '@bsv/overlay'
import { type LookupQuestion, PushDrop, Transaction as SdkTransaction } from '@bsv/sdk'
import { parseTransaction, type Transaction } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { formatTxid, makeOutpoint, type Topic } from '@quoin/primitives'
import { openStore } from '@quoin/store'
import { OutputStore, verifyIndex } from '@quoin/txo'
import { afterEach, beforeEach, describe, expect, expectTypeOf, it } from 'vitest'
import { makeKey, payTo, spend, withKeyHash } from '../../chain/src/verify/test-chain.testing.ts'
import { answerBeef, Engine, type EngineOptions, verifyAdmissions } from './index.ts'
import type { AnyLookup, AnyTopic, LookupService, OutputSpent, QuoinTopic, TopicManager } from './types.ts'

const about = (name: string) => ({
  getDocumentation: async () => `# ${name}`,
  getMetaData: async () => ({ name, shortDescription: name })
})

/** Admits whatever pays 1 satoshi, and keeps the history of coins. */
const ones: QuoinTopic = {
  ...about('ones'),
  admit: ({ transaction, previousCoins }) => ({
    outputs: [...transaction.outputs.keys()].filter(vout => transaction.outputs[vout]!.satoshis === 1),
    retain: previousCoins.map(({ input }) => input)
  })
}
/** The same in the foreign form, without the history. */
const foreignOnes: TopicManager = {
  ...about('foreign'),
  identifyAdmissibleOutputs: async beef => ({
    outputsToAdmit: SdkTransaction.fromBEEF(beef).outputs.flatMap(({ satoshis }, i) =>
      satoshis === 1 ? [i] : []
    ),
    coinsToRetain: []
  })
}
const failing: TopicManager = {
  ...about('failing'),
  identifyAdmissibleOutputs: () => Promise.reject(new Error('out of order'))
}
const hanging: QuoinTopic = { ...about('hanging'), admit: () => new Promise(() => undefined) }

class Recorder implements LookupService {
  readonly admissionMode = 'locking-script'
  readonly spendNotificationMode = 'script'
  readonly events: unknown[] = []
  failures = 0
  getDocumentation = about('recorder').getDocumentation
  getMetaData = about('recorder').getMetaData
  async outputAdmittedByTopic(payload: { topic: string; outputIndex: number }): Promise<void> {
    if (this.failures-- > 0) throw new Error('not now')
    this.events.push(['admitted', payload.topic, payload.outputIndex])
  }
  async outputSpent(payload: OutputSpent): Promise<void> {
    this.events.push(['spent', payload.topic, payload.mode === 'script' && payload.inputIndex])
  }
  async outputNoLongerRetainedInHistory(_: string, vout: number, topic: string): Promise<void> {
    this.events.push(['forgotten', topic, vout])
  }
  async outputEvicted(_: string, vout: number): Promise<void> {
    this.events.push(['evicted', vout])
  }
  async lookup({ query }: LookupQuestion) {
    return [query as { txid: string; outputIndex: number; history?: number }]
  }
}

const key = makeKey('engine')
let chain: DevChain
let recorder: Recorder
let engine: Engine

const opened = async (options: Partial<EngineOptions> = {}): Promise<Engine> => {
  recorder = new Recorder()
  const topics: Record<string, AnyTopic> = {
    tm_ones: ones,
    tm_foreign: foreignOnes,
    tm_failing: failing,
    tm_hanging: hanging
  }
  const lookups: Record<string, AnyLookup> = { ls_recorder: recorder }
  return new Engine({
    outputs: new OutputStore(await openStore('memory:')),
    tracker: chain,
    topics,
    lookups,
    topicTimeout: 200,
    ...options
  })
}

beforeEach(async () => {
  chain = new DevChain({ seed: 'engine' })
  engine = await opened()
})
afterEach(async () => {
  await engine.close()
  expect((await verifyIndex(engine.outputs.store)).differences).toEqual([])
  for await (const { finding } of verifyAdmissions(engine.outputs.store)) expect(finding).toBeUndefined()
  await engine.outputs.store.close()
})

const token = (from: Transaction, vout: number, satoshis: number[]): Transaction =>
  spend({
    inputs: [{ from, vout, unlock: withKeyHash(key) }],
    outputs: satoshis.map(each => ({ satoshis: each, script: payTo(key) }))
  })
const minted = async (): Promise<Transaction> => {
  const transaction = token(chain.fund(payTo(key), 1000), 0, [1, 900])
  await chain.submit(transaction)
  return transaction
}
const submit = (transaction: Transaction, ...topics: string[]) =>
  engine.submit({ beef: chain.beef(transaction.txid), topics })
const admitted = (outputs: number[], retain: number[] = [], removed: number[] = []) => ({
  outputsToAdmit: outputs,
  coinsToRetain: retain,
  coinsRemoved: removed
})

describe('submitting', () => {
  it('admits by topic, and answers when it is committed', async () => {
    const transaction = await minted()
    expect(await submit(transaction, 'tm_ones')).toEqual({ tm_ones: admitted([0]) })
    const { outputs } = engine
    expect(await outputs.isInTopic('tm_ones' as Topic, makeOutpoint(transaction.txid, 0))).toBe(true)
    expect(await outputs.isInTopic('tm_ones' as Topic, makeOutpoint(transaction.txid, 1))).toBe(false)
    expect(await outputs.isApplied('tm_ones' as Topic, transaction.txid)).toBe(true)
    expect(recorder.events).toEqual([['admitted', 'tm_ones', 0]])
  })

  it('again gets the first answer, together is worked on once, and other topics evaluate it later', async () => {
    const transaction = await minted()
    const answers = await Promise.all(Array.from({ length: 5 }, () => submit(transaction, 'tm_ones')))
    expect(new Set(answers.map(each => JSON.stringify(each))).size).toBe(1)
    expect(recorder.events).toHaveLength(1)
    expect(await submit(transaction, 'tm_ones', 'tm_foreign', 'tm_ones')).toEqual({
      tm_ones: admitted([0]),
      tm_foreign: admitted([0])
    })
  })

  it('tells a topic which inputs are its coins; what it does not retain leaves it', async () => {
    const first = await minted()
    await submit(first, 'tm_ones', 'tm_foreign')
    const second = token(first, 0, [1])
    await chain.submit(second)
    expect(await submit(second, 'tm_ones', 'tm_foreign')).toEqual({
      tm_ones: admitted([0], [0]),
      tm_foreign: admitted([0], [], [0])
    })
    const coin = makeOutpoint(first.txid, 0)
    expect(await engine.outputs.isInTopic('tm_ones' as Topic, coin)).toBe(true)
    expect(await engine.outputs.isInTopic('tm_foreign' as Topic, coin)).toBe(false)
    expect(recorder.events.slice(2)).toEqual([
      ['spent', 'tm_ones', 0],
      ['admitted', 'tm_ones', 0],
      ['spent', 'tm_foreign', 0],
      ['forgotten', 'tm_foreign', 0],
      ['admitted', 'tm_foreign', 0]
    ])
  })

  it('a coin that left is no history of what consumed it: it does not leave again with that', async () => {
    let last = await minted()
    await submit(last, 'tm_foreign')
    for (let step = 0; step < 3; step++) {
      last = token(last, 0, [1])
      await chain.submit(last)
      await submit(last, 'tm_foreign')
      const forgotten = (await engine.admissions(last.txid))!['tm_foreign']!.forgotten
      expect(forgotten).toEqual([`${formatTxid(last.inputs[0]!.txid)}.0`])
    }
  })

  it('a topic that throws or hangs fails alone, says why, and may be tried again', async () => {
    const transaction = await minted()
    const steak = await submit(transaction, 'tm_failing', 'tm_hanging', 'tm_ones')
    expect(steak['tm_ones']).toEqual(admitted([0]))
    expect(steak['tm_failing']).toEqual({
      ...admitted([]),
      error: { code: 'ERR_TOPIC_FAILED', message: 'out of order' }
    })
    expect(steak['tm_hanging']!.error!.message).toContain('200 ms')
    expect(await engine.outputs.isApplied('tm_failing' as Topic, transaction.txid)).toBe(false)
  })

  it('two transactions that spend one coin: the second is a conflict, in whatever topic', async () => {
    const first = await minted()
    await submit(first, 'tm_ones')
    const second = token(first, 0, [1])
    await chain.submit(second)
    await submit(second, 'tm_ones')
    const rival = token(first, 0, [0])
    await chain.submit(rival, { replace: true })
    await expect(submit(rival, 'tm_foreign')).rejects.toMatchObject({ code: 'ERR_TXO_CONFLICT' })
    expect(await engine.outputs.conflicts(makeOutpoint(first.txid, 0))).toEqual([rival.txid])
  })

  it('what does not verify is refused, unless it is history that another node vouches for', async () => {
    const forged = spend({
      inputs: [{ from: chain.fund(payTo(key), 10), vout: 0, unlock: withKeyHash(makeKey('thief')) }],
      outputs: [{ satoshis: 1, script: payTo(key) }]
    })
    await chain.submit(forged)
    await expect(submit(forged, 'tm_ones')).rejects.toMatchObject({ code: 'ERR_TX_INVALID' })
    expect(await engine.admissions(forged.txid)).toBeUndefined()
    const trusted = await engine.submit(
      { beef: chain.beef(forged.txid), topics: ['tm_ones'] },
      'historical-tx-no-spv'
    )
    expect(trusted).toEqual({ tm_ones: admitted([0]) })
  })

  it('a proof that a reorg makes void while a topic evaluates is not kept', async () => {
    const reorganising: QuoinTopic = {
      ...about('reorganising'),
      admit: async () => {
        await chain.reorg(1)
        return { outputs: [0] }
      }
    }
    engine = await opened({ topics: { tm_reorg: reorganising }, proofs: chain })
    const transaction = await minted()
    chain.mine()
    await submit(transaction, 'tm_reorg')
    const [kept, right] = [
      await engine.outputs.transactions.proof(transaction.txid),
      await chain.proof(transaction.txid)
    ]
    expect(right.status === 'mined' && kept?.root).toEqual(right.status === 'mined' && right.bump.root)
    expect((await engine.outputs.record(transaction.txid))?.position?.height).toBe(kept?.height)
  })

  it('of many some are committed before others are begun with', async () => {
    let begun = 0
    const counted: QuoinTopic = {
      ...about('counted'),
      admit: () => {
        begun++
        return { outputs: [0] }
      }
    }
    engine = await opened({ topics: { tm_counted: counted }, lookups: {} })
    const funded = Array.from({ length: 200 }, () => chain.fund(payTo(key), 1))
    chain.mine()
    const submitting = funded.map(({ txid }) =>
      engine.submit({ beef: chain.beef(txid), topics: ['tm_counted'] })
    )
    await Promise.race(submitting)
    expect(begun).toBeLessThan(200)
    expect(await Promise.all(submitting)).toHaveLength(200)
    expect(begun).toBe(200)
  })

  it('a topic that is not there is an error', async () => {
    await expect(submit(await minted(), 'tm_nowhere')).rejects.toMatchObject({ code: 'ERR_TOPIC_UNKNOWN' })
  })

  it('sends what is not mined to the network first, and keeps nothing that the network refuses', async () => {
    const sent: string[] = []
    engine = await opened({
      broadcast: async ({ txid }) => {
        sent.push(formatTxid(txid))
        if (sent.length === 1) throw new Error('the network says no')
      }
    })
    const transaction = await minted()
    await expect(submit(transaction, 'tm_ones')).rejects.toThrow('the network says no')
    expect(await engine.admissions(transaction.txid)).toBeUndefined()
    await submit(transaction, 'tm_ones')
    expect(sent).toHaveLength(2)
  })
})

describe('lookup services in the foreign form', () => {
  it('are told until they take it', async () => {
    recorder.failures = 1
    await submit(await minted(), 'tm_ones')
    expect(recorder.events).toEqual([])
    engine.start()
    await expect.poll(() => recorder.events, { timeout: 5000 }).toEqual([['admitted', 'tm_ones', 0]])
  })

  it('are told of what is taken back, and of what an operator evicts', async () => {
    const [first, second] = [await minted(), await minted()]
    await submit(first, 'tm_ones')
    await submit(second, 'tm_ones')
    await engine.outputs.rollback(first.txid)
    engine.start()
    await expect.poll(() => recorder.events.slice(2), { timeout: 5000 }).toEqual([['evicted', 0]])
    expect(await engine.evict(makeOutpoint(second.txid, 0))).toBe(true)
    expect(await engine.outputs.loadOutput(makeOutpoint(second.txid, 0))).toBeNull()
    expect(recorder.events.slice(3)).toEqual([['evicted', 0]])
    expect(await submit(first, 'tm_ones')).toEqual({ tm_ones: admitted([0]) })
  })
})

describe('answers', () => {
  it('walk the history with an unmodified client, even when every step is mined', async () => {
    let last = await minted()
    const steps = [last]
    await submit(last, 'tm_ones')
    for (let step = 0; step < 4; step++) {
      last = token(last, 0, [1])
      await chain.submit(last)
      chain.mine()
      await submit(last, 'tm_ones')
      steps.push(last)
    }
    for (const { txid } of steps) {
      const answer = await chain.proof(txid)
      if (answer.status === 'mined') await engine.handleNewMerkleProof(txid, answer.bump)
    }
    const query = { txid: formatTxid(last.txid), outputIndex: 0, history: 10 }
    const [answer] = await engine.lookup('ls_recorder', query)
    let walked = SdkTransaction.fromBEEF([...answerBeef(answer!)])
    expect(await walked.verify(chain)).toBe(true)
    for (const step of steps.reverse()) {
      expect(walked.id('hex')).toBe(formatTxid(step.txid))
      walked = walked.inputs[0]!.sourceTransaction!
    }
    const [short] = await engine.lookup('ls_recorder', { ...query, history: 0 })
    expect(short!.transactions).toHaveLength(1)
  })

  it('leave out what is not stored; an unknown service is an error', async () => {
    const query = { txid: '00'.repeat(32), outputIndex: 0 }
    expect(await engine.lookup('ls_recorder', query)).toEqual([])
    await expect(engine.lookup('ls_nowhere', {})).rejects.toMatchObject({ code: 'ERR_LOOKUP_UNKNOWN' })
  })
})

it('plug-ins written for @bsv/overlay fit, and so do ours there', () => {
  expectTypeOf<ForeignTopic>().toMatchTypeOf<TopicManager>()
  expectTypeOf<Pick<ForeignLookup, 'admissionMode' | 'spendNotificationMode'>>().toMatchTypeOf<
    Pick<LookupService, 'admissionMode' | 'spendNotificationMode'>
  >()
  expect([PushDrop, parseTransaction]).toHaveLength(2)
})
