/** The broadcasts of a node: through the transaction processors of its settings, or into its own development chain. */
import {
  type Broadcast,
  Broadcaster,
  httpProcessor,
  type Logger,
  type ProcessorKind,
  SILENT,
  type TransactionProcessor
} from '@quoin/overlay'
import type { TaskLease } from '@quoin/store'
import type { OutputStore } from '@quoin/txo'
import type { DevNetwork } from './dev-network.ts'
import type { Part } from './parts.ts'
import { sourceState } from './parts.ts'
import { isReadOnly } from './roles.ts'
import type { Config } from './settings.ts'
import { taskLease } from './task-leases.ts'

export interface NodeBroadcaster {
  readonly broadcaster: Broadcaster
  /** Undefined where statuses are kept and nothing is sent. */
  readonly offer: Broadcast | undefined
  /** Held by the process that works on the outbox. */
  readonly lease: TaskLease | undefined
}

/** Seconds until the first check of a transaction: where processors call back, checks find lost callbacks only. */
const FIRST_CHECK = 5
const FIRST_CHECK_AFTER_CALLBACK = 60

/** Undefined for a node that neither sends transactions nor is told of them. */
export const openBroadcaster = (
  config: Config,
  outputs: OutputStore,
  dev: DevNetwork | undefined,
  logger: Logger
): NodeBroadcaster | undefined => {
  if (isReadOnly(config.store)) return undefined
  if (dev) return intoDevChain(dev, outputs, logger)
  const { when, timeout, rebroadcast, callback } = config.broadcast
  const processors = processorsOf(config, logger)
  if (processors.length === 0 && config.arcToken === undefined) return undefined
  const lease = processors.length > 0 ? taskLease(outputs.store, 'broadcast', logger) : undefined
  const broadcaster = new Broadcaster(outputs, {
    processors,
    when,
    timeout,
    rebroadcast,
    firstCheck: callback === undefined ? FIRST_CHECK : FIRST_CHECK_AFTER_CALLBACK,
    gate: lease,
    logger
  })
  return { broadcaster, offer: processors.length > 0 ? broadcaster.offer : undefined, lease }
}

/** The processors of the settings, with their tokens. */
export const processorsOf = (
  { broadcast, arcToken }: Config,
  logger: Logger = SILENT
): TransactionProcessor[] => {
  const { processors, tokens = [], timeout, callback } = broadcast
  return processors.map((processor, i) => {
    const [, kind, url] = /^(arc|arcade):(.+)$/.exec(processor) as unknown as [string, ProcessorKind, string]
    return httpProcessor(kind, url, {
      token: tokens[i] || undefined,
      callback:
        callback === undefined || arcToken === undefined ? undefined : { url: callback, token: arcToken },
      timeout,
      logger
    })
  })
}

/** A development chain takes a transaction at once and loses none, so there is no outbox. */
const intoDevChain = (dev: DevNetwork, outputs: OutputStore, logger: Logger): NodeBroadcaster => {
  const broadcaster = new Broadcaster(outputs, { processors: [], logger })
  const answer = { verdict: 'seen', txStatus: 'SEEN_ON_NETWORK', processor: 'development chain' } as const
  const offer: Broadcast = async (transaction, beef, token) => {
    await dev.broadcast(transaction, beef)
    return batch => broadcaster.acceptIn(batch, transaction.txid, answer, token)
  }
  return { broadcaster, offer, lease: undefined }
}

/** A processor in trouble leaves the node ready: it answers reads, and the outbox keeps admitted transactions. */
export const processorParts = ({ broadcaster }: NodeBroadcaster): Part[] =>
  broadcaster.network.processors.map(processor => ({
    name: `broadcast ${processor.name}`,
    state: async () =>
      processor.health.state === 'untried' ? { status: 'ok' } : sourceState(processor.health)
  }))
