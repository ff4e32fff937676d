/**
 * The connections to the server, as long as the store is open: one that all commands share, made when it is needed and
 * made again when it was lost, with pauses that grow while the server is away; and some that are lent to snapshots.
 */
import { type BackoffOptions, backoffDelay, QuoinError } from '@quoin/primitives'
import { addressOf, Connection, type ConnectionOptions, type Server, type Waiter } from './connection.ts'
import type { Command } from './resp.ts'

/** A command on its way. */
export interface Request extends Waiter {
  readonly command: Command
  /** There was no connection to send it over. */
  unsent(error: QuoinError): void
}

/** Milliseconds between attempts to connect. */
const RECONNECT: BackoffOptions = { first: 40, limit: 1000, jitter: 0 }
/** Idle connections for snapshots that are kept. */
const POOL = 8

export class ConnectionPool {
  readonly address: string
  readonly #server: Server
  readonly #options: ConnectionOptions
  #connection: Connection | undefined
  #waiting: Request[] = []
  #connecting = false
  #failures = 0
  #pause: NodeJS.Timeout | undefined
  #closed = false
  readonly #idle: Connection[] = []

  constructor(server: Server, options: ConnectionOptions) {
    this.address = addressOf(server)
    this.#server = server
    this.#options = options
  }

  /** Sends it over the connection, or over the one that is being made. */
  send(request: Request): void {
    if (this.#connection?.isOpen) {
      this.#connection.send(request.command, request)
      return
    }
    if (this.#closed) {
      request.unsent(closed(this.address))
      return
    }
    this.#waiting.push(request)
    this.#connect()
  }

  /** A connection for one user, to be given back with nothing watched. */
  async borrow(): Promise<Connection> {
    for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) if (idle.isOpen) return idle
    return Connection.open(this.#server, this.#options)
  }

  giveBack(connection: Connection): void {
    if (!this.#closed && connection.isOpen && connection.pending === 0 && this.#idle.length < POOL) {
      this.#idle.push(connection)
    } else connection.close()
  }

  /** Later commands get a new connection: the name may resolve to another server by now. */
  renew(): void {
    this.#connection?.retire()
    this.#connection = undefined
    for (const connection of this.#idle.splice(0)) connection.close()
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#pause)
    this.#connection?.close()
    for (const connection of this.#idle.splice(0)) connection.close()
    this.#refuse(closed(this.address))
  }

  #connect(): void {
    if (this.#connecting) return
    this.#connecting = true
    if (this.#failures === 0) this.#try()
    else this.#pause = setTimeout(() => this.#try(), backoffDelay(this.#failures, RECONNECT))
  }

  #try(): void {
    Connection.open(this.#server, this.#options).then(
      connection => {
        this.#connecting = false
        this.#failures = 0
        if (this.#closed) {
          connection.close()
          return
        }
        this.#connection = connection
        for (const request of this.#waiting.splice(0)) connection.send(request.command, request)
      },
      error => {
        this.#connecting = false
        this.#failures++
        this.#refuse(error)
      }
    )
  }

  #refuse(error: QuoinError): void {
    for (const request of this.#waiting.splice(0)) request.unsent(error)
  }
}

const closed = (address: string): QuoinError =>
  new QuoinError('ERR_STORE_CLOSED', `the store at ${address} is closed`)
