/**
 * Errors of PostgreSQL by their SQLSTATE, and of its client, as errors of a store:
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
import { type ErrorCode, QuoinError, reasonOf } from '@quoin/primitives'

interface Meaning {
  readonly code: ErrorCode
  readonly text: string
}

const meaning = (code: ErrorCode, text: string): Meaning => ({ code, text })
const LOST = meaning('ERR_STORE_CONNECTION', 'the connection to PostgreSQL is lost')
const REFUSED = meaning('ERR_STORE_URL', 'PostgreSQL refused the user, the password or the database')
const UNTRUSTED = meaning('ERR_STORE_URL', 'PostgreSQL and the URL disagree about TLS or its certificate')
const BUSY = meaning('ERR_STORE_BUSY', 'PostgreSQL gave up after conflicts with other transactions')
const CORRUPT = meaning('ERR_STORE_CORRUPT', 'PostgreSQL found damaged data')
const FAILED = meaning('ERR_STORE_ENGINE', 'PostgreSQL reported an error')

const BY_STATE: Readonly<Record<string, Meaning>> = {
  '25006': meaning('ERR_STORE_READ_ONLY', 'the server takes no writes: it is a standby, or set to read-only'),
  '28000': REFUSED,
  '28P01': REFUSED,
  '3D000': REFUSED,
  '40001': BUSY,
  '40P01': BUSY,
  '55P03': BUSY,
  '42501': meaning('ERR_STORE_READ_ONLY', 'the user may not do this'),
  '53100': meaning('ERR_STORE_FULL', 'the disk of the server is full'),
  '53300': meaning('ERR_STORE_CONNECTION', 'the server has no connection left; lower ?pool='),
  '54000': meaning('ERR_STORE_KEY', 'a key and its field or member are too long together'),
  '57014': meaning('ERR_STORE_BUSY', 'the statement took longer than ?statement_timeout= allows'),
  XX001: CORRUPT,
  XX002: CORRUPT
}

/** The server shuts down, crashed, or starts; a transaction was idle for too long. */
const LOST_STATES = new Set(['57P01', '57P02', '57P03', '57P05', '25P03'])
/** What pg says of a connection that has ended; it has no codes of its own. */
const LOST_MESSAGE =
  /^(Connection terminated|Client has encountered a connection error|timeout exceeded when|Query read timeout|timeout expired)/

/** The SQLSTATE of an error of the server. */
export const stateOf = (error: unknown): string | undefined => {
  const cause = error instanceof QuoinError ? error.cause : error
  const code = (cause as { code?: unknown } | undefined)?.code
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined
}

/** The transaction was rolled back for others, and may be tried again. */
export const isConflict = (error: unknown): boolean => ['40001', '40P01'].includes(stateOf(error) ?? '')

/** A row that was inserted is there already. */
export const isDuplicate = (error: unknown): boolean => stateOf(error) === '23505'

const meaningOf = (error: unknown): Meaning => {
  const state = stateOf(error)
  if (state) {
    if (state.startsWith('08') || LOST_STATES.has(state)) return LOST
    return BY_STATE[state] ?? FAILED
  }
  if (/CERT|SIGNATURE|^ERR_TLS/.test(codeOf(error)) || /does not support SSL/.test(reasonOf(error)))
    return UNTRUSTED
  const isOfSocket = typeof (error as { syscall?: unknown }).syscall === 'string'
  return isOfSocket || LOST_MESSAGE.test(reasonOf(error)) || /^E[A-Z]+$/.test(codeOf(error)) ? LOST : FAILED
}

const codeOf = (error: unknown): string => String((error as { code?: unknown }).code ?? '')

/** Errors that are of the store already stay as they are. */
export const storeError = (error: unknown, details: Record<string, unknown> = {}): QuoinError => {
  if (error instanceof QuoinError) return error
  const { code, text } = meaningOf(error)
  const state = stateOf(error)
  return new QuoinError(code, `${text}: ${reasonOf(error)}`, {
    ...details,
    ...(state ? { sqlstate: state } : {}),
    cause: error
  })
}

export const rejectStoreError = (error: unknown): never => {
  throw storeError(error)
}
