/**
 * Answers of transaction processors, in the vocabulary that ARC and Arcade share: the name of a status (`SEEN_ON_NETWORK`)
 * or a code (461). Names and codes that are unknown here decide nothing.
 */
import type { Bump } from '@quoin/chain'

/**
 * `undecided`: the processor answered and neither has the transaction nor refuses it for good. A transaction that is refused
 * by `policy` may be accepted by another processor.
 */
export type Verdict = 'sent' | 'seen' | 'refused' | 'refused by policy' | 'undecided'

export interface NetworkAnswer {
  readonly verdict: Verdict
  readonly txStatus: string
  readonly reason?: string | undefined
  readonly competing?: readonly string[] | undefined
  /** Unverified. */
  readonly bump?: Bump | undefined
}

const VERDICTS: Readonly<Record<string, Verdict>> = {
  QUEUED: 'sent',
  RECEIVED: 'sent',
  STORED: 'sent',
  ANNOUNCED_TO_NETWORK: 'sent',
  REQUESTED_BY_NETWORK: 'sent',
  SENT_TO_NETWORK: 'sent',
  ACCEPTED_BY_NETWORK: 'sent',
  PENDING_RETRY: 'sent',
  MINED_IN_STALE_BLOCK: 'sent',
  SEEN_ON_NETWORK: 'seen',
  SEEN_MULTIPLE_NODES: 'seen',
  SEEN_ON_MULTIPLE_NODES: 'seen',
  STUMP_PROCESSING: 'seen',
  MINED: 'seen',
  IMMUTABLE: 'seen',
  REJECTED: 'refused',
  INVALID: 'refused',
  MALFORMED: 'refused',
  DOUBLE_SPEND_ATTEMPTED: 'refused'
}

/**
 * Codes of errors that are verdicts on the transaction. The others (460 not extended, 467 generic, 468 and 469 about BEEF,
 * 475 missing ancestors, 476 not final) are about the request or the moment.
 */
const CODES: Readonly<Record<number, Verdict>> = {
  461: 'refused',
  462: 'refused',
  463: 'refused',
  464: 'refused',
  465: 'refused by policy',
  466: 'refused',
  471: 'refused by policy',
  472: 'refused',
  473: 'refused by policy',
  474: 'refused by policy'
}
const CONFLICT = 466

/** A transaction whose parents a processor lacks is an orphan, by whichever status the processor says so. */
export const verdictOfStatus = (txStatus: string, extraInfo = ''): Verdict =>
  /ORPHAN/i.test(`${txStatus} ${extraInfo}`) ? 'undecided' : (VERDICTS[txStatus] ?? 'undecided')

export const verdictOfCode = (code: number): Verdict => CODES[code] ?? 'undecided'

export const statusOfCode = (code: number): string =>
  verdictOfCode(code) === 'undecided' ? 'UNKNOWN' : code === CONFLICT ? 'DOUBLE_SPEND_ATTEMPTED' : 'REJECTED'

/** Whether a status says that the transaction is in a block. */
export const isMinedStatus = (txStatus: string): boolean => txStatus === 'MINED' || txStatus === 'IMMUTABLE'
