/**
 * The server that a store uses, of the hosts in its URL: the first in their order that the target accepts. A server that is
 * lost, or that takes no more writes, is left with all of its connections, and the next call looks at the hosts again.
 *
 * Unlike libpq it asks the next host after a moment, while the one before it has not answered: the first may be a machine
 * without power, which never answers, at a time when all processes look for the promoted standby.
 */
import { hasCode, QuoinError, reasonOf } from '@quoin/primitives'
import type { Client, ClientBase, Pool, PoolClient } from 'pg'
import { failsNextQuery, queryOn } from './client.ts'
import { Connections, type Purpose } from './connections.ts'
import { rejectStoreError, stateOf } from './errors.ts'
import type { PostgresHost, SessionTarget } from './url.ts'

/** Milliseconds after which the next host is asked too. */
const STAGGER_MS = 250
/** Milliseconds that a call runs before its server is asked whether it is there. */
const PATIENCE_MS = 2000
/** read_only_sql_transaction */
const READ_ONLY = '25006'

/** By libpq: a session can write unless it is of a standby, or read-only by default. */
const CHECKS: Readonly<Record<SessionTarget, string | undefined>> = {
  any: undefined,
  'read-write': "SELECT current_setting('transaction_read_only') = 'off'",
  primary: 'SELECT NOT pg_is_in_recovery()'
}

export interface ServerOptions {
  readonly hosts: readonly PostgresHost[]
  readonly target: SessionTarget
  readonly newClient: (host: PostgresHost) => Client
  readonly newPools: (host: PostgresHost) => Readonly<Record<Purpose, Pool>>
}

interface Server {
  readonly host: PostgresHost
  readonly connections: Connections
}

export class Servers {
  readonly #options: ServerOptions
  readonly #check: string | undefined
  /** The server in use, or the search for it. */
  #current: Promise<Server> | undefined
  /** Servers that were left, while their last connections are in use. */
  readonly #leaving = new Set<Promise<void>>()

  constructor(options: ServerOptions) {
    this.#options = options
    this.#check = CHECKS[options.target]
  }

  /** Runs a call on a connection to the server. */
  async using<T>(purpose: Purpose, call: (client: PoolClient) => Promise<T>): Promise<T> {
    this.#current ??= this.#find()
    const server = this.#current
    try {
      return await (await server).connections.using(purpose, call)
    } catch (error) {
      if (this.isLost(error) && this.#options.hosts.length > 1) this.#leave(server)
      throw error
    }
  }

  /** Whether it may be done later, or by another server. */
  isLost(error: unknown): boolean {
    return (
      hasCode(error, 'ERR_STORE_CONNECTION') || (this.#check !== undefined && stateOf(error) === READ_ONLY)
    )
  }

  /** Opens a connection of its own to the server. */
  async open(): Promise<Client> {
    this.#current ??= this.#find()
    const server = this.#current
    try {
      return await this.#connected((await server).host)
    } catch (error) {
      if (this.isLost(error) && this.#options.hosts.length > 1) this.#leave(server)
      throw error
    }
  }

  async close(): Promise<void> {
    if (this.#current) this.#leave(this.#current)
    await Promise.all(this.#leaving)
  }

  #leave(server: Promise<Server>): void {
    if (this.#current !== server) return
    this.#current = undefined
    const leaving = server
      .then(
        ({ connections }) => connections.leave(),
        // The search has found none, and its callers know.
        () => undefined
      )
      .finally(() => this.#leaving.delete(leaving))
    this.#leaving.add(leaving)
  }

  async #find(): Promise<Server> {
    const { hosts, newPools } = this.#options
    const host = hosts.length === 1 ? hosts[0]! : await this.#search()
    const connections = new Connections({
      pools: newPools(host),
      accept: client => this.#accept(client, host),
      patience: PATIENCE_MS,
      isThere: () => this.#isThere(host)
    })
    return { host, connections }
  }

  #search(): Promise<PostgresHost> {
    const { hosts } = this.#options
    return new Promise((resolve, reject) => {
      const reasons = new Map<PostgresHost, string>()
      const asked = new Set<PostgresHost>()
      const waiting = [...hosts]
      const timers = new Set<NodeJS.Timeout>()
      let isOver = false
      const soon = (call: () => void): void => {
        timers.add(setTimeout(call, STAGGER_MS))
      }
      const askNext = (): void => {
        const host = waiting.shift()
        if (!host) return
        soon(askNext)
        ask(host)
      }
      const ask = (host: PostgresHost): void => {
        asked.add(host)
        this.#ask(host).then(
          () => end(() => resolve(host)),
          error => failed(host, error)
        )
      }
      const failed = (host: PostgresHost, error: unknown): void => {
        asked.delete(host)
        reasons.set(host, reasonOf(error))
        if (isOver) return
        // libpq ends here too: a password that one server refuses is not sent to the next.
        if (!this.isLost(error)) end(() => reject(error))
        else if (waiting.length > 0) askNext()
        else if (asked.size === 0) end(() => reject(noServer(reasons)))
        // It may be promoted while another one does not answer.
        else soon(() => ask(host))
      }
      const end = (settle: () => void): void => {
        isOver = true
        for (const timer of timers) clearTimeout(timer)
        settle()
      }
      askNext()
    })
  }

  /** Rejects with the reason why the server is not taken. */
  async #ask(host: PostgresHost): Promise<void> {
    void (await this.#connected(host)).end()
  }

  async #connected(host: PostgresHost): Promise<Client> {
    const client = this.#options.newClient(host)
    client.on('error', failsNextQuery)
    try {
      await client.connect().catch(rejectStoreError)
      await this.#accept(client, host)
      return client
    } catch (error) {
      void client.end()
      throw error
    }
  }

  async #accept(client: ClientBase, host: PostgresHost): Promise<void> {
    if (this.#check === undefined) return
    const [row] = await queryOn(client)(this.#check)
    if (row![0]) return
    const name = nameOf(host)
    throw new QuoinError('ERR_STORE_CONNECTION', `${name} is a standby, or set to read-only`, { host: name })
  }

  async #isThere(host: PostgresHost): Promise<boolean> {
    try {
      await this.#ask(host)
      return true
    } catch (error) {
      // A server that says why it takes no connection is there.
      return !(hasCode(error, 'ERR_STORE_CONNECTION') && error.cause && stateOf(error) === undefined)
    }
  }
}

const nameOf = ({ host, port }: PostgresHost): string => `${host.includes(':') ? `[${host}]` : host}:${port}`

const noServer = (reasons: ReadonlyMap<PostgresHost, string>): QuoinError => {
  const servers = [...reasons].map(([host, reason]) => ({ host: nameOf(host), reason }))
  const text = servers.map(({ host, reason }) => `${host}: ${reason}`).join('; ')
  return new QuoinError(
    'ERR_STORE_CONNECTION',
    `no server of the URL takes writes (${text}); start one of them, or promote a standby`,
    { servers }
  )
}
