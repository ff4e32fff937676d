/** The tasks of discovery: the advertiser, the janitor, and the search for peers of topics. */
import { isAdvertisableName } from '@quoin/discovery'
import type { Engine, Logger, SyncService } from '@quoin/overlay'
import { QuoinError } from '@quoin/primitives'
import type { TaskLease } from '@quoin/store'
import { openWallet } from '../../wallet/open-wallet.ts'
import type { Part } from '../parts.ts'
import type { Config } from '../settings.ts'
import { taskLease } from '../task-leases.ts'
import { AdvertiserTask } from './advertiser-task.ts'
import { DiscoveredPeers } from './discovered-peers.ts'
import { JanitorTask } from './janitor-task.ts'

export interface DiscoveryOptions {
  readonly engine: Engine
  readonly sync: SyncService
  /** The lease of the sync, which discovered peers belong to. */
  readonly peersLease: TaskLease
  readonly logger: Logger
  /** Connects to advertised hosts instead of `publicFetch`. */
  readonly fetch?: typeof fetch | undefined
}

/** The topics whose peers are discovered; of all, the ones whose names can be advertised. */
const discoveredTopics = ({ sync }: Config, topics: readonly string[]): readonly string[] => {
  const { discover } = sync
  if (discover === 'off') return []
  if (discover === 'all') return topics.filter(isAdvertisableName)
  const unknown = discover.find(name => !topics.includes(name))
  if (unknown !== undefined)
    throw new QuoinError(
      'ERR_CONFIG',
      `unknown topic in sync.discover: ${unknown}; expected ${topics.join(', ')}`,
      { topic: unknown, topics }
    )
  return discover
}

export class DiscoveryTasks {
  readonly janitor: JanitorTask
  readonly advertiser: AdvertiserTask | undefined
  readonly lease: TaskLease | undefined
  readonly #peers: DiscoveredPeers | undefined
  #url = ''

  constructor(config: Config, { engine, sync, peersLease, logger, fetch }: DiscoveryOptions) {
    const { advertise, janitor, privateHosts: allowPrivate } = config
    const { uri, wallet } = advertise
    const lease = taskLease(engine.outputs.store, 'discovery', logger)
    const own = uri?.replace(/\/+$/, '')
    this.janitor = new JanitorTask({
      engine,
      interval: janitor.interval,
      allowPrivate,
      own,
      logger,
      gate: lease,
      fetch
    })
    if (own !== undefined && wallet !== undefined) {
      this.advertiser = new AdvertiserTask({
        engine,
        uri: own,
        openWallet: () => openWallet(wallet, this.#url),
        trackers: advertise.to,
        isTracker: advertise.tracker,
        interval: advertise.interval * 1000,
        logger,
        gate: lease
      })
    }
    this.lease = this.advertiser || this.janitor.isPeriodic ? lease : undefined
    const topics = discoveredTopics(config, [...engine.topics.keys()])
    if (topics.length > 0) {
      this.#peers = new DiscoveredPeers({
        engine,
        sync,
        topics,
        allowPrivate,
        own,
        logger,
        gate: peersLease,
        interval: config.sync.interval * 1000,
        fetch
      })
    }
  }

  get parts(): readonly Part[] {
    const { advertiser, janitor } = this
    return [
      ...(advertiser ? [{ name: 'advertiser', state: async () => advertiser.state() }] : []),
      ...(janitor.isPeriodic ? [{ name: 'janitor', state: async () => janitor.state() }] : [])
    ]
  }

  /** Starts the tasks, at the address of the node for a development wallet. */
  async start(url: string): Promise<void> {
    this.#url = url
    await this.lease?.start()
    this.advertiser?.start()
    this.janitor.start()
    this.#peers?.start()
  }

  async close(): Promise<void> {
    await Promise.all([this.advertiser?.close(), this.janitor.close(), this.#peers?.close()])
    await this.lease?.close()
  }
}
