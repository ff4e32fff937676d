/** Declare key layouts, prove them, use them, explain raw keys. */

export {
  compareBytes,
  type ErrorCode,
  encodeText,
  fromHex,
  prefixEnd,
  QuoinError,
  shortHex,
  startsWith,
  successor,
  toHex
} from '@quoin/primitives'
export { type AuditReport, auditLayout } from './audit.ts'
export { canonicalLayout } from './canonical.ts'
export { Codec, type CodecOptions, type Component, component } from './codec.ts'
export type { Collection } from './collection.ts'
export { base58, bech32 } from './components/base-text.ts'
export { bytes, fixedBytesCodec, hex, lengthPrefixed, terminated } from './components/bytes.ts'
export { decimal } from './components/decimal.ts'
export { f64 } from './components/float.ts'
export { i32, i64, u8, u16, u32, u64 } from './components/integer.ts'
export { alphabet, asciiCodec, escaped, text, word } from './components/text.ts'
export {
  collection,
  type Declaration,
  type KeyOf,
  type KeyPart,
  type PrefixOf,
  raw
} from './declaration.ts'
export { type CollectionChange, diffKeyspaces } from './diff.ts'
export { describeKeyspace, documentKeyspaces, type KeyspaceDescription } from './document.ts'
export type { Explanation } from './explain.ts'
export { LAYOUT_CODECS, type LayoutComponents, parseLayout } from './file/parse.ts'
export { type AnyKeyspace, type Keyspace, KeyspaceGroup, type KeyspaceOptions, keyspace } from './keyspace.ts'
export { ByteSet } from './language/byteset.ts'
export { Language } from './language/language.ts'
export * as pattern from './language/pattern.ts'
export type { Finding, Property } from './proof/findings.ts'
export { PROPERTIES, type Proof, type Verdict } from './proof/prove.ts'
export type { KeyRange, RangeOptions } from './range.ts'
export type { ExplainedSpan } from './span.ts'
export {
  describeShape,
  type Hash,
  hash,
  json,
  listOf,
  logOf,
  type Members,
  queueOf,
  rawValue,
  type Shape,
  setOf,
  single,
  sortedSetOf,
  type Value,
  type ValueCodec,
  value,
  wordCodec
} from './value.ts'
