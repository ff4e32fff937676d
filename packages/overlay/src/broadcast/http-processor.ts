/**
 * ARC and Arcade over HTTP. Both take a transaction in Extended Format and answer with the status that they have for it;
 * ARC answers 200 for refusals too, and has its routes under `/v1`. An answer about another transaction, an answer without
 * a status, and an error that is no verdict count as no answer.
 */
import { Bump, HttpService, type ServiceResponse, writeExtended } from '@quoin/chain'
import { formatTxid, fromHex, QuoinError, reasonOf, SourceHealth, type Txid, toHex } from '@quoin/primitives'
import { healthLog, type Logger, SILENT } from '../logger.ts'
import { type NetworkAnswer, statusOfCode, verdictOfCode, verdictOfStatus } from './network-answer.ts'
import type { ProcessorRequest, TransactionProcessor } from './processor.ts'

export type ProcessorKind = 'arc' | 'arcade'

export interface HttpProcessorOptions {
  /** Bearer token. */
  readonly token?: string | undefined
  /** Where the processor reports changes of a status, and the bearer token that it shows there. */
  readonly callback?: { readonly url: string; readonly token: string } | undefined
  /** Milliseconds until the last byte of an answer. */
  readonly timeout?: number
  readonly logger?: Logger
  readonly fetch?: typeof fetch
}

const ROUTES = {
  arc: { submit: '/v1/tx', status: '/v1/tx', policy: '/v1/policy' },
  arcade: { submit: '/tx', status: '/tx', policy: '/policy' }
} as const

/** Bytes of the longest answer: a merkle path in hex, beside texts. */
const MAX_ANSWER = 256 * 1024
const MAX_REASON = 500
const MAX_COMPETING = 20

export const httpProcessor = (
  kind: ProcessorKind,
  url: string,
  { callback, logger = SILENT, ...options }: HttpProcessorOptions = {}
): TransactionProcessor => {
  const headers = callback && {
    'x-callbackurl': callback.url,
    'x-callbacktoken': callback.token,
    'x-fullstatusupdates': 'true'
  }
  const service = new HttpService(url, {
    maxBytes: MAX_ANSWER,
    ...(options.fetch && { fetch: options.fetch }),
    ...(options.timeout !== undefined && { timeout: options.timeout }),
    ...(options.token !== undefined && { token: options.token }),
    ...(headers && { headers })
  })
  const name = `${kind} ${service.name}`
  const routes = ROUTES[kind]
  const health = new SourceHealth({
    onChange: healthLog(logger, 'a transaction processor', { processor: name })
  })

  const asked = async <T>(question: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
    try {
      const answer = await health.ask(question)
      health.succeeded()
      return answer
    } catch (error) {
      const unavailable = signal?.aborted
        ? new QuoinError('ERR_BROADCAST_UNAVAILABLE', `${name} did not answer in time`, { cause: error })
        : new QuoinError('ERR_BROADCAST_UNAVAILABLE', `${kind} ${reasonOf(error)}`, { cause: error })
      health.failed(unavailable.message)
      throw unavailable
    }
  }
  const answerOf = (path: string, response: ServiceResponse, txid: Txid): NetworkAnswer =>
    readAnswer(service.json(path, response), response.status, txid) ??
    fail(
      service,
      path,
      `answered with status ${response.status} and no status of transaction ${formatTxid(txid)}`
    )

  return {
    name,
    get health() {
      return health.current
    },
    submit: (transaction, sourceOf, { signal }: ProcessorRequest = {}) => {
      const rawTx = toHex(writeExtended(transaction, sourceOf) ?? transaction.raw)
      const ask = async () =>
        answerOf(
          routes.submit,
          await service.answer(routes.submit, { signal, body: { rawTx } }),
          transaction.txid
        )
      return asked(ask, signal)
    },
    status: (txid, { signal }: ProcessorRequest = {}) => {
      const path = `${routes.status}/${formatTxid(txid)}`
      const ask = async () => {
        const response = await service.answer(path, { signal })
        return response.status === 404 ? undefined : answerOf(path, response, txid)
      }
      return asked(ask, signal)
    },
    policy: ({ signal }: ProcessorRequest = {}) => {
      const ask = async () => service.json(routes.policy, await service.ask(routes.policy, { signal }))
      return asked(ask, signal)
    }
  }
}

const fail = (service: HttpService, path: string, reason: string): never => {
  throw service.failure(path, reason)
}

type Field =
  | 'txid'
  | 'txStatus'
  | 'status'
  | 'extraInfo'
  | 'reason'
  | 'detail'
  | 'error'
  | 'competingTxs'
  | 'merklePath'

const record = (value: unknown): Partial<Record<Field, unknown>> =>
  typeof value === 'object' && value !== null ? value : {}

/** The answer about a transaction; undefined where the body has none. */
const readAnswer = (body: unknown, httpStatus: number, txid: Txid): NetworkAnswer | undefined => {
  const {
    txid: of,
    txStatus,
    status,
    extraInfo,
    reason,
    detail,
    error,
    competingTxs,
    merklePath
  } = record(body)
  if (typeof of !== 'string' || of.toLowerCase() !== formatTxid(txid)) return undefined
  const texts = [extraInfo, reason, detail, error].filter(text => typeof text === 'string' && text !== '')
  const said = (texts[0] as string | undefined)?.slice(0, MAX_REASON)
  if (httpStatus >= 200 && httpStatus < 300) {
    if (typeof txStatus !== 'string' || !/^[A-Z_]{1,40}$/.test(txStatus)) return undefined
    return {
      verdict: verdictOfStatus(txStatus, said),
      txStatus,
      reason: said,
      competing: txidsOf(competingTxs),
      bump: bumpOf(merklePath, txid)
    }
  }
  // A problem: its own `status` is the code. Arcade answers 400 to every verdict.
  const code = typeof status === 'number' ? status : httpStatus
  const verdict = code === 400 ? 'refused' : verdictOfCode(code)
  // Requests that fail for now, or for lack of a token, say nothing about the transaction.
  if (httpStatus >= 500 || httpStatus === 429 || httpStatus === 401 || httpStatus === 403) return undefined
  const orphan = /ORPHAN/i.test(said ?? '')
  return {
    verdict: orphan ? 'undecided' : verdict,
    txStatus: code === 400 ? 'REJECTED' : statusOfCode(code),
    reason: said ?? `code ${code}`,
    competing: txidsOf(competingTxs)
  }
}

const txidsOf = (value: unknown): readonly string[] | undefined => {
  if (!Array.isArray(value)) return undefined
  const txids = value.filter(each => typeof each === 'string' && /^[0-9a-f]{64}$/i.test(each))
  return txids.length > 0 ? txids.slice(0, MAX_COMPETING) : undefined
}

/** A malformed merkle path is none: the proof is asked for again. */
const bumpOf = (value: unknown, txid: Txid): Bump | undefined => {
  if (typeof value !== 'string' || !/^([0-9a-f]{2})+$/i.test(value)) return undefined
  try {
    const bump = Bump.parse(fromHex(value))
    return bump.proves(txid) ? bump : undefined
  } catch {
    return undefined
  }
}
