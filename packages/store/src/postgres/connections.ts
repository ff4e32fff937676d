/**
 * The connections to one server. Each is checked when it is made, since a server may have become a standby after the first.
 * A server that answers nothing is noticed while a call waits for it: its machine may be without power, and TCP would wait.
 */
import { QuoinError, unref, withTimeout } from '@quoin/primitives'
import type { Client, Pool, PoolClient } from 'pg'
import { failsNextQuery } from './client.ts'
import { storeError } from './errors.ts'

export type Purpose = 'commits' | 'appends' | 'reads' | 'snapshots'

export interface ConnectionsOptions {
  readonly pools: Readonly<Record<Purpose, Pool>>
  /** Rejects a connection that is not used. */
  readonly accept: (client: PoolClient) => Promise<void>
  /** Milliseconds that a call runs before the server is asked whether it is there. */
  readonly patience: number
  /** Whether the server answers. */
  readonly isThere: () => Promise<boolean>
}

export class Connections {
  readonly #options: ConnectionsOptions
  readonly #accepted = new WeakSet<PoolClient>()
  /** All that are open. */
  readonly #open = new Set<PoolClient>()
  readonly #calls = new Set<Promise<unknown>>()
  readonly #left = new AbortController()
  #isAsking = false

  constructor(options: ConnectionsOptions) {
    this.#options = options
    for (const pool of Object.values(options.pools)) {
      // A connection that is lost while nothing runs on it: the pool makes another one for the next call.
      pool.on('error', failsNextQuery)
      pool.on('connect', client => this.#open.add(client))
      pool.on('remove', client => this.#open.delete(client))
    }
  }

  /** Runs a call on a connection, which is closed if the call fails. */
  async using<T>(purpose: Purpose, call: (client: PoolClient) => Promise<T>): Promise<T> {
    const running = this.#using(purpose, call)
    this.#calls.add(running)
    const watch = setInterval(() => this.#ask(), this.#options.patience)
    unref(watch)
    try {
      return await running
    } finally {
      clearInterval(watch)
      this.#calls.delete(running)
    }
  }

  /** Ends after the calls that have a connection; others fail, as they do when the server is lost. */
  async leave(): Promise<void> {
    this.#left.abort()
    while (this.#calls.size > 0) await Promise.allSettled(this.#calls)
    const ended = Promise.all(Object.values(this.#options.pools).map(pool => pool.end()))
    // A server that answers nothing does not close its side.
    await withTimeout(ended, this.#options.patience, () => this.#cut())
    await ended
  }

  async #using<T>(purpose: Purpose, call: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#connect(purpose)
    client.on('error', failsNextQuery)
    let isSound = false
    try {
      if (!this.#accepted.has(client)) await this.#options.accept(client)
      this.#accepted.add(client)
      const result = await call(client)
      isSound = true
      return result
    } finally {
      client.off('error', failsNextQuery)
      client.release(!isSound)
    }
  }

  #connect(purpose: Purpose): Promise<PoolClient> {
    const { signal } = this.#left
    return new Promise((resolve, reject) => {
      const onLeft = (): void => reject(new QuoinError('ERR_STORE_CONNECTION', 'the server was left'))
      if (signal.aborted) return onLeft()
      signal.addEventListener('abort', onLeft)
      this.#options.pools[purpose]
        .connect()
        .then(
          client => (signal.aborted ? client.release() : resolve(client)),
          error => reject(storeError(error))
        )
        .finally(() => signal.removeEventListener('abort', onLeft))
    })
  }

  async #ask(): Promise<void> {
    if (this.#isAsking) return
    this.#isAsking = true
    try {
      if (!(await this.#options.isThere())) this.#cut()
    } finally {
      this.#isAsking = false
    }
  }

  /** The calls that run fail, as they do when the server closes their connections. */
  #cut(): void {
    for (const client of this.#open)
      (client as PoolClient & Pick<Client, 'connection'>).connection.stream.destroy()
  }
}
