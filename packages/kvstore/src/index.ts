/** The global key-value store of BRC-35: its tokens, the topic that admits them and the lookup that finds them. */

export * from '@quoin/kvstore-client/token'
export { type KvEntry, loadEntries } from './entries.ts'
export { anyEventOf, findEntries, selects } from './find.ts'
export { type History, historyOf } from './history.ts'
export { kvEvents } from './keys.ts'
export type { KvContext } from './lookup.ts'
export { kvstore, kvstorePlugin } from './plugin.ts'
export { type KvQuery, readQuery } from './query.ts'
export { TAG_LIMITS, type TagLimits } from './topic.ts'
export { verifyToken } from './verify.ts'
