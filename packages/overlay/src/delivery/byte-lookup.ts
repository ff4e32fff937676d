/** A lookup service of this process behind the interface of a hosted one: bytes become scripts and arrays of numbers. */
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
      service.outputAdmittedByTopic((await sdkPayload(payload)) as unknown as OutputAdmittedByTopic),
    outputSpent: async payload =>
      service.outputSpent?.((await sdkPayload(payload)) as unknown as OutputSpent),
    outputNoLongerRetainedInHistory: async (txid, outputIndex, topic) =>
      service.outputNoLongerRetainedInHistory?.(txid, outputIndex, topic),
    outputEvicted: async (txid, outputIndex) => service.outputEvicted(txid, outputIndex)
  }
}

/** The SDK is loaded for services of its interface alone: it is a fifth of the start of a node. */
const sdkPayload = async (payload: object): Promise<Record<string, unknown>> => {
  const { LockingScript, UnlockingScript } = await import('@bsv/sdk/script')
  const sdkValue = (name: string, bytes: number[]): unknown => {
    if (name === 'lockingScript') return LockingScript.fromBinary(bytes)
    if (name === 'unlockingScript') return UnlockingScript.fromBinary(bytes)
    return bytes
  }
  return Object.fromEntries(
    Object.entries(payload).map(([name, value]) => [
      name,
      value instanceof Uint8Array ? sdkValue(name, [...value]) : value
    ])
  )
}
