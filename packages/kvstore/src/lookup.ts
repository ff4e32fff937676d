/**
 * The lookup service `ls_kvstore` (BRC-35 §3.5): live entries, each with as much history as a client with @bsv/sdk can
 * walk, or all of it on request. The context of an output carries two extensions as JSON: `ambiguous`, and on the last
 * output of a page `cursor`.
 */

import type { LookupResult } from '@quoin/overlay'
import type { Outpoint } from '@quoin/primitives'
import type { OutputStore } from '@quoin/txo'
import { findEntries, liveTokens } from './find.ts'
import { type HistoryLimits, proveHistory } from './history.ts'
import { type KvQuery, readQuery } from './query.ts'

export interface KvContext {
  /** Number of live tokens of the tuple, when there are several. */
  readonly ambiguous?: number
  /** Start of the next page. */
  readonly cursor?: string
}

/** With `history: true`; the outputs of an answer share the steps. */
const FULL_HISTORY: HistoryLimits = { steps: 10_000, visits: Number.POSITIVE_INFINITY }
/** By default: a client reads the whole history before it uses the newest value, and hands it to its wallet on updates. */
const DEFAULT_HISTORY: HistoryLimits = { steps: 100, visits: 20_000 }
/** A client reads the common BEEF once per output; this many transactions over all reads, by default. */
const MAX_TRANSACTION_READS = 20_000

export const lookUp = async (outputs: OutputStore, input: unknown): Promise<LookupResult[]> => {
  const query = readQuery(input)
  const { rows, cursor } = await findEntries(outputs, query)
  const outpoints = rows.map(({ outpoint }) => outpoint)
  const [live, proofs] = await Promise.all([
    liveTokens(outputs, outpoints),
    proofsOf(outputs, outpoints, query)
  ])
  return outpoints.map((outpoint, i) => {
    const context: KvContext = {
      ...(live[i]! > 1 && { ambiguous: live[i]! }),
      ...(cursor !== undefined && i === outpoints.length - 1 && { cursor })
    }
    const transactions = proofs[i]
    return {
      outpoint,
      ...(transactions && { transactions }),
      ...(Object.keys(context).length > 0 && { context: Buffer.from(JSON.stringify(context)) })
    }
  })
}

const proofsOf = async (
  outputs: OutputStore,
  outpoints: readonly Outpoint[],
  { history }: KvQuery
): Promise<(LookupResult['transactions'] | undefined)[]> => {
  const limits = limitsFor(outpoints.length, history)
  if (limits.steps === 0) return outpoints.map(() => undefined)
  return Promise.all(outpoints.map(outpoint => proveHistory(outputs, outpoint, limits)))
}

const limitsFor = (count: number, history: boolean | undefined): HistoryLimits => {
  if (history === false || count === 0) return { steps: 0, visits: 0 }
  if (history) return { ...FULL_HISTORY, steps: Math.ceil(FULL_HISTORY.steps / count) }
  return {
    steps: Math.min(DEFAULT_HISTORY.steps, Math.floor(MAX_TRANSACTION_READS / count ** 2)),
    visits: Math.floor(DEFAULT_HISTORY.visits / count)
  }
}
