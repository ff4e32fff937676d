/**
 * A subscription delivers transactions with token outputs. A transaction that spends outputs of a token and has none of it
 * may never come, so a service that knows spenders is asked about the unspent outputs of active tokens, in sweeps at a
 * bounded rate. A spender that is found is ingested like any other transaction.
 */
import type { Beef } from '@quoin/chain'
import {
  formatOutpoint,
  formatTxid,
  makeOutpoint,
  type Outpoint,
  QuoinError,
  sleep,
  type TokenId,
  type Txid,
  toHex
} from '@quoin/primitives'
import type { OutputStore } from '@quoin/txo'
import type { Activation } from '../activation.ts'
import type { SpendSource } from '../source/source.ts'
import { tokenIdsAfter } from '../tokens.ts'
import { topicOf } from '../topic-names.ts'
import type { Ingest } from './ingest.ts'

export interface SpendCheckOptions {
  readonly outputs: OutputStore
  readonly activation: Activation
  readonly ingest: Ingest
  readonly source: SpendSource
  /** Outputs a second that are asked for, 20 unless given. */
  readonly rate?: number | undefined
}

export interface SpendCheckStatus {
  /** Outputs that were asked for, and spenders that were found and not known. */
  readonly asked: number
  readonly found: number
  /** The end of the last sweep, in unix milliseconds; undefined before the first. */
  readonly sweptAt: number | undefined
}

/** Tokens of one read, and outputs of one. */
const TOKENS = 100
const OUTPUTS = 500
/** Questions at a time. */
const CONCURRENCY = 4

export class SpendCheck {
  readonly #options: SpendCheckOptions
  readonly #rate: number
  /** The last token whose outputs were all asked for: a sweep that failed goes on there. */
  #after: TokenId | undefined
  #status: SpendCheckStatus = { asked: 0, found: 0, sweptAt: undefined }

  constructor(options: SpendCheckOptions) {
    this.#options = options
    this.#rate = options.rate ?? 20
  }

  get status(): SpendCheckStatus {
    return this.#status
  }

  /** Asks for the spenders of all unspent outputs; returns the number of transactions that were ingested. */
  async sweep(signal?: AbortSignal): Promise<number> {
    const { outputs, activation } = this.#options
    let found = 0
    for (;;) {
      const tokens = await tokenIdsAfter(outputs.store, this.#after, TOKENS)
      for (const token of tokens) {
        if (await activation.isActive(token)) found += await this.#checkToken(token, signal)
        if (signal?.aborted) return found
        this.#after = token
      }
      if (tokens.length < TOKENS) break
    }
    this.#after = undefined
    this.#status = { ...this.#status, sweptAt: Date.now() }
    return found
  }

  async #checkToken(token: TokenId, signal: AbortSignal | undefined): Promise<number> {
    const keys = [`tp:${topicOf(token)}`]
    let found = 0
    let cursor: string | undefined
    do {
      const page = await this.#options.outputs.search({
        keys,
        filterSpent: true,
        limit: OUTPUTS,
        ...(cursor !== undefined && { cursor })
      })
      for (let i = 0; i < page.rows.length && !signal?.aborted; i += CONCURRENCY) {
        const slice = page.rows.slice(i, i + CONCURRENCY)
        const pause = sleep((1000 * slice.length) / this.#rate, { signal })
        const checked = await Promise.all(slice.map(({ outpoint }) => this.#check(outpoint, signal)))
        found += checked.filter(Boolean).length
        await pause
      }
      cursor = page.cursor
    } while (cursor !== undefined && !signal?.aborted)
    return found
  }

  /** Whether an unknown spender was ingested. */
  async #check(outpoint: Outpoint, signal: AbortSignal | undefined): Promise<boolean> {
    const { outputs, source, ingest } = this.#options
    const txid = await source.spender(outpoint, { signal })
    this.#status = { ...this.#status, asked: this.#status.asked + 1 }
    if (!txid || (await outputs.record(txid))) return false
    const beef = await source.transaction(txid, { signal })
    if (!beef) return false
    checkSpends(source.name, beef, txid, outpoint)
    await ingest.ingestBeef(beef)
    this.#status = { ...this.#status, found: this.#status.found + 1 }
    return true
  }
}

const checkSpends = (source: string, beef: Beef, txid: Txid, outpoint: Outpoint): void => {
  const inputs = beef.find(txid)?.transaction?.inputs ?? []
  if (inputs.some(input => toHex(makeOutpoint(input.txid, input.vout)) === toHex(outpoint))) return
  const names = { outpoint: formatOutpoint(outpoint), txid: formatTxid(txid) }
  const message = `${source} names ${names.txid} as the spender of ${names.outpoint}, which it does not spend`
  throw new QuoinError('ERR_SOURCE_FORMAT', message, names)
}
