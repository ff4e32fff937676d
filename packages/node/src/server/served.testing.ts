/** A node in a process of its own, as an operator runs it, and clients that send to it: for benchmarks. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { residentOf } from '../../../../bench/process.ts'

const BIN = fileURLToPath(new URL('../../bin/quoin.js', import.meta.url))
const MAIN = fileURLToPath(new URL('../cli/main.ts', import.meta.url))
const TYPESCRIPT = fileURLToPath(new URL('../../../../scripts/typescript.mjs', import.meta.url))
const SOURCES = ['--import', TYPESCRIPT, MAIN]
const PLUGIN = `const about = {
  getDocumentation: async () => 'Admits all outputs.',
  getMetaData: async () => ({ name: 'All outputs', shortDescription: 'All outputs' })
}
export const topics = {
  tm_all: { ...about, admit: ({ transaction }) => ({ outputs: [...transaction.outputs.keys()] }) }
}
`
const CONNECTIONS = 64

export interface TestServer {
  readonly url: string
  /** From the start of the process until it is ready to serve. */
  readonly startMs: number
  readonly pid: number
  /** Opens live streams that match no change, or every change; they are read until the node closes. */
  openStreams(count: number, matching: 'none' | 'all'): Promise<void>
  /** Events that the open streams have received. */
  readonly events: number
  /** Resident memory in megabytes. */
  memory(): Promise<number>
  /** Sends so many submissions a second, or as many as it takes, and answers how long each took. */
  submit(beefs: readonly Uint8Array[], perSecond?: number): Promise<number[]>
  close(): Promise<void>
}

/** @param form The bundled command, or the sources without a build. */
export const serve = async (folder: string, form: 'bundle' | 'sources' = 'bundle'): Promise<TestServer> => {
  const plugin = join(folder, 'all.mjs')
  await writeFile(plugin, PLUGIN)
  const since = performance.now()
  const child = spawn(
    process.execPath,
    [
      ...(form === 'bundle' ? [BIN] : SOURCES),
      ...['serve', '--port', '0', '--store', `lmdb:${join(folder, 'store')}`, '--plugins', plugin],
      ...['--chain', 'scripts-only', '--index', 'off', '--log-level', 'warn', '--limits-rate', '0']
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] }
  )
  const url = await listening(child)
  const startMs = performance.now() - since
  const { hostname, port } = new URL(url)
  const open = (): Connection => new Connection(connect(Number(port), hostname))
  const idle: Connection[] = []
  const opened = new Set<Connection>()
  const streams: Stream[] = []
  const sendBy = async (connection: Connection, body: Uint8Array): Promise<void> => {
    opened.add(connection)
    const status = await connection.post('/submit', { 'x-topics': '["tm_all"]' }, body)
    idle.push(connection)
    if (status !== 200) throw new Error(`a submission was answered with ${status}`)
  }
  const send = async (body: Uint8Array): Promise<void> => {
    let connection = idle.pop()
    while (connection && !connection.isOpen) connection = idle.pop()
    if (!connection) return sendBy(open(), body)
    // The node closes what is idle for long, maybe just as it is used again: as every client does, once more then.
    const known = connection
    return sendBy(known, body).catch(error => {
      if (known.isOpen) throw error
      return sendBy(open(), body)
    })
  }
  return {
    url,
    startMs,
    pid: child.pid!,
    openStreams: async (count, matching) => {
      const path = `/live${matching === 'none' ? '?topics=tm_none' : ''}`
      const made = Array.from({ length: count }, () => new Stream(connect(Number(port), hostname), path))
      streams.push(...made)
      await Promise.all(made.map(({ opened }) => opened))
    },
    get events() {
      return streams.reduce((sum, { events }) => sum + events, 0)
    },
    memory: async () => residentOf(child.pid!),
    submit: (beefs, perSecond) => {
      const timed = async (beef: Uint8Array): Promise<number> => {
        const start = performance.now()
        await send(beef)
        return performance.now() - start
      }
      return perSecond === undefined ? atOnce(beefs, timed) : inStep(beefs, perSecond, timed)
    },
    close: async () => {
      for (const each of [...opened, ...streams]) each.close()
      child.kill()
      await once(child, 'exit')
    }
  }
}

