/**
 * Notifications of logs between processes: NOTIFY after the commit, on a transaction that need not be durable, and LISTEN on
 * one connection of each process that has listeners. While that connection is lost, and on databases without LISTEN, there
 * are none, and listeners poll.
 */
import { randomBytes } from 'node:crypto'
import { Task, withTimeout } from '@quoin/primitives'
import type { Query } from './client.ts'
import type { Database, Listening } from './database.ts'
import { stateOf } from './errors.ts'

const POLL_MS = 1000
/** A connection that answers no query for so long is lost. */
const ANSWER_MS = 5000
/** Logs that one notification names; of more it names none, which stands for all. */
const NAMED = 50
/** feature_not_supported, syntax_error: a database that speaks the protocol of PostgreSQL without LISTEN. */
const UNSUPPORTED: ReadonlySet<string | undefined> = new Set(['0A000', '42601'])
const ALL = '*'

export interface NotificationsOptions {
  readonly database: Database
  readonly channel: string
  /** Called every second while there are listeners. */
  readonly onPoll: (query: Query) => Promise<void>
}

export class Notifications {
  readonly #options: NotificationsOptions
  /** A notification begins with its sender, which has told its own listeners. */
  readonly #id = randomBytes(6).toString('hex')
  /** By the hexadecimal key of the log. */
  readonly #listeners = new Map<string, Set<() => void>>()
  #task: Task | undefined
  #listening: Listening | undefined
  #isSupported = true

  constructor(options: NotificationsOptions) {
    this.#options = options
  }

  watch(key: Uint8Array, listener: () => void): () => void {
    const name = nameOf(key)
    const listeners = this.#listeners.get(name) ?? new Set()
    this.#listeners.set(name, listeners.add(listener))
    this.#task ??= new Task({ name: 'notifications', interval: POLL_MS, work: () => this.#poll() }).start()
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) this.#listeners.delete(name)
      if (this.#listeners.size === 0) void this.#stop()
    }
  }

  /** Tells the listeners of this process, and of all others. */
  async publish(keys: readonly Uint8Array[]): Promise<void> {
    const names = keys.length > NAMED ? [ALL] : keys.map(nameOf)
    for (const name of names) this.#tell(name)
    if (!this.#isSupported) return
    try {
      await this.#options.database.notify(
        this.#options.channel,
        names.map(name => `${this.#id} ${name}`)
      )
    } catch (error) {
      if (UNSUPPORTED.has(stateOf(error))) this.#isSupported = false
      // Listeners that are not told poll: nothing waits for a notification.
    }
  }

  async close(): Promise<void> {
    this.#listeners.clear()
    await this.#stop()
  }

  async #stop(): Promise<void> {
    const task = this.#task
    this.#task = undefined
    this.#lose()
    await task?.stop()
  }

  async #poll(): Promise<void> {
    if (this.#isSupported && !this.#listening) await this.#listen()
    const query = this.#listening?.query ?? this.#options.database.read
    try {
      await withTimeout(this.#options.onPoll(query), ANSWER_MS, () => this.#lose())
    } catch (error) {
      this.#lose()
      throw error
    }
  }

  async #listen(): Promise<void> {
    const { database, channel } = this.#options
    const task = this.#task
    try {
      const listening = await database.listen(
        channel,
        payload => this.#receive(payload),
        () => this.#lose()
      )
      if (task !== this.#task) return listening.close()
      this.#listening = listening
      // Notifications were missed until now.
      this.#tell(ALL)
    } catch (error) {
      if (!UNSUPPORTED.has(stateOf(error))) throw error
      this.#isSupported = false
    }
  }

  #receive(payload: string): void {
    const [sender, name = ALL] = payload.split(' ')
    if (sender !== this.#id) this.#tell(name)
  }

  #tell(name: string): void {
    for (const [each, listeners] of this.#listeners)
      if (name === each || name === ALL) for (const listener of [...listeners]) listener()
  }

  #lose(): void {
    this.#listening?.close()
    this.#listening = undefined
  }
}

const nameOf = (key: Uint8Array): string => Buffer.from(key).toString('hex')
