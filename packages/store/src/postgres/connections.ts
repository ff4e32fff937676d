/**
 * The connections to one server. Each is checked when it is made, since a server may have become a standby after the first.
 * A server that answers nothing is noticed while a call waits for it: its machine may be without power, and TCP would wait.
 */
import { unref, withTimeout } from '@quoin/primitives'
import type { Client, Pool, PoolClient } from 'pg'
import { failsNextQuery } from './client.ts'
import { rejectStoreError } from './errors.ts'

export type Purpose = 'commits' | 'reads' | 'snapshots'

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

  /** Ends after the calls that run. */
  async close(): Promise<void> {
    while (this.#calls.size > 0) await Promise.allSettled(this.#calls)
    const ended = Promise.all(Object.values(this.#options.pools).map(pool => pool.end()))
    // A server that answers nothing does not close its side.
    await withTimeout(ended, this.#options.patience, () => this.#cut())
    await ended
  }

  async #using<T>(purpose: Purpose, call: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#options.pools[purpose].connect().catch(rejectStoreError)
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
