/**
 * Real PostgreSQL servers for tests: on loopback, on a free port, with their data in a temporary folder, under the user
 * `postgres` where the tests run as root. None outlives the process that started it.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { ATTEMPTS, exitOf, freePort, guard, HOST, hasEnded, PortTaken } from '../server-process.testing.ts'

export interface PostgresServer {
  readonly port: number
  /** Of an empty database, for its superuser, who needs no password. */
  readonly url: string
  readonly dir: string
  readonly process: ChildProcess
  /** Ends it without warning. */
  kill(): Promise<void>
  /** Starts it again on its port and data; one that still runs is killed first. */
  restart(): Promise<void>
  /** Rows of a statement of its superuser. */
  query(sql: string): Promise<unknown[][]>
  /** Makes a standby a primary. */
  promote(): Promise<void>
  /** Stops all of its processes, as a machine without power, or lets them go on. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void
  stop(): Promise<void>
}

export interface PostgresOptions {
  /** Other settings of postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>
  /** Connections over TLS only, with a certificate of its own: `server.crt` in its folder. */
  readonly tls?: boolean
  /** A hot standby with the data of this server, which it follows. */
  readonly standbyOf?: PostgresServer
  /** A free one unless given. */
  readonly port?: number
}

const START_MS = 30_000
const POLL_MS = 10
const DEBIAN = '/usr/lib/postgresql'
/** Fast where a test does not ask for durability; a page of WAL is small. */
const SETTINGS = {
  listen_addresses: HOST,
  unix_socket_directories: '',
  fsync: 'off',
  full_page_writes: 'off',
  max_connections: '60',
  shared_buffers: '64MB',
  deadlock_timeout: '100ms'
}

/** Debian keeps the programs of each version in a folder of its own, off the PATH. */
const programs = (): string => {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : []
  return versions.length > 0 ? join(DEBIAN, versions[0]!, 'bin/') : ''
}

/** PostgreSQL refuses to run as root. */
const unprivileged = (): { uid: number; gid: number } | undefined => {
  if (process.getuid?.() !== 0) return undefined
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

export const startPostgres = async (options: PostgresOptions = {}): Promise<PostgresServer> => {
  for (let attempt = 1; ; attempt++) {
    const server = new Server(options, options.port ?? (await freePort()))
    try {
      await server.restart()
      return server
    } catch (error) {
      await server.stop()
      if (!(error instanceof PortTaken) || attempt === ATTEMPTS) throw error
    }
  }
}

export interface PostgresPair {
  readonly primary: PostgresServer
  readonly standby: PostgresServer
  /** A store on the one of both that takes writes. */
  readonly url: string
  stop(): Promise<void>
}

/** A primary and a standby that has every commit which the primary acknowledges. */
export const startPair = async (options: PostgresOptions = {}): Promise<PostgresPair> => {
  const primary = await startPostgres(options)
  try {
    const standby = await startPostgres({ ...options, standbyOf: primary })
    await waitForStandby(primary)
    const hosts = [primary, standby].map(({ port }) => `${HOST}:${port}`).join()
    return {
      primary,
      standby,
      url: `postgres://postgres@${hosts}/postgres?target_session_attrs=read-write`,
      stop: async () => {
        await Promise.all([primary, standby].map(server => server.stop()))
      }
    }
  } catch (error) {
    await primary.stop()
    throw error
  }
}

/** Acknowledges no commit that is not on the standby too, which it has. */
export const waitForStandby = async (primary: PostgresServer): Promise<void> => {
  await primary.query("ALTER SYSTEM SET synchronous_standby_names = '*'")
  await primary.query('SELECT pg_reload_conf()')
  while ((await primary.query('SELECT sync_state FROM pg_stat_replication'))[0]?.[0] !== 'sync')
    await sleep(POLL_MS)
}

let shared: Promise<PostgresServer> | undefined

/** The one server of this process, which ends with it. */
export const sharedPostgres = (): Promise<PostgresServer> => {
  shared ??= startPostgres()
  return shared
}

/** Deletes all rows of a store; several times as fast as TRUNCATE, for the few rows of a test. */
export const emptyTables = async (url: string): Promise<void> => {
  const tables = [
    'key_values',
    'hash_fields',
    'set_members',
    'sorted_sets',
    'queue_items',
    'deferred_appends'
  ]
  await queryAt(url, tables.map(table => `DELETE FROM quoin.${table}`).join(';'))
}

const queryAt = async (url: string, sql: string): Promise<unknown[][]> => {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query<unknown[]>({ text: sql, rowMode: 'array' })).rows
  } finally {
    await client.end()
  }
}

class Server implements PostgresServer {
  readonly port: number
  readonly url: string
  readonly dir: string
  readonly #data: string
  readonly #log: string
  readonly #guard: ChildProcess
  readonly #settings: readonly string[]
  readonly #user = unprivileged()
  #process: ChildProcess | undefined

