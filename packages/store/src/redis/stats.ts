/** Facts about the server: version, memory, persistence, replicas. */
import type { EngineStats } from '../engine.ts'
import type { Client } from './client.ts'
import { onlineReplicas } from './probe.ts'
import type { Reply } from './resp.ts'

const text = (reply: Reply): string =>
  reply instanceof Uint8Array ? new TextDecoder().decode(reply) : String(reply)

/** Facts that the server does not tell are `unknown`. */
interface ServerStats {
  readonly version: string
  readonly memory: number
  readonly keys: number
  readonly replicas: number
  readonly appendonly: string
  readonly appendfsync: string
  readonly policy: string
}

/** The reply to INFO as a map; empty if the server does not want to tell. */
export const factsFrom = (reply: Reply): Map<string, string> => {
  const facts = new Map<string, string>()
  for (const line of text(reply).split('\r\n')) {
    const colon = line.indexOf(':')
    if (colon > 0) facts.set(line.slice(0, colon), line.slice(colon + 1))
  }
  return facts
}

/** Size of the store, and a warning if the server may lose it. */
export const serverStats = async (engine: string, client: Client): Promise<EngineStats> => {
  const server = await statsOf(client)
  const warning = warningOf(server)
  const { version, memory, keys, replicas, appendonly, appendfsync } = server
  return {
    engine,
    bytes: memory,
    details: { version, keys, replicas, appendonly, appendfsync, ...(warning ? { warning } : {}) }
  }
}

const statsOf = async (client: Client): Promise<ServerStats> => {
  const [info, keys, appendfsync] = await Promise.all([
    client.optional(['INFO']),
    client.optional(['DBSIZE']),
    client.optional(['CONFIG', 'GET', 'appendfsync'])
  ])
  const facts = factsFrom(info)
  const appends = facts.get('aof_enabled')
  return {
    version: facts.get('redis_version') ?? 'unknown',
    memory: Number(facts.get('used_memory') ?? 0),
    keys: typeof keys === 'number' ? keys : 0,
    replicas: onlineReplicas(facts),
    appendonly: appends === undefined ? 'unknown' : appends === '1' ? 'yes' : 'no',
    appendfsync: Array.isArray(appendfsync) && appendfsync[1] ? text(appendfsync[1]) : 'unknown',
    policy: facts.get('maxmemory_policy') ?? 'unknown'
  }
}

/** A commit is as durable as the server makes it before it answers, and keys stay only if none are evicted. */
const warningOf = ({ appendonly, appendfsync, policy }: ServerStats): string => {
  const warnings: string[] = []
  if (appendonly === 'no') {
    warnings.push('appendonly is off: a server that stops loses what it wrote since its last dump')
  } else if (appendonly === 'unknown') {
    warnings.push('the server does not tell whether it has an append-only file')
  } else if (appendfsync === 'unknown') {
    warnings.push(
      'the server does not tell its appendfsync; unless it is "always", a crash loses the last commits'
    )
  } else if (appendfsync !== 'always') {
    warnings.push(
      'appendfsync is not "always": a machine that stops loses the last second or more of commits'
    )
  }
  if (policy !== 'noeviction' && policy !== 'unknown') {
    warnings.push('maxmemory-policy is not "noeviction": a full server throws data of the store away')
  }
  return warnings.join('; ')
}
