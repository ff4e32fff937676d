/**
 * A node: a store, the chain it believes, the engine with its plug-ins, and the server before all of it. Started from
 * a configuration, closed so that nothing that was answered is lost.
 *
 * @example
 * const options = { store: 'memory:', chain: 'dev', port: '0', logLevel: 'error' }
 * const node = await startNode(loadConfig({ options }).config)
 * await (await fetch(`${node.url}/listTopicManagers`)).json() // { …tm_bsv21…tm_kvstore… }
 * await node.close()
 */
import { tokenLedger, tokenPlugin } from '@quoin/bsv21'
import {
  blockHeadersServiceSource,
  chain as chainKeys,
  chaintracksSource,
  HeaderStore,
  Interpreter,
  type ProofSource,
  proofService,
  type RootTracker
} from '@quoin/chain'
import { discovery } from '@quoin/discovery'
import { kvstorePlugin } from '@quoin/kvstore'
import {
  Engine,
  type EngineOptions,
  importPlugin,
  installPlugins,
  type Logger,
  type Plugin,
  type PluginHost,
  SyncService
} from '@quoin/overlay'
import { QuoinError, reasonOf } from '@quoin/primitives'
import { checkLayouts, claimLayouts, openStore, type Store, type TaskLease } from '@quoin/store'
import { OutputStore } from '@quoin/txo'
import { nodeEvents, nodeStore } from '../keyspaces.ts'
import { mountedRoutes } from '../optional-packages.ts'
import { ANCHOR_STARTS } from './anchor-starts.ts'
import { type NodeBroadcaster, openBroadcaster, processorParts } from './broadcasting.ts'
import { networkOf } from './config.ts'
import { DevNetwork } from './dev-network.ts'
import { DiscoveryTasks } from './discovery/index.ts'
import { diskPart } from './disk.ts'
import { HeaderSync } from './header-sync.ts'
import { LIMITS, type Limits } from './limits.ts'
import { jsonLogger } from './log.ts'
import { layoutsPart, leasedState, type Part } from './parts.ts'
import { pluginParts } from './plugin-parts.ts'
import { openPluginHost, withHosted } from './plugins.ts'
import { ProofWatch } from './proof-watch.ts'
import { Reorgs } from './reorgs.ts'
import { isReadOnly, type Role } from './roles.ts'
import { createServer, type Server } from './server.ts'
import type { Config } from './settings.ts'
import { signatureParts } from './signature-parts.ts'
import { taskLease } from './task-leases.ts'
import { activationOf, type NodeTokens, openPipeline } from './tokens.ts'
import { openTracing } from './tracing.ts'

export interface NodeOptions {
  /** Plug-ins beside the ones that the configuration names. */
  readonly plugins?: readonly Plugin[]
  readonly logger?: Logger
  /** Connects to hosts that others advertise, instead of `publicFetch`. */
  readonly fetch?: typeof fetch
}

/** A node without its server: for work on its store. */
export interface OpenNode {
  readonly engine: Engine
  readonly store: Store
  readonly tracker: RootTracker | 'scripts only'
  readonly headers: HeaderStore | undefined
  /** With the chain `dev`. */
  readonly dev: DevNetwork | undefined
  /** With headers from somewhere else. */
  readonly sync: HeaderSync | undefined
  /** With BSV21. */
  readonly tokens: NodeTokens | undefined
  /** With plug-ins from modules. */
  readonly plugins: PluginHost | undefined
  /** With transaction processors, callbacks of them, or the chain `dev`. */
  readonly broadcasting: NodeBroadcaster | undefined
  /** Finishes the running work and closes everything; a second call awaits the same end. */
  close(): Promise<void>
}

export interface Node extends OpenNode {
  readonly url: string
  readonly port: number
}