  constructor({ settings = {}, tls = false, standbyOf }: PostgresOptions, port: number) {
    this.port = port
    this.url = `postgres://postgres@${HOST}:${port}/postgres`
    this.dir = mkdtempSync(join(tmpdir(), 'quoin-postgres-'))
    this.#data = join(this.dir, 'data')
    this.#log = join(this.dir, 'log')
    this.#guard = guard(this.dir)
    mkdirSync(this.#data, { mode: 0o700 })
    if (this.#user) for (const each of [this.dir, this.#data]) chownSync(each, this.#user.uid, this.#user.gid)
    if (standbyOf) this.#run('pg_basebackup', '-d', standbyOf.url, '-R', '-c', 'fast', '--no-sync')
    else this.#run('initdb', '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync')
    this.#settings = Object.entries({
      ...SETTINGS,
      ...(tls ? this.#tls() : {}),
      port: String(port),
      ...settings
    }).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  }

  /** A program that writes the data. */
  #run(program: string, ...args: string[]): void {
    execFileSync(`${programs()}${program}`, [...args, '-D', this.#data], {
      stdio: ['ignore', 'ignore', 'inherit'],
      cwd: this.dir,
      ...this.#user
    })
  }

  #tls(): Readonly<Record<string, string>> {
    const [key, certificate] = [join(this.dir, 'server.key'), join(this.dir, 'server.crt')]
    const names = ['-subj', '/CN=localhost', '-addext', `subjectAltName=IP:${HOST}`]
    execFileSync(
      'openssl',
      ['req', '-x509', '-nodes', '-newkey', 'rsa:2048', '-keyout', key, '-out', certificate, ...names],
      { stdio: 'ignore', cwd: this.dir, ...this.#user }
    )
    const rules = join(this.dir, 'pg_hba.conf')
    writeFileSync(rules, `hostssl all all ${HOST}/32 trust\n`)
    return { ssl: 'on', ssl_key_file: key, ssl_cert_file: certificate, hba_file: rules }
  }

  get process(): ChildProcess {
    return this.#process!
  }

  async kill(): Promise<void> {
    await this.#end('SIGKILL')
  }

  async restart(): Promise<void> {
    if (hasEnded(this.#guard)) throw new Error('this server was stopped for good')
    await this.kill()
    const deadline = Date.now() + START_MS
    // The processes of a server that was killed end a little after it.
    while (!(await this.#start(deadline))) await sleep(POLL_MS)
  }

  /** False while processes of a killed server still run. */
  async #start(deadline: number): Promise<boolean> {
    const log = openSync(this.#log, 'w')
    const child = spawn(`${programs()}postgres`, ['-D', this.#data, ...this.#settings], {
      stdio: ['ignore', log, log],
      cwd: this.dir,
      ...this.#user
    })
    closeSync(log)
    child.unref()
    this.#process = child
    await once(child, 'spawn')
    this.#guard.stdin!.write(`${child.pid}\n`)
    child.once('exit', () => this.#guard.stdin!.write('\n'))

    while (!this.#isReady(child.pid!)) {
      if (hasEnded(child) || Date.now() > deadline) {
        const said = readFileSync(this.#log, 'utf8')
        if (said.includes('pre-existing shared memory') && Date.now() < deadline) return false
        if (said.includes('Address already in use')) throw new PortTaken(said)
        throw new Error(`postgres ${this.port} does not start: ${said}`)
      }
      await sleep(POLL_MS)
    }
    return true
  }

  query(sql: string): Promise<unknown[][]> {
    return queryAt(this.url, sql)
  }

  async promote(): Promise<void> {
    await this.query('SELECT pg_promote()')
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    const pid = this.process.pid!
    signalIfPresent(pid, signal)
    for (const child of childrenOf(pid)) signalIfPresent(child, signal)
  }

  async stop(): Promise<void> {
    // Does not wait for clients, and leaves no shared memory behind.
    await this.#end('SIGINT')
    if (hasEnded(this.#guard)) return
    const ended = exitOf(this.#guard)
    this.#guard.stdin!.end()
    await ended
  }

  /** https://www.postgresql.org/docs/current/storage-file-layout.html: postmaster.pid has the state in its last line. */
  #isReady(pid: number): boolean {
    const file = join(this.#data, 'postmaster.pid')
    if (!existsSync(file)) return false
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
    return lines[0] === String(pid) && ['ready', 'standby'].includes(lines[7]?.trim() ?? '')
  }

  async #end(signal: 'SIGKILL' | 'SIGINT'): Promise<void> {
    const child = this.#process
    if (child?.pid === undefined || hasEnded(child)) return
    const ended = exitOf(child)
    const others = signal === 'SIGKILL' ? childrenOf(child.pid) : []
    child.kill(signal)
    // Processes of connections would answer one more query each.
    for (const pid of others) signalIfPresent(pid, 'SIGKILL')
    await ended
  }
}

/** Of a Linux process. On other systems, the processes of connections end by themselves. */
const childrenOf = (pid: number): number[] => {
  const file = `/proc/${pid}/task/${pid}/children`
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split(' ').filter(Boolean).map(Number) : []
}

const signalIfPresent = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
