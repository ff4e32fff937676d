/**
 * URLs of PostgreSQL stores:
 *
 *     postgres://[user[:password]@]host[:port]/database[?option=value&…]
 *
 * Options: `schema`, `pool` (connections for reads, and as many for snapshots), `statement_timeout` (milliseconds),
 * `sslmode` (disable, require, verify-full), `sslrootcert` (a file).
 */
import { readFileSync } from 'node:fs'
import { QuoinError, reasonOf } from '@quoin/primitives'

export interface PostgresUrl {
  readonly host: string
  readonly port: number
  readonly user: string | undefined
  readonly password: string | undefined
  readonly database: string
  readonly schema: string
  readonly pool: number
  readonly statementTimeout: number
  readonly tls: { readonly rejectUnauthorized: boolean; readonly ca?: string } | undefined
}

const EXAMPLE = 'postgres://user:secret@localhost:5432/quoin'
const DEFAULT_PORT = 5432
const DEFAULT_POOL = 8
const DEFAULT_TIMEOUT_MS = 60_000
const OPTIONS = new Set(['schema', 'pool', 'statement_timeout', 'sslmode', 'sslrootcert'])

export const parsePostgresUrl = (text: string): PostgresUrl => {
  const url = parsed(text)
  for (const [name] of url.searchParams) {
    if (!OPTIONS.has(name))
      throw malformed(`unknown option ${JSON.stringify(name)}; expected ${[...OPTIONS].join(', ')}`)
  }
  const database = decoded(url.pathname.slice(1))
  if (!url.hostname || !database || database.includes('/') || url.hash) {
    throw malformed('it names a host and a database, and has no #')
  }
  const schema = url.searchParams.get('schema') ?? 'quoin'
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema) || schema.startsWith('pg_')) {
    throw malformed('a schema has up to 63 characters of a-z, 0-9 and _, and does not begin with pg_')
  }
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port ? Number(url.port) : DEFAULT_PORT,
    user: decoded(url.username) || undefined,
    password: decoded(url.password) || undefined,
    database,
    schema,
    pool: wholeNumberIn(url, 'pool', 1, 1000) ?? DEFAULT_POOL,
    statementTimeout: wholeNumberIn(url, 'statement_timeout', 100, 3_600_000) ?? DEFAULT_TIMEOUT_MS,
    tls: tlsOf(url)
  }
}

const parsed = (text: string): URL => {
  if (!/^postgres(ql)?:\/\//.test(text)) throw malformed('it begins with postgres:// or postgresql://')
  if (/^[^/]*\/\/[^/]*,/.test(text)) throw malformed('it names one server')
  try {
    return new URL(text)
  } catch {
    throw malformed('characters other than letters and digits in a user or a password are written as %40')
  }
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
