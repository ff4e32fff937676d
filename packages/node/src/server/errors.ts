/**
 * Errors over HTTP: the status of each code, and the one form of all bodies. Malformed requests are 400, as in the
 * reference server; requests that may be repeated unchanged are 503 or 429.
 */
import { type ErrorCode, QuoinError } from '@quoin/primitives'

/** Codes that are not here are 500. */
const STATUS: Partial<Record<ErrorCode, number>> = {
  ERR_REQUEST: 400,
  ERR_TX_FORMAT: 400,
  ERR_TX_INVALID: 400,
  ERR_TX_UNKNOWN: 400,
  ERR_BEEF_FORMAT: 400,
  ERR_PROOF_INVALID: 400,
  ERR_HEADER_FORMAT: 400,
  ERR_HEADER_INVALID: 400,
  ERR_HEADER_UNKNOWN: 400,
  ERR_BROADCAST: 400,
  ERR_TOPIC_UNKNOWN: 400,
  ERR_TOKEN_INACTIVE: 403,
  ERR_LOOKUP_UNKNOWN: 400,
  ERR_LOOKUP_FAILED: 400,
  ERR_SYNC_REQUEST: 400,
  ERR_GASP_VERSION_MISMATCH: 400,
  ERR_KEY_VALUE: 400,
  ERR_TXO_EVENT: 400,
  ERR_STORE_CURSOR: 400,
  ERR_STORE_OPTION: 400,
  ERR_STORE_KEY: 400,
  ERR_STORE_SCORE: 400,
  ERR_LIQUIDITY_RANGE: 400,
  ERR_LIQUIDITY_REFUSED: 400,
  ERR_LIQUIDITY_VALUE: 400,
  ERR_UNAUTHORIZED: 401,
  ERR_FORBIDDEN: 403,
  ERR_NOT_FOUND: 404,
  ERR_ROUTE_NOT_FOUND: 404,
  ERR_TXO_CONFLICT: 409,
  ERR_TXO_POSITION: 410,
  ERR_REQUEST_LIMIT: 413,
  ERR_CONTENT_LIMIT: 413,
  ERR_BEEF_LIMIT: 413,
  ERR_BEEF_EXPANSION: 413,
  ERR_RATE_LIMIT: 429,
  ERR_ANCHORS_UNSUPPORTED: 501,
  ERR_UNAVAILABLE: 503,
  ERR_LOOKUP_TIMEOUT: 503,
  ERR_BROADCAST_UNAVAILABLE: 503,
  ERR_INTERPRETER_BUSY: 503,
  ERR_PLUGIN_UNAVAILABLE: 503,
  ERR_STALE_READ: 503,
  ERR_LIQUIDITY_LOADING: 503,
  ERR_CHAIN_SOURCE: 503,
  ERR_STORE_BUSY: 503,
  ERR_STORE_CLOSED: 503,
  ERR_STORE_CONNECTION: 503,
  ERR_STORE_LOCKED: 503,
  ERR_STORE_READ_ONLY: 503,
  ERR_STORE_REPLICAS: 503,
  ERR_STORE_FAILED: 503,
  ERR_STORE_UPGRADE: 503,
  ERR_STORE_FULL: 507
}

/** Seconds after which to try again, where an error does not say in `details.seconds`. */
const RETRY_SECONDS: Partial<Record<ErrorCode, number>> = {
  ERR_INTERPRETER_BUSY: 1,
  ERR_PLUGIN_UNAVAILABLE: 1,
  ERR_STALE_READ: 1
}

/** Codes from 501 whose messages say nothing about the inside of the node. */
const PUBLIC: ReadonlySet<ErrorCode> = new Set([
  'ERR_BROADCAST_UNAVAILABLE',
  'ERR_ANCHORS_UNSUPPORTED',
  'ERR_UNAVAILABLE',
  'ERR_INTERPRETER_BUSY',
  'ERR_STALE_READ',
  'ERR_LOOKUP_TIMEOUT'
])

interface ErrorBody {
  readonly status: 'error'
  readonly code: ErrorCode
  readonly message: string
  /** The same sentence, where some clients look for it. */
  readonly description: string
  readonly details?: Readonly<Record<string, unknown>>
}

export interface HttpError {
  readonly status: number
  readonly body: ErrorBody
  readonly headers: Readonly<Record<string, string>>
}

export const httpError = (error: unknown): HttpError => {
  const known = error instanceof QuoinError
  const status = (known && STATUS[error.code]) || 500
  if (!known || status === 500)
    return { status, body: bodyOf('ERR_INTERNAL', 'Unexpected error'), headers: {} }
  const { code, message, details } = error
  // Internal errors are for the log alone: their messages may have paths and addresses.
  const isInside = status > 500 && !PUBLIC.has(code)
  const body = isInside ? bodyOf(code, LATER) : { ...bodyOf(code, message), details }
  return { status, body, headers: headersOf(status, details['seconds'] ?? RETRY_SECONDS[code]) }
}

const LATER = 'the node cannot do this at the moment; try again later'

const headersOf = (status: number, seconds: unknown): Record<string, string> => {
  if (status === 401) return { 'www-authenticate': 'Bearer' }
  return typeof seconds === 'number' ? { 'retry-after': String(Math.ceil(seconds)) } : {}
}

const bodyOf = (code: ErrorCode, message: string): ErrorBody => ({
  status: 'error',
  code,
  message,
  description: message
})
