/**
 * The history of a topic: an output keeps the coins that its transaction consumed. A coin that the topic does not retain
 * is removed, and with it the outputs that were kept only as history of removed ones.
 */
import { type Outpoint, type Topic, toHex, txidOf, voutOf } from '@quoin/primitives'
import { type OutputStore, outputFields, outputs as outputKeys } from '@quoin/txo'

const { inputs } = outputFields.collections

/** The coins that outputs keep: in one topic, or in any. */
export const consumedInputs = async (
  { store }: OutputStore,
  outpoints: readonly Outpoint[],
  topic?: Topic
): Promise<Outpoint[]> => {
  const hashes = await Promise.all(
    outpoints.map(outpoint =>
      store.use(outputKeys.collections.output).at(txidOf(outpoint), voutOf(outpoint)).all()
    )
  )
  const consumed = new Map<string, Outpoint>()
  for (const fields of hashes) {
    for (const { key, value } of fields.entries(inputs)) {
      if (topic !== undefined && key[0] !== topic) continue
      for (const outpoint of value) consumed.set(toHex(outpoint), outpoint)
    }
  }
  return [...consumed.values()]
}

/** The outputs that a topic loses with these coins, the coins included. */
export const cascadeRemoval = async (
  outputs: OutputStore,
  topic: Topic,
  coins: readonly Outpoint[]
): Promise<Outpoint[]> => {
  const removed = new Map(coins.map(coin => [toHex(coin), coin]))
  let next = [...coins]
  while (next.length > 0) {
    const consumed = await consumedInputs(outputs, next, topic)
    next = []
    for (const input of consumed) {
      if (removed.has(toHex(input)) || !(await outputs.isInTopic(topic, input))) continue
      const consumers = await outputs.consumedBy(input, topic)
      if (consumers.some(each => !removed.has(toHex(each)))) continue
      removed.set(toHex(input), input)
      next.push(input)
    }
  }
  return [...removed.values()]
}
