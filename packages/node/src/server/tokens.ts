/** The BSV21 pipeline of a node, from its settings. */
import {
  Activation,
  FeePayments,
  fallbackSource,
  JungleBus,
  PeerSource,
  Pipeline,
  type SourceStatus
} from '@quoin/bsv21'
import type { RootTracker } from '@quoin/chain'
import { type Engine, healthLog, type Logger } from '@quoin/overlay'
import { QuoinError, SourceHealth } from '@quoin/primitives'
import type { TaskLease } from '@quoin/store'
import type { OutputStore } from '@quoin/txo'
import type { Config } from './settings.ts'
import { taskLease } from './task-leases.ts'

/** The tokens of a node, for routes and commands. */
export interface NodeTokens {
  readonly activation: Activation
  readonly pipeline: Pipeline
  /** The health of each source that is on the network. */
  /** Held by the process that follows the sources; undefined without sources. */
  readonly lease?: TaskLease | undefined
  readonly sources: readonly { readonly name: string; readonly health: SourceHealth }[]
}

/** Undefined when the node has no tokens. */
export const activationOf = ({ bsv21 }: Config, outputs: OutputStore): Activation | undefined => {
  const { enabled, activation, feeXpub, feePerOutput } = bsv21
  return enabled ? new Activation(outputs, { activation, feeXpub, feePerOutput }) : undefined
}

/** The pipeline over an engine; it begins when it is started. */
export const openPipeline = (
  { bsv21 }: Config,
  activation: Activation,
  engine: Engine,
  tracker: RootTracker | 'scripts only',
  logger: Logger
): Omit<NodeTokens, 'activation'> => {
  const { outputs } = engine
  const { feeAddresses } = activation
  const health = new Map<string, SourceHealth>()
  const watch = (url: string) => {
    const each = new SourceHealth({ onChange: healthLog(logger, 'a source of tokens', { source: url }) })
    health.set(url, each)
    return statusWatch(each)
  }
  const jungleBus = jungleBusOf(bsv21, watch)
  const peers = bsv21.peers.map(url => new PeerSource(url, { onStatus: watch(url) }))
  const lease = health.size > 0 ? taskLease(outputs.store, 'sources', logger) : undefined
  const pipeline = new Pipeline({
    engine,
    activation,
    logger,
    lifecycleSeconds: bsv21.lifecycle,
    sources: [...(jungleBus ? [jungleBus] : []), ...peers],
    ...(jungleBus && bsv21.spendRate > 0 && { spends: jungleBus.rest, spendRate: bsv21.spendRate }),
    isShared: outputs.store.isShared,
    gate: lease,
    fetch: fallbackSource([...(jungleBus ? [jungleBus.rest] : []), ...peers]),
    // Without headers nothing that is paid is proved.
    ...(jungleBus &&
      feeAddresses &&
      tracker !== 'scripts only' && {
        payments: new FeePayments({ outputs, tracker, source: jungleBus.rest, feeAddresses })
      })
  })
  return { pipeline, lease, sources: [...health].map(([name, each]) => ({ name, health: each })) }
}

const jungleBusOf = (
  { junglebus, subscription, fromBlock, reorgDepth, mempool }: Config['bsv21'],
  watch: (url: string) => (status: SourceStatus) => void
): JungleBus | undefined => {
  if (junglebus === undefined && subscription === undefined) return undefined
  if (junglebus === undefined || subscription === undefined) {
    throw new QuoinError('ERR_CONFIG', 'bsv21.junglebus and bsv21.subscription are given together', {
      junglebus,
      subscription
    })
  }
  return new JungleBus({
    url: junglebus,
    subscription,
    fromBlock,
    reorgDepth,
    mempool,
    onStatus: watch(junglebus)
  })
}

/** A source that connects has asked a question; it is answered when the source reads. */
const statusWatch = (health: SourceHealth) => {
  let end: () => void = () => undefined
  return ({ state, lastError }: SourceStatus): void => {
    end()
    end = () => undefined
    if (lastError !== undefined) health.failed(lastError)
    else if (state === 'connecting') end = health.asked()
    else if (state === 'reading' || state === 'waiting') health.succeeded()
  }
}
