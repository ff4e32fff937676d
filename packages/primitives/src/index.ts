/** Bytes, text, Bitcoin's wire primitives, errors, and small tools of asynchronous code. */
export { type Awaitable, andThen, inOrder, isPending, together } from './awaitable.ts'
export { compareBytes, copyOf, fromHex, prefixEnd, shortHex, startsWith, successor, toHex } from './bytes.ts'
export * from './chars.ts'
export * from './copies.ts'
export { type ErrorCode, hasCode, QuoinError } from './error.ts'
export { OP } from './opcodes.ts'
export { Reader } from './reader.ts'
export { remembered } from './remembered.ts'
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
export * from './source-health.ts'
export { Turns } from './turns.ts'
export { Writer } from './writer.ts'
