/** `quoin serve`: a node, until it is told to end. */
import { EXIT } from '../exit.ts'
import { paint, print, printJson, table } from '../terminal.ts'
import { signals, untilEnded } from './running.ts'
import { configOf, server } from './settings.ts'

export interface ServeOptions extends Readonly<Record<string, string | readonly string[] | undefined>> {}

export const serve = async (options: ServeOptions, json: boolean): Promise<number> => {
  const ending = signals()
  const { config } = await configOf(options)
  const { startNode, withoutPassword } = await server()
  const node = await startNode(config)
  const topics = [...node.engine.topics.keys()]
  const lookups = [...node.engine.lookups.keys()]
  const height = (await node.headers?.tip())?.height ?? null
  const store = withoutPassword(config.store)
  if (json) printJson({ url: node.url, port: node.port, store, chain: config.chain, height, topics, lookups })
  else {
    print(`${paint('bold', 'quoin')} is listening on ${paint('cyan', node.url)}`)
    print(
      table([
        ['  store', store],
        ['  chain', `${config.chain}${height === null ? '' : `, height ${height}`}`],
        ['  topics', topics.join(', ') || 'none; --plugins brings some'],
        ['  lookups', lookups.join(', ') || 'none'],
        ['  admin', config.adminToken === undefined ? 'off; --admin-token opens it' : `${node.url}/admin`]
      ])
    )
    if (config.chain === 'scripts-only')
      print(`${paint('yellow', 'proofs are taken on trust')}: for tests only`)
    print('Ctrl-C ends it.')
  }
  await untilEnded(node, ending)
  return EXIT.ok
}
