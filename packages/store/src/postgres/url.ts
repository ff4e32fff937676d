/**
 * URLs of PostgreSQL stores, a subset of the connection URIs of libpq:
 * https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS
 *
 *     postgres://[user[:password]@]host[:port][,host[:port]…]/database[?option=value&…]
 *
 * Options: `schema`, `pool` (connections for reads, and as many for snapshots), `target_session_attrs` (any, read-write,
 * primary), `connect_timeout` (seconds, of each host), `statement_timeout` (milliseconds), `sslmode` (disable, require,
 * verify-full), `sslrootcert` (a file).
 */
import { readFileSync } from 'node:fs'
import { QuoinError, reasonOf } from '@quoin/primitives'

export interface PostgresHost {
  readonly host: string
  readonly port: number
}

/** The servers that are taken: every one, those that accept writes, those that are no standby. */
export type SessionTarget = 'any' | 'read-write' | 'primary'

export interface PostgresUrl {
  /** In the order in which they are tried. */
  readonly hosts: readonly PostgresHost[]
  readonly target: SessionTarget
  readonly user: string | undefined
  readonly password: string | undefined
  readonly database: string
  readonly schema: string
  readonly pool: number
  /** Milliseconds. */
  readonly statementTimeout: number
  /** Milliseconds in which one host has to answer. */
  readonly connectTimeout: number | undefined
  readonly tls: { readonly rejectUnauthorized: boolean; readonly ca?: string } | undefined
}

const EXAMPLE = 'postgres://user:secret@localhost:5432/quoin'
const DEFAULT_PORT = 5432
const DEFAULT_POOL = 8
const DEFAULT_TIMEOUT_MS = 60_000
const MAX_HOSTS = 16
const TARGETS: readonly string[] = ['any', 'read-write', 'primary'] satisfies SessionTarget[]
const OPTIONS = new Set([
  'schema',
  'pool',
  'target_session_attrs',
  'connect_timeout',
  'statement_timeout',
  'sslmode',
  'sslrootcert'
])

export const parsePostgresUrl = (text: string): PostgresUrl => {
  const [url, ...others] = urlsOf(text) as [URL, ...URL[]]
  for (const [name] of url.searchParams) {
    if (!OPTIONS.has(name))
      throw malformed(`unknown option ${JSON.stringify(name)}; expected ${[...OPTIONS].join(', ')}`)
  }
  const database = decoded(url.pathname.slice(1))
  if (!database || database.includes('/') || url.hash) {
    throw malformed('it names a host and a database, and has no #')
  }
  const hosts = [url, ...others].map(hostOf)
  const schema = url.searchParams.get('schema') ?? 'quoin'
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema) || schema.startsWith('pg_')) {
    throw malformed('a schema has up to 63 characters of a-z, 0-9 and _, and does not begin with pg_')
  }
  return {
    hosts,
    target: targetOf(url, hosts.length),
    user: decoded(url.username) || undefined,
    password: decoded(url.password) || undefined,
    database,
    schema,
    pool: wholeNumberIn(url, 'pool', 1, 1000) ?? DEFAULT_POOL,
    statementTimeout: wholeNumberIn(url, 'statement_timeout', 100, 3_600_000) ?? DEFAULT_TIMEOUT_MS,
    connectTimeout: secondsIn(url, 'connect_timeout', 1, 3600),
    tls: tlsOf(url)
  }
}

/** The URL with each of its hosts alone. */
const urlsOf = (text: string): URL[] => {
  const [, scheme, user = '', hosts = '', rest] =
    /^(postgres(?:ql)?:\/\/)([^/?#]*@)?([^/?#@]*)(.*)$/s.exec(text) ?? []
  if (!scheme) throw malformed('it begins with postgres:// or postgresql://')
  const each = hosts.split(',')
  if (each.length > MAX_HOSTS) throw malformed(`it names at most ${MAX_HOSTS} hosts`)
  return each.map(host => {
    try {
      return new URL(`${scheme}${user}${host}${rest}`)
    } catch {
      throw malformed('characters other than letters and digits in a user or a password are written as %40')
    }
  })
}

const hostOf = ({ hostname, port }: URL): PostgresHost => {
  if (!hostname) throw malformed('each host between commas has a name, as in h1:5432,h2:5432')
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: port ? Number(port) : DEFAULT_PORT }
}

/** One of several hosts is the primary, and a store has to write: libpq takes any of them unless it is told. */
const targetOf = (url: URL, hosts: number): SessionTarget => {
  const target = url.searchParams.get('target_session_attrs') ?? (hosts > 1 ? 'read-write' : 'any')
  if (!TARGETS.includes(target)) throw malformed(`target_session_attrs is ${TARGETS.join(', ')}`)
  return target as SessionTarget
}

const tlsOf = (url: URL): PostgresUrl['tls'] => {
  const mode = url.searchParams.get('sslmode') ?? 'disable'
  const file = url.searchParams.get('sslrootcert')
  if (!['disable', 'require', 'verify-full'].includes(mode)) {
    throw malformed('sslmode is disable, require (any certificate) or verify-full')
  }
  if (file !== null && mode !== 'verify-full') throw malformed('sslrootcert needs sslmode=verify-full')
  if (mode === 'disable') return undefined
  return { rejectUnauthorized: mode === 'verify-full', ...(file === null ? {} : { ca: certificate(file) }) }
}

const certificate = (file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new QuoinError('ERR_FILE', `cannot read the certificates of sslrootcert: ${reasonOf(error)}`, {
      path: file
    })
  }
}

const wholeNumberIn = (url: URL, name: string, min: number, max: number): number | undefined => {
  const text = url.searchParams.get(name)
  if (text === null) return undefined
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (!(number >= min && number <= max)) throw malformed(`${name} is a number from ${min} to ${max}`)
  return number
}

const secondsIn = (...args: Parameters<typeof wholeNumberIn>): number | undefined => {
  const seconds = wholeNumberIn(...args)
  return seconds && seconds * 1000
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    throw malformed('a % is followed by two hexadecimal digits')
  }
}

/** Does not repeat the URL: it may have a password. */
const malformed = (reason: string): QuoinError =>
  new QuoinError('ERR_STORE_URL', `the URL of a PostgreSQL store is like ${EXAMPLE}: ${reason}`, {
    example: EXAMPLE
  })
