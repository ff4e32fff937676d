/**
 * Brings commands to the server that has their partition, and brings them there again when that is safe and may
 * help: a server that is away, starting, or no longer the one. A single server is a cluster that never changes.
 *
 * What was sent and lost its reply is sent again only if that does no harm; otherwise it fails with
 * ERR_STORE_CONNECTION: it may have been done.
 */
import { QuoinError } from '../../keyspace/index.ts'
import type { ConnectionOptions, Server } from './connection.ts'
import { addressOf } from './connection.ts'
import { Node, type Request } from './node.ts'
import { type Command, type Reply, ReplyError } from './resp.ts'
import { scriptTexts } from './scripts/script.ts'
import { Together } from './together.ts'
import { ownersOf } from './topology.ts'

export interface RouterOptions extends ConnectionOptions {
  /** Milliseconds in which a command is brought to a server that answers it. */
  readonly timeout: number
}

/** Not now, and nothing was done. */
const TRANSIENT = new Set(['LOADING', 'TRYAGAIN', 'CLUSTERDOWN', 'BUSY', 'MASTERDOWN'])
const PAUSE = 25
/** The shortest time between two looks at the topology. */
const REFRESH_PAUSE = 50

export class Router {
  readonly #options: RouterOptions
  readonly #seeds: readonly Server[]
  /** The slots of the partitions; undefined for a single server. */
  #slots: readonly number[] | undefined
  readonly #nodes = new Map<string, Node>()
  /** By partition. */
  #owners: (Node | undefined)[] = []
  #refreshing: Promise<void> | undefined
  #closed = false

  private constructor(seeds: readonly Server[], options: RouterOptions) {
    this.#seeds = seeds
    this.#options = options
  }

  /** So many partitions, all with one server. */
  static single(server: Server, partitions: number, options: RouterOptions): Router {
    const router = new Router([server], options)
    router.#owners = Array.from({ length: partitions }, () => router.#node(server))
    return router
  }

  /** Partitions are with the masters of their slots. */
  static async cluster(
    seeds: readonly Server[],
    slots: readonly number[],
    options: RouterOptions
  ): Promise<Router> {
    const router = new Router(seeds, options)
    router.#slots = slots
    const deadline = performance.now() + options.timeout
    for (;;) {
      try {
        await router.#refresh()
        return router
      } catch (error) {
        const isFinal = !(error instanceof QuoinError) || error.code !== 'ERR_STORE_CONNECTION'
        if (isFinal || performance.now() >= deadline) {
          router.close()
          throw error
        }
      }
      await new Promise(resolve => setTimeout(resolve, PAUSE))
    }
  }

  /** Takes other slots for partitions. */
  async reassign(slots: readonly number[]): Promise<void> {
    this.#slots = slots
    await this.#refresh()
  }

  /** For what may be done more than once: reads, and writes that know whether they were done. */
  repeatable(partition: number, command: Command): Promise<Reply> {
    return this.#request(partition, command, false)
  }

  /** The same for many at once: they leave together, and one promise is kept for all of them. */
  repeatableAll(partition: number, commands: readonly Command[]): Promise<Reply[]> {
    return new Promise((resolve, reject) => {
      const deadline = performance.now() + this.#options.timeout
      const again = (command: Command): Promise<Reply> => this.#request(partition, command, false, deadline)
      const together = new Together(commands, again, resolve, reject)
      for (const request of together.requests()) this.#dispatch(partition, request)
    })
  }

  /** For what is done at most once. */
  once(partition: number, command: Command): Promise<Reply> {
    return this.#request(partition, command, true)
  }

  /** The server that has a partition, as far as is known. */
  ownerOf(partition: number): Node {
    const node = this.#owners[partition]
    if (!node) throw unowned(partition)
    return node
  }

