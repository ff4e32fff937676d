/**
 * The plug-ins of an overlay: topics that admit outputs, and lookups that answer questions about them. Each comes in two
 * forms. The first is that of `@bsv/overlay`: whatever was written for it runs here unchanged, with number arrays where
 * its signatures say so. The second is Quoin's own: it sees parsed transactions, and what it says is committed with
 * everything else.
 */

import type { AdmittanceInstructions, LookupQuestion, Script } from '@bsv/sdk'
import type { BeefTransaction, Output, Transaction } from '@quoin/chain'
import type { Outpoint, Topic } from '@quoin/primitives'
import type { Batch } from '@quoin/store'
import type { OutputUpdate } from '@quoin/txo'

/** Of transactions that come from somewhere else than the one who made them, `historical`: they are not broadcast. */
export const MODES = ['current-tx', 'historical-tx', 'historical-tx-no-spv'] as const
export type Mode = (typeof MODES)[number]

export interface MetaData {
  name: string
  shortDescription: string
  iconURL?: string
  version?: string
  informationURL?: string
}

interface Documented {
  getDocumentation(): Promise<string>
  getMetaData(): Promise<MetaData>
}

/** A topic in the form of `@bsv/overlay`. `previousCoins` and `coinsToRetain` are indexes of inputs. */
export interface TopicManager extends Documented {
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

/** What a topic of Quoin's own is shown. */
export interface Candidate {
  readonly transaction: Transaction
  /** Inputs that spend outputs which the topic has, in order. */
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
  /** Why an output was not admitted, by its index: for those who ask. */
  readonly refused?: Readonly<Record<number, string>>
}

/** A topic in Quoin's form. */
export interface QuoinTopic extends Documented {
  admit(candidate: Candidate): Admittance | Promise<Admittance>
  /** Outputs that have to be known before it can judge. */
  needs?(candidate: Candidate): readonly Outpoint[] | Promise<readonly Outpoint[]>
  /** What there is to say of an output that it has, for those who ask why. */
  explain?(outpoint: Outpoint): readonly Remark[] | Promise<readonly Remark[]>
}

export interface Remark {
  /** `ambiguous`: another live output says something else of the same thing. */
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

/** How far back an answer goes: so many steps, or as long as a function says. */
export type History =
  | number
  | ((beef: number[], outputIndex: number, currentDepth: number) => Promise<boolean>)

export type LookupFormula = {
  txid: string
  outputIndex: number
  history?: History
  context?: number[]
}[]

/** A lookup in the form of `@bsv/overlay`. It is told of every topic. */
export interface LookupService extends Documented {
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
export interface HostedTopic extends Documented {
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
export interface HostedLookup extends Documented {
  readonly takesBytes: true
  readonly admissionMode: AdmissionMode
  readonly spendNotificationMode: SpendNotificationMode
  outputAdmittedByTopic(payload: InBytes<OutputAdmittedByTopic>): Promise<void>
  outputSpent?(payload: InBytes<OutputSpent>): Promise<void>
  outputNoLongerRetainedInHistory?(txid: string, outputIndex: number, topic: string): Promise<void>
  outputEvicted(txid: string, outputIndex: number): Promise<void>
  lookup(question: LookupQuestion): Promise<LookupFormula>
}

/** An output that a topic admits, as a lookup of Quoin's own sees it. */
export interface AdmittedOutput {
  readonly topic: Topic
  readonly transaction: Transaction
  readonly outpoint: Outpoint
  readonly output: Output
  readonly offChainValues: Uint8Array | undefined
}

export interface Found {
  readonly outpoint: Outpoint
  readonly history?: History
  /** What proves it, if the lookup put that together: its own transaction first, the others on the ways back. */
  readonly transactions?: readonly BeefTransaction[]
  readonly context?: Uint8Array
}

/** What a lookup says of an output. */
export interface Indexed extends OutputUpdate {
  /** More to write in the same commit, into collections of its own; written again when the commit is tried again. */
  readonly also?: (batch: Batch) => void | Promise<void>
}

/** A lookup in Quoin's form: what it says of an output is committed with its admission, and taken back with it. */
export interface QuoinLookup extends Documented {
  /** The topics it is told of; all unless given. */
  readonly topics?: readonly string[]
  index(admitted: AdmittedOutput): Indexed | undefined | Promise<Indexed | undefined>
  lookup(query: unknown): Promise<readonly Found[]>
}

export type AnyTopic = TopicManager | HostedTopic | QuoinTopic
export type AnyLookup = LookupService | HostedLookup | QuoinLookup

export const isHostedTopic = (topic: AnyTopic): topic is HostedTopic => 'takesBytes' in topic
export const isQuoinTopic = (topic: AnyTopic): topic is QuoinTopic => 'admit' in topic
export const isQuoinLookup = (lookup: AnyLookup): lookup is QuoinLookup => 'index' in lookup
