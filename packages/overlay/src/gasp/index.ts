/** Sync between nodes by the Graph Aware Sync Protocol: client and server. */
export { GRAPH_LIMITS, type GraphLimits } from './graph.ts'
export { type HttpPeerOptions, httpPeer, localPeer, type Peer } from './peer.ts'
export { foreignNode, syncResponse } from './serve.ts'
export { transactionBatch } from './serve-batch.ts'
export { SyncService, type SyncServiceOptions, type SyncStatus } from './service.ts'
export {
  type SyncProgress,
  type SyncReport,
  syncTopic,
  TopicSync,
  type TopicSyncOptions
} from './topic-sync.ts'
export {
  type BatchRequest,
  type GraphNode,
  type ListedOutput,
  MAX_BATCH,
  type NodeRequest,
  readSyncResponse,
  type SyncRequest,
  type SyncResponse
} from './wire.ts'
