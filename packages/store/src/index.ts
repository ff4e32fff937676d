/** Redis-shaped structures on memory, LMDB, LevelDB or Redis: atomic batches, search, logs, queues, typed access. */

export { Batch } from './batch.ts'
export { Bulk } from './bulk.ts'
export {
  type BackupOptions,
  type Engine,
  type EngineStats,
  type FieldValue,
  type HashEntry,
  type KeyValue,
  type LastWrite,
  type ListedItem,
  MAX_KEY,
  MAX_VALUE,
  type QueueItem,
  type QueueState,
  type ScoredMember
} from './engine.ts'
export {
  checkLayouts,
  claimLayouts,
  compareLayouts,
  hasKeys,
  type LayoutChange,
  type LayoutComparison,
  type Layouts,
  layoutsOf,
  type RecordedCollection,
  recordedLayouts,
  replaceLayouts,
  storeLayouts
} from './layouts.ts'
export { WORK_LEASE_SECONDS, whileLeased } from './leased-work.ts'
export { Log, type LogEntry, type LogPage, LogReads, type Trim } from './log.ts'
export { type Backup, readBackup, restore, verifyBackup } from './ordered/backup.ts'
export { type InspectedRow, type Inspection, inspectStore } from './ordered/inspect.ts'
export { storeRows } from './ordered/layout.ts'
export { type RowOutcome, repairRow } from './ordered/repair-rows.ts'
export { ask, askAll, type ReadPlan } from './plan.ts'
export { pollQueue } from './polling.ts'
export { LEASE_ATTEMPTS, ProcessLease, type ProcessLeaseOptions } from './process-lease.ts'
export {
  type Failure,
  type ItemPage,
  type Lease,
  Queue,
  type QueueOptions,
  type QueueStats
} from './queue.ts'
export { readOnlyUrl } from './read-only-url.ts'
export { type FoundRow, type Join, MAX_LIMIT, type Search, type SearchPage } from './search.ts'
export { openStore, type RangeLimits, type ScoreRange, Store, StoreReads } from './store.ts'
export { TAKEOVER_MS, TaskLease, type TaskLeaseOptions } from './task-lease.ts'
export type {
  FieldsRead,
  HashAt,
  Hashes,
  KeyedCollection,
  SetAt,
  SortedSetAt,
  TypedRow,
  Values
} from './typed-reads.ts'
export type { WriteHash, WriteSet, WriteSortedSet, WriteValue } from './typed-writes.ts'
export {
  backupBeside,
  type RowsUpgrade,
  replaceStore,
  type UpgradeOptions,
  upgradeRows,
  upgradingPath
} from './upgrade/rows.ts'
export { parseFilesUrl } from './url.ts'
