/** `quoin bootstrap`: the transactions of a peer's topics into a store, verified; then, with `--follow`, a node that follows it. */
import { QuoinError } from '@quoin/primitives'
import { count, EXIT, paint, plural, print, printJson, table } from '@quoin/primitives/command'
import type { Config, TopicBootstrap } from '../../server/index.ts'
import { progressOn } from '../verify/progress.ts'
import { printNode } from './serve.ts'
import { configOf, server } from './settings.ts'
import { signals, untilEnded } from './shutdown-signals.ts'
import { duration } from './status.ts'
import { catchUp, withChain } from './stored-chain.ts'

export interface BootstrapCommandOptions
  extends Readonly<Record<string, string | readonly string[] | boolean | undefined>> {}

export const bootstrapStore = async (
  file: string | undefined,
  { from, topic, sample, follow, json: asJson, ...settings }: BootstrapCommandOptions
): Promise<number> => {
  const ending = signals()
  const json = asJson === true
  const part = sample === undefined ? undefined : parseSample(sample as string)
  const loaded = await configOf({
    logLevel: 'warn',
    ...(settings as Readonly<Record<string, string | readonly string[]>>),
    ...(file !== undefined && { config: file })
  })
  const interrupted = new AbortController()
  void ending.first.then(() =>
    interrupted.abort(new QuoinError('ERR_STORE_CLOSED', 'interrupted; the same command goes on from here'))
  )
  const config = await withChain(loaded.config, loaded.origins.get('chain')!)
  const since = performance.now()
  const topics = await take(config, {
    from: from as string,
    topics: topic as readonly string[] | undefined,
    sample: part,
    signal: interrupted.signal,
    isShown: !json && process.stderr.isTTY === true
  })
  const seconds = (performance.now() - since) / 1000
  if (json) printJson({ store: config.store, from, seconds, topics })
  else report(topics, seconds)
  const isWhole = topics.every(({ queued, dead }) => queued + dead === 0)
  if (follow !== true) {
    ending.end()
    return isWhole ? EXIT.ok : EXIT.no
  }
  const { jsonLogger, startNode } = await server()
  const following = followed(config, from as string, topics)
  const node = await startNode(following, { logger: jsonLogger({ level: config.logLevel }) })
  await printNode(node, { ...loaded, config: following }, json)
  await untilEnded(node, ending)
  return EXIT.ok
}

interface TakeOptions {
  readonly from: string
  readonly topics: readonly string[] | undefined
  readonly sample: number | undefined
  readonly signal: AbortSignal
  readonly isShown: boolean
}

/** Opens the store, and closes it whatever comes. */
const take = async (config: Config, options: TakeOptions): Promise<TopicBootstrap[]> => {
  const { bootstrap, openNode } = await server()
  const progress = progressOn(options.isShown)
  const node = await openNode(config)
  try {
    await catchUp(node)
    return await bootstrap(node, {
      ...options,
      onProgress: progress.report,
      onWarning: ({ message }) => {
        progress.clear()
        process.stderr.write(`quoin: ${message}; trying again\n`)
      }
    })
  } finally {
    progress.clear()
    await node.close()
  }
}

/** Token topics are followed by the source of tokens. */
const DISCOVERY = 'tm_bsv21'

/** The configuration of a node that follows the peer with these topics. */
const followed = (config: Config, from: string, topics: readonly TopicBootstrap[]): Config => {
  const withPeer = (urls: readonly string[] = []): string[] => [...new Set([...urls, from])]
  const hasTokens = topics.some(({ topic }) => topic === DISCOVERY)
  const synced = topics.filter(({ topic }) => topic !== DISCOVERY)
  const peers = synced.map(({ topic }) => [topic, withPeer(config.peers[topic])] as const)
  return {
    ...config,
    peers: { ...config.peers, ...Object.fromEntries(peers) },
    bsv21: { ...config.bsv21, peers: hasTokens ? withPeer(config.bsv21.peers) : config.bsv21.peers }
  }
}

const report = (topics: readonly TopicBootstrap[], seconds: number): void => {
  const total = topics.reduce((sum, { submitted }) => sum + submitted, 0)
  print(
    table(
      topics.map(({ topic, submitted, queued, dead }) => [
        topic,
        plural(submitted, 'transaction'),
        queued + dead === 0 ? paint('green', 'complete') : paint('red', `${count(queued + dead)} failed`)
      ])
    )
  )
  for (const { failures } of topics)
    for (const { outpoint, reason } of failures) print(`  ${outpoint.slice(0, 64)}  ${reason}`)
  const rate = count(Math.round(total / Math.max(seconds, 1e-3)))
  print(`${plural(total, 'transaction')} in ${duration(seconds)}, ${rate} a second`)
}

const parseSample = (text: string): number => {
  const percent = /^[0-9]{1,3}(\.[0-9]{1,6})?$/.test(text) ? Number(text) : Number.NaN
  if (percent >= 0 && percent <= 100) return percent / 100
  throw new QuoinError('ERR_USAGE', `--sample is a percentage from 0 to 100, not ${text}`)
}
