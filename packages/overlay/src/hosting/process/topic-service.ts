/** A topic in its process. Topics of Quoin's form get a parsed transaction, topics of `@bsv/overlay` get arrays of numbers. */
import type { Mode, QuoinTopic, TopicManager } from '../../types.ts'
import { type ExportedService, isObject } from '../module-exports.ts'
import { toNumbers } from './numbers.ts'
import { describeText, type HostedService } from './service.ts'

export const topicService = async (exported: ExportedService): Promise<HostedService> => {
  const { service, form } = exported
  const { warnings, ...about } = await describeText(exported)
  const needs = form === 'quoin' ? 'needs' : 'identifyNeededInputs'
  return {
    described: {
      kind: 'topic',
      ...about,
      namesNeededInputs: typeof service[needs] === 'function'
    },
    methods:
      form === 'quoin'
        ? await ownMethods(service as unknown as QuoinTopic)
        : foreignMethods(service as unknown as TopicManager),
    warnings
  }
}

const foreignMethods = (topic: TopicManager): HostedService['methods'] => ({
  identifyAdmissibleOutputs: async (beef, previousCoins, offChainValues, mode) => {
    const answer: unknown = await topic.identifyAdmissibleOutputs(
      toNumbers(beef as Uint8Array),
      previousCoins as number[],
      numbers(offChainValues),
      mode as Mode
    )
    // The node checks the answer; fields that it does not know are not sent.
    return isObject(answer)
      ? { outputsToAdmit: answer['outputsToAdmit'], coinsToRetain: answer['coinsToRetain'] }
      : answer
  },
  identifyNeededInputs: async (beef, offChainValues) =>
    topic.identifyNeededInputs!(toNumbers(beef as Uint8Array), numbers(offChainValues))
})

const numbers = (bytes: unknown): number[] | undefined =>
  bytes instanceof Uint8Array ? toNumbers(bytes) : undefined

/** The layer of transactions is loaded for topics that need it alone. */
const ownMethods = async (topic: QuoinTopic): Promise<HostedService['methods']> => {
  const { admit, needs } = await import('./quoin-topic.ts')
  return {
    identifyAdmissibleOutputs: (beef, previousCoins, offChainValues, mode) =>
      admit(
        topic,
        beef as Uint8Array,
        previousCoins as number[],
        offChainValues as Uint8Array | undefined,
        mode as Mode
      ),
    identifyNeededInputs: (beef, offChainValues) =>
      needs(topic, beef as Uint8Array, offChainValues as Uint8Array | undefined)
  }
}
