/**
 * URLs of Redis stores:
 *
 *     redis://[[user]:password@]host[:port][/database]         one server; rediss: over TLS
 *     redis-cluster://[[user]:password@]host[:port][,host[:port]…][?partitions=16]      rediss-cluster: over TLS
 */
import { QuoinError } from '../../keyspace/index.ts'
import type { Server } from './connection.ts'

export interface RedisUrl {
  readonly isCluster: boolean
  readonly secure: boolean
  readonly username: string | undefined
  readonly password: string | undefined
  /** One, or the servers of a cluster to ask for the others. */
  readonly servers: readonly Server[]
  readonly database: number
  /** As the URL wants it. */
  readonly partitions: number | undefined
}

const DEFAULT_PORT = 6379
const MAX_PARTITIONS = 1024

const SCHEME = /^(rediss?)(-cluster)?:\/\//
const CREDENTIALS = /^(?<user>[^:@/?#,]*):(?<password>[^:@/?#,]*)@/
const HOST = /^(?:\[(?<six>[0-9a-fA-F:.]+)\]|(?<name>[A-Za-z0-9._-]+))(?::(?<port>[0-9]{1,5}))?$/

export const parseRedisUrl = (url: string): RedisUrl => {
  const scheme = SCHEME.exec(url)
  if (!scheme) throw wrong(false, 'it begins with redis://, rediss://, redis-cluster:// or rediss-cluster://')
  const isCluster = scheme[2] !== undefined
  const fail = (what: string): QuoinError => wrong(isCluster, what)
  let rest = url.slice(scheme[0].length)

  const credentials = CREDENTIALS.exec(rest)
  if (credentials) rest = rest.slice(credentials[0].length)
  if (rest.includes('@')) {
    throw fail(
      'a user and a password are user:password@, with other characters than letters and digits as %40'
    )
  }

  const [, hosts, database, query] = /^([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/.exec(rest) ?? []
  if (hosts === undefined) throw fail('it has no #')
  const servers = hosts.split(',').map(host => serverOf(host, fail))
  if (!isCluster && servers.length > 1) throw fail('it names one server; several are redis-cluster://')
  if (isCluster && database) throw fail('a cluster has no database numbers')
  if (database && !/^\d{1,5}$/.test(database)) throw fail('the database is a number')

  let partitions: number | undefined
  if (query) {
    const match = /^partitions=([1-9]\d{0,3})$/.exec(query)
    if (!isCluster || !match) throw fail('the only option is partitions=16, of a cluster')
    partitions = Number(match[1])
    if (partitions > MAX_PARTITIONS) throw fail(`a cluster has at most ${MAX_PARTITIONS} partitions`)
  }
  return {
    isCluster,
    secure: scheme[1] === 'rediss',
    username: decoded(credentials?.groups?.['user'], fail),
    password: decoded(credentials?.groups?.['password'], fail),
    servers,
    database: database ? Number(database) : 0,
    partitions
  }
}

type Fail = (what: string) => QuoinError

const serverOf = (text: string, fail: Fail): Server => {
  const { six, name, port } = HOST.exec(text)?.groups ?? {}
  const host = six ?? name
  if (host === undefined) throw fail('a server is host:port')
  const number = port === undefined ? DEFAULT_PORT : Number(port)
  if (number < 1 || number > 65_535) throw fail('a port is from 1 to 65535')
  return { host, port: number }
}

const decoded = (text: string | undefined, fail: Fail): string | undefined => {
  if (!text) return undefined
  try {
    return decodeURIComponent(text)
  } catch {
    throw fail('a % in a user or a password is followed by two hexadecimal digits')
  }
}

/** Does not repeat the URL: it may have a password. */
const wrong = (isCluster: boolean, what: string): QuoinError => {
  const example = isCluster
    ? 'redis-cluster://user:secret@10.0.0.1:7000,10.0.0.2:7000?partitions=16'
    : 'redis://user:secret@localhost:6379/0'
  return new QuoinError('ERR_STORE_URL', `the URL of a Redis store is like ${example}: ${what}`, { example })
}
