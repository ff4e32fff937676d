import { ERRORS, type ErrorCode } from './error-codes.ts'

/** `cause` is the caught error; the other fields become `details`. */
type ErrorDetails = Readonly<Record<string, unknown>> & { readonly cause?: unknown }

/**
 * The one error type of Quoin. `code` is stable and part of the API; `message` is one short sentence; `details` has the
 * given and the expected values as plain data for logs and answers.
 */
export class QuoinError extends Error {
  readonly code: ErrorCode
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: ErrorCode, message: string, { cause, ...details }: ErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'QuoinError'
    this.code = code
    this.details = details
  }
}

export const hasCode = <C extends ErrorCode>(
  error: unknown,
  code: C
): error is QuoinError & { readonly code: C } => error instanceof QuoinError && error.code === code

/** Whether a repetition of the failed call can succeed, at once or after a missing fact has arrived. */
export const isRetryable = (error: unknown): error is QuoinError =>
  error instanceof QuoinError && ERRORS[error.code].retry !== 'never'

/** Whether another node or service failed, rather than this node or the data. */
export const isRemote = (error: unknown): error is QuoinError =>
  error instanceof QuoinError && ERRORS[error.code].origin === 'remote'

/** The message of an error, or the text of any other thrown value. */
export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** The reason of a failed `fetch`: its own message is "fetch failed", and `cause` has the network error. */
export const fetchReasonOf = (error: unknown): string => {
  const cause = error instanceof Error ? error.cause : undefined
  if (!(cause instanceof Error)) return reasonOf(error)
  return cause.message || String((cause as { code?: unknown }).code)
}
