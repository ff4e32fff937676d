/**
 * Real Redis servers for tests: on loopback, on a free port, with their data in a temporary folder. They can be killed
 * as a power cut would, and come back with the same port and data. None outlives the process that started it.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ATTEMPTS, exitOf, freePort, guard, HOST, hasEnded, PortTaken } from '../server-process.testing.ts'

export interface RedisOptions {
  readonly appendonly?: boolean
  readonly appendfsync?: 'always' | 'everysec' | 'no'
  /** A folder of the caller's own, which `stop` leaves; without it a temporary one, which `stop` removes. */
  readonly dir?: string
  readonly port?: number
  /** Other directives of redis.conf. */
  readonly config?: Readonly<Record<string, string>>
}

export interface RedisServer {
  readonly port: number
  readonly url: string
  readonly dir: string
  /** Of the server that runs now, or ran last. */
  readonly process: ChildProcess
  /** Sends one command; lists are not understood as a reply. */
  command(...args: string[]): Promise<string | null>
  /** Ends it without warning (SIGKILL). */
  kill(): Promise<void>
  /** Starts it again on its port and data; one that still runs is killed first. */
  restart(): Promise<void>
  /** Ends it in good order. */
  stop(): Promise<void>
}

const START_MS = 20_000
const STOP_MS = 5_000
const REPLY_MS = 2_000
const POLL_MS = 10

/** Starts a server; on other ports, when those that were free are taken by the time it wants them. */
export const startRedis = async (options: RedisOptions = {}): Promise<RedisServer> => {
  for (let attempt = 1; ; attempt++) {
    const server = new Server(options, options.port ?? (await freePort()))
    try {
      await server.restart()
      return server
    } catch (error) {
      await server.stop()
      const again = error instanceof PortTaken && options.port === undefined && attempt < ATTEMPTS
      if (!again) throw error
    }
  }
}

class Server implements RedisServer {
  readonly port: number
  readonly url: string
  readonly dir: string
  readonly #args: readonly string[]
  readonly #log: string
  readonly #guard: ChildProcess
  #process: ChildProcess | undefined

  constructor({ appendonly = false, appendfsync, dir, config = {} }: RedisOptions, port: number) {
    this.port = port
    this.url = `redis://${HOST}:${port}`
    this.dir = dir ?? mkdtempSync(join(tmpdir(), 'quoin-redis-'))
    this.#log = join(this.dir, 'redis.log')
    this.#guard = guard(dir === undefined ? this.dir : '')
    const directives: readonly (readonly [string, string])[] = [
      ['port', String(port)],
      ['bind', HOST],
      ['dir', this.dir],
      ['save', ''],
      ['appendonly', appendonly ? 'yes' : 'no'],
      ...(appendfsync === undefined ? [] : ([['appendfsync', appendfsync]] as const)),
      ...Object.entries(config)
    ]
    this.#args = directives.flatMap(([name, value]) => [`--${name}`, value])
  }

  get process(): ChildProcess {
    return this.#process!
  }

  command(...args: string[]): Promise<string | null> {
    return send(this.port, args)
  }

  async kill(): Promise<void> {
    await this.#end('SIGKILL')
  }

  async restart(): Promise<void> {
    if (hasEnded(this.#guard)) throw new Error('this server was stopped for good')
    await this.kill()
    mendLog(this.dir)
    const log = openSync(this.#log, 'w')
    const child = spawn('redis-server', this.#args, { stdio: ['ignore', log, log] })
    closeSync(log)
    child.unref()
    this.#process = child
    child.once('exit', () => this.#guard.stdin!.write('\n'))
    // Waits until there is a process, and throws if there is no such program.
    await once(child, 'spawn')
    this.#guard.stdin!.write(`${child.pid}\n`)

    const deadline = Date.now() + START_MS
    while (!(await this.#answers(child.pid!))) {
      if (hasEnded(child) || Date.now() > deadline) {
        const log = readFileSync(this.#log, 'utf8')
        if (log.includes('Address already in use')) throw new PortTaken(log)
        throw new Error(`redis-server ${this.port} does not answer: ${log}`)
      }
      await sleep(POLL_MS)
    }
  }

  async stop(): Promise<void> {
    await this.#end('SIGTERM')
    if (hasEnded(this.#guard)) return
    const ended = exitOf(this.#guard)
    this.#guard.stdin!.end()
    await ended
  }

  /** Whether it is this server, with its data loaded, and not another one on a port that both have picked. */
  async #answers(pid: number): Promise<boolean> {
    try {
      if ((await this.command('PING')) !== 'PONG') return false
      return (await this.command('INFO', 'server'))?.includes(`\r\nprocess_id:${pid}\r\n`) ?? false
    } catch {
      return false
    }
  }

  async #end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#process
    if (child?.pid === undefined || hasEnded(child)) return
    const ended = exitOf(child)
    child.kill(signal)
    // A server that a test has paused hears only this one.
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
    await ended
    clearTimeout(timer)
  }
}

/**
 * Cuts off what a kill left at the end of the log, as an operator should. Redis does so itself when it loads the log,
 * but leaves the beginning of a transaction that was cut off in the middle of a command: it is carried out together
 * with the next transaction when the log is loaded once more.
 */
const mendLog = (dir: string): void => {
  const manifest = join(dir, 'appendonlydir/appendonly.aof.manifest')
  if (!existsSync(manifest)) return
  const { status, stdout } = spawnSync('redis-check-aof', ['--fix', manifest], {
    input: 'y\n',
    encoding: 'utf8'
  })
  if (status !== 0) throw new Error(`redis-check-aof: ${stdout}`)
}

/** One command on a connection of its own; with QUIT behind it, the end of the connection is the end of the reply. */
const send = async (port: number, args: readonly string[]): Promise<string | null> => {
  const encode = (words: readonly string[]): string =>
    `*${words.length}\r\n${words.map(word => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`
  const socket = connect(port, HOST)
  socket.setTimeout(REPLY_MS, () => socket.destroy(new Error(`no reply to ${args[0]}`)))
  socket.write(encode(args) + encode(['QUIT']))
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(chunk as Buffer)
  const replies = Buffer.concat(chunks).toString()
  const reply = replies.replace(/\+OK\r\n$/, '')
  const [, kind, line, rest] = /^([+:$-])(.*)\r\n([\s\S]*)$/.exec(reply) ?? []
  if (kind === '-') throw new Error(line)
  if (kind === undefined) throw new Error(`no reply to ${args[0]}: ${reply.slice(0, 100)}`)
  if (kind !== '$') return line!
  return line === '-1' ? null : rest!.slice(0, -2)
}
