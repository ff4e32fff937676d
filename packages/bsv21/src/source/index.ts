/** Where transactions come from: JungleBus, files, other nodes. */
export type { BackoffOptions } from './backoff.ts'
export { FileSource, type FileSourceOptions } from './files.ts'
export { firstOf } from './first-of.ts'
export { JungleBus, type JungleBusOptions } from './junglebus.ts'
export { type AddressTransaction, JungleBusRest, type RestOptions } from './junglebus-rest.ts'
export { type PeerOptions, PeerSource } from './peer.ts'
export type { Arrival, Delivery, FollowOptions, Source, SourceStatus, TransactionSource } from './source.ts'
