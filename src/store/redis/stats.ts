/** What servers tell of themselves. */
import { QuoinError } from '../../keyspace/index.ts'
import type { EngineStats } from '../engine.ts'
import type { Node } from './node.ts'
import { type Reply, ReplyError } from './resp.ts'
import type { Router } from './router.ts'

const text = (reply: Reply): string =>
  reply instanceof Uint8Array ? new TextDecoder().decode(reply) : String(reply)

/** Of one server; what it does not tell is `unknown`. */
interface ServerStats {
  readonly version: string
  readonly memory: number
  readonly keys: number
  readonly appendonly: string
  readonly appendfsync: string
  readonly policy: string
}

/** The reply to INFO as a map; empty if the server does not want to tell. */
export const factsFrom = (reply: Reply): Map<string, string> => {
  const facts = new Map<string, string>()
  if (reply instanceof ReplyError) return facts
  for (const line of text(reply).split('\r\n')) {
    const colon = line.indexOf(':')
    if (colon > 0) facts.set(line.slice(0, colon), line.slice(colon + 1))
  }
  return facts
}

const statsOf = async (node: Node): Promise<ServerStats> => {
  const [info, keys, appendfsync] = await Promise.all([
    node.ask(['INFO']),
    node.ask(['DBSIZE']),
    node.ask(['CONFIG', 'GET', 'appendfsync'])
  ])
  const facts = factsFrom(info)
  const appends = facts.get('aof_enabled')
  return {
    version: facts.get('redis_version') ?? 'unknown',
    memory: Number(facts.get('used_memory') ?? 0),
    keys: typeof keys === 'number' ? keys : 0,
    appendonly: appends === undefined ? 'unknown' : appends === '1' ? 'yes' : 'no',
    appendfsync: Array.isArray(appendfsync) && appendfsync[1] ? text(appendfsync[1]) : 'unknown',
    policy: facts.get('maxmemory_policy') ?? 'unknown'
  }
}

/** Of all servers that have something of the store. */
export const serverStats = async (
  engine: string,
  router: Router,
  partitions: number
): Promise<EngineStats> => {
  const servers = await Promise.all(router.owners().map(({ node }) => statsOf(node)))
  if (servers.length === 0) throw new QuoinError('ERR_STORE_CONNECTION', 'no server of the store is known')
  const all = (of: (server: ServerStats) => string): string => [...new Set(servers.map(of))].join(', ')
  const warning = warningOf(servers)
  return {
    engine,
    bytes: servers.reduce((sum, { memory }) => sum + memory, 0),
    details: {
      version: all(server => server.version),
      servers: servers.length,
      partitions,
      keys: servers.reduce((sum, { keys }) => sum + keys, 0),
      appendonly: all(server => server.appendonly),
      appendfsync: all(server => server.appendfsync),
      ...(warning ? { warning } : {})
    }
  }
}

/** A commit is as durable as the servers make it before they answer, and keys stay only if none are evicted. */
const warningOf = (servers: readonly ServerStats[]): string => {
  const warnings: string[] = []
  if (servers.some(({ appendonly }) => appendonly === 'no')) {
    warnings.push('appendonly is off: a server that stops loses what it wrote since its last dump')
  } else if (servers.some(({ appendonly }) => appendonly === 'unknown')) {
    warnings.push('a server does not tell whether it has an append-only file')
  } else if (servers.some(({ appendfsync }) => appendfsync === 'unknown')) {
    warnings.push(
      'a server does not tell its appendfsync; unless it is "always", a crash loses the last commits'
    )
  } else if (servers.some(({ appendfsync }) => appendfsync !== 'always')) {
    warnings.push(
      'appendfsync is not "always": a machine that stops loses the last second or more of commits'
    )
  }
  if (servers.some(({ policy }) => policy !== 'noeviction' && policy !== 'unknown')) {
    warnings.push('maxmemory-policy is not "noeviction": a full server throws data of the store away')
  }
  return warnings.join('; ')
}
