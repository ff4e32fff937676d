/** The overlay engine: topics admit outputs, lookups answer questions about them. */
export { evictedOutputs } from './admissions.ts'
export * from './anchors/index.ts'
export { type AnsweredOutput, answerBeef } from './answer.ts'
export * from './broadcast/index.ts'
export type { DeliveryOptions, DeliveryState, LookupDelivery } from './delivery/lookup-delivery.ts'
export type { LookupOutbox, NamedDeliveryState } from './delivery/lookup-outbox.ts'
export { Engine, type EngineOptions, type RelayRequest, type SubmissionRequest } from './engine.ts'
export type { Failure } from './failures.ts'
export * from './gasp/index.ts'
export * from './hosting/index.ts'
export { type Admission, type Admissions, overlay } from './keys.ts'
export { healthLog, type Logger, SILENT } from './logger.ts'
export {
  definePlugin,
  type InstalledPlugins,
  type InstallOptions,
  installPlugins,
  type Plugin,
  type PluginContext
} from './plugin.ts'
export type { Steak, TopicAnswer } from './steak.ts'
export type { Broadcast } from './submission.ts'
export { consumedInputs } from './topic-history.ts'
export type { TopicFamily } from './topics.ts'
export type * from './types.ts'
export { isQuoinLookup } from './types.ts'
export { type AdmissionFinding, verifyAdmissions } from './verify-admissions.ts'
export { type Reason, type Why, type WhyCode, why } from './why.ts'
