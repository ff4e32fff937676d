/**
 * Sends commands to the server, and sends them again when that is safe and may help: the server is away, or starting.
 *
 * A command that was sent and lost its reply is sent again only if it may be done twice; otherwise it fails with
 * ERR_STORE_CONNECTION: it may have been done.
 */
import { hasCode, QuoinError } from '@quoin/primitives'
import type { ConnectionOptions, Server } from './connection.ts'
import { PipelinedCommands } from './pipelined-commands.ts'
import { ConnectionPool, type Request } from './pool.ts'
import { type Command, type Reply, ReplyError } from './resp.ts'
import { scriptTexts } from './scripts/script.ts'

export interface ClientOptions extends ConnectionOptions {
  /** Milliseconds in which the server has to answer a command. */
  readonly timeout: number
}

/** The server answers so while it starts, runs a long script, or has lost its master; it has done nothing. */
const NOT_READY: ReadonlySet<string> = new Set(['LOADING', 'BUSY', 'MASTERDOWN'])
const PAUSE = 25

export class Client {
  readonly pool: ConnectionPool
  readonly timeout: number
  #isClosed = false

  constructor(server: Server, options: ClientOptions) {
    this.pool = new ConnectionPool(server, options)
    this.timeout = options.timeout
  }

  /** For commands that may be done more than once. */
  repeatable(command: Command): Promise<Reply> {
    return this.#request(command, false)
  }

  /** The same for many at once: they leave together, and one promise is kept for all of them. */
  repeatableAll(commands: readonly Command[]): Promise<Reply[]> {
    return new Promise((resolve, reject) => {
      const deadline = performance.now() + this.timeout
      const again = (command: Command): Promise<Reply> => this.#request(command, false, deadline)
      const together = new PipelinedCommands(commands, again, resolve, reject)
      for (const request of together.requests()) this.#send(request)
    })
  }

  /** For facts about the server; null where it refuses the command. */
  optional(command: Command): Promise<Reply> {
    return this.repeatable(command).catch((error: unknown) => {
      if (hasCode(error, 'ERR_STORE_ENGINE')) return null
      throw error
    })
  }

  /** For commands that are done at most once. */
  once(command: Command): Promise<Reply> {
    return this.#request(command, true)
  }

  close(): void {
    this.#isClosed = true
    this.pool.close()
  }

  #request(command: Command, isOnce: boolean, deadline = performance.now() + this.timeout): Promise<Reply> {
    return new Promise((resolve, reject) =>
      this.#send(new RetriableCommand(this, command, isOnce, deadline, resolve, reject))
    )
  }

  #send(request: Request): void {
    if (this.#isClosed) request.unsent(new QuoinError('ERR_STORE_CLOSED', 'the store is closed'))
    else this.pool.send(request)
  }

  /** Nothing was done, or it may be done again. */
  again(request: RetriableCommand, error: QuoinError): void {
    const isFinal = error.code !== 'ERR_STORE_CONNECTION'
    if (isFinal || this.#isClosed || performance.now() >= request.deadline) request.reject(error)
    else setTimeout(() => this.#send(request), PAUSE)
  }

  refused(request: RetriableCommand, reply: ReplyError): void {
    if (reply.kind === 'NOSCRIPT') {
      request.command = withScript(request.command)
      this.#send(request)
      return
    }
    const error = serverError(reply)
    if (error.code === 'ERR_STORE_READ_ONLY') this.pool.renew()
    if (error.code === 'ERR_STORE_CONNECTION') this.again(request, error)
    else request.reject(error)
  }
}

/** A command that is sent until it is answered, or its time is over. */
class RetriableCommand implements Request {
  readonly #client: Client
  command: Command
  readonly #isOnce: boolean
  readonly deadline: number
  readonly #resolve: (reply: Reply) => void
  readonly reject: (error: QuoinError) => void

  constructor(
    client: Client,
    command: Command,
    isOnce: boolean,
    deadline: number,
    resolve: (reply: Reply) => void,
    reject: (error: QuoinError) => void
  ) {
    this.#client = client
    this.command = command
    this.#isOnce = isOnce
    this.deadline = deadline
    this.#resolve = resolve
    this.reject = reject
  }

  replied(reply: Reply): void {
    if (reply instanceof ReplyError) this.#client.refused(this, reply)
    else this.#resolve(reply)
  }

  lost(error: QuoinError): void {
    if (this.#isOnce) this.reject(outcomeUnknown(error))
    else this.#client.again(this, error)
  }

  unsent(error: QuoinError): void {
    this.#client.again(this, error)
  }
}

/** Of a batch whose reply was lost. */
export const outcomeUnknown = ({ code, message, details }: QuoinError): QuoinError =>
  new QuoinError(code, message, { ...details, outcome: 'unknown' })

/** A command that does not need the server to know its script. */
export const withScript = (command: Command): Command => {
  const [name, sha, ...rest] = command
  return name === 'EVALSHA' ? ['EVAL', scriptTexts.get(sha as string)!, ...rest] : command
}

/** An error of the server as one of the store. Scripts stop before their first write if they may not write. */
export const serverError = ({ kind, message }: ReplyError): QuoinError => {
  if (NOT_READY.has(kind)) {
    return new QuoinError('ERR_STORE_CONNECTION', `Redis is not ready: ${message}`, { message })
  }
  if (/\bOOM command not allowed|\bMISCONF\b/.test(message)) {
    return new QuoinError('ERR_STORE_FULL', `Redis takes no more: ${message}`, { message })
  }
  if (/\bNOREPLICAS\b/.test(message)) {
    return new QuoinError(
      'ERR_STORE_REPLICAS',
      `too few replicas for a write (min-replicas-to-write), and nothing was written: ${message}; bring them back`,
      { outcome: 'refused', message }
    )
  }
  if (kind === 'READONLY') {
    return new QuoinError('ERR_STORE_READ_ONLY', `this Redis server is a replica: ${message}`, { message })
  }
  return new QuoinError('ERR_STORE_ENGINE', `Redis refuses a command: ${message}`, { message })
}
