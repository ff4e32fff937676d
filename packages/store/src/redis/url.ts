/**
 * URLs of Redis stores, `rediss:` over TLS:
 *
 *     redis://[[user]:password@]host[:port][/database][?replicas=N]
 */
import { QuoinError } from '@quoin/primitives'
import type { Server } from './connection.ts'

export interface RedisUrl {
  readonly secure: boolean
  readonly username: string | undefined
  readonly password: string | undefined
  readonly server: Server
  readonly database: number
  /** A batch is acknowledged when so many replicas have it. */
  readonly replicas: number
}

const DEFAULT_PORT = 6379

const SCHEME = /^(rediss?):\/\//
const CREDENTIALS = /^(?<user>[^:@/?#,]*):(?<password>[^:@/?#,]*)@/
const HOST = /^(?:\[(?<six>[0-9a-fA-F:.]+)\]|(?<name>[A-Za-z0-9._-]+))(?::(?<port>[0-9]{1,5}))?$/

export const parseRedisUrl = (url: string): RedisUrl => {
  if (/^rediss?-cluster:/.test(url)) throw noCluster()
  const scheme = SCHEME.exec(url)
  if (!scheme) throw wrong('it begins with redis:// or rediss://')
  let rest = url.slice(scheme[0].length)

  const credentials = CREDENTIALS.exec(rest)
  if (credentials) rest = rest.slice(credentials[0].length)
  if (rest.includes('@')) {
    throw wrong(
      'a user and a password are user:password@, with other characters than letters and digits as %40'
    )
  }

  const [, host, database, query] = /^([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/.exec(rest) ?? []
  if (host === undefined) throw wrong('it must not contain #')
  if (host.includes(',')) throw wrong('it names one server')
  if (database && !/^\d{1,5}$/.test(database)) throw wrong('the database is a number')
  const [, replicas] = /^replicas=([1-9]\d?)$/.exec(query ?? '') ?? []
  if (query && !replicas) throw wrong('the only option is ?replicas=N, with N from 1 to 99')
  return {
    secure: scheme[1] === 'rediss',
    username: decoded(credentials?.groups?.['user']),
    password: decoded(credentials?.groups?.['password']),
    server: serverOf(host),
    database: database ? Number(database) : 0,
    replicas: Number(replicas ?? 0)
  }
}

const serverOf = (text: string): Server => {
  const { six, name, port } = HOST.exec(text)?.groups ?? {}
  const host = six ?? name
  if (host === undefined) throw wrong('a server is host:port')
  const number = port === undefined ? DEFAULT_PORT : Number(port)
  if (number < 1 || number > 65_535) throw wrong('a port is from 1 to 65535')
  return { host, port: number }
}

const decoded = (text: string | undefined): string | undefined => {
  if (!text) return undefined
  try {
    return decodeURIComponent(text)
  } catch {
    throw wrong('a % in a user or a password is followed by two hexadecimal digits')
  }
}

const EXAMPLE = 'redis://user:secret@localhost:6379/0'

/** Does not repeat the URL: it may have a password. */
const wrong = (reason: string): QuoinError =>
  new QuoinError('ERR_STORE_URL', `the URL of a Redis store is like ${EXAMPLE}: ${reason}`, {
    example: EXAMPLE
  })

/** A Redis Cluster commits within one slot only, and its failover loses acknowledged writes. */
export const noCluster = (): QuoinError =>
  new QuoinError(
    'ERR_STORE_URL',
    `a store is not kept on a Redis Cluster: use one server, ${EXAMPLE}; several machines need an engine with ` +
      'synchronous replication',
    { example: EXAMPLE }
  )
