/**
 * Reads that all see one state, without holding anyone up: everything is watched before it is read, and in the end
 * Redis is asked whether anything watched has changed.
 * https://redis.io/docs/latest/develop/using-commands/transactions/
 *
 * If something changed, all reads so far are repeated in one transaction, and the reader runs over the replies. If it asks
 * for other keys than before, it starts over.
 */

import { hasCode, QuoinError } from '@quoin/primitives'
import type { Reads } from '../engine.ts'
import { type Client, serverError, withScript } from './client.ts'
import type { Connection } from './connection.ts'
import type { ConnectionPool } from './pool.ts'
import { type Caller, RedisReads } from './reads.ts'
import { type Command, type Reply, ReplyError } from './resp.ts'

/** Changes of watched keys before a snapshot gives up. */
const ATTEMPTS = 10
/** Milliseconds; the pause before an attempt is random, and grows with each. */
const PAUSE = 10
const LONGEST_PAUSE = 1000

export const snapshot = async <T>(client: Client, read: (reads: Reads) => Promise<T>): Promise<T> => {
  const asked = new Map<string, ReadRequest>()
  const deadline = performance.now() + client.timeout
  for (let attempt = 0, changes = 0; changes < ATTEMPTS; attempt++) {
    if (attempt > 0) await pause(attempt)
    const watching = new WatchedReads(client.pool, asked)
    const run = (): Promise<() => T> => outcomeOf(() => read(new RedisReads(watching)))
    let outcome: (() => T) | undefined
    try {
      // An error of the reader may come from two states that it saw; then it reads again.
      if (attempt === 0) {
        const first = await run()
        if (await watching.holds()) outcome = first
      } else {
        await watching.readAhead()
        const next = await run()
        if (await watching.isComplete()) outcome = next
      }
      changes++
    } catch (error) {
      const isLost = hasCode(error, 'ERR_STORE_CONNECTION')
      if (!isLost || performance.now() >= deadline) throw error
    } finally {
      watching.release()
    }
    if (outcome) return outcome()
  }
  throw new QuoinError(
    'ERR_STORE_BUSY',
    `what a snapshot reads changed each of the ${ATTEMPTS} times it was read`
  )
}

const pause = (attempt: number): Promise<void> =>
  new Promise(resolve => setTimeout(resolve, Math.min(LONGEST_PAUSE, PAUSE * attempt) * Math.random()))

/** A read, as it can be done again. */
interface ReadRequest {
  readonly names: readonly Uint8Array[]
  readonly command: Command
  readonly found: ((reply: Reply) => Uint8Array[]) | undefined
}

const outcomeOf = async <T>(read: () => Promise<T>): Promise<() => T> => {
  try {
    const value = await read()
    return () => value
  } catch (error) {
    return () => {
      throw error
    }
  }
}

/** The reads of one attempt. */
class WatchedReads implements Caller {
  readonly #pool: ConnectionPool
  #lent: Promise<Connection> | undefined
  readonly #watched = new Set<string>()
  readonly #running = new Set<Promise<unknown>>()
  /** The reads of this attempt and of earlier ones. */
  readonly #asked: Map<string, ReadRequest>
  /** Replies that were read ahead. */
  #replies: Map<string, Reply> | undefined
  #isComplete = true
  /** A read failed because of the server: the attempt is void, even if the reader does not mind. */
  #failure: unknown

  constructor(pool: ConnectionPool, asked: Map<string, ReadRequest>) {
    this.#pool = pool
    this.#asked = asked
  }

  async read(
    names: readonly Uint8Array[],
    command: Command,
    found?: (reply: Reply) => Uint8Array[]
  ): Promise<Reply> {
    const key = keyOf(command)
    const ahead = this.#replies?.get(key)
    if (ahead !== undefined) return ahead
    const asked = { names, command, found }
    this.#asked.set(key, asked)
    this.#isComplete = false
    const reading = this.#read(asked)
    this.#running.add(reading)
    try {
      return await reading
    } catch (error) {
      this.#failure ??= error
      throw error
    } finally {
      this.#running.delete(reading)
    }
  }

  readAll(names: readonly Uint8Array[], command: (name: Uint8Array) => Command): Promise<Reply[]> {
    return Promise.all(names.map(name => this.read([name], command(name))))
  }

  /** Repeats the reads of earlier attempts in one transaction. */
  async readAhead(): Promise<void> {
    const connection = await this.#connection()
    const replies = await Promise.all([
      connection.ask(['MULTI']),
      ...Array.from(this.#asked.values(), ({ command }) => connection.ask(withScript(command))),
      connection.ask(['EXEC'])
    ])
    const all = (checked(replies.at(-1)!) as Reply[]).map(checked)
    this.#replies = new Map(Array.from(this.#asked.keys(), (key, i) => [key, all[i]!]))
  }

  /** Whether the reader asked only for reads that were repeated ahead. */
  async isComplete(): Promise<boolean> {
    await this.#settled()
    return this.#isComplete
  }

  /** Whether nothing that was read has changed. */
  async holds(): Promise<boolean> {
    await this.#settled()
    if (!this.#lent) return true
    const connection = await this.#lent
    const [, end] = await Promise.all([connection.ask(['MULTI']), connection.ask(['EXEC'])])
    this.#watched.clear()
    return Array.isArray(end)
  }

  release(): void {
    this.#lent?.then(
      connection => {
        // After EXEC nothing is watched; an attempt that did not get there leaves a connection in no known state.
        if (this.#failure === undefined && this.#watched.size === 0) this.#pool.giveBack(connection)
        else connection.close()
      },
      () => {
        // The reads that wanted the connection were rejected with the reason.
      }
    )
  }

  async #settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running)
    if (this.#failure !== undefined) throw this.#failure
  }

  async #read({ names, command, found }: ReadRequest): Promise<Reply> {
    const connection = await this.#connection()
    const reply = await this.#watch(connection, names, command)
    if (!found) return reply
    // The index is watched, so the second reply tells of the same keys, which are watched too by then.
    return this.#watch(connection, found(reply), command)
  }

  /** Sends both at once; they are done in order. */
  async #watch(connection: Connection, names: readonly Uint8Array[], command: Command): Promise<Reply> {
    const fresh = names.filter(name => {
      const text = Buffer.from(name.buffer, name.byteOffset, name.length).toString('latin1')
      return !this.#watched.has(text) && this.#watched.add(text)
    })
    const [reply] = await Promise.all(
      [
        ...(fresh.length > 0 ? [asked(connection, ['WATCH', ...fresh])] : []),
        asked(connection, command)
      ].reverse()
    )
    return reply!
  }

  #connection(): Promise<Connection> {
    this.#lent ??= this.#pool.borrow()
    return this.#lent
  }
}

const asked = async (connection: Connection, command: Command): Promise<Reply> => {
  const reply = await connection.ask(command)
  if (reply instanceof ReplyError && reply.kind === 'NOSCRIPT') return asked(connection, withScript(command))
  return checked(reply)
}

const checked = (reply: Reply): Reply => {
  if (!(reply instanceof ReplyError)) return reply
  if (reply.kind !== 'EXECABORT') throw serverError(reply)
  throw new QuoinError('ERR_STORE_CONNECTION', `Redis is not ready: ${reply.message}`, {
    message: reply.message
  })
}

/** Tells reads apart. */
const keyOf = (command: Command): string => {
  const parts = command.map(part =>
    typeof part === 'string'
      ? part
      : Buffer.from(part.buffer, part.byteOffset, part.length).toString('latin1')
  )
  return parts.map(part => `${part.length} ${part}`).join('')
}
