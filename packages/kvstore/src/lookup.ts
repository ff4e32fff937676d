/**
 * The lookup service `ls_kvstore` (BRC-35 §3.5): live entries, each with as much history as a client with @bsv/sdk can
 * walk, or all of it when asked. What the standard has no place for is in the context of an output, as JSON: that its
 * tuple is ambiguous, and on the last one where the next page begins.
 */
import type { Outpoint } from '@quoin/keyspace'
import type { Found } from '@quoin/overlay'
import type { OutputStore } from '@quoin/txo'
import { findEntries, liveTokens } from './find.ts'
import { type HistoryLimits, proveHistory } from './history.ts'
import { type KvQuery, readQuery } from './query.ts'

export interface KvContext {
  /** How many live tokens the tuple has, when it is more than one. */
  readonly ambiguous?: number
  /** For the next page. */
  readonly cursor?: string
}

/** With `history: true`; more than one answer share the steps. */
const WHOLE: HistoryLimits = { steps: 10_000, visits: Number.POSITIVE_INFINITY }
/** Unasked: a client reads all of it before it uses the newest, and passes it to its wallet with every update. */
const USUAL: HistoryLimits = { steps: 100, visits: 20_000 }
/** Clients read one BEEF for all outputs once for each of them; so many transactions together, unasked. */
const READ = 20_000

export const lookUp = async (outputs: OutputStore, given: unknown): Promise<Found[]> => {
  const query = readQuery(given)
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
): Promise<(Found['transactions'] | undefined)[]> => {
  const limits = limitsFor(outpoints.length, history)
  if (limits.steps === 0) return outpoints.map(() => undefined)
  return Promise.all(outpoints.map(outpoint => proveHistory(outputs, outpoint, limits)))
}

const limitsFor = (count: number, history: boolean | undefined): HistoryLimits => {
  if (history === false || count === 0) return { steps: 0, visits: 0 }
  if (history) return { ...WHOLE, steps: Math.ceil(WHOLE.steps / count) }
  return {
    steps: Math.min(USUAL.steps, Math.floor(READ / count ** 2)),
    visits: Math.floor(USUAL.visits / count)
  }
}
