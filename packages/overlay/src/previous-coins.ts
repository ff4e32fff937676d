/**
 * Previous coins: the outputs of a topic that a transaction spends. A coin that a spender removed from the topic is a
 * coin for another spender as well: the first to arrive does not decide which of two stays.
 */
import type { Transaction } from '@quoin/chain'
import { makeOutpoint } from '@quoin/primitives'
import type { OutputStore } from '@quoin/txo'
import { topicsEverAdmitting } from './admissions.ts'
import type { PreviousCoin } from './types.ts'

type ByTopic<T> = ReadonlyMap<string, readonly T[]>

/** For each topic, the inputs that spend outputs which it admitted. */
export const coinInputs = async (
  outputs: OutputStore,
  { inputs }: Transaction,
  topics: readonly string[]
): Promise<ByTopic<number>> => {
  const outpoints = inputs.map(({ txid, vout }) => makeOutpoint(txid, vout))
  const loaded = await outputs.loadOutputs(outpoints, { includeTopics: true })
  const members = inputs.map((_, i): readonly string[] => loaded[i]?.topics ?? [])
  const unsure = [...inputs.keys()].filter(i => !topics.every(topic => members[i]!.includes(topic)))
  const coins = unsure.map(i => inputs[i]!)
  const ever = await outputs.store.run(topicsEverAdmitting(outputs, coins))
  const admitting = members.map((each, i) => [...each, ...(ever[unsure.indexOf(i)] ?? [])])
  return new Map(topics.map(topic => [topic, [...inputs.keys()].filter(i => admitting[i]!.includes(topic))]))
}

/** For each topic, its coins with the outputs that the inputs spend. */
export const previousCoins = async (
  outputs: OutputStore,
  transaction: Transaction,
  topics: readonly string[]
): Promise<ByTopic<PreviousCoin>> => {
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

/** Whether an input that was not a coin of a topic has become one. */
export const hasNewCoins = async (
  outputs: OutputStore,
  { inputs }: Transaction,
  coins: ByTopic<number>
): Promise<boolean> => {
  const others = inputs.map((_, i) =>
    [...coins].filter(([, all]) => !all.includes(i)).map(([topic]) => topic)
  )
  const unsure = [...inputs.keys()].filter(i => others[i]!.length > 0)
  const spent = unsure.map(i => inputs[i]!)
  const admitting = await outputs.store.run(topicsEverAdmitting(outputs, spent))
  return unsure.some((i, at) => others[i]!.some(topic => admitting[at]!.includes(topic)))
}
