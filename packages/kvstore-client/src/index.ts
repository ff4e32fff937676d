/** The clients of the key-value store (BRC-35), for Node and for browsers, with any BRC-100 wallet. */

export type { KvEntry, Selectors } from './entry.ts'
export {
  type GetOptions,
  GlobalKV,
  type GlobalKVOptions,
  type ListedEntry,
  type ListQuery,
  type Page,
  type RemoveOptions,
  type SetOptions
} from './global.ts'
export type { HostOptions } from './hosts.ts'
export { LocalKV, type LocalKVOptions, type LocalOutput, type LocalWallet } from './local.ts'
export type { KvContent, ProtocolID } from './token.ts'
export type { KvChange } from './watch.ts'
export type { GlobalWallet } from './writer.ts'
