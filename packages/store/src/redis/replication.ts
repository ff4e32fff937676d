/**
 * Commits that are acknowledged when replicas have them: batches, then WAIT on the same connection.
 * https://redis.io/docs/latest/commands/wait/
 *
 * The connection is one of their own, since WAIT blocks every later command of its connection. Batches that come while one WAIT is
 * out gather, and share the next.
 */

import { type BackoffOptions, backoffDelay, hasCode, QuoinError } from '@quoin/primitives'
import { type Client, outcomeUnknown, serverError, withScript } from './client.ts'
import type { Connection } from './connection.ts'
import { MARK } from './names.ts'
import { type Command, type Reply, ReplyError } from './resp.ts'

interface Job {
  /** A script; undefined for a job that only waits. */
  readonly command: Command | undefined
  readonly deadline: number
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: unknown) => void
}

interface AppliedJob {
  readonly job: Job
  readonly reply: Reply
}

/**
 * A write in each group, as WAIT is about the writes of its connection: with it a group waits for all that its batches
 * found written already, too, by this process or another.
 */
const TOUCH: Command = ['HSET', MARK, 'waited', '1']
/** Milliseconds between attempts at a job. */
const RETRY: BackoffOptions = { first: 25, limit: 1000, jitter: 0 }

export class Replication {
  readonly #client: Client
  readonly #replicas: number
  readonly #milliseconds: number
  readonly #gathered: Job[] = []
  /** Tries in a row that found no server. */
  #failures = 0
  #isRunning = false

  /** Replicas have the milliseconds to receive a batch. */
  constructor(client: Client, replicas: number, milliseconds: number) {
    this.#client = client
    this.#replicas = replicas
    this.#milliseconds = milliseconds
  }

  /** Does a script at most once, and resolves when it refused the batch, or replicas have it. */
  once(command: Command): Promise<Reply> {
    return this.#gather(command)
  }

  /** Resolves when replicas have all that was written before. */
  async caughtUp(): Promise<void> {
    await this.#gather(undefined)
  }

  #gather(command: Command | undefined): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const deadline = performance.now() + this.#client.timeout
      this.#send({ command, deadline, resolve, reject })
    })
  }

  #send(job: Job): void {
    this.#gathered.push(job)
    if (this.#isRunning) return
    this.#isRunning = true
    process.nextTick(() => void this.#run())
  }

  async #run(): Promise<void> {
    while (this.#gathered.length > 0) {
      const group = this.#gathered.splice(0)
      try {
        const connection = await this.#client.pool.borrow()
        this.#failures = 0
        await this.#commit(group, connection)
        this.#client.pool.giveBack(connection)
      } catch (error) {
        // There is no connection: once there is one, each job is told by itself.
        this.#failures++
        for (const job of group) this.#again(job, error)
      }
    }
    this.#isRunning = false
  }

  /** Nothing was done. */
  #again(job: Job, error: unknown): void {
    const isLost = hasCode(error, 'ERR_STORE_CONNECTION')
    if (!isLost || performance.now() >= job.deadline) job.reject(error)
    else setTimeout(() => this.#send(job), backoffDelay(this.#failures + 1, RETRY))
  }

  async #commit(group: readonly Job[], connection: Connection): Promise<void> {
    const applied: AppliedJob[] = []
    for (const job of group) {
      if (job.command === undefined) applied.push({ job, reply: null })
      else {
        connection.send(job.command, {
          replied: reply => this.#replied(job, reply, applied),
          lost: error => job.reject(outcomeUnknown(error))
        })
      }
    }
    const wait = ['WAIT', String(this.#replicas), String(this.#milliseconds)]
    try {
      const [touched, reached] = await Promise.all([connection.ask(TOUCH), connection.ask(wait)])
      const failed = [touched, reached].find(reply => reply instanceof ReplyError)
      if (failed?.kind === 'READONLY') {
        connection.close()
        this.#client.pool.renew()
      }
      this.#waited(applied, failed ?? (reached as number))
    } catch (error) {
      for (const { job } of applied) job.reject(outcomeUnknown(error as QuoinError))
    }
  }

  #replied(job: Job, reply: Reply, applied: AppliedJob[]): void {
    // The index of a check that failed: nothing was written.
    if (typeof reply === 'number') job.resolve(reply)
    else if (!(reply instanceof ReplyError)) applied.push({ job, reply })
    else if (reply.kind === 'NOSCRIPT') this.#gathered.push({ ...job, command: withScript(job.command!) })
    else this.#again(job, serverError(reply))
  }

  #waited(applied: readonly AppliedJob[], reached: number | ReplyError): void {
    if (typeof reached === 'number' && reached >= this.#replicas) {
      for (const { job, reply } of applied) job.resolve(reply)
      return
    }
    const error = this.#shortfall(reached)
    for (const { job } of applied) job.reject(error)
  }

  #shortfall(reached: number | ReplyError): QuoinError {
    const found =
      typeof reached === 'number'
        ? `${reached} have it after ${this.#milliseconds} ms`
        : `Redis refuses to wait: ${reached.message}`
    return new QuoinError(
      'ERR_STORE_REPLICAS',
      `the batch is applied on the primary, but not known to be on ${this.#replicas} replicas: ${found}; bring the ` +
        'replicas back, then repeat the request',
      {
        outcome: 'applied',
        expected: this.#replicas,
        ...(typeof reached === 'number' && { replicas: reached })
      }
    )
  }
}
