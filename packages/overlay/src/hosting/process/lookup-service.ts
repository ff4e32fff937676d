/** A lookup in the form of `@bsv/overlay` in its process: bytes become scripts and arrays of numbers. */
import type { LookupQuestion } from '@bsv/sdk'
import type { LookupService } from '../../types.ts'
import { type ExportedService, isObject } from '../module-exports.ts'
import { importPackage } from '../packages.ts'
import type { HistorySelectors, Selector } from './history-selectors.ts'
import { toNumbers } from './numbers.ts'
import { describeText, type HostedService } from './service.ts'

interface ScriptClass {
  fromBinary(bytes: number[]): unknown
}

export const lookupService = async (
  exported: ExportedService,
  directory: string,
  selectors: HistorySelectors
): Promise<HostedService> => {
  const service = exported.service as unknown as LookupService
  const { warnings, ...about } = await describeText(exported)
  const { admissionMode, spendNotificationMode = 'none' } = service
  // Scripts are objects of the SDK that the plug-in has.
  const sdk =
    admissionMode === 'locking-script' || spendNotificationMode === 'script'
      ? await importPackage('@bsv/sdk', directory, `the lookup ${about.name}`)
      : {}
  const payloadOf = (payload: unknown): never => sdkPayload(payload as object, sdk) as never
  return {
    described: {
      kind: 'lookup',
      ...about,
      admissionMode,
      spendNotificationMode,
      takesSpends: typeof service.outputSpent === 'function',
      takesRemovals: typeof service.outputNoLongerRetainedInHistory === 'function'
    },
    methods: {
      outputAdmittedByTopic: async payload => {
        await service.outputAdmittedByTopic(payloadOf(payload))
      },
      outputSpent: async payload => {
        await service.outputSpent!(payloadOf(payload))
      },
      outputNoLongerRetainedInHistory: async (txid, outputIndex, topic) => {
        await service.outputNoLongerRetainedInHistory!(txid as string, outputIndex as number, topic as string)
      },
      outputEvicted: async (txid, outputIndex) => {
        await service.outputEvicted(txid as string, outputIndex as number)
      },
      lookup: async question => formulaOf(await service.lookup(question as LookupQuestion), selectors)
    },
    warnings
  }
}

const sdkPayload = (
  payload: object,
  sdk: Readonly<Record<string, unknown>>
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(payload).map(([name, value]) => {
      if (!(value instanceof Uint8Array)) return [name, value]
      const bytes = toNumbers(value)
      if (name === 'lockingScript') return [name, (sdk['LockingScript'] as ScriptClass).fromBinary(bytes)]
      if (name === 'unlockingScript') return [name, (sdk['UnlockingScript'] as ScriptClass).fromBinary(bytes)]
      return [name, bytes]
    })
  )

/** As JSON: contexts in base64, history selectors by their numbers. The node checks all else. */
const formulaOf = (answer: unknown, selectors: HistorySelectors): unknown => {
  if (!Array.isArray(answer)) return answer
  return answer.map(each => {
    if (!isObject(each)) return each
    const { txid, outputIndex, history, context } = each
    return {
      txid,
      outputIndex,
      history: typeof history === 'function' ? { selector: selectors.add(history as Selector) } : history,
      context:
        Array.isArray(context) || context instanceof Uint8Array
          ? { base64: Buffer.from(context).toString('base64') }
          : context
    }
  })
}
