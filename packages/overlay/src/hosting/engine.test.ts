/** An engine whose topics and lookups of others run in processes of their own. */
import { type LookupQuestion, Transaction as SdkTransaction } from '@bsv/sdk'
import type { Transaction } from '@quoin/chain'
import { makeOutpoint } from '@quoin/primitives'
import { openStore } from '@quoin/store'
import { OutputStore } from '@quoin/txo'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  makeKey,
  payTo,
  spend,
  TestChain,
  withKeyHash
} from '../../../chain/src/verify/test-chain.testing.ts'
import { Engine } from '../engine.ts'
import type {
  LookupFormula,
  LookupService,
  OutputAdmittedByTopic,
  OutputSpent,
  TopicManager
} from '../types.ts'
import { closeHosts, fixture, hostOf, tell, until } from './hosting.testing.ts'

const key = makeKey('hosting')
const chain = new TestChain()
const about = {
  getDocumentation: async () => '',
  getMetaData: async () => ({ name: '', shortDescription: '' })
}
const inProcess: TopicManager = {
  ...about,
  identifyAdmissibleOutputs: async beef => ({
    outputsToAdmit: SdkTransaction.fromBEEF(beef).outputs.map((_, vout) => vout),
    coinsToRetain: []
  })
}
/** Reads each transaction with the SDK, as published services do; an answer has the history that its selector takes. */
class Reader implements LookupService {
  readonly admissionMode = 'whole-tx'
  readonly spendNotificationMode = 'whole-tx'
  readonly getDocumentation = about.getDocumentation
  readonly getMetaData = about.getMetaData
  readonly calls: string[] = []

  outputAdmittedByTopic(payload: OutputAdmittedByTopic): void {
    const { atomicBEEF, outputIndex } = payload as Extract<OutputAdmittedByTopic, { mode: 'whole-tx' }>
    this.calls.push(`admitted ${SdkTransaction.fromAtomicBEEF(atomicBEEF).id('hex')}.${outputIndex}`)
  }
  outputSpent(payload: OutputSpent): void {
    const { spendingAtomicBEEF } = payload as Extract<OutputSpent, { mode: 'whole-tx' }>
    this.calls.push(`spent by ${SdkTransaction.fromAtomicBEEF(spendingAtomicBEEF).id('hex')}`)
  }
  outputEvicted(): void {}
  async lookup({ query }: LookupQuestion): Promise<LookupFormula> {
    const history = async (beef: number[]) => SdkTransaction.fromBEEF(beef).outputs.length === 2
    return [{ txid: query as string, outputIndex: 0, history }]
  }
}
const pay = (satoshis: number) => ({ satoshis, script: payTo(key) })
const child = (from: Transaction, vouts: readonly number[], values = [1000, 900]): Transaction =>
  spend({
    inputs: vouts.map(vout => ({ from, vout, unlock: withKeyHash(key) })),
    outputs: values.map(pay)
  })

let engine: Engine
let reader: Reader
let host: Awaited<ReturnType<typeof hostOf>>['host']
beforeEach(async () => {
  ;({ host } = await hostOf(
    [
      fixture('foreign.mjs', { name: 'tm_hosted' }),
      fixture('foreign.mjs', { export: 'Recorder', name: 'ls_hosted' }),
      fixture('misbehaving.mjs', { name: 'tm_bad' })
    ],
    { topicTimeout: 2000 }
  ))
  reader = new Reader()
  engine = new Engine({
    outputs: new OutputStore(await openStore('memory:')),
    tracker: chain,
    topics: { ...host.topics, tm_in_process: inProcess },
    lookups: { ...host.lookups, ls_reader: reader },
    delivery: host.delivery
  })
  engine.start()
})
afterEach(async () => {
  await engine.close()
  await closeHosts()
  await engine.outputs.store.close()
})