export const startNode = async (config: Config, options: NodeOptions = {}): Promise<Node> => {
  const logger = options.logger ?? jsonLogger({ level: config.logLevel })
  const closing = new ShutdownSteps()
  try {
    const { keyspaces, chain, ...node } = await open(config, { ...options, logger }, closing)
    const { engine, headers, dev } = node
    const roles = rolesOf(config)
    const tracing = config.tracing ? await openTracing() : undefined
    if (tracing) closing.add(async () => tracing.close())
    const hasSources = roles.includes('sources')
    if (hasSources) closing.add(await follow(chain, engine, config, logger))
    const proofs = hasSources ? watchProofs(chain, engine, logger) : undefined
    if (proofs) closing.add(() => proofs.close())
    const hasPeers = hasSources && (Object.keys(config.peers).length > 0 || config.sync.discover !== 'off')
    const peersLease = taskLease(node.store, 'peers', logger)
    closing.add(() => peersLease.close())
    const peers = new SyncService(engine, {
      peers: config.peers,
      interval: config.sync.interval * 1000,
      live: config.sync.live,
      logger,
      gate: peersLease
    })
    closing.add(() => peers.stop())
    const discovered = config.discovery
      ? new DiscoveryTasks(config, { engine, sync: peers, peersLease, logger, fetch: options.fetch })
      : undefined
    if (discovered) closing.add(() => discovered.close())
    const broadcastLease = roles.includes('worker') ? node.broadcasting?.lease : undefined
    const { path } = (await node.store.stats()).details
    const server = createServer({
      engine,
      headers,
      options: {
        name: config.name,
        limits: limitsOf(config),
        logger,
        ...(config.adminToken !== undefined && { adminToken: config.adminToken }),
        ...(config.arcToken !== undefined && { arcToken: config.arcToken }),
        ...(config.backups !== undefined && { backups: config.backups }),
        content: config.content.enabled && {
          ...(config.content.origin !== undefined && { origin: config.content.origin })
        },
        ...(dev && { dev }),
        ...(node.tokens && { tokens: node.tokens }),
        ...(hasSources && { sync: peers }),
        ...(discovered && { discovery: discovered }),
        ...(config.liveLookups && {
          liveLookups: {
            provider: config.advertise.uri?.replace(/\/+$/, '') ?? `http://localhost:${config.port}`
          }
        }),
        roles,
        isReadOnly: isReadOnly(config.store),
        leases: {
          ...(hasSources && chain.lease && { chain: chain.lease }),
          ...(hasPeers && { peers: peersLease }),
          ...(hasSources && discovered?.lease && { discovery: discovered.lease }),
          ...(hasSources && node.tokens?.lease && { sources: node.tokens.lease }),
          ...(broadcastLease && { broadcast: broadcastLease })
        },
        ...(node.plugins && { plugins: node.plugins }),
        ...(node.broadcasting && { broadcaster: node.broadcasting.broadcaster }),
        parts: [
          ...(hasSources ? (discovered?.parts ?? []) : []),
          ...(node.broadcasting ? processorParts(node.broadcasting) : []),
          ...signatureParts(logger),
          ...(typeof path === 'string' ? [diskPart(path)] : []),
          ...(node.store.isShared || isReadOnly(config.store)
            ? [layoutsPart(node.store, keyspaces.members)]
            : []),
          ...(node.plugins ? pluginParts(node.plugins) : []),
          ...(dev && node.store.isShared ? [{ name: 'development chain', state: () => dev.state() }] : []),
          ...(hasSources && node.sync ? [sourcePart('headers of', node.sync, chain.lease)] : []),
          ...(proofs ? [sourcePart('proofs of', proofs, chain.lease)] : [])
        ],
        keyspaces: keyspaces.members,
        mounts: await mountedRoutes(),
        trustProxy: config.trustProxy,
        ...(tracing && { tracing })
      }
    })
    closing.add(() => server.close())
    engine.start()
    if (broadcastLease) {
      await broadcastLease.start()
      node.broadcasting!.broadcaster.start(engine.proofs)
    }
    if (hasSources) await node.tokens?.lease?.start()
    node.tokens?.pipeline.start({ stages: roles.includes('worker'), sources: hasSources })
    const { url, port } = await listening(server, config)
    // A peer that is slow or gone does not keep the node from listening.
    if (hasPeers) {
      await peersLease.start()
      peers.start()
    }
    if (hasSources) await discovered?.start(url)
    logger.info('listening', { url, store: node.store.engine, chain: config.chain })
    closing.last(() => logger.info('closed'))
    return { ...node, url, port }
  } catch (error) {
    await closing.close()
    throw error
  }
}

/** Opens the parts of a node and starts none: no server, no sync, no mining. */
export const openNode = async (config: Config, options: NodeOptions = {}): Promise<OpenNode> => {
  const logger = options.logger ?? jsonLogger({ level: config.logLevel })
  const closing = new ShutdownSteps()
  try {
    const { keyspaces: _, chain: __, ...node } = await open(config, { ...options, logger }, closing)
    return node
  } catch (error) {
    await closing.close()
    throw error
  }
}

