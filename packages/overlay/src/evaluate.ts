/** The evaluation of one transaction by one topic: the result of a topic of any form becomes an admission. */
import type { Beef, Transaction } from '@quoin/chain'
import { QuoinError, withTimeout } from '@quoin/primitives'
import { boundBeef } from './hosting/index.ts'
import type { Admission } from './keys.ts'
import {
  type Admittance,
  type AnyTopic,
  type HostedTopic,
  isHostedTopic,
  isQuoinTopic,
  type MaybePromise,
  type Mode,
  type PreviousCoin,
  type QuoinTopic,
  type TopicManager
} from './types.ts'

export interface TopicInput {
  readonly transaction: Transaction
  readonly previousCoins: readonly PreviousCoin[]
  readonly offChainValues: Uint8Array | undefined
  readonly mode: Mode
  /** The BEEF with the transactions of the previous coins, made when a topic asks for it. */
  readonly beef: () => Promise<Uint8Array | Beef>
  /** Milliseconds that a topic may take. */
  readonly timeout: number
}

export const evaluate = async (name: string, topic: AnyTopic, input: TopicInput): Promise<Admission> => {
  const { transaction, previousCoins, timeout } = input
  const evaluating = isQuoinTopic(topic) ? askQuoinTopic(topic, input) : askManager(topic, input)
  // Most topics answer without a promise. The host of a topic in another process ends calls that take too long.
  const result =
    isPromise(evaluating) && !isHostedTopic(topic)
      ? await withTimeout(Promise.resolve(evaluating), timeout, () => {
          throw new QuoinError('ERR_TOPIC_FAILED', `${name} took more than ${timeout} ms`, { topic: name })
        })
      : isPromise(evaluating)
        ? await evaluating
        : evaluating
  const coins = previousCoins.map(each => each.input)
  const outputs = indexes(name, 'output', result.outputsToAdmit, transaction.outputs.length)
  const retained = indexes(name, 'input', result.coinsToRetain ?? [], transaction.inputs.length).filter(
    each => coins.includes(each)
  )
  return {
    outputsToAdmit: outputs,
    coinsToRetain: retained,
    coinsRemoved: coins.filter(each => !retained.includes(each)),
    previousCoins: coins,
    ...(result.refused && { refused: result.refused })
  }
}

/** The instructions of a topic, which may be of any shape if the topic was written by others. */
interface TopicResult {
  readonly outputsToAdmit: readonly number[]
  readonly coinsToRetain?: readonly number[] | undefined
  readonly refused?: Readonly<Record<number, string>>
}

const askQuoinTopic = (topic: QuoinTopic, input: TopicInput): MaybePromise<TopicResult> => {
  const { transaction, previousCoins, offChainValues, mode } = input
  const admittance = topic.admit({ transaction, previousCoins, offChainValues, mode })
  return isPromise(admittance) ? Promise.resolve(admittance).then(toResult) : toResult(admittance)
}

const toResult = ({ outputs, retain, refused }: Admittance): TopicResult => ({
  outputsToAdmit: outputs,
  coinsToRetain: retain,
  ...(refused && { refused })
})

const askManager = async (
  topic: TopicManager | HostedTopic,
  { previousCoins, offChainValues, mode, beef }: TopicInput
): Promise<TopicResult> => {
  const bytes = boundBeef(await beef())
  const coins = previousCoins.map(({ input }) => input)
  return isHostedTopic(topic)
    ? topic.identifyAdmissibleOutputs(bytes, coins, offChainValues, mode)
    : topic.identifyAdmissibleOutputs(Array.from(bytes), coins, offChainValues && [...offChainValues], mode)
}

export const isPromise = <T>(value: MaybePromise<T>): value is Promise<T> =>
  typeof value === 'object' && value !== null && 'then' in value

/** Indexes in order, each once. An index that the transaction does not have is an error of the topic. */
const indexes = (topic: string, kind: string, given: readonly number[], count: number): number[] => {
  const isInvalid =
    !Array.isArray(given) || given.some(each => !Number.isInteger(each) || each < 0 || each >= count)
  if (isInvalid) {
    throw new QuoinError('ERR_TOPIC_FAILED', `${topic} names an ${kind} that the transaction does not have`, {
      topic
    })
  }
  return [...new Set(given)].sort((a, b) => a - b)
}
