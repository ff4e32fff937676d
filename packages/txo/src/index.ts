/** The output store: outputs, events, spends, balances, topics, rollback. */

export { accountIn, Book, type RankedAccount, type RankedPage } from './amount-book.ts'
export type { AmountLedger, LedgerOutput, LedgerPosting } from './amount-ledger.ts'
export { type Amount, type Amounts, totalOf } from './amounts.ts'
export { ByteReader, ByteWriter } from './compact-text.ts'
export { compareIndexes, type Difference, hashesOf } from './compare.ts'
export {
  balanced,
  type EventDeclaration,
  type EventKeys,
  EventRegistry,
  type Events,
  EventType,
  type EventTypes,
  event,
  events,
  outputEvents,
  registerEvents,
  unspent
} from './events.ts'
export { FileProgress } from './file-progress.ts'
export { incompleteBeefs } from './incomplete-beefs.ts'
export { type IndexingOptions, indexOutput, indexTransaction } from './index-transaction.ts'
export {
  type IndexDepth,
  Indexer,
  type IndexerOptions,
  type IngestRequest,
  retryStale
} from './indexer.ts'
export type { IngestPlan } from './ingest-plan.ts'
export type { Journal } from './journal.ts'
export type { LiveChange } from './journal-changes.ts'
export { type ChangeDetails, type ChangeKind, encodeEntry, newId } from './journal-entry.ts'
export type { FollowOptions, JournalSubscription } from './journal-reader.ts'
export {
  changeFields,
  type FileOffset,
  outputFields,
  outputs,
  progressFields,
  spendFields
} from './keys.ts'
export type { LoadedOutput, LoadOptions } from './load-outputs.ts'
export {
  changeCursor,
  changePlace,
  MAX_CHANGES,
  type MembershipChange,
  type MembershipEntry,
  MembershipLog,
  membershipEntries,
  topicsWithMembership
} from './membership.ts'
export { type Content, type OutputContent, readContent } from './ordinals/content.ts'
export { OrdinalWalk } from './ordinals/ordinal-walk.ts'
export {
  type ContentPart,
  contentParts,
  LATEST,
  ORIGIN,
  originOf,
  type ResolvedOrdinal,
  resolveOrdinal
} from './ordinals/ordinals.ts'
export { type OutputState, outputState } from './output-state.ts'
export {
  type Balance,
  type ForgetHook,
  OutputStore,
  type OutputStoreOptions,
  type PositionHook,
  type RollbackCause,
  type SavedOutput,
  type StoredHook
} from './output-store.ts'
export { type BlockPosition, heightScore, scoreOf } from './position.ts'
export { Proofs, type ReconcileResult } from './proofs.ts'
export { type RebuildOptions, rebuildIndex } from './rebuild.ts'
export type { SpendRecord, TransactionRecord } from './record.ts'
export { IndexRepair, repairProof } from './repair.ts'
export * from './scripts/index.ts'
export type { FoundOutput, OutputSearch, Page } from './search.ts'
export { type TopicSnapshot, topicSnapshot } from './topic-snapshot.ts'
export {
  type Admission,
  type OutputUpdate,
  type SpentEvents,
  TxUpdate,
  type TxUpdateOptions
} from './tx-update.ts'
export { type Verdict, type VerifyOptions, verifyIndex } from './verify.ts'