const open = async (
  config: Config,
  { plugins = [], logger }: NodeOptions & { readonly logger: Logger },
  closing: ShutdownSteps
) => {
  // Ends after the engine, whose last deliveries go to the processes.
  const host = await openPluginHost(config, logger, closing)
  const all = [...plugins, ...(await Promise.all((host?.inProcess ?? []).map(importPlugin)))]
  const store = await openStore(config.store)
  closing.add(() => store.close())
  const keyspaces = nodeStore()
  const claim = isReadOnly(config.store) ? checkLayouts : claimLayouts
  await claim(store, keyspaces.members)
  const chain = await openChain(config, store, logger)
  closing.add(async () => chain.lease?.close())
  closing.add(chain.close)
  const outputs = new OutputStore(store, {
    events: nodeEvents(),
    ledger: tokenLedger,
    journal: config.journal
  })
  const broadcasting = openBroadcaster(config, outputs, chain.dev, logger)
  const activation = activationOf(config, outputs)
  const { kvTags, kvTagBytes } = config.limits
  const own = [
    ...(activation ? [tokenPlugin(activation)] : []),
    ...(config.kvstore ? [kvstorePlugin({ tags: kvTags, tagBytes: kvTagBytes })] : []),
    ...(config.discovery ? [discovery] : [])
  ]
  const installed = withHosted(await installPlugins([...own, ...all], { outputs, keyspaces, logger }), host)
  // With the keyspaces of plug-ins.
  await claim(store, keyspaces.members)
  checkPeers(config, Object.keys(installed.topics))
  const tracker = chain.headers ?? 'scripts only'
  const { interpreters } = config.limits
  const interpreter = new Interpreter(interpreters === undefined ? {} : { processes: interpreters })
  const engine = new Engine({
    outputs,
    tracker,
    ...installed,
    index: Array.isArray(config.index) ? { tags: config.index } : config.index === 'all',
    ...(chain.headers && {
      anchors: { blocks: chain.headers, start: ANCHOR_STARTS[networkOf(config)], starts: config.anchors }
    }),
    ...(broadcasting?.offer && { broadcast: broadcasting.offer }),
    ...(broadcasting && { checkUnproved: broadcasting.broadcaster.check }),
    ...(chain.proofs && { proofs: chain.proofs }),
    topicTimeout: config.limits.topicTimeout,
    lookupTimeout: config.limits.lookupTimeout,
    lookupWait: config.limits.lookupWait,
    interpreter,
    isWorker: rolesOf(config).includes('worker'),
    logger
  } satisfies EngineOptions)
  // Submissions that end with the engine may start its processes again.
  closing.add(() => interpreter.close())
  closing.add(() => engine.close())
  closing.add(async () => broadcasting?.lease?.close())
  closing.add(async () => broadcasting?.broadcaster.close())
  const pipeline = activation && openPipeline(config, activation, engine, tracker, logger)
  if (pipeline?.lease) closing.add(() => pipeline.lease!.close())
  if (pipeline) closing.add(() => pipeline.pipeline.close())
  // Refuses submissions that wait for scripts, which may run for longer than a node takes to close.
  closing.add(() => interpreter.close())
  const { headers, dev, sync } = chain
  return {
    engine,
    tokens: activation && pipeline && { activation, ...pipeline },
    store,
    tracker,
    headers,
    dev,
    sync,
    plugins: host,
    broadcasting,
    keyspaces,
    chain,
    close: () => closing.close()
  } as const
}

/** Open parts, closed in the reverse order with the node, or when it cannot start. */
class ShutdownSteps {
  readonly #open: (() => Promise<void>)[] = []
  #last: () => void = () => undefined
  #closed: Promise<void> | undefined

  add(close: () => Promise<void>): void {
    this.#open.push(close)
  }

  /** To be done when all is closed. */
  last(done: () => void): void {
    this.#last = done
  }

  close(): Promise<void> {
    this.#closed ??= this.#closeAll()
    return this.#closed
  }

  async #closeAll(): Promise<void> {
    const failed: unknown[] = []
    for (let close = this.#open.pop(); close; close = this.#open.pop()) {
      // A failed store rejects last writes; the other parts are closed all the same.
      await close().catch(error => failed.push(error))
    }
    this.#last()
    if (failed.length > 0) throw failed[0]
  }
}

/** The chain that a node believes. */
interface Chain {
  /** Without them proofs are taken on trust. */
  readonly headers?: HeaderStore
  /** Held by the process that follows the chain; there are headers then. */
  readonly lease?: TaskLease
  readonly sync?: HeaderSync
  readonly dev?: DevNetwork
  readonly proofs?: ProofSource
  readonly close: () => Promise<void>
}

