/** BSV21 in a node: what its settings ask for. */
import { Activation, FeePayments, firstOf, JungleBus, PeerSource, Pipeline } from '../bsv21/index.ts'
import type { RootTracker } from '../chain/index.ts'
import { QuoinError } from '../error.ts'
import type { Engine, Logger } from '../overlay/index.ts'
import type { OutputStore } from '../txo/index.ts'
import type { Config } from './settings.ts'

/** What routes and commands need of the tokens of a node. */
export interface NodeTokens {
  readonly activation: Activation
  readonly pipeline: Pipeline
}

/** Undefined when the node has no tokens. */
export const activationOf = ({ bsv21 }: Config, outputs: OutputStore): Activation | undefined => {
  const { enabled, activation, feeXpub, feePerOutput } = bsv21
  return enabled ? new Activation(outputs, { activation, feeXpub, feePerOutput }) : undefined
}

/** The pipeline over an engine; it begins when it is started. */
export const openPipeline = (
  { bsv21, store }: Config,
  activation: Activation,
  engine: Engine,
  tracker: RootTracker | 'scripts only',
  logger: Logger
): Pipeline => {
  const { outputs } = engine
  const { feeAddresses } = activation
  const jungleBus = jungleBusOf(bsv21, logger)
  const peers = bsv21.peers.map(url => new PeerSource(url, { onTrouble: troubleOf(url, logger) }))
  return new Pipeline({
    engine,
    activation,
    logger,
    lifecycleSeconds: bsv21.lifecycle,
    sources: [...(jungleBus ? [jungleBus] : []), ...peers],
    isShared: store.startsWith('redis'),
    fetch: firstOf([...(jungleBus ? [jungleBus.rest] : []), ...peers]),
    // Without headers nothing that is paid is proved.
    ...(jungleBus &&
      feeAddresses &&
      tracker !== 'scripts only' && {
        payments: new FeePayments({ outputs, tracker, source: jungleBus.rest, feeAddresses })
      })
  })
}

const jungleBusOf = (
  { junglebus, subscription, fromBlock, reorgDepth, mempool }: Config['bsv21'],
  logger: Logger
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
    onTrouble: troubleOf(junglebus, logger)
  })
}

const troubleOf =
  (source: string, logger: Logger) =>
  ({ code, message }: QuoinError): void =>
    logger.warn('a source of transactions is in trouble', { source, code, reason: message })
