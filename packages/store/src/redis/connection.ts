/**
 * One connection to one server. Commands that are given in one tick leave in one write, or few, and their replies come in
 * the same order. It lives once: when it is lost, everything that waits for a reply is told, and it is over.
 */
import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectSecure } from 'node:tls'
import { QuoinError } from '@quoin/primitives'
import { type Command, CommandWriter, type Reply, ReplyError, ReplyParser } from './resp.ts'

export interface Server {
  readonly host: string
  readonly port: number
}

export interface ConnectionOptions {
  readonly secure: boolean
  readonly username: string | undefined
  readonly password: string | undefined
  readonly database: number
  /** Milliseconds in which a connection is made and greeted. */
  readonly connectTimeout: number
  /** Milliseconds without a byte from a server that owes a reply, after which it is given up. */
  readonly silenceTimeout: number
  /** Texts of scripts that the server shall know. */
  readonly scripts: readonly Uint8Array[]
}

/** The recipient of a reply. */
export interface Waiter {
  /** The reply, which may be an error of the server. */
  replied(reply: Reply): void
  /** The connection was lost before the reply came. */
  lost(error: QuoinError): void
}

/** Bytes of commands that leave before the end of the tick. */
const EARLY = 16 * 1024

export const addressOf = ({ host, port }: Server): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`

export class Connection {
  readonly #socket: Socket
  readonly #address: string
  readonly #writer = new CommandWriter()
  readonly #waiters: (Waiter | undefined)[] = []
  /** Where in `#waiters` the oldest is. */
  #first = 0
  #flushing = false
  #failure: QuoinError | undefined
  #isRetired = false
  /** How many times in a row a reply was owed and nothing had come. */
  #silences = 0
  readonly #watch: NodeJS.Timeout

  private constructor(socket: Socket, address: string, silenceTimeout: number) {
    this.#socket = socket
    this.#address = address
    const parser = new ReplyParser(reply => this.#reply(reply))
    socket.on('data', (chunk: Uint8Array) => {
      this.#silences = 0
      try {
        parser.push(chunk)
      } catch (error) {
        if (!(error instanceof QuoinError)) throw error
        this.#lose(error)
      }
    })
    socket.on('error', error => this.#lose(lostError(address, error.message)))
    socket.on('close', () => this.#lose(lostError(address, 'it was closed')))
    // Counted, not measured: a process that was held up itself must not take that for silence.
    const interval = Math.min(1000, silenceTimeout)
    this.#watch = setInterval(() => {
      if (this.pending === 0) this.#silences = 0
      else if (++this.#silences * interval > silenceTimeout) {
        this.#lose(lostError(address, `no reply for ${silenceTimeout} ms`))
      }
    }, interval)
    this.#watch.unref()
  }

  /** Connects and greets: AUTH, SELECT, SCRIPT LOAD. Rejects with ERR_STORE_CONNECTION, or with the refusal of a command. */
  static async open(server: Server, options: ConnectionOptions): Promise<Connection> {
    const address = addressOf(server)
    const socket = await connected(server, options)
    socket.setNoDelay(true)
    socket.setKeepAlive(true, 30_000)
    const connection = new Connection(socket, address, options.silenceTimeout)
    const timer = setTimeout(
      () => connection.#lose(lostError(address, 'it accepts connections but does not answer')),
      options.connectTimeout
    )
    try {
      await connection.#greet(options)
    } catch (error) {
      connection.close()
      throw error
    } finally {
      clearTimeout(timer)
    }
    return connection
  }

  get isOpen(): boolean {
    return this.#failure === undefined
  }

  /** How many replies are owed. */
  get pending(): number {
    return this.#waiters.length - this.#first
  }

  send(command: Command, waiter: Waiter): void {
    if (this.#failure) {
      waiter.lost(this.#failure)
      return
    }
    this.#writer.add(command)
    this.#waiters.push(waiter)
    // A server that has much to do begins while the rest is being written.
    if (this.#writer.length >= EARLY) this.#write()
    if (this.#flushing) return
    this.#flushing = true
    process.nextTick(() => this.#flush())
  }

  ask(command: Command): Promise<Reply> {
    return new Promise((resolve, reject) => this.send(command, { replied: resolve, lost: reject }))
  }

  /** Closes when every reply that is owed has come. */
  retire(): void {
    this.#isRetired = true
    if (this.pending === 0) this.close()
  }

  close(): void {
    this.#lose(lostError(this.#address, 'it was closed by this process'))
  }

  async #greet(options: ConnectionOptions): Promise<void> {
    const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
    const greetings: Promise<Reply>[] = []
    if (options.password !== undefined) {
      const user = options.username === undefined ? [] : [bytes(options.username)]
      greetings.push(this.ask(['AUTH', ...user, bytes(options.password)]))
    }
    if (options.database !== 0) greetings.push(this.ask(['SELECT', String(options.database)]))
    // A ping distinguishes a server that demands a password. A server that is loading its data answers it with an error.
    greetings.push(this.ask(['PING']))
    // A script that could not be loaded is sent whole when it is used.
    const scripts = Promise.all(options.scripts.map(script => this.ask(['SCRIPT', 'LOAD', script])))
    const [replies] = await Promise.all([Promise.all(greetings), scripts])
    for (const reply of replies) {
      if (reply instanceof ReplyError && !TRANSIENT_GREETINGS.has(reply.kind)) {
        throw new QuoinError(
          'ERR_STORE_ENGINE',
          `${this.#address} refuses the connection: ${reply.message}`,
          {
            address: this.#address,
            message: reply.message
          }
        )
      }
    }
  }

  #flush(): void {
    this.#flushing = false
    this.#write()
  }

  #write(): void {
    if (this.#failure || this.#writer.isEmpty) return
    const { pieces, written } = this.#writer.take()
    const last = pieces.length - 1
    if (last > 0) this.#socket.cork()
    pieces.forEach((piece, i) => {
      if (i === last) this.#socket.write(piece, written)
      else this.#socket.write(piece)
    })
    if (last > 0) this.#socket.uncork()
  }

  #reply(reply: Reply): void {
    const waiter = this.#waiters[this.#first]
    if (!waiter) {
      this.#lose(lostError(this.#address, 'it sent a reply that nothing asked for'))
      return
    }
    this.#waiters[this.#first++] = undefined
    if (this.#first === this.#waiters.length) {
      this.#waiters.length = 0
      this.#first = 0
    } else if (this.#first === 4096) {
      this.#waiters.splice(0, this.#first)
      this.#first = 0
    }
    waiter.replied(reply)
    if (this.#isRetired && this.pending === 0) this.close()
  }

  #lose(error: QuoinError): void {
    if (this.#failure) return
    this.#failure = error
    clearInterval(this.#watch)
    this.#socket.destroy()
    const waiters = this.#waiters.splice(this.#first)
    for (const waiter of waiters) waiter?.lost(error)
    this.#waiters.length = 0
    this.#first = 0
  }
}

const TRANSIENT_GREETINGS = new Set(['LOADING', 'MASTERDOWN', 'BUSY', 'MISCONF'])

const lostError = (address: string, why: string): QuoinError =>
  new QuoinError('ERR_STORE_CONNECTION', `the connection to Redis at ${address} was lost: ${why}`, {
    address,
    why
  })

const connected = (server: Server, options: ConnectionOptions): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const address = addressOf(server)
    const { host, port } = server
    const socket = options.secure
      ? connectSecure({ host, port, ...(/^[\d.:]+$/.test(host) ? {} : { servername: host }) })
      : connectPlain({ host, port })
    const fail = (why: string): void => {
      clearTimeout(timer)
      socket.destroy()
      reject(
        new QuoinError('ERR_STORE_CONNECTION', `Redis at ${address} cannot be reached: ${why}`, {
          address,
          why
        })
      )
    }
    const timer = setTimeout(() => fail(`no answer in ${options.connectTimeout} ms`), options.connectTimeout)
    socket.once('error', error => fail(error.message || String((error as NodeJS.ErrnoException).code)))
    socket.once(options.secure ? 'secureConnect' : 'connect', () => {
      clearTimeout(timer)
      resolve(socket)
    })
  })
