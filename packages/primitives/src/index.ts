/** Bytes, text, Bitcoin's wire primitives, errors, and small tools of asynchronous code. */
export { Backoff, type BackoffOptions, backoffDelay } from './backoff.ts'
export {
  bytesKey,
  bytesOfKey,
  compareBytes,
  copyOf,
  equalBytes,
  fromHex,
  prefixEnd,
  readHex,
  shortHex,
  startsWith,
  successor,
  toHex,
  writeHex
} from './bytes.ts'
export * from './chars.ts'
export * from './copies.ts'
export { fetchReasonOf, hasCode, isRemote, isRetryable, QuoinError, reasonOf } from './error.ts'
export { ERRORS, type ErrorCode } from './error-codes.ts'
export {
  formatOutpoint,
  formatTxid,
  MAX_VOUT,
  makeOutpoint,
  type Outpoint,
  parseOutpoint,
  parseTxid,
  type TokenId,
  type Topic,
  type Txid,
  txidOf,
  voutOf
} from './ids.ts'
export { memoize } from './memoize.ts'
export { KeyedMutex } from './mutex.ts'
export { OP } from './opcodes.ts'
export { Reader } from './reader.ts'
export { readBody } from './response-body.ts'
export {
  buildScript,
  type Chunk,
  type Chunks,
  chunksOf,
  push,
  pushedBy,
  readScriptNumber,
  ScriptCursor,
  writeScriptNumber
} from './script.ts'
export { type EventsOptions, eventsOf, type ServerEvent } from './server-events.ts'
export * from './source-health.ts'
export {
  type DrainOptions,
  drain,
  startedTasks,
  Task,
  type TaskGate,
  type TaskOptions,
  type TaskPass,
  type TaskState,
  Tasks,
  withHeartbeat
} from './task.ts'
export { TickThrottle } from './tick-throttle.ts'
export { type SleepOptions, sleep, unref, withTimeout } from './timeout.ts'
export { installTracer, type SpanAttributes, type Tracer, traced } from './trace.ts'
export { printValue, valueError } from './value-error.ts'
export { sizedLength, varintLength, Writer } from './writer.ts'
