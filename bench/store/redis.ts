/**
 * Redis as the peer: a server on loopback, through the store's own RESP client, without the store in between. A
 * transaction is MULTI, 18 commands (fields of one hash share a command), EXEC.
 */
import { spawnSync } from 'node:child_process'
import { Connection } from '../../packages/store/src/redis/connection.ts'
import { type Command, type Reply, ReplyError } from '../../packages/store/src/redis/resp.ts'
import { type RedisServer, startRedis } from '../../packages/store/src/redis/server.testing.ts'
import type { Resources } from './files.ts'
import type { Sink } from './workload.ts'

export type Fsync = 'always' | 'everysec'

/**
 * A server reads 16 KB from each connection before it writes and syncs its log, so a sync covers more with more
 * connections.
 */
export const CONNECTIONS = 50

export const redisVersion = (): string => {
  const { stdout } = spawnSync('redis-server', ['--version'], { encoding: 'utf8' })
  return /v=(\S+)/.exec(stdout ?? '')?.[1] ?? 'none'
}

/** Without rewrites of its log, which would slow down all contestants at an arbitrary time. */
export const serverFor = async (appendfsync: Fsync, resources: Resources): Promise<RedisServer> => {
  const config = { 'auto-aof-rewrite-percentage': '0' }
  const server = await startRedis({ appendonly: true, appendfsync, config })
  resources.add(() => server.stop())
  return server
}

const IGNORED = { replied: (): void => {}, lost: (): void => {} }

export class RedisClient {
  readonly #connections: readonly Connection[]
  #next = 0

  private constructor(connections: readonly Connection[]) {
    this.#connections = connections
  }

  static async open({ port }: RedisServer, resources: Resources, connections = 1): Promise<RedisClient> {
    const options = {
      secure: false,
      username: undefined,
      password: undefined,
      database: 0,
      connectTimeout: 5000,
      silenceTimeout: 120_000,
      scripts: []
    }
    const opened: Connection[] = []
    for (let i = 0; i < connections; i++) {
      const connection = await Connection.open({ host: '127.0.0.1', port }, options)
      resources.add(() => connection.close())
      opened.push(connection)
    }
    return new RedisClient(opened)
  }

  ask(command: Command): Promise<Reply> {
    return new Promise((resolve, reject) =>
      this.#connections[0]!.send(command, { replied: settled(resolve, reject), lost: reject })
    )
  }

  /** Takes the connections in turn. Replies to queued commands add nothing to that of EXEC. */
  transaction(write: (to: Sink) => void): Promise<Reply> {
    const connection = this.#connections[this.#next++ % this.#connections.length]!
    connection.send(MULTI, IGNORED)
    write({
      zadd: (key, member, score) => connection.send(['ZADD', key, String(score), member], IGNORED),
      hset: (key, fields) => connection.send(['HSET', key, ...fields], IGNORED)
    })
    return new Promise((resolve, reject) =>
      connection.send(EXEC, { replied: settled(resolve, reject), lost: reject })
    )
  }
}

const MULTI = ['MULTI']
const EXEC = ['EXEC']

const settled =
  (resolve: (reply: Reply) => void, reject: (error: Error) => void) =>
  (reply: Reply): void => {
    if (reply instanceof ReplyError) reject(new Error(reply.message))
    else resolve(reply)
  }
