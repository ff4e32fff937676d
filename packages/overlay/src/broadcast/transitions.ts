/**
 * Transitions of a broadcast record. Reports come late, twice and in any order, so a status goes forward only: a proof and a
 * reorg, which the headers decide, and a new submission are the exceptions.
 */

import type { RecordChange } from './broadcast-records.ts'
import type { BroadcastRecord } from './keys.ts'
import type { ProcessorAnswer } from './network.ts'

const now = (): number => Date.now() / 1000
const RANK = { queued: 0, sent: 1, seen: 2, rejected: 3, mined: 4 } as const

const created = (): BroadcastRecord => {
  const at = now()
  return { status: 'queued', txStatus: 'RECEIVED', since: at, at, submissions: 0, checks: 0 }
}

const withoutReason = ({
  reason: _,
  competing: __,
  kept: ___,
  ...record
}: BroadcastRecord): BroadcastRecord => record

/** To be submitted: also after it was rejected, since an operator or a client gave it again. */
export const queued: RecordChange = before =>
  !before || before.status === 'rejected'
    ? { ...created(), ...(before && { since: before.since, tokens: before.tokens ?? [] }) }
    : undefined

/** A processor answered to a submission that it has the transaction. */
export const submitted =
  (answer: ProcessorAnswer): RecordChange =>
  before => {
    const base = before?.status === 'rejected' ? { ...created(), since: before.since } : (before ?? created())
    const record = reported(answer)(base) ?? base
    return { ...record, submissions: base.submissions + 1, sentAt: now(), checks: 0 }
  }

/** A processor reports a status; a rejected or mined transaction keeps its own. */
export const reported =
  ({ verdict, txStatus, processor }: ProcessorAnswer): RecordChange =>
  before => {
    if (!before || (verdict !== 'sent' && verdict !== 'seen')) return undefined
    if (RANK[verdict] < RANK[before.status]) return undefined
    if (verdict === before.status && before.txStatus === txStatus) return undefined
    return {
      ...withoutReason(before),
      status: verdict,
      txStatus,
      at: now(),
      ...(processor !== undefined && { processor })
    }
  }

/** An attempt or a check that changed nothing: the next one comes later. */
export const checked =
  (reason: string | undefined): RecordChange =>
  before =>
    before && {
      ...withoutReason(before),
      checks: before.checks + 1,
      ...(reason !== undefined && { reason })
    }

export const rejected =
  (
    txStatus: string,
    reason: string,
    competing?: readonly string[],
    kept?: BroadcastRecord['kept']
  ): RecordChange =>
  before => {
    if (before?.status === 'rejected') return undefined
    const base = before ?? created()
    return {
      ...withoutReason(base),
      status: 'rejected',
      txStatus,
      at: now(),
      reason,
      ...(competing && { competing }),
      ...(kept && { kept })
    }
  }

/** A proof is stored. */
export const mined =
  (height: number): RecordChange =>
  before =>
    !before || (before.status === 'mined' && before.height === height)
      ? undefined
      : { ...withoutReason(before), status: 'mined', txStatus: 'MINED', at: now(), height }

/** A reorg removed its proof: the network is asked again. */
export const unmined: RecordChange = before => {
  if (before?.status !== 'mined') return undefined
  const { height: _, ...record } = before
  return { ...record, status: 'sent', txStatus: 'SENT_TO_NETWORK', at: now(), checks: 0 }
}

/** Tokens of one transaction; later ones are not kept, so that a stranger cannot displace the submitter's. */
const MAX_TOKENS = 8

/** A change with a token that statuses are asked for by. */
export const withToken =
  (token: string | undefined, change: RecordChange): RecordChange =>
  before => {
    const after = change(before)
    const record = after ?? before
    const tokens = record?.tokens ?? []
    if (!record || token === undefined || tokens.includes(token) || tokens.length === MAX_TOKENS) return after
    return { ...record, tokens: [...tokens, token] }
  }

/** The record as it is. */
export const unchanged: RecordChange = () => undefined