/** The headers that the process that writes has stored. */
const openStoredChain = async (store: Store): Promise<Chain> => {
  const origin = await store.use(chainKeys.collections.origin).get()
  const close = async () => undefined
  return origin ? { headers: await HeaderStore.open(store, { network: origin.network }), close } : { close }
}

const openChain = async (config: Config, store: Store, logger: Logger): Promise<Chain> => {
  if (config.chain === 'scripts-only') return { close: async () => undefined }
  if (isReadOnly(config.store)) return openStoredChain(store)
  const headers = await HeaderStore.open(store, { network: networkOf(config) })
  const lease = taskLease(store, 'chain', logger)
  const proofs = config.proofs === undefined ? {} : { proofs: proofService(config.proofs) }
  if (config.chain === 'dev') {
    const dev = await DevNetwork.open(store, headers, logger, lease).catch(async error => {
      await lease.close()
      throw error
    })
    return { headers, lease, dev, proofs: dev.chain, close: () => dev.close() }
  }
  const [, kind, url] = /^((?:block-)?headers):(.+)$/.exec(config.chain) ?? []
  if (!url) return { headers, lease, ...proofs, close: async () => undefined }
  const options = config.chainToken === undefined ? {} : { token: config.chainToken }
  const source =
    kind === 'headers' ? chaintracksSource(url, options) : blockHeadersServiceSource(url, options)
  const sync = new HeaderSync(headers, source, logger, lease)
  return { headers, lease, sync, ...proofs, close: () => sync.close() }
}

/** Begins to follow the chain: what happened while nobody looked first. Returns what ends it. */
const follow = async (
  { headers, lease, sync, dev }: Chain,
  engine: Engine,
  { blockTime }: Config,
  logger: Logger
): Promise<() => Promise<void>> => {
  if (!headers || !lease) return async () => undefined
  await lease.start()
  const reorgs = new Reorgs(headers, engine.proofs, logger, lease)
  await reorgs.start()
  await dev?.start(engine, blockTime)
  sync?.start()
  return () => reorgs.close()
}

/** Begins to ask for proofs of transactions that wait, where there is a service to ask. */
const watchProofs = (
  { headers, lease, dev, proofs }: Chain,
  engine: Engine,
  logger: Logger
): ProofWatch | undefined => {
  // The chain of the node itself brings them.
  if (!headers || !proofs || dev) return undefined
  const watch = new ProofWatch(engine, headers, proofs, logger, lease)
  watch.start()
  return watch
}

const sourcePart = (kind: string, source: HeaderSync | ProofWatch, lease: TaskLease | undefined): Part => ({
  name: `${kind} ${source.name}`,
  state: async () => leasedState(lease, () => source.state())
})

/** A process that reads answers requests. */
const rolesOf = ({ roles, store }: Config): readonly Role[] => (isReadOnly(store) ? ['api'] : roles)

const checkPeers = ({ peers }: Config, topics: readonly string[]): void => {
  const unknown = Object.keys(peers).find(topic => !topics.includes(topic))
  if (unknown === undefined) return
  const known = topics.length > 0 ? `expected ${topics.join(', ')}` : 'expected no peers without topics'
  throw new QuoinError('ERR_CONFIG', `unknown topic in the peers: ${unknown}; ${known}`, {
    topic: unknown,
    topics
  })
}

const limitsOf = ({ limits, chain }: Config): Partial<Limits> => {
  const { body, topics, page, events, content, streams, lookupAnswer, rate, burst } = limits
  // A proxy that adds no header makes strangers look local.
  const loopback = limits.loopback ?? chain !== 'dev'
  return {
    body,
    topics,
    page,
    events,
    content,
    streams,
    lookupAnswer,
    defaultPage: Math.min(LIMITS.defaultPage, page),
    rate: rate === 0 ? undefined : { perSecond: rate, burst, loopback }
  }
}

const listening = async (server: Server, { host, port }: Config) => {
  try {
    return await server.listen({ host, port })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const reason =
      code === 'EADDRINUSE'
        ? 'another program has it; --port takes another one, 0 any that is free'
        : reasonOf(error)
    throw new QuoinError('ERR_CONFIG', `cannot listen on ${host} port ${port}: ${reason}`, {
      host,
      port,
      code,
      cause: error
    })
  }
}
