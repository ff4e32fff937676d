/**
 * The lookup service `ls_kvstore` (BRC-35 §3.5): live entries, each with as much history as a client with @bsv/sdk can
 * walk, or all of it on request. The context of an output carries extensions as JSON: `ambiguous`, `history` where it is cut,
 * and on the last output of a page `cursor`.
 */

import type { LookupResult } from '@quoin/overlay'
import { formatOutpoint, type Outpoint } from '@quoin/primitives'
import type { OutputStore } from '@quoin/txo'
import { findEntries, liveTokens } from './find.ts'
import { type HistoryLimits, type HistoryProof, proveHistory } from './history-proof.ts'
import { type KvQuery, readQuery } from './query.ts'
import { readVerified } from './verify.ts'

export interface KvContext {
  /** Number of live tokens of the tuple, when there are several. */
  readonly ambiguous?: number
  /** Start of the next page. */
  readonly cursor?: string
  /** When the transactions of the answer do not show the whole history. */
  readonly history?: CutHistory
}

interface CutHistory {
  /** The newest values that the answer shows. */
  readonly shown: number
  /** Path of the values before them, in pages. */
  readonly rest: string
}

/** With `history: true`; the outputs of an answer share the steps and the bytes. */
const FULL_HISTORY: HistoryLimits = { steps: 100_000, visits: Number.POSITIVE_INFINITY, bytes: 64 << 20 }
/** By default: a client reads the whole history before it uses the newest value, and hands it to its wallet on updates. */
const DEFAULT_HISTORY: HistoryLimits = { steps: 10_000, visits: 20_000, bytes: 512 << 10 }
/** A client reads the common BEEF once per output; bytes over all reads, by default. */
const MAX_READ_BYTES = 16 << 20
/** Outpoints in the path of a context. */
const MAX_REST = 10

export const lookUp = async (outputs: OutputStore, input: unknown): Promise<LookupResult[]> => {
  const query = readQuery(input)
  const { rows, cursor } = await findEntries(outputs, query)
  const outpoints = rows.map(({ outpoint }) => outpoint)
  const [live, proofs] = await Promise.all([
    liveTokens(outputs, outpoints),
    proofsOf(outputs, outpoints, query)
  ])
  return Promise.all(
    outpoints.map(async (outpoint, i) => {
      const proof = proofs[i]
      const history = proof && proof.rest.length > 0 && (await cutHistory(outputs, outpoint, proof))
      const context: KvContext = {
        ...(live[i]! > 1 && { ambiguous: live[i]! }),
        ...(cursor !== undefined && i === outpoints.length - 1 && { cursor }),
        ...(history && { history })
      }
      return {
        outpoint,
        ...(proof?.transactions && { transactions: proof.transactions }),
        ...(Object.keys(context).length > 0 && { context: Buffer.from(JSON.stringify(context)) })
      }
    })
  )
}

const proofsOf = async (
  outputs: OutputStore,
  outpoints: readonly Outpoint[],
  { history }: KvQuery
): Promise<readonly (HistoryProof | undefined)[]> => {
  if (history === false) return []
  const limits = limitsFor(outpoints.length, history)
  return Promise.all(outpoints.map(outpoint => proveHistory(outputs, outpoint, limits)))
}

const limitsFor = (count: number, history: boolean | undefined): HistoryLimits => {
  if (history) {
    const { steps, visits, bytes } = FULL_HISTORY
    return { steps: Math.ceil(steps / count), visits, bytes: Math.floor(bytes / count) }
  }
  const bytes = Math.min(DEFAULT_HISTORY.bytes, Math.floor(MAX_READ_BYTES / count ** 2))
  return {
    steps: Math.min(DEFAULT_HISTORY.steps, Math.floor(bytes / MIN_STEP_BYTES)),
    visits: Math.floor(DEFAULT_HISTORY.visits / count),
    bytes
  }
}

/** Bytes of a step at least: a transaction with two inputs, a token and change, and what proves its coin. */
const MIN_STEP_BYTES = 400

/** The HTTP route `/kv/{controller}/{key}/history` has all of a history. */
const cutHistory = async (
  outputs: OutputStore,
  tip: Outpoint,
  { shown, rest }: HistoryProof
): Promise<CutHistory | undefined> => {
  const output = (await outputs.loadOutput(tip, { includeOutput: true }))?.output
  const token = output && readVerified(output.script)
  // A rollback may have removed the entry since it was found.
  if (!token) return undefined
  const query = new URLSearchParams({ protocolID: JSON.stringify(token.protocolID) })
  for (const each of rest.slice(0, MAX_REST)) query.append('before', formatOutpoint(each))
  return {
    shown,
    rest: `/kv/${token.controller}/${encodeURIComponent(token.key)}/history?${query}`
  }
}
