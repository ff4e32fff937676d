/** A lookup service of this process behind the interface of a hosted one: bytes become scripts and arrays of numbers. */
import { LockingScript, UnlockingScript } from '@bsv/sdk/script'
import type { HostedLookup, LookupService, OutputAdmittedByTopic, OutputSpent } from '../types.ts'

export const byteLookup = (service: LookupService | HostedLookup): HostedLookup => {
  if ('takesBytes' in service) return service
  return {
    takesBytes: true,
    admissionMode: service.admissionMode,
    spendNotificationMode: service.spendNotificationMode,
    getDocumentation: () => service.getDocumentation(),
    getMetaData: () => service.getMetaData(),
    lookup: question => service.lookup(question),
    outputAdmittedByTopic: async payload =>
      service.outputAdmittedByTopic(sdkPayload(payload) as unknown as OutputAdmittedByTopic),
    outputSpent: async payload => service.outputSpent?.(sdkPayload(payload) as unknown as OutputSpent),
    outputNoLongerRetainedInHistory: async (txid, outputIndex, topic) =>
      service.outputNoLongerRetainedInHistory?.(txid, outputIndex, topic),
    outputEvicted: async (txid, outputIndex) => service.outputEvicted(txid, outputIndex)
  }
}

const sdkPayload = (payload: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(payload).map(([name, value]) => [
      name,
      value instanceof Uint8Array ? sdkValue(name, value) : value
    ])
  )

const sdkValue = (name: string, bytes: Uint8Array): unknown => {
  if (name === 'lockingScript') return LockingScript.fromBinary([...bytes])
  if (name === 'unlockingScript') return UnlockingScript.fromBinary([...bytes])
  return [...bytes]
}
