/** The states of tokens on another node, over HTTP. Its answers are untrusted: in form, order, size and time. */
import { HttpService } from '@quoin/chain'
import {
  backoffDelay,
  isRetryable,
  parseOutpoint,
  parseTxid,
  QuoinError,
  sleep,
  type TokenId
} from '@quoin/primitives'
import { isTokenId } from '@quoin/txo'
import type {
  DigestPage,
  OutputRange,
  RangeDigest,
  StateRow,
  TokenDigest,
  TokenStates
} from './token-states.ts'

export interface RemoteStatesOptions {
  /** Milliseconds of one answer, 30,000 unless given. */
  readonly timeout?: number
  /** Attempts at a request, 4 unless given. */
  readonly attempts?: number
  /** Milliseconds of the delay before the second attempt, doubled for each further one. */
  readonly backoff?: number
  readonly signal?: AbortSignal | undefined
}

const BASE = '/1sat/bsv21'
const MAX_BYTES = 16 * 1024 * 1024
const MAX_DELAY_MS = 30_000

export class RemoteStates implements TokenStates {
  readonly name: string
  readonly #service: HttpService
  readonly #attempts: number
  readonly #backoff: number
  readonly #signal: AbortSignal | undefined

  constructor(url: string, options: RemoteStatesOptions = {}) {
    const { timeout = 30_000, attempts = 4, backoff = 500, signal } = options
    this.#service = new HttpService(url, { timeout, maxBytes: MAX_BYTES })
    this.name = this.#service.name
    this.#attempts = attempts
    this.#backoff = backoff
    this.#signal = signal
  }

  async page(after: TokenId | undefined, limit: number): Promise<DigestPage> {
    const path = `${BASE}/digests?limit=${limit}${after === undefined ? '' : `&after=${after}`}`
    const { tokens, hasMore } = fieldsOf(await this.#ask(path))
    if (!Array.isArray(tokens) || tokens.length > limit || typeof hasMore !== 'boolean') {
      throw this.#wrong(path, `a page of at most ${limit} tokens`)
    }
    const read = tokens.map(each => readToken(each) ?? this.#refuse(path, 'the digest of a token'))
    let last = after
    for (const { id } of read) {
      if (last !== undefined && id <= last) throw this.#wrong(path, `tokens after ${last}, in order`)
      last = id
    }
    if (hasMore && read.length === 0) throw this.#wrong(path, 'tokens on a page that has more after it')
    return { tokens: read, hasMore }
  }

  async token(id: TokenId): Promise<TokenDigest | undefined> {
    const path = `${BASE}/${id}/digest`
    const answer = await this.#ask(path, [404])
    if (answer === undefined) return undefined
    const token = readToken(answer)
    if (token?.id !== id) throw this.#wrong(path, `the digest of token ${id}`)
    return token
  }

  async range(token: TokenId, { from, to, limit, isListed }: OutputRange): Promise<RangeDigest> {
    const query = `from=${from}&to=${to}&limit=${limit}&list=${isListed}`
    const path = `${BASE}/${token}/digests?${query}`
    const { outputs, digest, next, rows } = fieldsOf(await this.#ask(path))
    const isRange =
      isCount(outputs) &&
      isDigest(digest) &&
      (next === null || (typeof next === 'number' && next > from && next < to)) &&
      (isListed ? Array.isArray(rows) && rows.length === outputs : rows === undefined)
    if (!isRange) throw this.#wrong(path, 'the digest of a range')
    return {
      outputs,
      digest,
      next: next ?? undefined,
      rows: isListed
        ? (rows as unknown[]).map(each => readRow(each) ?? this.#refuse(path, 'an output with its spender'))
        : undefined
    }
  }

  /** Undefined for a status in `absent`. */
  async #ask(path: string, absent: readonly number[] = []): Promise<unknown> {
    for (let attempt = 1; ; attempt++) {
      try {
        const answer = await this.#service.ask(path, { signal: this.#signal }, [400, 404])
        if (absent.includes(answer.status)) return undefined
        if (answer.status >= 400) throw this.#older(answer.status)
        return this.#service.json(path, answer)
      } catch (error) {
        if (!isRetryable(error) || attempt >= this.#attempts) throw error
        const delay = backoffDelay(attempt, { first: this.#backoff, limit: MAX_DELAY_MS })
        await sleep(delay, { signal: this.#signal })
      }
    }
  }

  #older(status: number): QuoinError {
    const message = `${this.name} gives no digests of tokens (status ${status}): it has no tokens, or a version before digests; upgrade it`
    return new QuoinError('ERR_SYNC_PEER', message, { source: this.name, status })
  }

  #wrong(path: string, expected: string): QuoinError {
    return this.#service.failure(path, `answered with a value that is not ${expected}`)
  }

  #refuse(path: string, expected: string): never {
    throw this.#wrong(path, expected)
  }
}

const readToken = (value: unknown): TokenDigest | undefined => {
  const { id, minted, supply, listed, holders, outputs, outputsDigest, holdersDigest, pending } =
    fieldsOf(value)
  const isToken =
    typeof id === 'string' &&
    isTokenId(id) &&
    isAmount(minted) &&
    isAmount(supply) &&
    isAmount(listed) &&
    isCount(holders) &&
    isCount(outputs) &&
    (outputsDigest === null || isDigest(outputsDigest)) &&
    (holdersDigest === null || isDigest(holdersDigest)) &&
    typeof pending === 'boolean'
  if (!isToken) return undefined
  return {
    id,
    minted: BigInt(minted),
    supply: BigInt(supply),
    listed: BigInt(listed),
    holders,
    outputs,
    outputsDigest: outputsDigest ?? undefined,
    holdersDigest: holdersDigest ?? undefined,
    isPending: pending
  }
}

const readRow = (value: unknown): StateRow | undefined => {
  const { outpoint, spender } = fieldsOf(value)
  if (typeof outpoint !== 'string' || !/^[0-9a-f]{64}_(0|[1-9]\d{0,9})$/.test(outpoint)) return undefined
  if (spender !== null && !(typeof spender === 'string' && /^[0-9a-f]{64}$/.test(spender))) return undefined
  if (Number(outpoint.slice(65)) > 0xffffffff) return undefined
  return { outpoint: parseOutpoint(outpoint), spender: spender === null ? undefined : parseTxid(spender) }
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
const isDigest = (value: unknown): value is string =>
  typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
const isAmount = (value: unknown): value is string => typeof value === 'string' && /^\d{1,40}$/.test(value)
