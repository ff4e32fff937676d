/**
 * The coins of a topic that a transaction spends. A coin that has left the topic with a spender that it did not retain
 * is one for another spender still: which of the two stays is not decided by who came first.
 */

import type { Input, Transaction } from '@quoin/chain'
import { makeOutpoint } from '@quoin/primitives'
import type { ReadPlan } from '@quoin/store'
import type { OutputStore } from '@quoin/txo'
import { overlay } from './keys.ts'
import type { PreviousCoin } from './types.ts'

const { judgements, evictions } = overlay.collections

type Coins<T> = ReadonlyMap<string, readonly T[]>

/** By topic, the inputs that spend outputs which it admitted. */
export const coinInputs = async (
  outputs: OutputStore,
  { inputs }: Transaction,
  topics: readonly string[]
): Promise<Coins<number>> => {
  const outpoints = inputs.map(({ txid, vout }) => makeOutpoint(txid, vout))
  const loaded = await outputs.loadOutputs(outpoints, { includeTopics: true })
  const present = inputs.map((_, i): readonly string[] => loaded[i]?.topics ?? [])
  const unsure = [...inputs.keys()].filter(i => !topics.every(topic => present[i]!.includes(topic)))
  const before = await outputs.store.run(
    admittedOnce(
      outputs,
      unsure.map(i => inputs[i]!)
    )
  )
  const admitted = present.map((each, i) => [...each, ...(before[unsure.indexOf(i)] ?? [])])
  return new Map(topics.map(topic => [topic, [...inputs.keys()].filter(i => admitted[i]!.includes(topic))]))
}

/** The same, with what the inputs spend. */
export const previousCoins = async (
  outputs: OutputStore,
  transaction: Transaction,
  topics: readonly string[]
): Promise<Coins<PreviousCoin>> => {
  const coins = await coinInputs(outputs, transaction, topics)
  const inputs = [...new Set([...coins.values()].flat())]
  if (inputs.length === 0) return new Map(topics.map(topic => [topic, []]))
  const sources = await outputs.transactions.getMany(inputs.map(input => transaction.inputs[input]!.txid))
  const spent = new Map<number, PreviousCoin>()
  for (const [i, input] of inputs.entries()) {
    const { txid, vout } = transaction.inputs[input]!
    const output = sources[i]?.outputs[vout]
    if (output) spent.set(input, { input, outpoint: makeOutpoint(txid, vout), output })
  }
  return new Map([...coins].map(([topic, all]) => [topic, all.flatMap(input => spent.get(input) ?? [])]))
}

/** Whether an input that was none of a topic's coins has become one. */
export function* hasNewCoins(
  outputs: OutputStore,
  { inputs }: Transaction,
  coins: Coins<number>
): ReadPlan<boolean> {
  const others = inputs.map((_, i) =>
    [...coins].filter(([, all]) => !all.includes(i)).map(([topic]) => topic)
  )
  const unsure = [...inputs.keys()].filter(i => others[i]!.length > 0)
  const admitted = yield* admittedOnce(
    outputs,
    unsure.map(i => inputs[i]!)
  )
  return unsure.some((i, at) => others[i]!.some(topic => admitted[at]!.includes(topic)))
}

/** Topics that admitted each output, whether or not it is there still; none when an operator evicted it. */
function* admittedOnce({ store }: OutputStore, coins: readonly Input[]): ReadPlan<string[][]> {
  const judged = yield* store.use(judgements).planMany(coins.map(({ txid }) => [txid]))
  const topics = coins.map(({ vout }, i) =>
    Object.entries(judged[i] ?? {}).flatMap(([topic, { outputsToAdmit }]) =>
      outputsToAdmit.includes(vout) ? topic : []
    )
  )
  if (topics.every(({ length }) => length === 0)) return topics
  const evicted = yield* store.use(evictions).planMany(coins.map(({ txid, vout }) => [txid, vout]))
  return topics.map((each, i) => (evicted[i] === undefined ? each : []))
}
