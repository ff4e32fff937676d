/**
 * Coins that a topic does not retain leave it, and with them whatever was in its history only because they had consumed
 * it.
 */
import { type Outpoint, type Topic, toHex, txidOf, voutOf } from '@quoin/primitives'
import { type OutputStore, outputFields, outputs as outputKeys } from '@quoin/txo'

const { inputs } = outputFields.collections

/** What outputs consumed, as the topic saw it, or any topic. */
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

/** The outputs that leave a topic with these coins. */
export const leavingWith = async (
  outputs: OutputStore,
  topic: Topic,
  coins: readonly Outpoint[]
): Promise<Outpoint[]> => {
  const leaving = new Map(coins.map(coin => [toHex(coin), coin]))
  let next = [...coins]
  while (next.length > 0) {
    const consumed = await consumedInputs(outputs, next, topic)
    next = []
    for (const input of consumed) {
      if (leaving.has(toHex(input)) || !(await outputs.isInTopic(topic, input))) continue
      const consumers = await outputs.consumedBy(input, topic)
      if (consumers.some(each => !leaving.has(toHex(each)))) continue
      leaving.set(toHex(input), input)
      next.push(input)
    }
  }
  return [...leaving.values()]
}
