/**
 * Reads that all see one state, without holding anyone up: everything is watched before it is read, and in the end
 * Redis is asked whether anything watched has changed.
 *
 * Every WATCH comes before every EXEC, so when all EXECs find nothing changed, there was a moment between at which
 * all values held, on all servers. https://redis.io/docs/latest/develop/using-commands/transactions/
 *
 * If something changed, what was read is known: all of it is read again at once, which leaves little time for
 * changes, and in one partition none; then the reader runs over the replies. Only if it asks for other things than before
 * does it start over.
 */
import { QuoinError } from '../../keyspace/index.ts'
import type { Reads } from '../engine.ts'
import type { Connection } from './connection.ts'
import type { Partition } from './names.ts'
import type { Node } from './node.ts'
import { type Caller, RedisReads } from './reads.ts'
import { type Command, type Reply, ReplyError } from './resp.ts'
import { type Router, serverError } from './router.ts'
import { scriptTexts } from './scripts/script.ts'

const ATTEMPTS = 10
/** Milliseconds; the pause before an attempt is random, and grows with each. */
const PAUSE = 10

export const snapshot = async <T>(
  router: Router,
  partitions: readonly Partition[],
  read: (reads: Reads) => Promise<T>
): Promise<T> => {
  const asked = new Map<string, Asked>()
  let trouble: unknown
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (attempt > 0) {
      await new Promise(resolve => setTimeout(resolve, PAUSE * attempt * Math.random()))
      // Without it the next attempt meets the same servers, and says what is wrong with them.
      await router.refresh().catch(() => {})
    }
    const watching = new Watching(router, partitions, asked)
    const run = (): Promise<() => T> => outcomeOf(() => read(new RedisReads(watching)))
    try {
      // What a read throws may come from reading two states; then it has to read again.
      if (attempt === 0) {
        const outcome = await run()
        if (await watching.holds()) return outcome()
      } else if (await watching.readAhead()) {
        const outcome = await run()
        if (await watching.isComplete()) return outcome()
      }
      trouble = undefined
    } catch (error) {
      if (!(error instanceof QuoinError) || error.code !== 'ERR_STORE_CONNECTION') throw error
      trouble = error
    } finally {
      watching.release()
    }
  }
  if (trouble) throw trouble
  throw new QuoinError(
    'ERR_STORE_BUSY',
    `what a snapshot reads changed each of the ${ATTEMPTS} times it was read`
  )
}

/** A read, as it can be done again. */
interface Asked {
  readonly partition: Partition
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
  readonly partitions: readonly Partition[]
  readonly #router: Router
  readonly #lent = new Map<Node, Promise<Connection>>()
  readonly #watched = new Set<string>()
  readonly #running = new Set<Promise<unknown>>()
  /** All that was asked for in this attempt and those before. */
  readonly #asked: Map<string, Asked>
  /** What was read ahead. */
  #replies: Map<string, Reply> | undefined
  #isComplete = true
  /** A read failed because of the server: the attempt is void, even if the reader does not mind. */
  #failure: unknown

  constructor(router: Router, partitions: readonly Partition[], asked: Map<string, Asked>) {
    this.#router = router
    this.partitions = partitions
    this.#asked = asked
  }

