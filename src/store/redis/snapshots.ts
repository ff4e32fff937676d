/**
 * Reads that all see one state, without holding anyone up: everything is watched before it is read, and in the end
 * Redis is asked whether anything watched has changed.
 * https://redis.io/docs/latest/develop/using-commands/transactions/
 *
 * If something changed, what was read is known: all of it is read again in one transaction; then the reader runs over
 * the replies. Only if it asks for other things than before does it start over.
 */
import { QuoinError } from '../../keyspace/index.ts'
import type { Reads } from '../engine.ts'
import { type Client, serverError, withScript } from './client.ts'
import type { Connection } from './connection.ts'
import type { ConnectionPool } from './pool.ts'
import { type Caller, RedisReads } from './reads.ts'
import { type Command, type Reply, ReplyError } from './resp.ts'

/** Times that what is read may change. */
const ATTEMPTS = 10
/** Milliseconds; the pause before an attempt is random, and grows with each. */
const PAUSE = 10
const LONGEST_PAUSE = 1000

export const snapshot = async <T>(client: Client, read: (reads: Reads) => Promise<T>): Promise<T> => {
  const asked = new Map<string, Asked>()
  const deadline = performance.now() + client.timeout
  for (let attempt = 0, changes = 0; changes < ATTEMPTS; attempt++) {
    if (attempt > 0) await pause(attempt)
    const watching = new Watching(client.pool, asked)
    const run = (): Promise<() => T> => outcomeOf(() => read(new RedisReads(watching)))
    let outcome: (() => T) | undefined
    try {
      // What a read throws may come from reading two states; then it has to read again.
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
      const isLost = error instanceof QuoinError && error.code === 'ERR_STORE_CONNECTION'
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
interface Asked {
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
class Watching implements Caller {
  readonly #pool: ConnectionPool
  #lent: Promise<Connection> | undefined
  readonly #watched = new Set<string>()
  readonly #running = new Set<Promise<unknown>>()
  /** All that was asked for in this attempt and those before. */
  readonly #asked: Map<string, Asked>
  /** What was read ahead. */
  #replies: Map<string, Reply> | undefined
  #isComplete = true
  /** A read failed because of the server: the attempt is void, even if the reader does not mind. */
  #failure: unknown

  constructor(pool: ConnectionPool, asked: Map<string, Asked>) {
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

  /** Reads what was asked for in earlier attempts, in one transaction. */
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

  /** Whether the reader asked for nothing but what was read ahead. */
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
        // Whoever wanted the connection was told why there is none.
      }
    )
  }

  async #settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running)
    if (this.#failure !== undefined) throw this.#failure
  }

  async #read({ names, command, found }: Asked): Promise<Reply> {
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
