/** Error codes, where the failure of each lies, and when a repetition can succeed. */

/**
 * `call`: arguments, a declaration, a request or the configuration. `transaction`: the transaction, proof or BEEF at hand.
 * `node`: a busy or restarting part of this node. `store`: the database, which fails every call until it is repaired.
 * `remote`: another node or service.
 */
type Origin = 'call' | 'transaction' | 'node' | 'store' | 'remote'

/** `dependency`: after a missing parent or block header has arrived. `later`: after a pause, unchanged. */
type Retry = 'never' | 'dependency' | 'later'

interface ErrorPolicy {
  readonly origin: Origin
  readonly retry: Retry
}

const policy = <O extends Origin, R extends Retry>(origin: O, retry: R) => ({ origin, retry }) as const

const CALL = policy('call', 'never')
const INVALID = policy('transaction', 'never')
const INCOMPLETE = policy('transaction', 'dependency')
const CONTENDED = policy('transaction', 'later')
const NODE = policy('node', 'never')
const BUSY = policy('node', 'later')
const STORE = policy('store', 'never')
const OUTAGE = policy('store', 'later')
const REMOTE = policy('remote', 'never')
const UNREACHABLE = policy('remote', 'later')

export const ERRORS = {
  /** A value does not belong to its key component. */
  ERR_KEY_VALUE: CALL,
  /** Bytes are not a key of the collection; `details.offset` is the position of the wrong byte. */
  ERR_KEY_DECODE: CALL,
  /** The buffer is too small for the key, or the offset is outside of it. */
  ERR_KEY_BUFFER: CALL,
  /** A stored value does not decode. */
  ERR_VALUE_DECODE: CALL,
  /** A keyspace declaration is malformed (not: unsound). */
  ERR_KEYSPACE_DECLARATION: CALL,
  /** A keyspace declaration is unsound; `details.findings` has the witnesses. */
  ERR_KEYSPACE_UNSOUND: CALL,
  /** The proof of a keyspace needs more states than the limit allows. */
  ERR_KEYSPACE_TOO_LARGE: CALL,
  /** No declared scan promises the iteration. */
  ERR_SCAN_NOT_PROMISED: CALL,
  /** Keys are not stored in the order of the requested range. */
  ERR_RANGE_ORDER: CALL,
  /** A layout file for `audit` is malformed; `details.path` is the position in the JSON. */
  ERR_AUDIT_FORMAT: CALL,
  /** A file cannot be read. */
  ERR_FILE: CALL,
  /** The URL of a store is malformed or names no engine. */
  ERR_STORE_URL: CALL,
  /** A key, field, member or item is not bytes or too long; a log entry is empty. */
  ERR_STORE_KEY: CALL,
  /** A value is not bytes, or too long. */
  ERR_STORE_VALUE: CALL,
  /** A score is not a number. */
  ERR_STORE_SCORE: CALL,
  /** A limit, an offset or another option of a call is wrong. */
  ERR_STORE_OPTION: CALL,
  /** A cursor was not made by this store for this search. */
  ERR_STORE_CURSOR: CALL,
  /** A condition of a batch does not hold; nothing of the batch was written. */
  ERR_STORE_PRECONDITION: STORE,
  /** The lease of a queue item has expired or belongs to another worker; nothing of the batch was written. */
  ERR_STORE_LEASE_LOST: STORE,
  /** Commits kept changing the rows of a snapshot. Retry, or read less. */
  ERR_STORE_BUSY: BUSY,
  /** A newer version or another program wrote the store. */
  ERR_STORE_VERSION: STORE,
  /** Another process writes to the store. */
  ERR_STORE_LOCKED: OUTAGE,
  /** The store is open for reading only. */
  ERR_STORE_READ_ONLY: STORE,
  /** The disk, or the memory of the server, is full; nothing of the batch was written. */
  ERR_STORE_FULL: OUTAGE,
  /** The database server is unreachable; a batch in flight may or may not be written. */
  ERR_STORE_CONNECTION: OUTAGE,
  /**
   * Too few replicas have a batch. It is applied on the primary when `details.outcome` is `applied`; repeat the request
   * when the replicas are back.
   */
  ERR_STORE_REPLICAS: OUTAGE,
  /** A write or a sync failed (see `cause`), or the writer thread ended. The store refuses writes until it is reopened. */
  ERR_STORE_FAILED: STORE,
  /** The store was written under other key layouts; `quoin upgrade` migrates it. */
  ERR_STORE_UPGRADE: STORE,
  /** The store is closed. */
  ERR_STORE_CLOSED: STORE,
  /** Stored rows contradict each other. */
  ERR_STORE_CORRUPT: STORE,
  /** The database reported an error of its own; `details` has its message. */
  ERR_STORE_ENGINE: STORE,
  /** Bytes are not a transaction; `details.offset` is the position of the wrong byte. */
  ERR_TX_FORMAT: INVALID,
  /** A script, the values or a proof of a transaction is invalid; `details.txid` and `details.reason` say which. */
  ERR_TX_INVALID: INVALID,
  /** A required transaction is neither in the BEEF nor stored. */
  ERR_TX_UNKNOWN: INCOMPLETE,
  /** Bytes are not a BEEF, or not a BUMP. */
  ERR_BEEF_FORMAT: INVALID,
  /** A BEEF is larger, deeper or costlier than the limits allow. */
  ERR_BEEF_LIMIT: INVALID,
  /** `Transaction.fromBEEF` of @bsv/sdk would visit the ancestry of a BEEF more often than the limit allows. */
  ERR_BEEF_EXPANSION: INVALID,
  /** The merkle root of a proof is not that of the block header. The header may be missing, or replaced by a reorg. */
  ERR_PROOF_INVALID: INCOMPLETE,
  /** The process that runs scripts outside of the fast path cannot start. */
  ERR_INTERPRETER: NODE,
  /** The queue of scripts for the interpreter is full; `details.seconds` is the time until a retry. */
  ERR_INTERPRETER_BUSY: BUSY,
  /** Bytes are not a block header. */
  ERR_HEADER_FORMAT: CALL,
  /** A header breaks a rule of its network. */
  ERR_HEADER_INVALID: CALL,
  /** A required header is not stored. */
  ERR_HEADER_UNKNOWN: CALL,
  /** A service for headers, proofs or transactions is unreachable, or its answer is invalid. */
  ERR_CHAIN_SOURCE: UNREACHABLE,
  /** Another transaction already spends an output; `details.spender` is its txid. */
  ERR_TXO_CONFLICT: CONTENDED,
  /** An event has no declared type. */
  ERR_TXO_EVENT: CALL,
  /** The journal no longer has the entries after this position; `details.oldest` is its first position. */
  ERR_TXO_POSITION: CALL,
  /** No topic has this name. */
  ERR_TOPIC_UNKNOWN: CALL,
  /** A topic threw, exceeded its deadline, or returned an invalid admission. */
  ERR_TOPIC_FAILED: CONTENDED,
  /** Another commit changed a coin or removed an ancestor after it was read. */
  ERR_STALE_READ: CONTENDED,
  /** No lookup service has this name. */
  ERR_LOOKUP_UNKNOWN: CALL,
  /** A plug-in cannot be loaded or installed: its module exports none, or one of its names is invalid or taken. */
  ERR_PLUGIN: CALL,
  /** The process of a plug-in is restarting after a failure; `details.seconds` is the time until a retry. */
  ERR_PLUGIN_UNAVAILABLE: BUSY,
  /** The process of a plug-in ended, exceeded its memory limit, or its deadline, during a call. */
  ERR_PLUGIN_ENDED: BUSY,
  /** A lookup service threw, or returned an invalid answer. */
  ERR_LOOKUP_FAILED: CALL,
  /** A lookup service did not answer within the limit of the node; `details.milliseconds` is the limit. */
  ERR_LOOKUP_TIMEOUT: BUSY,
  /** A request is malformed; `details.where` and `details.path` say where. */
  ERR_REQUEST: CALL,
  /** A body, a list or a nesting is larger than the limits allow. */
  ERR_REQUEST_LIMIT: CALL,
  /** The content of an output is larger than the limit, or its history is longer. */
  ERR_CONTENT_LIMIT: CALL,
  /** No route has this path and method. */
  ERR_ROUTE_NOT_FOUND: CALL,
  /** The requested resource does not exist. */
  ERR_NOT_FOUND: CALL,
  /** The request needs a bearer token. */
  ERR_UNAUTHORIZED: CALL,
  /** The bearer token is wrong. */
  ERR_FORBIDDEN: CALL,
  /** Too many requests; `details.seconds` is the time until a retry. */
  ERR_RATE_LIMIT: BUSY,
  /** The server is shutting down, or has its maximum of connections. */
  ERR_UNAVAILABLE: BUSY,
  /** A defect of the node; the log has the error. */
  ERR_INTERNAL: NODE,
  /** The configuration of a node is wrong; `details.problems` has every reason. */
  ERR_CONFIG: CALL,
  /** A request of the sync protocol is malformed. */
  ERR_SYNC_REQUEST: CALL,
  /** A request is of another version of the sync protocol; `details.currentVersion` is the supported one. */
  ERR_GASP_VERSION_MISMATCH: CALL,
  /** The topic has no anchors on this node, for want of a start or of a chain. */
  ERR_ANCHORS_UNSUPPORTED: CALL,
  /** The answer of a peer is invalid, or a refusal. */
  ERR_SYNC_PEER: REMOTE,
  /** A peer is unreachable, too slow or overloaded. */
  ERR_SYNC_UNAVAILABLE: UNREACHABLE,
  /** The graph that a peer has for an output is larger than the limits allow. */
  ERR_SYNC_LIMIT: REMOTE,
  /** A node is unreachable. */
  ERR_NODE_UNREACHABLE: UNREACHABLE,
  /** A node answered with an error; `details.status` and `details.code` are its own. */
  ERR_NODE_REFUSED: REMOTE,
  /** The network refuses a transaction for good; `details.txStatus` is its status. */
  ERR_BROADCAST: INVALID,
  /** No transaction processor decided on a transaction. Nothing is stored; submit it again after `details.seconds`. */
  ERR_BROADCAST_UNAVAILABLE: UNREACHABLE,
  /** The command line is wrong. */
  ERR_USAGE: CALL,
  /** A text is not a decimal number of its number of places, or a number has no square root. */
  ERR_DECIMAL: CALL,
  /** A key, value, tag or protocol of a key-value entry is invalid; `details.field` says which. */
  ERR_KV_ENTRY: CALL,
  /** A tuple of a key-value store has several live tokens; `details.outpoints` has them. */
  ERR_KV_AMBIGUOUS: CALL,
  /** An output of a wallet's local key-value store does not hold a value; `details.outpoints` has the outputs. */
  ERR_KV_CORRUPT: CALL,
  /** A host of the key-value store is unreachable, or its answer is invalid; `details.hosts` has a reason for each. */
  ERR_KV_HOST: UNREACHABLE,
  /** No host of the key-value store accepted a transaction; `details.hosts` has a reason for each. */
  ERR_KV_REFUSED: REMOTE,
  /** A wallet's answer breaks its interface (BRC-100). */
  ERR_KV_WALLET: CALL,
  /** A wallet's answer about an advertisement breaks its interface (BRC-100). */
  ERR_WALLET: CALL,
  /** A tick or a price is outside of the range of pools. */
  ERR_LIQUIDITY_RANGE: CALL,
  /** An operation on a pool or a position is refused; `details.reason` is the reason in a word. */
  ERR_LIQUIDITY_REFUSED: CALL,
  /** A value of concentrated liquidity is invalid: a number exceeds its field, a text is not a time or an address. */
  ERR_LIQUIDITY_VALUE: CALL,
  /** The store keeps concentrated liquidity under another profile than the requested one. */
  ERR_LIQUIDITY_PROFILE: CALL,
  /** An import into the store was cut off, so that its state is incomplete. */
  ERR_LIQUIDITY_LOADING: BUSY,
  /** An imported file is not a state of concentrated liquidity; `details.path` or `details.line` says where. */
  ERR_LIQUIDITY_IMPORT: CALL,
  /** The schema of an export lacks a field for the exported state. */
  ERR_LIQUIDITY_EXPORT: CALL,
  /** A state is imported into an empty store only. */
  ERR_LIQUIDITY_NOT_EMPTY: CALL,
  /** A token is not indexed; `details.reason` says why. */
  ERR_TOKEN_INACTIVE: CALL,
  /** A source of transactions is unreachable, or its connection was lost. */
  ERR_SOURCE_CONNECTION: UNREACHABLE,
  /** A source of transactions refuses the client, or ends its subscription; `details.code` is its own. */
  ERR_SOURCE_REFUSED: UNREACHABLE,
  /** A message of a source of transactions breaks its protocol. */
  ERR_SOURCE_FORMAT: UNREACHABLE,
  /** The address, the subscription or another setting of a source is invalid. */
  ERR_SOURCE_OPTION: CALL
} as const satisfies Record<`ERR_${string}`, ErrorPolicy>

export type ErrorCode = keyof typeof ERRORS
