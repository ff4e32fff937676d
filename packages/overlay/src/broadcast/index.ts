/** Broadcasting: transaction processors, the outbox, and the status of each transaction on the network. */
export { BroadcastRecords } from './broadcast-records.ts'
export { Broadcaster, type BroadcasterOptions } from './broadcaster.ts'
export { type HttpProcessorOptions, httpProcessor, type ProcessorKind } from './http-processor.ts'
export {
  BROADCAST_STATUSES,
  type BroadcastEvent,
  type BroadcastRecord,
  type BroadcastStatus,
  broadcasts
} from './keys.ts'
export { Network, type ProcessorAnswer } from './network.ts'
export { type NetworkAnswer, verdictOfStatus } from './network-answer.ts'
export type { TransactionProcessor } from './processor.ts'
