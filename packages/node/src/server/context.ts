/** The context of a server's routes. */
import type { HeaderStore } from '@quoin/chain'
import type { Route } from '@quoin/http'
import type { AnyKeyspace } from '@quoin/keyspace'
import type { Broadcaster, Engine, Logger, PluginHost, SyncService } from '@quoin/overlay'
import type { Store, TaskLease } from '@quoin/store'
import type { DevNetwork } from './dev-network.ts'
import type { DiscoveryTasks } from './discovery/index.ts'
import type { Limits } from './limits.ts'
import type { Metrics } from './metrics.ts'
import type { Part, Parts } from './parts.ts'
import type { NodeQueues } from './queues.ts'
import type { Role } from './roles.ts'
import type { StoreWatch } from './store-watch.ts'
import type { LeaseName } from './task-leases.ts'
import type { NodeTokens } from './tokens.ts'
import type { RequestTracer } from './tracing.ts'

/** Declares the routes of another package on the store of a node. */
export type MountedRoutes = (mount: { readonly store: Store; readonly limits: Limits }) => readonly Route[]

export interface ServerOptions {
  /** The name of the node, for people. */
  readonly name?: string
  readonly limits?: Partial<Limits>
  readonly logger?: Logger
  /** Opens the admin plane. */
  readonly adminToken?: string
  /** The bearer token of `/arc-ingest`. */
  readonly arcToken?: string
  /** Gives transactions to the network, and has their statuses. */
  readonly broadcaster?: Broadcaster
  /** The directory that backups are written into; without it there are none over HTTP. */
  readonly backups?: string
  /** The development chain of the node, which may be told to pay and to mine. */
  readonly dev?: DevNetwork
  /** The BSV21 tokens of the node, if it has any. */
  readonly tokens?: NodeTokens
  /** Where content of outputs is served, if not beside everything else; `false` for nowhere. */
  readonly content?: false | { readonly origin?: string }
  /** The synchronisation with peers, for `/status` and the metrics. */
  readonly sync?: SyncService
  /** The advertiser and the janitor. */
  readonly discovery?: DiscoveryTasks
  /** Turns live lookups (BRC-193) on; the provider is the public address of the node. */
  readonly liveLookups?: { readonly provider: string }
  /** The roles of the process, all unless given. Without `api` it has the routes of its health only. */
  readonly roles?: readonly Role[]
  /** Whether the process reads the store beside the process that writes to it. */
  readonly isReadOnly?: boolean
  /** The leases of tasks that run in one of the processes on the store. */
  readonly leases?: Partial<Readonly<Record<LeaseName, TaskLease>>>
  /** The processes of plug-ins, for the admin plane and the metrics. */
  readonly plugins?: Pick<PluginHost, 'states'>
  /** Routes of other packages: `liquidityRoutes` of `@quoin/liquidity/routes`. */
  readonly mounts?: readonly MountedRoutes[]
  /** More parts of the node, as an index that is being built. */
  readonly parts?: readonly Part[]
  /** The keyspaces that explain raw keys; the shipped ones unless given. */
  readonly keyspaces?: readonly AnyKeyspace[]
  /** Addresses and subnets of proxies that are believed about the address of a client; none unless given. */
  readonly trustProxy?: readonly string[]
  /** Spans of requests. */
  readonly tracing?: RequestTracer
  /** Milliseconds that `close` waits for requests, 10,000 unless given. */
  readonly drain?: number
  /** Milliseconds between signs of life on a live stream, 15,000 unless given. */
  readonly heartbeat?: number
}

export interface Context {
  readonly engine: Engine
  readonly headers: HeaderStore | undefined
  readonly options: ServerOptions
  readonly limits: Limits
  readonly logger: Logger
  readonly metrics: Metrics
  readonly parts: Parts
  readonly store: StoreWatch
  /** By name, for the operator. */
  readonly queues: NodeQueues
  /** Unix milliseconds. */
  readonly started: number
  /** Aborted when the server begins to close. */
  readonly closing: AbortSignal
}
