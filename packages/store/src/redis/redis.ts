/** The engine on one Redis server: the structures of Redis itself, and one script for each batch. */
import { QuoinError } from '@quoin/primitives'
import type { Engine, EngineStats, LastWrite, Manifest, OperationResult, Reads } from '../engine.ts'
import { Client } from './client.ts'
import { Commits } from './commits.ts'
import { MARK } from './names.ts'
import { needWritableServer } from './probe.ts'
import { type Caller, RedisReads } from './reads.ts'
import { Replication } from './replication.ts'
import type { Reply } from './resp.ts'
import { openScript } from './scripts/open.ts'
import { scriptTexts } from './scripts/script.ts'
import { snapshot } from './snapshots.ts'
import { factsFrom, serverStats } from './stats.ts'
import { noCluster, parseRedisUrl } from './url.ts'

export interface RedisOptions {
  /** Milliseconds that a call waits for a server that is away, before it fails with ERR_STORE_CONNECTION. */
  readonly timeout?: number
  /** Milliseconds in which a connection is made. */
  readonly connectTimeout?: number
  /** Milliseconds without a sign of life from a server that owes an answer, after which the connection is cut. */
  readonly silenceTimeout?: number
}

const LAYOUT_VERSION = 1

/** Opens the store at a URL: `redis://localhost:6379/0`. */
export const openRedis = async (url: string, options: RedisOptions = {}): Promise<Engine> => {
  const { timeout = 10_000, connectTimeout = 5000, silenceTimeout = 60_000 } = options
  const { server, replicas, ...parsed } = parseRedisUrl(url)
  const client = new Client(server, {
    ...parsed,
    timeout,
    connectTimeout: Math.min(connectTimeout, timeout),
    silenceTimeout,
    scripts: [...scriptTexts.values()]
  })
  // A WAIT must not look like a silent server.
  const wait = Math.ceil(Math.min(timeout, silenceTimeout / 2))
  const replication = replicas > 0 ? new Replication(client, replicas, wait) : undefined
  try {
    await refuseUnfit(client, replicas)
    await openMark(client)
    return new RedisEngine(client, replication, replicas)
  } catch (error) {
    client.close()
    throw error
  }
}

class RedisEngine implements Engine {
  readonly name = 'redis'
  readonly manifest: Manifest = {
    syncReads: false,
    snapshots: 'optimistic',
    filters: false,
    leaseClock: false,
    backups: false,
    replication: true,
    deferral: false
  }
  readonly reads: Reads
  readonly syncReads = undefined
  readonly #client: Client
  readonly #replication: Replication | undefined
  readonly #replicas: number
  readonly #commits: Commits
  #closing: Promise<void> | undefined
  readonly #reading: OpenReads
  lastWrite: LastWrite | undefined

  constructor(client: Client, replication: Replication | undefined, replicas: number) {
    const reading: OpenReads = { count: 0, onNone: undefined }
    this.reads = new RedisReads(direct(client, reading))
    this.#client = client
    this.#replication = replication
    this.#replicas = replicas
    this.#commits = new Commits(script => (replication ?? client).once(script))
    this.#reading = reading
  }

  async now(): Promise<number> {
    this.#refuseClosed()
    const [seconds, micros] = (await this.#client.repeatable(['TIME'])) as Uint8Array[]
    const text = new TextDecoder()
    return Number(text.decode(seconds)) + Number(text.decode(micros)) / 1e6
  }

  async commit(batch: Uint8Array): Promise<OperationResult[]> {
    this.#refuseClosed()
    return this.#recorded(this.#commits.commit(batch))
  }

  async commitMany(batches: readonly Uint8Array[]): Promise<void> {
    this.#refuseClosed()
    return this.#recorded(this.#commits.commitMany(batches))
  }

  async #recorded<T>(commit: Promise<T>): Promise<T> {
    try {
      const result = await commit
      this.lastWrite = { at: Date.now() }
      return result
    } catch (error) {
      if (error instanceof QuoinError && !REFUSALS.has(error.code)) this.lastWrite = { at: Date.now(), error }
      throw error
    }
  }

  async probe(): Promise<void> {
    this.#refuseClosed()
    needWritableServer(factsFrom(await this.#client.optional(['INFO'])), this.#replicas)
  }

  async replicated(): Promise<void> {
    this.#refuseClosed()
    const replication = this.#replication
    if (replication) await counted(this.#reading, () => replication.caughtUp())
  }

  async snapshot<T>(read: (reads: Reads) => Promise<T>): Promise<T> {
    this.#refuseClosed()
    return counted(this.#reading, () => snapshot(this.#client, read))
  }

  async backup(_directory: string): Promise<void> {
    throw new QuoinError(
      'ERR_STORE_OPTION',
      'a Redis store is backed up by Redis itself: BGSAVE, then copy dump.rdb; or copy appendonlydir'
    )
  }

  async stats(): Promise<EngineStats> {
    this.#refuseClosed()
    return serverStats(this.name, this.#client)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await this.#commits.settled()
    if (this.#reading.count > 0) {
      await new Promise<void>(resolve => {
        this.#reading.onNone = resolve
      })
    }
    this.#client.close()
  }

  #refuseClosed(): void {
    if (this.#closing) throw new QuoinError('ERR_STORE_CLOSED', 'the store is closed')
  }
}

/** A check that failed: the server works. */
const REFUSALS: ReadonlySet<string> = new Set(['ERR_STORE_PRECONDITION', 'ERR_STORE_LEASE_LOST'])

/** Reads and snapshots under way: `close` waits for them. */
interface OpenReads {
  count: number
  onNone: (() => void) | undefined
}

/** Reads outside snapshots. */
const direct = (client: Client, reading: OpenReads): Caller => ({
  read: (_names, command) => counted(reading, () => client.repeatable(command)),
  readAll: (names, command) => counted(reading, () => client.repeatableAll(names.map(command)))
})

const counted = async <T>(running: OpenReads, run: () => Promise<T>): Promise<T> => {
  running.count++
  try {
    return await run()
  } finally {
    running.count--
    if (running.count === 0) running.onNone?.()
  }
}

/** Servers that are too old, or one of a cluster. A server that does not tell is tried. */
const refuseUnfit = async (client: Client, replicas: number): Promise<void> => {
  const facts = factsFrom(await client.optional(['INFO']))
  if (facts.get('cluster_enabled') === '1') throw noCluster()
  const version = facts.get('redis_version')
  const [major = 0, minor = 0] = (version ?? '').split('.').map(Number)
  if (version !== undefined && (major < 6 || (major === 6 && minor < 2))) {
    const { address } = client.pool
    throw new QuoinError('ERR_STORE_VERSION', `Redis 6.2 or later is needed; ${address} has ${version}`, {
      address,
      version
    })
  }
  // Refused now where the user may not wait, and not after the first batch.
  if (replicas > 0) await client.repeatable(['WAIT', '0', '0'])
}

const openMark = async (client: Client): Promise<void> => {
  const reply: Reply = await client.repeatable(openScript(MARK, String(LAYOUT_VERSION)))
  if (typeof reply === 'number') {
    throw new QuoinError(
      'ERR_STORE_VERSION',
      `the database has ${reply} keys and is not a store of Quoin: use an empty database, such as another number`,
      { keys: reply }
    )
  }
  const version = Number(new TextDecoder().decode(reply as Uint8Array))
  if (version !== LAYOUT_VERSION) {
    throw new QuoinError(
      'ERR_STORE_VERSION',
      `the store has layout ${version}; this version of Quoin reads layout ${LAYOUT_VERSION}`,
      { version, expected: LAYOUT_VERSION }
    )
  }
}