  async read(
    partition: Partition,
    names: readonly Uint8Array[],
    command: Command,
    found?: (reply: Reply) => Uint8Array[]
  ): Promise<Reply> {
    const asked = { partition, names, command, found }
    const key = keyOf(asked)
    const ahead = this.#replies?.get(key)
    if (ahead !== undefined) return ahead
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

  readAll(
    partition: Partition,
    names: readonly Uint8Array[],
    command: (name: Uint8Array) => Command
  ): Promise<Reply[]> {
    return Promise.all(names.map(name => this.read(partition, [name], command(name))))
  }

  /** Reads what was asked for in earlier attempts, all at once. Whether nothing of it changed meanwhile. */
  async readAhead(): Promise<boolean> {
    const asked = [...this.#asked]
    const partitions = new Set(asked.map(([, { partition }]) => partition))
    const replies = await (partitions.size === 1
      ? this.#readAtOnce(asked.map(([, each]) => each))
      : Promise.all(asked.map(([, each]) => this.#read(each))))
    if (partitions.size !== 1 && !(await this.holds())) return false
    this.#replies = new Map(asked.map(([key], i) => [key, replies[i]!]))
    return true
  }

  /** Whether the reader asked for nothing but what was read ahead. */
  async isComplete(): Promise<boolean> {
    await this.#settled()
    return this.#isComplete
  }

  /** Whether nothing that was read has changed. */
  async holds(): Promise<boolean> {
    await this.#settled()
    const connections = await Promise.all(this.#lent.values())
    const ends = await Promise.all(
      connections.map(connection => Promise.all([connection.ask(['MULTI']), connection.ask(['EXEC'])]))
    )
    this.#watched.clear()
    return ends.every(([, end]) => Array.isArray(end))
  }

  release(): void {
    for (const [node, lent] of this.#lent) {
      lent.then(
        connection => {
          // After EXEC nothing is watched; an attempt that did not get there leaves a connection in no known state.
          if (this.#failure === undefined && this.#watched.size === 0) node.giveBack(connection)
          else connection.close()
        },
        () => {}
      )
    }
  }

  async #settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running)
    if (this.#failure !== undefined) throw this.#failure
  }

  /** Reads in one partition are one transaction: a cluster allows none over several slots. */
  async #readAtOnce(asked: readonly Asked[]): Promise<Reply[]> {
    const connection = await this.#connection(asked[0]!.partition)
    const replies = await Promise.all([
      connection.ask(['MULTI']),
      ...asked.map(({ command }) => connection.ask(whole(command))),
      connection.ask(['EXEC'])
    ])
    const all = checked(replies.at(-1)!) as Reply[]
    return all.map(checked)
  }

  async #read({ partition, names, command, found }: Asked): Promise<Reply> {
    const connection = await this.#connection(partition)
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

  #connection(partition: Partition): Promise<Connection> {
    const node = this.#router.ownerOf(partition.number)
    let lent = this.#lent.get(node)
    if (!lent) {
      lent = node.borrow()
      this.#lent.set(node, lent)
    }
    return lent
  }
}

const asked = async (connection: Connection, command: Command): Promise<Reply> => {
  const reply = await connection.ask(command)
  if (reply instanceof ReplyError && reply.kind === 'NOSCRIPT') return asked(connection, whole(command))
  return checked(reply)
}

/** A command that does not need the server to know its script. */
const whole = (command: Command): Command => {
  const [name, sha, ...rest] = command
  return name === 'EVALSHA' ? ['EVAL', scriptTexts.get(sha as string)!, ...rest] : command
}

const checked = (reply: Reply): Reply => {
  if (!(reply instanceof ReplyError)) return reply
  if (!AGAIN.has(reply.kind)) throw serverError(reply)
  throw new QuoinError('ERR_STORE_CONNECTION', `Redis is not ready: ${reply.message}`, {
    message: reply.message
  })
}

/** Tells reads apart. */
const keyOf = ({ partition, command }: Asked): string => {
  const parts = command.map(part =>
    typeof part === 'string'
      ? part
      : Buffer.from(part.buffer, part.byteOffset, part.length).toString('latin1')
  )
  return `${partition.number} ${parts.map(part => `${part.length} ${part}`).join('')}`
}

/** The state of the servers changed: another attempt may see one that holds still. */
const AGAIN = new Set([
  'MOVED',
  'ASK',
  'EXECABORT',
  'LOADING',
  'TRYAGAIN',
  'CLUSTERDOWN',
  'BUSY',
  'MASTERDOWN'
])