/**
 * HTTP/1.1 over one connection, one request after the other, and no more of it than the answers of a node need: whoever
 * sends shares the cores with the node, and a client of all trades would take as much of them as it does.
 */
class Connection {
  readonly #socket: Socket
  #answer = ''
  #answered: ((status: number) => void) | undefined
  #failed: ((error: Error) => void) | undefined

  constructor(socket: Socket) {
    this.#socket = socket
    socket.setNoDelay(true)
    socket.on('data', data => this.#take(data.toString('latin1')))
    socket.on('error', error => this.#failed?.(error))
    socket.on('close', () => this.#failed?.(new Error('the node has closed a connection')))
  }

  /** Answers the status. */
  post(path: string, headers: Readonly<Record<string, string>>, body: Uint8Array): Promise<number> {
    const lines = Object.entries({ host: 'node', 'content-length': body.length, ...headers })
    this.#socket.cork()
    this.#socket.write(
      `POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
    )
    this.#socket.write(body)
    this.#socket.uncork()
    return new Promise((resolve, reject) => {
      this.#answered = resolve
      this.#failed = reject
    })
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed
  }

  close(): void {
    this.#failed = undefined
    this.#socket.destroy()
  }

  #take(part: string): void {
    this.#answer += part
    const head = this.#answer.indexOf('\r\n\r\n')
    if (head === -1) return
    const [, length] = /\r\ncontent-length: (\d+)/i.exec(this.#answer) ?? []
    if (length === undefined) {
      this.#failed?.(new Error('an answer without its length'))
      return
    }
    const end = head + 4 + Number(length)
    if (this.#answer.length < end) return
    const status = Number(this.#answer.slice(9, 12))
    this.#answer = this.#answer.slice(end)
    this.#answered?.(status)
  }
}

/** A client of a live stream that counts events without parsing them. */
class Stream {
  readonly opened: Promise<void>
  events = 0
  readonly #socket: Socket

  constructor(socket: Socket, path: string) {
    this.#socket = socket
    socket.write(`GET ${path} HTTP/1.1\r\nhost: node\r\n\r\n`)
    this.opened = new Promise((resolve, reject) => {
      socket.on('error', reject)
      socket.on('data', data => {
        const text = data.toString('latin1')
        this.events += text.split('\nevent: ').length - 1 + (text.startsWith('event: ') ? 1 : 0)
        if (text.includes('retry: ')) resolve()
        else if (text.startsWith('HTTP/1.1 ') && !text.startsWith('HTTP/1.1 200'))
          reject(new Error(`a stream was answered with ${text.slice(9, 12)}`))
      })
    })
  }

  close(): void {
    this.#socket.destroy()
  }
}

const listening = async (child: ChildProcess): Promise<string> => {
  let out = ''
  for await (const data of child.stdout!.iterator({ destroyOnReturn: false })) {
    out += String(data)
    const [, url] = /listening on (http:\S+)/.exec(out) ?? []
    if (url) return url
  }
  throw new Error('the node ended before it listened')
}

type TimedSubmit = (beef: Uint8Array) => Promise<number>

/** Each connection sends its next one when the last is answered. */
const atOnce = async (beefs: readonly Uint8Array[], timed: TimedSubmit): Promise<number[]> => {
  const took: number[] = []
  let next = 0
  const client = async (): Promise<void> => {
    while (next < beefs.length) took.push(await timed(beefs[next++]!))
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, client))
  return took
}

/** One after the other at a steady pace, whether or not the last is answered. */
const inStep = async (
  beefs: readonly Uint8Array[],
  perSecond: number,
  timed: TimedSubmit
): Promise<number[]> => {
  const start = performance.now()
  const sent: Promise<number>[] = []
  let failure: unknown
  const fail = (error: unknown): void => {
    failure ??= error
  }
  while (sent.length < beefs.length) {
    const due = Math.min(beefs.length, Math.ceil(((performance.now() - start) * perSecond) / 1000))
    while (sent.length < due) {
      const sending = timed(beefs[sent.length]!)
      sending.catch(fail)
      sent.push(sending)
    }
    await new Promise(resolve => setTimeout(resolve, 1))
    if (failure) throw failure
  }
  return Promise.all(sent)
}
