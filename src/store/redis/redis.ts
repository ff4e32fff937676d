/**
 * The engine on Redis: one server, or a cluster. The structures of the store are those of Redis; a batch is one
 * script. README.md says what holds where parts of a batch are on several servers.
 */
import { QuoinError } from '../../keyspace/index.ts'
import type { Answer, Engine, EngineStats, LastWrite, Reads } from '../engine.ts'
import { Commits, type Step } from './commits.ts'
import { type Partition, partition } from './names.ts'
import { needWritableServer } from './probe.ts'
import { type Caller, RedisReads } from './reads.ts'
import type { Reply } from './resp.ts'
import { Router, type RouterOptions } from './router.ts'
import { openScript } from './scripts/open.ts'
import { scriptTexts } from './scripts/script.ts'
import { slotOf, tagsOf } from './slots.ts'
import { snapshot } from './snapshots.ts'
import { factsFrom, serverStats } from './stats.ts'
import { parseRedisUrl, type RedisUrl } from './url.ts'

export interface RedisOptions {
  /** Milliseconds that a call waits for a server that is away, before it fails with ERR_STORE_CONNECTION. */
  readonly timeout?: number
  /** Milliseconds in which a connection is made. */
  readonly connectTimeout?: number
  /** Milliseconds without a sign of life from a server that owes an answer, after which the connection is cut. */
  readonly silenceTimeout?: number
  /** Called between the steps of a commit to several partitions. For tests: it stops one by throwing. */
  readonly onStep?: (step: Step) => void
}

const LAYOUT_VERSION = 1
const DEFAULT_PARTITIONS = 16
/** The hash tag, and with its braces the name, of the mark that a database is a store. */
const MARK = 'quoin'
/** Seconds after which a batch in the journal is taken for left behind, and between looks at the journal. */
const LEFT_BEHIND = 30

/** Opens the store at a URL: `redis://localhost:6379/0`, `redis-cluster://localhost:7000`. */
export const openRedis = async (url: string, options: RedisOptions = {}): Promise<Engine> => {
  const parsed = parseRedisUrl(url)
  const { router, partitions } = await connect(parsed, options)
  const engine = new RedisEngine(router, partitions, parsed.isCluster, options.onStep)
  try {
    await engine.start()
  } catch (error) {
    router.close()
    throw error
  }
  return engine
}

class RedisEngine extends RedisReads implements Engine {
  readonly name: string
  readonly #router: Router
  readonly #partitions: readonly Partition[]
  readonly #commits: Commits
  #sweep: NodeJS.Timeout | undefined
  #latest = 0
  #closing: Promise<void> | undefined
  /** Running reads and snapshots. */
  readonly #open: { count: number; onNone: (() => void) | undefined }
  lastWrite: LastWrite | undefined

  constructor(
    router: Router,
    partitions: readonly Partition[],
    isCluster: boolean,
    onStep: ((step: Step) => void) | undefined
  ) {
    const open = { count: 0, onNone: undefined as (() => void) | undefined }
    super(direct(router, partitions, open))
    this.name = isCluster ? 'redis-cluster' : 'redis'
    this.#router = router
    this.#partitions = partitions
    this.#commits = new Commits(router, partitions, onStep)
    this.#open = open
  }

