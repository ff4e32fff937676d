/** `quoin serve`: a node, until it is told to end. */

import { EXIT, paint, print, printJson, table } from '@quoin/primitives/command'
import type { LoadedConfig, Node } from '../../server/index.ts'
import { configFile, deploymentRows } from './deployment.ts'
import { configOf, server } from './settings.ts'
import { signals, untilEnded } from './shutdown-signals.ts'

export interface ServeOptions extends Readonly<Record<string, string | readonly string[] | undefined>> {}

export const serve = async (
  file: string | undefined,
  options: ServeOptions,
  json: boolean
): Promise<number> => {
  const ending = signals()
  const { config: settings, deployment } = configFile(file, options['config'] as string | undefined)
  const loaded = await configOf({ ...options, config: settings }, {}, deployment)
  const { jsonLogger, startNode } = await server()
  const logger = jsonLogger({ level: loaded.config.logLevel })
  for (const { variable, setting, reason } of loaded.deployment?.variables ?? [])
    logger.info('environment variable', { variable, setting, reason })
  const node = await startNode(loaded.config, { logger })
  await printNode(node, loaded, json)
  if (!json) print('Ctrl-C ends it.')
  await untilEnded(node, ending)
  return EXIT.ok
}

/** A node that listens, for people and for programs. */
export const printNode = async (
  node: Node,
  { config, deployment }: LoadedConfig,
  json: boolean
): Promise<void> => {
  const { withoutPassword } = await server()
  const topics = [...node.engine.topics.keys()]
  const lookups = [...node.engine.lookups.keys()]
  const height = (await node.headers?.tip())?.height ?? null
  const store = withoutPassword(config.store)
  if (json) {
    const project = deployment && { variables: deployment.variables, notServed: deployment.info.notServed }
    const { url, port } = node
    printJson({ url, port, store, chain: config.chain, height, topics, lookups, ...project })
    return
  }
  print(`${paint('bold', 'quoin')} is listening on ${paint('cyan', node.url)}`)
  print(
    table([
      ['  store', store],
      ['  chain', `${config.chain}${height === null ? '' : `, height ${height}`}`],
      ['  topics', topics.join(', ') || 'none; --plugins brings some'],
      ['  lookups', lookups.join(', ') || 'none'],
      ['  admin', config.adminToken === undefined ? 'off; --admin-token opens it' : `${node.url}/admin`],
      ...deploymentRows(deployment)
    ])
  )
  if (config.chain === 'scripts-only')
    print(`${paint('yellow', 'proofs are taken on trust')}: for tests only`)
}
