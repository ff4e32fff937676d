/**
 * Messages between the node and the process of a plug-in. Requests are serialized by V8, which keeps bytes as bytes.
 * Answers are JSON: the node deserializes no objects of V8 from a plug-in. Descriptor 3 carries both;
 * descriptor 4 carries JSON lines from the process: its memory, and the error that ended it.
 */
import type { AdmissionMode, MetaData, SpendNotificationMode } from '../types.ts'
import type { ModuleSpec } from './module-spec.ts'

export const MESSAGES_FD = 3
export const CONTROL_FD = 4

/** The longest answer that the node reads. */
export const ANSWER_BYTES = 4 * 1024 * 1024
/** The longest request: a BEEF of the largest size and its off-chain values. */
export const REQUEST_BYTES = 80 * 1024 * 1024
/** The longest line of descriptor 4. */
export const CONTROL_LINE = 16 * 1024
/** The longest documentation that is kept of a topic or a lookup. */
export const DOCUMENTATION_CHARS = 256 * 1024

export interface LoadRequest {
  readonly type: 'load'
  readonly specs: readonly ModuleSpec[]
  readonly mongo: string | undefined
  readonly knex: Readonly<Record<string, unknown>> | undefined
}

export interface CallRequest {
  readonly type: 'call'
  /** `topic tm_x` or `lookup ls_x`. */
  readonly service: string
  readonly method: string
  readonly args: readonly unknown[]
}

/** A call of a history selector that an earlier answer of a lookup named. */
export interface HistoryRequest {
  readonly type: 'history'
  readonly selector: string
  readonly args: readonly unknown[]
}

export type WorkerRequest = LoadRequest | CallRequest | HistoryRequest | { readonly type: 'close' }

export interface AnswerError {
  readonly message: string
  readonly stack?: string
}

/** `started` is the number of the last call that the process has begun. */
export type WorkerResponse =
  | { readonly started: number; readonly value: unknown }
  | { readonly started: number; readonly error: AnswerError }

export interface ServiceText {
  readonly name: string
  readonly documentation: string
  readonly metaData: MetaData
}

export interface TopicDescription extends ServiceText {
  readonly kind: 'topic'
  readonly namesNeededInputs: boolean
}

export interface LookupDescription extends ServiceText {
  readonly kind: 'lookup'
  readonly admissionMode: AdmissionMode
  readonly spendNotificationMode: SpendNotificationMode
  readonly takesSpends: boolean
  readonly takesRemovals: boolean
}

export type ServiceDescription = TopicDescription | LookupDescription

/** The export of a spec, as its process found it. */
export interface SpecDescription {
  /** `quoin`: a plug-in of Quoin's own form that did not ask for isolation. */
  readonly form: 'quoin' | 'hosted'
  /** The URL that the module was imported from. */
  readonly url: string
  readonly services: readonly ServiceDescription[]
  /** Migrations that ran. */
  readonly migrations: readonly string[]
  readonly warnings: readonly string[]
}

export const serviceKey = ({ kind, name }: { readonly kind: string; readonly name: string }): string =>
  `${kind} ${name}`
