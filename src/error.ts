/**
 * The one error type of Quoin. `code` is stable and part of the API; `message` is one short sentence for a
 * person; `details` holds what was given and what was expected, as plain data that can be logged or sent.
 */
export class QuoinError extends Error {
  readonly code: ErrorCode
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: ErrorCode, message: string, details: Record<string, unknown> = {}) {
    super(message)
    this.name = 'QuoinError'
    this.code = code
    this.details = details
  }
}

export type ErrorCode =
  /** A value does not belong to the component it was given for. */
  | 'ERR_KEY_VALUE'
  /** Bytes are not a key of the collection; `details.offset` names the byte. */
  | 'ERR_KEY_DECODE'
  /** The buffer is too small for the key, or the offset is none. */
  | 'ERR_KEY_BUFFER'
  /** A stored value does not decode. */
  | 'ERR_VALUE_DECODE'
  /** A declaration is malformed (not: unsound). */
  | 'ERR_KEYSPACE_DECLARATION'
  /** A declaration is unsound; `details.findings` has the witnesses. */
  | 'ERR_KEYSPACE_UNSOUND'
  /** A proof would need more states than the limit allows. */
  | 'ERR_KEYSPACE_TOO_LARGE'
  /** An iteration was asked for that no declared scan promises. */
  | 'ERR_SCAN_NOT_PROMISED'
  /** A range was asked for in an order that the keys do not have. */
  | 'ERR_RANGE_ORDER'
  /** A layout file for `audit` is malformed; `details.path` is the place in the JSON. */
  | 'ERR_AUDIT_FORMAT'
  /** A file cannot be read. */
  | 'ERR_FILE'
  /** The command line is wrong. */
  | 'ERR_USAGE'
