/** One topic judging one transaction: in whichever form the topic is written, what it says becomes a judgement. */

import type { Beef, Transaction } from '@quoin/chain'
import { QuoinError, withTimeout } from '@quoin/primitives'
import { boundBeef } from './hosting/index.ts'
import type { Judgement } from './keys.ts'
import {
  type AnyTopic,
  type Candidate,
  type HostedTopic,
  isHostedTopic,
  isQuoinTopic,
  type Mode,
  type PreviousCoin,
  type QuoinTopic,
  type TopicManager
} from './types.ts'

export interface Judging {
  readonly transaction: Transaction
  readonly previousCoins: readonly PreviousCoin[]
  readonly offChainValues: Uint8Array | undefined
  readonly mode: Mode
  /** With the transactions of the previous coins, made when a topic asks for it. */
  readonly beef: () => Promise<Uint8Array | Beef>
  /** Milliseconds that a topic may take. */
  readonly timeout: number
}

export const judge = async (name: string, topic: AnyTopic, judging: Judging): Promise<Judgement> => {
  const { transaction, previousCoins } = judging
  // The host of a topic in another process ends calls that take too long.
  const said = isHostedTopic(topic)
    ? await judgeHosted(topic, judging)
    : await inTime(name, judging.timeout, () =>
        isQuoinTopic(topic) ? judgeOwn(topic, judging) : judgeForeign(topic, judging)
      )
  const previous = previousCoins.map(({ input }) => input)
  const outputs = indexes(name, 'output', said.outputs, transaction.outputs.length)
  const retained = indexes(name, 'input', said.retain ?? [], transaction.inputs.length).filter(input =>
    previous.includes(input)
  )
  return {
    outputsToAdmit: outputs,
    coinsToRetain: retained,
    coinsRemoved: previous.filter(input => !retained.includes(input)),
    previousCoins: previous,
    ...(said.refused && { refused: said.refused })
  }
}

interface Said {
  readonly outputs: readonly number[]
  readonly retain?: readonly number[]
  readonly refused?: Readonly<Record<number, string>>
}

const judgeOwn = (
  topic: QuoinTopic,
  { transaction, previousCoins, offChainValues, mode }: Judging
): Said | Promise<Said> =>
  topic.admit({ transaction, previousCoins, offChainValues, mode } satisfies Candidate)

const judgeForeign = async (
  topic: TopicManager,
  { previousCoins, offChainValues, mode, beef }: Judging
): Promise<Said> => {
  const instructions = await topic.identifyAdmissibleOutputs(
    Array.from(boundBeef(await beef())),
    previousCoins.map(({ input }) => input),
    offChainValues && [...offChainValues],
    mode
  )
  return { outputs: instructions.outputsToAdmit, retain: instructions.coinsToRetain }
}

const judgeHosted = async (
  topic: HostedTopic,
  { previousCoins, offChainValues, mode, beef }: Judging
): Promise<Said> => {
  const inputs = previousCoins.map(({ input }) => input)
  const said = await topic.identifyAdmissibleOutputs(boundBeef(await beef()), inputs, offChainValues, mode)
  return {
    outputs: said.outputsToAdmit,
    retain: said.coinsToRetain,
    ...(said.refused && { refused: said.refused })
  }
}

/** In order, each once; what is no index of the transaction is the topic's fault. */
const indexes = (topic: string, of: string, given: readonly number[], count: number): number[] => {
  const isWrong =
    !Array.isArray(given) || given.some(each => !Number.isInteger(each) || each < 0 || each >= count)
  if (isWrong) {
    throw new QuoinError('ERR_TOPIC_FAILED', `${topic} names an ${of} that the transaction does not have`, {
      topic
    })
  }
  return [...new Set(given)].sort((a, b) => a - b)
}

/** A topic that answers at once needs no timer. */
const inTime = async <T>(topic: string, timeout: number, work: () => T | PromiseLike<T>): Promise<T> => {
  const result = work()
  if (!isThenable(result)) return result
  return withTimeout(Promise.resolve(result), timeout, () => {
    throw new QuoinError('ERR_TOPIC_FAILED', `${topic} took more than ${timeout} ms`, { topic })
  })
}

const isThenable = <T>(value: T | PromiseLike<T>): value is PromiseLike<T> =>
  typeof value === 'object' && value !== null && 'then' in value
