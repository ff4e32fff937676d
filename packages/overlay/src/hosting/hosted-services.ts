/** The topics and lookups of a hosted module, for the engine: calls go to the process, and their answers are parsed. */
import { QuoinError } from '@quoin/primitives'
import type { HostedLookup, HostedTopic, LookupFormula, Mode } from '../types.ts'
import { InvalidAnswer, parseAdmittance, parseBoolean, parseFormula, parseOutputs } from './answer-parsers.ts'
import { PluginFailure } from './calls.ts'
import type { HostedModule } from './hosted-module.ts'
import {
  type LookupDescription,
  type ServiceDescription,
  serviceKey,
  type TopicDescription
} from './protocol.ts'

/** The last description of a service: a reload may change it. */
export type Describe<Description> = () => Description

export const hostedTopic = (module: HostedModule, describe: Describe<TopicDescription>): HostedTopic => {
  const call = caller(module, describe, 'ERR_TOPIC_FAILED')
  return {
    takesBytes: true,
    getDocumentation: async () => describe().documentation,
    getMetaData: async () => describe().metaData,
    identifyAdmissibleOutputs: (beef: Uint8Array, previousCoins, offChainValues, mode: Mode) =>
      call('identifyAdmissibleOutputs', [beef, previousCoins, offChainValues, mode], parseAdmittance),
    get identifyNeededInputs() {
      if (!describe().namesNeededInputs) return undefined
      return (beef: Uint8Array, offChainValues?: Uint8Array) =>
        call('identifyNeededInputs', [beef, offChainValues], parseOutputs)
    }
  } as HostedTopic
}

export const hostedLookup = (module: HostedModule, describe: Describe<LookupDescription>): HostedLookup => {
  const call = caller(module, describe, 'ERR_LOOKUP_FAILED')
  const done = (): void => undefined
  const selectorOf =
    (selector: string) =>
    async (beef: number[], outputIndex: number, depth: number): Promise<boolean> =>
      checked('ERR_LOOKUP_FAILED', describe().name, parseBoolean, async () =>
        module.call({
          type: 'history',
          selector,
          args: [Uint8Array.from(beef), outputIndex, depth]
        })
      )
  return {
    takesBytes: true,
    get admissionMode() {
      return describe().admissionMode
    },
    get spendNotificationMode() {
      return describe().spendNotificationMode
    },
    getDocumentation: async () => describe().documentation,
    getMetaData: async () => describe().metaData,
    outputAdmittedByTopic: payload => call('outputAdmittedByTopic', [payload], done),
    get outputSpent() {
      if (!describe().takesSpends) return undefined
      return (payload: unknown) => call('outputSpent', [payload], done)
    },
    get outputNoLongerRetainedInHistory() {
      if (!describe().takesRemovals) return undefined
      return (txid: string, outputIndex: number, topic: string) =>
        call('outputNoLongerRetainedInHistory', [txid, outputIndex, topic], done)
    },
    outputEvicted: (txid, outputIndex) => call('outputEvicted', [txid, outputIndex], done),
    lookup: question => call('lookup', [question], (value): LookupFormula => parseFormula(value, selectorOf))
  } as HostedLookup
}

type ServiceFailure = 'ERR_TOPIC_FAILED' | 'ERR_LOOKUP_FAILED'

const caller =
  (module: HostedModule, describe: Describe<ServiceDescription>, code: ServiceFailure) =>
  <T>(method: string, args: readonly unknown[], parse: (value: unknown) => T): Promise<T> => {
    const described = describe()
    return checked(code, described.name, parse, () =>
      module.call({ type: 'call', service: serviceKey(described), method, args })
    )
  }

const checked = async <T>(
  code: ServiceFailure,
  name: string,
  parse: (value: unknown) => T,
  work: () => Promise<unknown>
): Promise<T> => {
  try {
    return parse(await work())
  } catch (error) {
    if (error instanceof PluginFailure) throw new QuoinError(code, error.message, { name, cause: error })
    if (error instanceof InvalidAnswer)
      throw new QuoinError(code, `${name} gave an ${error.message}`, { name, cause: error })
    throw error
  }
}
