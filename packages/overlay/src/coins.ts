/**
 * The coins of a topic that a transaction spends. A coin that has left the topic with a spender that it did not retain
 * is one for another spender still: which of the two stays is not decided by who came first.
 */

import type { Input, Transaction } from '@quoin/chain'
import { type Awaitable, andThen, isPending, makeOutpoint, together } from '@quoin/primitives'
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
  const admitting = together(
    inputs.map((input, i) => {
      const present: readonly string[] = loaded[i]?.topics ?? []
      if (topics.every(topic => present.includes(topic))) return present
      return andThen(admittedOnce(outputs, input), before => [...present, ...before])
    })
  )
  const admitted = isPending(admitting) ? await admitting : admitting
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
export const hasNewCoins = (
  outputs: OutputStore,
  { inputs }: Transaction,
  coins: Coins<number>
): Awaitable<boolean> => {
  const isNew = inputs.map((input, i) => {
    const others = [...coins].filter(([, all]) => !all.includes(i)).map(([topic]) => topic)
    if (others.length === 0) return false
    return andThen(admittedOnce(outputs, input), admitted => others.some(topic => admitted.includes(topic)))
  })
  return andThen(together(isNew), all => all.includes(true))
}

/** Topics that admitted an output, whether or not it is there still; none when an operator evicted it. */
const admittedOnce = ({ store }: OutputStore, { txid, vout }: Input): Awaitable<readonly string[]> =>
  andThen(store.use(judgements).atHand(txid), judged => {
    if (!judged) return []
    const topics = Object.keys(judged).filter(topic => judged[topic]!.outputsToAdmit.includes(vout))
    if (topics.length === 0) return topics
    return andThen(store.use(evictions).atHand(txid, vout), evicted => (evicted === undefined ? topics : []))
  })
