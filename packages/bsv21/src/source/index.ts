/** Sources of transactions: JungleBus, files, other nodes. */
export type { BackoffOptions } from '@quoin/primitives'
export { fallbackSource } from './fallback-source.ts'
export { FileSource, type FileSourceOptions } from './files.ts'
export { JungleBus, type JungleBusOptions } from './junglebus.ts'
export { type AddressTransaction, JungleBusRest, type RestOptions } from './junglebus-rest.ts'
export { type PeerOptions, PeerSource } from './peer.ts'
export type {
  Delivery,
  FollowOptions,
  Source,
  SourceStatus,
  SourceTransaction,
  TransactionSource
} from './source.ts'
