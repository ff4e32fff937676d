/** URLs of PostgreSQL stores. */
import { writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parsePostgresUrl } from './url.ts'

const PLAIN = {
  hosts: [{ host: 'h', port: 5432 }],
  target: 'any',
  user: undefined,
  password: undefined,
  database: 'd',
  schema: 'quoin',
  pool: 8,
  statementTimeout: 60_000,
  connectTimeout: undefined,
  tls: undefined
}

it.each([
  ['postgres://h/d', {}],
  ['postgresql://h:5432/d', {}],
  ['postgres://h:80/d', { hosts: [{ host: 'h', port: 80 }] }],
  ['postgres://[::1]:7000/d', { hosts: [{ host: '::1', port: 7000 }] }],
  ['postgres://me@h/d', { user: 'me' }],
  ['postgres://me:p%40s%2Fs@h/d', { user: 'me', password: 'p@s/s' }],
  ['postgres://h/d?schema=other_1&pool=3', { schema: 'other_1', pool: 3 }],
  [
    'postgres://me@h:1,[::1],h:2/d?pool=3',
    {
      hosts: [
        { host: 'h', port: 1 },
        { host: '::1', port: 5432 },
        { host: 'h', port: 2 }
      ],
      target: 'read-write',
      user: 'me',
      pool: 3
    }
  ],
  ['postgres://h/d?target_session_attrs=primary', { target: 'primary' }],
  ['postgres://h/d?connect_timeout=3', { connectTimeout: 3000 }],
  ['postgres://h/d?statement_timeout=2500', { statementTimeout: 2500 }],
  ['postgres://h/d?sslmode=disable', {}],
  ['postgres://h/d?sslmode=require', { tls: { rejectUnauthorized: false } }],
  ['postgres://h/d?sslmode=verify-full', { tls: { rejectUnauthorized: true } }]
])('%s is right', (url, expected) => {
  expect(parsePostgresUrl(url)).toEqual({ ...PLAIN, ...expected })
})

it('reads the certificates that it names', async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'quoin-postgres-')), 'root.pem')
  writeFileSync(file, 'a certificate')
  const { tls } = parsePostgresUrl(`postgres://h/d?sslmode=verify-full&sslrootcert=${file}`)
  expect(tls).toEqual({ rejectUnauthorized: true, ca: 'a certificate' })
  expect(() => parsePostgresUrl(`postgres://h/d?sslmode=verify-full&sslrootcert=${file}.gone`)).toThrow(
    expect.objectContaining({ code: 'ERR_FILE' })
  )
})

it.each([
  'postgres:h/d',
  'postgres://h',
  'postgres://h/',
  'postgres:///d',
  'postgres://a,/d',
  'postgres://a,b:port/d',
  `postgres://${'h,'.repeat(16)}h/d`,
  'postgres://a,b/d?target_session_attrs=standby',
  'postgres://h/d?connect_timeout=0',
  'postgres://h/d/e',
  'postgres://h/d#e',
  'postgres://h:port/d',
  'postgres://me:%zz@h/d',
  'postgres://h/d?schema=Upper',
  'postgres://h/d?schema=pg_catalog',
  'postgres://h/d?schema=a;b',
  'postgres://h/d?pool=0',
  'postgres://h/d?statement_timeout=1s',
  'postgres://h/d?sslmode=prefer',
  'postgres://h/d?sslrootcert=f',
  'postgres://h/d?replicas=2'
])('%s is wrong, and is not repeated', url => {
  expect(() => parsePostgresUrl(url)).toThrow(
    expect.objectContaining({
      code: 'ERR_STORE_URL',
      message: expect.stringMatching(/^the URL of a PostgreSQL store is like postgres:.*: (?!.*%zz)/)
    })
  )
})