  /** The servers that have partitions, and one of the partitions of each. */
  owners(): { node: Node; partition: number }[] {
    const firsts = new Map<Node, number>()
    this.#owners.forEach((node, partition) => {
      if (node && !firsts.has(node)) firsts.set(node, partition)
    })
    return Array.from(firsts, ([node, partition]) => ({ node, partition }))
  }

  /** Looks at the topology again, for those who saw that it changed. */
  async refresh(): Promise<void> {
    if (!this.#slots) return
    this.#refreshing ??= this.#refresh().finally(() =>
      setTimeout(() => {
        this.#refreshing = undefined
      }, REFRESH_PAUSE).unref()
    )
    await this.#refreshing
  }

  close(): void {
    this.#closed = true
    for (const node of this.#nodes.values()) node.close()
  }

  #request(
    partition: number,
    command: Command,
    isOnce: boolean,
    deadline = performance.now() + this.#options.timeout
  ): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const request = new Routed(this, partition, command, isOnce, resolve, reject)
      request.deadline = deadline
      this.#dispatch(partition, request)
    })
  }

  #dispatch(partition: number, request: Request): void {
    const owner = this.#owners[partition]
    if (this.#closed) request.unsent(new QuoinError('ERR_STORE_CLOSED', 'the store is closed'))
    else if (owner) owner.send(request)
    else request.unsent(unowned(partition))
  }

  /** Nothing was done, or it may be done again. */
  again(request: Routed, error: QuoinError): void {
    const isFinal = error.code !== 'ERR_STORE_CONNECTION'
    if (isFinal || this.#closed || performance.now() >= request.deadline) {
      request.reject(error)
      return
    }
    setTimeout(() => {
      // A topology that cannot be read now is no reason to give up: the time limit decides.
      this.refresh().then(
        () => this.#dispatch(request.partition, request),
        () => this.#dispatch(request.partition, request)
      )
    }, PAUSE)
  }

  refused(request: Routed, reply: ReplyError): void {
    const { kind } = reply
    if (kind === 'NOSCRIPT') {
      const [, sha, ...rest] = request.command
      request.command = ['EVAL', scriptTexts.get(sha as string)!, ...rest]
      this.#dispatch(request.partition, request)
    } else if (kind === 'MOVED' && this.#slots) {
      const server = redirection(reply)
      if (server) this.#owners[request.partition] = this.#node(server)
      // It only spares the next commands a detour.
      this.refresh().catch(() => {})
      this.#redirect(request, reply, () => this.#dispatch(request.partition, request))
    } else if (kind === 'ASK' && this.#slots) {
      const server = redirection(reply)
      this.#redirect(request, reply, () => {
        if (!server) return this.#dispatch(request.partition, request)
        const node = this.#node(server)
        node.send(ASKING)
        node.send(request)
      })
    } else if (TRANSIENT.has(kind) || (kind === 'READONLY' && this.#slots)) {
      this.again(
        request,
        new QuoinError('ERR_STORE_CONNECTION', `Redis is not ready: ${reply.message}`, {
          message: reply.message
        })
      )
    } else request.reject(serverError(reply))
  }

  #redirect(request: Routed, reply: ReplyError, go: () => void): void {
    if (performance.now() < request.deadline) go()
    else
      request.reject(
        new QuoinError('ERR_STORE_CONNECTION', `the cluster sends a command around: ${reply.message}`)
      )
  }

  #node(server: Server): Node {
    const address = addressOf(server)
    let node = this.#nodes.get(address)
    if (!node) {
      node = new Node(server, this.#options)
      this.#nodes.set(address, node)
    }
    return node
  }

  async #refresh(): Promise<void> {
    for (const seed of this.#seeds) this.#node(seed)
    // Those that answer first: others may be gone for long.
    const nodes = [...this.#nodes.values()]
    let failure: unknown
    for (const node of nodes.sort((a, b) => Number(b.isConnected) - Number(a.isConnected))) {
      if (this.#closed) return
      try {
        const owners = await ownersOf(node, this.#slots!)
        const used = owners.map(server => server && this.#node(server))
        this.#owners = used
        this.#retire(new Set(used))
        return
      } catch (error) {
        failure = error
      }
    }
    throw failure
  }

  /** Servers that have nothing and are no seeds need no connection. */
  #retire(used: ReadonlySet<Node | undefined>): void {
    const seeds = new Set(this.#seeds.map(addressOf))
    for (const [address, node] of this.#nodes) {
      if (used.has(node) || seeds.has(address)) continue
      this.#nodes.delete(address)
      // What is on its way there ends by itself: the server answers MOVED, or the connection is lost.
      setTimeout(() => node.close(), this.#options.timeout).unref()
    }
  }
}

/** A command with its destination. */
class Routed implements Request {
  readonly #router: Router
  readonly partition: number
  command: Command
  readonly #isOnce: boolean
  readonly #resolve: (reply: Reply) => void
  readonly reject: (error: QuoinError) => void
  deadline = 0

  constructor(
    router: Router,
    partition: number,
    command: Command,
    isOnce: boolean,
    resolve: (reply: Reply) => void,
    reject: (error: QuoinError) => void
  ) {
    this.#router = router
    this.partition = partition
    this.command = command
    this.#isOnce = isOnce
    this.#resolve = resolve
    this.reject = reject
  }

  replied(reply: Reply): void {
    if (reply instanceof ReplyError) this.#router.refused(this, reply)
    else this.#resolve(reply)
  }

  lost(error: QuoinError): void {
    if (this.#isOnce) {
      this.reject(new QuoinError(error.code, error.message, { ...error.details, outcome: 'unknown' }))
    } else this.#router.again(this, error)
  }

  unsent(error: QuoinError): void {
    this.#router.again(this, error)
  }
}

const ASKING: Request = { command: ['ASKING'], replied: () => {}, lost: () => {}, unsent: () => {} }

/** What an error of the server is to the store. Scripts stop before their first write if they may not write. */
export const serverError = ({ kind, message }: ReplyError): QuoinError => {
  if (/\bOOM command not allowed|\bMISCONF\b/.test(message)) {
    return new QuoinError('ERR_STORE_FULL', `Redis takes no more: ${message}`, { message })
  }
  if (kind === 'READONLY') {
    return new QuoinError('ERR_STORE_READ_ONLY', `this Redis server is a replica: ${message}`, { message })
  }
  return new QuoinError('ERR_STORE_ENGINE', `Redis refuses a command: ${message}`, { message })
}

/** `MOVED 3999 127.0.0.1:6381`; a server that does not know the name of the other leaves it out. */
const redirection = (reply: ReplyError): Server | undefined => {
  const [, host, port] = /^\w+ \d+ (.+):(\d+)$/.exec(reply.message) ?? []
  return host === undefined ? undefined : { host: host.replace(/^\[(.*)\]$/, '$1'), port: Number(port) }
}

const unowned = (partition: number): QuoinError =>
  new QuoinError('ERR_STORE_CONNECTION', `no server of the cluster has partition ${partition}`, { partition })
