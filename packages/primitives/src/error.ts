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
  /** A store's URL is malformed or names no engine. */
  | 'ERR_STORE_URL'
  /** A key, field, member or item is no bytes, or too long; an entry of a log is empty. */
  | 'ERR_STORE_KEY'
  /** A value is no bytes, or too long. */
  | 'ERR_STORE_VALUE'
  /** A score is no number. */
  | 'ERR_STORE_SCORE'
  /** A limit, an offset or another option of a call is wrong. */
  | 'ERR_STORE_OPTION'
  /** A cursor was not made by this store for this search. */
  | 'ERR_STORE_CURSOR'
  /** A condition of a batch does not hold; nothing of it was written. */
  | 'ERR_STORE_PRECONDITION'
  /** A leased item is no longer leased to the one who acts on it; nothing of the batch was written. */
  | 'ERR_STORE_LEASE_LOST'
  /** What a snapshot read kept changing. Try again, or read less. */
  | 'ERR_STORE_BUSY'
  /** The store was written by a newer version, or by something else. */
  | 'ERR_STORE_VERSION'
  /** Another process writes to the store. */
  | 'ERR_STORE_LOCKED'
  /** The store is open for reading only. */
  | 'ERR_STORE_READ_ONLY'
  /** The disk, or the memory of the server, is full; nothing of the batch was written. */
  | 'ERR_STORE_FULL'
  /** The server cannot be reached, or went away; of a batch it is not known whether it was written. */
  | 'ERR_STORE_CONNECTION'
  /**
   * Too few replicas have a batch. It is applied on the primary when `details.outcome` is `applied`; repeat the request
   * when the replicas are back.
   */
  | 'ERR_STORE_REPLICAS'
  /**
   * A write or a sync failed, or the writer thread ended. The store refuses writes until it is opened again;
   * `details.cause` names the failure.
   */
  | 'ERR_STORE_FAILED'
  /** The store was written under other key layouts; `quoin upgrade` migrates it. */
  | 'ERR_STORE_UPGRADE'
  /** The store is closed. */
  | 'ERR_STORE_CLOSED'
  /** What is stored contradicts itself. */
  | 'ERR_STORE_CORRUPT'
  /** The engine failed in a way of its own; `details` has what it said. */
  | 'ERR_STORE_ENGINE'
  /** Bytes are no transaction; `details.offset` names the byte. */
  | 'ERR_TX_FORMAT'
  /** A transaction does not hold: a script, its values, a proof; `details.txid` and `details.reason` say which. */
  | 'ERR_TX_INVALID'
  /** A transaction that is needed is neither given nor stored. */
  | 'ERR_TX_UNKNOWN'
  /** Bytes are no BEEF, or no BUMP. */
  | 'ERR_BEEF_FORMAT'
  /** A BEEF is larger, deeper or costlier than the limits allow. */
  | 'ERR_BEEF_LIMIT'
  /** `Transaction.fromBEEF` of @bsv/sdk would visit the ancestry of a BEEF more often than the limit allows. */
  | 'ERR_BEEF_EXPANSION'
  /** A proof does not lead to the header of its block. */
  | 'ERR_PROOF_INVALID'
  /** The process that runs scripts of no known form cannot be started. */
  | 'ERR_INTERPRETER'
  /** The queue of scripts for the interpreter is full; `details.seconds` is when to try again. */
  | 'ERR_INTERPRETER_BUSY'
  /** Bytes are no block header. */
  | 'ERR_HEADER_FORMAT'
  /** A header breaks a rule of its network. */
  | 'ERR_HEADER_INVALID'
  /** A header that is needed is not there. */
  | 'ERR_HEADER_UNKNOWN'
  /** A service for headers, proofs or transactions cannot be reached, or answers nonsense. */
  | 'ERR_CHAIN_SOURCE'
  /** A coin is already spent by another transaction; `details.spender` names it. */
  | 'ERR_TXO_CONFLICT'
  /** An event is of no declared type. */
  | 'ERR_TXO_EVENT'
  /** The journal no longer has what comes after this position; `details.oldest` is where it begins. */
  | 'ERR_TXO_POSITION'
  /** No topic has this name. */
  | 'ERR_TOPIC_UNKNOWN'
  /** A topic threw, took too long, or said what cannot be. */
  | 'ERR_TOPIC_FAILED'
  /** Another commit changed a coin or removed an ancestor that was read; reading again helps. */
  | 'ERR_STALE_READ'
  /** No lookup service has this name. */
  | 'ERR_LOOKUP_UNKNOWN'
  /** A plug-in cannot be loaded or installed: its module exports none, or a name of it is taken, or is none. */
  | 'ERR_PLUGIN'
  /** The process of a plug-in is restarting after a failure; `details.seconds` is when to try again. */
  | 'ERR_PLUGIN_UNAVAILABLE'
  /** A process of a plug-in ended, crossed its memory limit, or passed its deadline during a call. */
  | 'ERR_PLUGIN_ENDED'
  /** A lookup service threw, or said what cannot be. */
  | 'ERR_LOOKUP_FAILED'
  /** A request is malformed; `details.where` and `details.path` say where. */
  | 'ERR_REQUEST'
  /** A body, a list or a nesting is larger than the limits allow. */
  | 'ERR_REQUEST_LIMIT'
  /** There is no such route. */
  | 'ERR_ROUTE_NOT_FOUND'
  /** What is asked for is not there. */
  | 'ERR_NOT_FOUND'
  /** No token is given where one is needed. */
  | 'ERR_UNAUTHORIZED'
  /** The token is not the right one. */
  | 'ERR_FORBIDDEN'
  /** Too many requests; `details.seconds` is when to try again. */
  | 'ERR_RATE_LIMIT'
  /** The server is closing, or has as many connections as it takes. */
  | 'ERR_UNAVAILABLE'
  /** Something went wrong that nobody thought of; the log has more. */
  | 'ERR_INTERNAL'
  /** The configuration of a node is wrong; `details.problems` has every reason. */
  | 'ERR_CONFIG'
  /** A request of the sync protocol is malformed. */
  | 'ERR_SYNC_REQUEST'
  /** A request is of another version of the sync protocol; `details.currentVersion` is ours. */
  | 'ERR_GASP_VERSION_MISMATCH'
  /** Another node cannot be reached, or answers nonsense; `details.retry` says whether it is worth asking again. */
  | 'ERR_SYNC_PEER'
  /** What another node has of an output is more than the limits allow. */
  | 'ERR_SYNC_LIMIT'
  /** A node cannot be reached. */
  | 'ERR_NODE_UNREACHABLE'
  /** A node answered with an error; `details.status` and `details.code` are its own. */
  | 'ERR_NODE_REFUSED'
  /** The network did not take a transaction. */
  | 'ERR_BROADCAST'
  /** The command line is wrong. */
  | 'ERR_USAGE'
  /** A text is no decimal number of its number of places, or a number has no square root. */
  | 'ERR_DECIMAL'
  /** What is to be stored in a key-value store is no key, value, tag or protocol; `details.field` says which. */
  | 'ERR_KV_ENTRY'
  /** A tuple of a key-value store has several live tokens; `details.outpoints` has them. */
  | 'ERR_KV_AMBIGUOUS'
  /** What a wallet has for a key is no value; `details.outpoints` has the outputs. */
  | 'ERR_KV_CORRUPT'
  /** A host of the key-value store cannot be reached, or answers nonsense; `details.hosts` has each with its reason. */
  | 'ERR_KV_HOST'
  /** No host of the key-value store took a transaction; `details.hosts` has each with its reason. */
  | 'ERR_KV_REFUSED'
  /** A wallet did not do what is asked of every wallet. */
  | 'ERR_KV_WALLET'
  /** A tick or a price is outside of what pools know. */
  | 'ERR_LIQUIDITY_RANGE'
  /** An operation on a pool or a position is refused; `details.reason` is the reason in a word. */
  | 'ERR_LIQUIDITY_REFUSED'
  /** A value of concentrated liquidity is none: a number does not fit its field, a text is no moment or address. */
  | 'ERR_LIQUIDITY_VALUE'
  /** A source of transactions cannot be reached, or the connection to it was lost. */
  | 'ERR_SOURCE_CONNECTION'
  /** A source of transactions does not let us in, or ends what it gave; `details.code` is its own. */
  | 'ERR_SOURCE_REFUSED'
  /** What a source of transactions sends is not of its protocol. */
  | 'ERR_SOURCE_FORMAT'
  /** The address, the subscription or another setting of a source is none. */
  | 'ERR_SOURCE_OPTION'
  /** The store keeps concentrated liquidity under another profile than the one asked for. */
  | 'ERR_LIQUIDITY_PROFILE'
  /** An import into the store was cut off, so what is there is not whole. */
  | 'ERR_LIQUIDITY_LOADING'
  /** A token is not indexed; `details.reason` says why. */
  | 'ERR_TOKEN_INACTIVE'
  /** What is imported is not a state of concentrated liquidity; `details.path` or `details.line` says where. */
  | 'ERR_LIQUIDITY_IMPORT'
  /** The schema of an export has no room for what is to be exported. */
  | 'ERR_LIQUIDITY_EXPORT'
  /** A state is imported into an empty store only. */
  | 'ERR_LIQUIDITY_NOT_EMPTY'

/** Whether an error is one of this library with the code. */
export const hasCode = (error: unknown, code: ErrorCode): error is QuoinError =>
  error instanceof QuoinError && error.code === code

/** The message of an error, or the text of any other value that was thrown. */
export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