it('submits to a hosted topic, tells a hosted lookup, and has its errors', async () => {
  const root = chain.fund([pay(2000), pay(1000)])
  const parent = child(root, [0])
  const next = child(parent, [0], [500, 400])
  expect(await engine.submit({ beef: chain.beef([root, parent]), topics: ['tm_hosted'] })).toMatchObject({
    tm_hosted: { outputsToAdmit: [0, 1] }
  })
  const values = Uint8Array.of(9)
  const submitted = { beef: chain.beef([root, parent, next]), topics: ['tm_hosted'], offChainValues: values }
  expect(await engine.submit(submitted)).toMatchObject({
    // The fixture keeps the history of every coin.
    tm_hosted: { outputsToAdmit: [0, 1], coinsToRetain: [0] }
  })
  const told = async (): Promise<Record<string, unknown>[]> => {
    const [{ context }] = (await host.lookups['ls_hosted']!.lookup({
      service: '',
      query: 'calls'
    })) as unknown as [{ context: number[] }]
    return JSON.parse(Buffer.from(context).toString())
  }
  let calls = await told()
  for (; calls.length < 5; calls = await told()) await engine.settle()
  const id = idOf(next)
  expect(calls).toContainEqual({
    txid: id,
    outputIndex: 1,
    script: Buffer.from(payTo(key)).toString('hex'),
    values: [9]
  })
  expect(calls).toContainEqual(expect.objectContaining({ by: id }))
  await expect(engine.lookup('ls_hosted', 'fail')).rejects.toMatchObject({ code: 'ERR_LOOKUP_FAILED' })
})

it('a topic whose process ends fails alone', async () => {
  const root = chain.fund([pay(2000)])
  const answer = await engine.submit({
    beef: chain.beef([root, child(root, [0])]),
    topics: ['tm_hosted', 'tm_bad', 'tm_in_process'],
    offChainValues: Buffer.from('{"behaviour":"exit"}')
  })
  expect(answer).toMatchObject({
    tm_hosted: { outputsToAdmit: [0, 1] },
    tm_bad: { outputsToAdmit: [], error: { code: 'ERR_PLUGIN_ENDED' } },
    tm_in_process: { outputsToAdmit: [0, 1] }
  })
  await until(() => host.states().every(({ state }) => state === 'running'))
  expect(await tell(host.topics['tm_bad']!, 'admit')).toMatchObject({ outputsToAdmit: [0] })
})

it('an index that the transaction does not have is an error of the topic', async () => {
  const root = chain.fund([pay(2000)])
  const answer = await engine.submit({
    beef: chain.beef([root, child(root, [0])]),
    topics: ['tm_bad'],
    offChainValues: Buffer.from('{"behaviour":"admit","answer":{"outputsToAdmit":[2]}}')
  })
  expect(answer['tm_bad']!.error).toMatchObject({ code: 'ERR_TOPIC_FAILED' })
})

const diamond = (depth: number): Transaction[] => {
  const all = [chain.fund([pay(1000), pay(1000)])]
  for (let i = 0; i < depth; i++) all.push(child(all.at(-1)!, [0, 1]))
  return all
}
const idOf = ({ raw }: Transaction): string => SdkTransaction.fromBinary([...raw]).id('hex')

describe('a diamond of ancestors', () => {
  it.each([
    ['tm_hosted', 30],
    ['tm_hosted', 200],
    ['tm_in_process', 30]
  ])('is evaluated by %s at depth %i', async (topic, depth) => {
    const all = diamond(depth)
    const begin = performance.now()
    let longest = 0
    let last = begin
    const timer = setInterval(() => {
      longest = Math.max(longest, performance.now() - last)
      last = performance.now()
    }, 1)
    const answer = await engine.submit({ beef: chain.beef(all), topics: [topic] })
    clearInterval(timer)
    expect(answer[topic]).toMatchObject({ outputsToAdmit: [0, 1] })
    // `npm run bench -- plugins` measures the time; here it includes 60 to 400 signatures on a busy machine.
    expect(longest).toBeLessThan(2000)
    expect(await engine.outputs.isInTopic(topic as never, makeOutpoint(all.at(-1)!.txid, 0))).toBe(true)
  })

  it('is read by lookup services, and by selectors of their answers, without its repeated ancestors', async () => {
    const all = diamond(30)
    const [parent, subject] = all.slice(-2) as [Transaction, Transaction]
    await engine.submit({ beef: chain.beef(all.slice(0, -1)), topics: ['tm_in_process'] })
    await engine.submit({ beef: chain.beef(all), topics: ['tm_in_process'] })
    await expect.poll(() => reader.calls.length).toBe(6)
    expect(reader.calls.toSorted()).toEqual(
      [
        ...[0, 1].map(vout => `admitted ${idOf(parent)}.${vout}`),
        ...[0, 1].map(vout => `admitted ${idOf(subject)}.${vout}`),
        ...Array(2).fill(`spent by ${idOf(subject)}`)
      ].toSorted()
    )
    const [found] = await engine.lookup('ls_reader', idOf(subject))
    expect(found!.transactions.length).toBeGreaterThan(30)
  })
})