  /** Finishes what others left behind, and goes on doing so. */
  async start(): Promise<void> {
    if (this.#partitions.length === 1) return
    await this.#commits.repair(0)
    this.#sweep = setInterval(() => {
      // Servers that are away now are asked the next time.
      this.#commits.repair(LEFT_BEHIND).catch(() => {})
    }, LEFT_BEHIND * 1000)
    this.#sweep.unref()
  }

  async now(): Promise<number> {
    this.#refuseClosed()
    const mark = this.#partitions.length
    const [seconds, micros] = (await this.#router.repeatable(mark, ['TIME'])) as Uint8Array[]
    const text = new TextDecoder()
    const now = Number(text.decode(seconds)) + Number(text.decode(micros)) / 1e6
    this.#latest = Math.max(this.#latest, now)
    return this.#latest
  }

  async commit(batch: Uint8Array): Promise<Answer[]> {
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
    needWritableServer(factsFrom(await this.#router.repeatable(0, ['INFO'])))
  }

  async snapshot<T>(read: (reads: Reads) => Promise<T>): Promise<T> {
    this.#refuseClosed()
    return counted(this.#open, () => snapshot(this.#router, this.#partitions, read))
  }

  async backup(_directory: string): Promise<void> {
    throw new QuoinError(
      'ERR_STORE_OPTION',
      'a Redis store is backed up by Redis itself: BGSAVE on each server, then copy its dump.rdb; or copy appendonlydir'
    )
  }

  async stats(): Promise<EngineStats> {
    this.#refuseClosed()
    return serverStats(this.name, this.#router, this.#partitions.length)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    clearInterval(this.#sweep)
    await this.#commits.settled()
    if (this.#open.count > 0) {
      await new Promise<void>(resolve => {
        this.#open.onNone = resolve
      })
    }
    this.#router.close()
  }

  #refuseClosed(): void {
    if (this.#closing) throw new QuoinError('ERR_STORE_CLOSED', 'the store is closed')
  }
}

/** A check that failed: the server works. */
const REFUSALS: ReadonlySet<string> = new Set([
  'ERR_STORE_PRECONDITION',
  'ERR_STORE_LEASE_LOST',
  'ERR_STORE_SLOTS'
])

/** Reads outside snapshots. */
const direct = (
  router: Router,
  partitions: readonly Partition[],
  open: { count: number; onNone: (() => void) | undefined }
): Caller => ({
  partitions,
  read: (where, _names, command) => counted(open, () => router.repeatable(where.number, command)),
  readAll: (where, names, command) =>
    counted(open, () => router.repeatableAll(where.number, names.map(command)))
})

const counted = async <T>(
  open: { count: number; onNone: (() => void) | undefined },
  run: () => Promise<T>
): Promise<T> => {
  open.count++
  try {
    return await run()
  } finally {
    open.count--
    if (open.count === 0) open.onNone?.()
  }
}

/** The partitions of the store come first, that of the mark last. */
const connect = async (
  url: RedisUrl,
  { timeout = 10_000, connectTimeout = 5000, silenceTimeout = 60_000 }: RedisOptions
): Promise<{ router: Router; partitions: Partition[] }> => {
  const options: RouterOptions = {
    ...url,
    timeout,
    connectTimeout: Math.min(connectTimeout, timeout),
    silenceTimeout,
    scripts: [...scriptTexts.values()]
  }
  const wanted = url.partitions ?? DEFAULT_PARTITIONS
  const slots = (count: number): number[] => [...tagsOf(count), MARK].map(slotOf)
  const router = url.isCluster
    ? await Router.cluster(url.servers, slots(wanted), options)
    : Router.single(url.servers[0]!, 2, options)
  try {
    await refuseUnfit(router, url.isCluster)
    const asked = url.isCluster ? wanted : 1
    const count = await openMark(router, asked, url.isCluster && url.partitions === undefined)
    if (!url.isCluster) return { router, partitions: [partition(0, undefined)] }
    if (count !== wanted) await router.reassign(slots(count))
    return { router, partitions: tagsOf(count).map((tag, number) => partition(number, tag)) }
  } catch (error) {
    router.close()
    throw error
  }
}

/** Servers that are too old, or in a cluster that the URL does not tell of. One that tells nothing is tried. */
const refuseUnfit = async (router: Router, isCluster: boolean): Promise<void> => {
  const info = await router.repeatable(0, ['INFO']).catch(error => {
    if (error instanceof QuoinError && /NOPERM/.test(error.message)) return ''
    throw error
  })
  const facts = factsFrom(info)
  const { address } = router.ownerOf(0)
  if (!isCluster && facts.get('cluster_enabled') === '1') {
    throw new QuoinError(
      'ERR_STORE_URL',
      `${address} is a server of a cluster: use redis-cluster://${address}`,
      { address }
    )
  }
  const version = facts.get('redis_version')
  const [major = 0, minor = 0] = (version ?? '').split('.').map(Number)
  if (version !== undefined && (major < 6 || (major === 6 && minor < 2))) {
    throw new QuoinError('ERR_STORE_VERSION', `Redis 6.2 or later is needed; ${address} has ${version}`, {
      address,
      version
    })
  }
}

/** The number of partitions that the store has, or gets now. */
const openMark = async (router: Router, partitions: number, isAnyNumberRight: boolean): Promise<number> => {
  const command = openScript(partition(partitions, MARK), String(LAYOUT_VERSION), String(partitions))
  const reply = await router.repeatable(partitions, command)
  if (typeof reply === 'number') {
    throw new QuoinError(
      'ERR_STORE_VERSION',
      `the database has ${reply} keys that are no store: use an empty one, such as another database number`,
      { keys: reply }
    )
  }
  const [version, recorded] = (reply as Reply[]).map(each =>
    Number(new TextDecoder().decode(each as Uint8Array))
  )
  if (version !== LAYOUT_VERSION) {
    throw new QuoinError(
      'ERR_STORE_VERSION',
      `the store has layout ${version}; this version of Quoin reads layout ${LAYOUT_VERSION}`,
      { version, expected: LAYOUT_VERSION }
    )
  }
  if (recorded !== partitions && !isAnyNumberRight) {
    throw new QuoinError(
      'ERR_STORE_VERSION',
      `the store was made with ${recorded} partitions, which cannot be changed to ${partitions}`,
      { partitions: recorded, asked: partitions }
    )
  }
  return recorded!
}
