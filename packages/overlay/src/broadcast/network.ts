/** The network as several transaction processors show it: each is asked in order until one decides. */
import type { Transaction } from '@quoin/chain'
import { QuoinError, reasonOf, type Txid } from '@quoin/primitives'
import type { NetworkAnswer, Verdict } from './network-answer.ts'
import type { TransactionProcessor } from './processor.ts'

export interface ProcessorAnswer extends NetworkAnswer {
  /** Undefined where no processor answered. */
  readonly processor: string | undefined
}

/** Told of the processor, its verdict, and the seconds that it took. */
export type SubmissionObserver = (
  processor: string,
  outcome: Verdict | 'unavailable',
  seconds: number
) => void

export type NetworkStatus =
  | { readonly answer: ProcessorAnswer; readonly unknownTo?: undefined }
  | { readonly answer?: undefined; readonly unknownTo: readonly TransactionProcessor[] }

/** After which a client tries again. */
const RETRY_SECONDS = 5
/** Milliseconds after a failure in which a processor is asked after the others. */
const DEMOTED_MS = 30_000

export class Network {
  readonly processors: readonly TransactionProcessor[]
  /** Milliseconds that one processor may take. */
  readonly #share: number
  readonly #observers: SubmissionObserver[] = []

  /** `timeout` is shared among the processors. */
  constructor(processors: readonly TransactionProcessor[], timeout: number) {
    this.processors = processors
    this.#share = Math.ceil(timeout / Math.max(1, processors.length))
  }

  /** Calls the observer after each submission to a processor. */
  onSubmission(observer: SubmissionObserver): void {
    this.#observers.push(observer)
  }

  /**
   * Submits a transaction. Refused by policy only if every processor refuses; undecided where none accepts and some did not
   * answer or did not decide. `among` is all processors unless given.
   */
  async submit(
    transaction: Transaction,
    sourceOf: (txid: Txid) => Transaction | undefined,
    signal: AbortSignal,
    among: readonly TransactionProcessor[] = this.processors
  ): Promise<ProcessorAnswer> {
    const reasons: string[] = []
    let byPolicy: ProcessorAnswer | undefined
    for (const processor of this.#inOrder(among)) {
      const since = performance.now()
      const answer = await this.#ask(signal, reasons, limited =>
        processor.submit(transaction, sourceOf, { signal: limited })
      )
      const seconds = (performance.now() - since) / 1000
      for (const observer of this.#observers)
        observer(processor.name, answer?.verdict ?? 'unavailable', seconds)
      if (!answer) continue
      const named = { ...answer, processor: processor.name }
      if (answer.verdict === 'refused by policy') byPolicy = named
      else if (answer.verdict === 'undecided') reasons.push(`${processor.name}: ${textOf(answer)}`)
      else return named
    }
    return byPolicy && reasons.length === 0 ? { ...byPolicy, verdict: 'refused' } : undecided(reasons)
  }

  /**
   * The status of a transaction from the first processor that has one; otherwise the processors that do not know it. Those
   * that do not answer may have it.
   */
  async status(txid: Txid, preferred: string | undefined, signal: AbortSignal): Promise<NetworkStatus> {
    const reasons: string[] = []
    const unknownTo: TransactionProcessor[] = []
    for (const processor of this.#inOrder(this.processors, preferred)) {
      const found = await this.#ask(signal, reasons, async limited => ({
        answer: await processor.status(txid, { signal: limited })
      }))
      if (!found) continue
      const { answer } = found
      if (answer && answer.verdict !== 'undecided')
        return { answer: { ...answer, processor: processor.name } }
      unknownTo.push(processor)
    }
    return unknownTo.length > 0 ? { unknownTo } : { answer: undecided(reasons) }
  }

  /** The mining policy of the first processor that states one. */
  async policy(signal: AbortSignal): Promise<unknown> {
    const reasons: string[] = []
    for (const processor of this.#inOrder(this.processors)) {
      const policy = await this.#ask(signal, reasons, limited => processor.policy({ signal: limited }))
      if (policy !== undefined) return policy
    }
    const reason = `no transaction processor stated its policy (${reasons.join('; ')})`
    throw new QuoinError('ERR_BROADCAST_UNAVAILABLE', reason, { seconds: RETRY_SECONDS })
  }

  #inOrder(among: readonly TransactionProcessor[], preferred?: string): readonly TransactionProcessor[] {
    const now = Date.now()
    const rank = ({ name, health }: TransactionProcessor): number => {
      const isFailing = health.state === 'failing' || health.state === 'stalled'
      if (isFailing && now - (health.lastErrorAt ?? 0) < DEMOTED_MS) return 2
      return name === preferred ? 0 : 1
    }
    return among
      .map(processor => ({ processor, rank: rank(processor) }))
      .sort((a, b) => a.rank - b.rank)
      .map(({ processor }) => processor)
  }

  /** Undefined, and a reason more, where the processor is unavailable. */
  async #ask<T>(
    signal: AbortSignal,
    reasons: string[],
    ask: (signal: AbortSignal) => Promise<T>
  ): Promise<T | undefined> {
    if (signal.aborted) {
      reasons.push('no time was left')
      return undefined
    }
    try {
      return await ask(AbortSignal.any([signal, AbortSignal.timeout(this.#share)]))
    } catch (error) {
      reasons.push(reasonOf(error))
      return undefined
    }
  }
}

const undecided = (reasons: readonly string[]): ProcessorAnswer => ({
  verdict: 'undecided',
  txStatus: 'UNKNOWN',
  reason: reasons.join('; ') || 'no transaction processor is configured',
  processor: undefined
})

export const unavailable = (reasons: readonly string[]): QuoinError =>
  new QuoinError(
    'ERR_BROADCAST_UNAVAILABLE',
    `the network did not decide on the transaction; submit it again (${reasons.join('; ')})`,
    { seconds: RETRY_SECONDS }
  )

/** The words of an answer, for people. */
export const textOf = ({ txStatus, reason }: NetworkAnswer): string =>
  reason === undefined || reason === txStatus ? txStatus : `${txStatus}, ${reason}`
