/**
 * Plug-in interfaces: topics admit outputs, and lookups answer questions about them. Each comes in two forms. Plug-ins in
 * the form of `@bsv/overlay` run unchanged, with number arrays where its signatures have them. Plug-ins in Quoin's form
 * see parsed transactions, and their results are committed with everything else.
 */

import type { AdmittanceInstructions, LookupQuestion, Script } from '@bsv/sdk'
import type { BeefTransaction, Output, Transaction } from '@quoin/chain'
import type { Outpoint, Topic } from '@quoin/primitives'
import type { Batch } from '@quoin/store'
import type { OutputUpdate } from '@quoin/txo'

/** Transactions from a source or a peer are `historical`: they are not broadcast. `no-spv` skips verification. */
export const MODES = ['current-tx', 'historical-tx', 'historical-tx-no-spv'] as const
export type Mode = (typeof MODES)[number]

/** A plug-in may answer without a promise. */
export type MaybePromise<T> = T | Promise<T>

export interface MetaData {
  name: string
  shortDescription: string
  iconURL?: string
  version?: string
  informationURL?: string
}

interface Documentation {
  getDocumentation(): Promise<string>
  getMetaData(): Promise<MetaData>
}

/** A topic in the form of `@bsv/overlay`. `previousCoins` and `coinsToRetain` are indexes of inputs. */
export interface TopicManager extends Documentation {
  identifyAdmissibleOutputs(
    beef: number[],
    previousCoins: number[],
    offChainValues?: number[],
    mode?: Mode
  ): Promise<AdmittanceInstructions>
  identifyNeededInputs?(
    beef: number[],
    offChainValues?: number[]
  ): Promise<{ txid: string; outputIndex: number }[]>
}

/** A transaction that a topic in Quoin's form evaluates. */
export interface Candidate {
  readonly transaction: Transaction
  /** Inputs that spend outputs of the topic, in order. */
  readonly previousCoins: readonly PreviousCoin[]
  readonly offChainValues: Uint8Array | undefined
  readonly mode: Mode
}

export interface PreviousCoin {
  /** The index of the input. */
  readonly input: number
  readonly outpoint: Outpoint
  readonly output: Output
}

export interface Admittance {
  /** Indexes of outputs. */
  readonly outputs: readonly number[]
  /** Indexes of inputs whose coins stay in the topic's history; none unless given. */
  readonly retain?: readonly number[]
  /** The reason why an output was not admitted, by its index. */
  readonly refused?: Readonly<Record<number, string>>
}

/** A topic in Quoin's form. */
export interface QuoinTopic extends Documentation {
  /**
   * The first height of the topic's anchors: no transaction below it is part of the history that nodes compare. Part of
   * the definition of the topic, as its rules are.
   */
  readonly anchoredFrom?: number
  admit(candidate: Candidate): MaybePromise<Admittance>
  /** Outputs that the topic needs to evaluate the transaction. */
  needs?(candidate: Candidate): MaybePromise<readonly Outpoint[]>
  /** Remarks on an output of the topic, for `quoin why`. */
  explain?(outpoint: Outpoint): MaybePromise<readonly Remark[]>
}

export interface Remark {
  /** `ambiguous`: another live output contradicts this one. */
  readonly code: 'ambiguous'
  /** One sentence. */
  readonly message: string
  readonly details?: Readonly<Record<string, unknown>>
}

export const ADMISSION_MODES = ['locking-script', 'whole-tx'] as const
export type AdmissionMode = (typeof ADMISSION_MODES)[number]
export const SPEND_MODES = ['none', 'txid', 'script', 'whole-tx'] as const
export type SpendNotificationMode = (typeof SPEND_MODES)[number]

export type OutputAdmittedByTopic =
  | {
      mode: 'locking-script'
      txid: string
      outputIndex: number
      topic: string
      satoshis: number
      lockingScript: Script
      offChainValues?: number[]
    }
  | { mode: 'whole-tx'; atomicBEEF: number[]; outputIndex: number; topic: string; offChainValues?: number[] }

interface SpentOutput {
  txid: string
  outputIndex: number
  topic: string
}

export type OutputSpent =
  | ({ mode: 'none' } & SpentOutput)
  | ({ mode: 'txid'; spendingTxid: string } & SpentOutput)
  | ({
      mode: 'script'
      spendingTxid: string
      inputIndex: number
      unlockingScript: Script
      sequenceNumber: number
      offChainValues?: number[]
    } & SpentOutput)
  | ({ mode: 'whole-tx'; spendingAtomicBEEF: number[]; offChainValues?: number[] } & SpentOutput)

/** The depth of an answer's history: a number of steps, or a function that is asked at each step. */
export type History =
  | number
  | ((beef: number[], outputIndex: number, currentDepth: number) => Promise<boolean>)

export type LookupFormula = {
  txid: string
  outputIndex: number
  history?: History
  context?: number[]
}[]

/** A lookup in the form of `@bsv/overlay`. Unless its delivery options name topics, it gets the entries of all. */
export interface LookupService extends Documentation {
  readonly admissionMode: AdmissionMode
  readonly spendNotificationMode: SpendNotificationMode
  outputAdmittedByTopic(payload: OutputAdmittedByTopic): Promise<void> | void
  outputSpent?(payload: OutputSpent): Promise<void> | void
  outputNoLongerRetainedInHistory?(txid: string, outputIndex: number, topic: string): Promise<void> | void
  outputEvicted(txid: string, outputIndex: number): Promise<void> | void
  lookup(question: LookupQuestion): Promise<LookupFormula>
}

/** A payload with bytes where the form of `@bsv/overlay` has scripts and arrays of numbers. */
export type InBytes<Payload> = Payload extends unknown
  ? { [Key in keyof Payload]: Payload[Key] extends number[] | Script | undefined ? Uint8Array : Payload[Key] }
  : never

/** The instructions of a topic in another process. A topic of Quoin's form adds why it refused outputs. */
export interface HostedAdmittance extends AdmittanceInstructions {
  readonly refused?: Readonly<Record<number, string>>
}

/** A topic manager in another process: it takes the BEEF as bytes. */
export interface HostedTopic extends Documentation {
  readonly takesBytes: true
  identifyAdmissibleOutputs(
    beef: Uint8Array,
    previousCoins: readonly number[],
    offChainValues: Uint8Array | undefined,
    mode: Mode
  ): Promise<HostedAdmittance>
  identifyNeededInputs?(
    beef: Uint8Array,
    offChainValues?: Uint8Array
  ): Promise<{ txid: string; outputIndex: number }[]>
}

/** A lookup service in another process: it takes scripts, BEEF and off-chain values as bytes. */
export interface HostedLookup extends Documentation {
  readonly takesBytes: true
  readonly admissionMode: AdmissionMode
  readonly spendNotificationMode: SpendNotificationMode
  outputAdmittedByTopic(payload: InBytes<OutputAdmittedByTopic>): Promise<void>
  outputSpent?(payload: InBytes<OutputSpent>): Promise<void>
  outputNoLongerRetainedInHistory?(txid: string, outputIndex: number, topic: string): Promise<void>
  outputEvicted(txid: string, outputIndex: number): Promise<void>
  lookup(question: LookupQuestion): Promise<LookupFormula>
}

/** An output that a topic admits, as a lookup in Quoin's form sees it. */
export interface AdmittedOutput {
  readonly topic: Topic
  readonly transaction: Transaction
  readonly outpoint: Outpoint
  readonly output: Output
  /** Inputs that spend outputs of the topic, as the topic evaluated them. */
  readonly previousCoins: readonly PreviousCoin[]
  readonly offChainValues: Uint8Array | undefined
}

export interface LookupResult {
  readonly outpoint: Outpoint
  readonly history?: History
  /** The ancestry of the output, if the lookup assembled it: its own transaction first. */
  readonly transactions?: readonly BeefTransaction[]
  readonly context?: Uint8Array
}

/** Events and data of an output, as a lookup indexes it. */
export interface LookupUpdate extends OutputUpdate {
  /** Writes to the lookup's own collections in the same commit; called again when the commit is attempted again. */
  readonly extraWrites?: (batch: Batch) => void | Promise<void>
}

/** A lookup in Quoin's form: its updates are committed with the admission of an output, and rolled back with it. */
export interface QuoinLookup extends Documentation {
  /** The topics whose outputs it indexes; all unless given. */
  readonly topics?: readonly string[]
  index(admitted: AdmittedOutput): MaybePromise<LookupUpdate | undefined>
  lookup(query: unknown): Promise<readonly LookupResult[]>
}

export type AnyTopic = TopicManager | HostedTopic | QuoinTopic
export type AnyLookup = LookupService | HostedLookup | QuoinLookup

export const isHostedTopic = (topic: AnyTopic): topic is HostedTopic => 'takesBytes' in topic
export const isQuoinTopic = (topic: AnyTopic): topic is QuoinTopic => 'admit' in topic
export const isQuoinLookup = (lookup: AnyLookup): lookup is QuoinLookup => 'index' in lookup
