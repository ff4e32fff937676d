/**
 * The store: Redis-shaped structures over binary keys on any engine. Reads are here, writes are in a `Batch`; the
 * single writes below are batches of one.
 *
 * @example
 * const bytes = (text: string) => new TextEncoder().encode(text)
 * const store = await openStore('memory:')
 * await store
 *   .batch()
 *   .hset(bytes('h:alice'), bytes('name'), bytes('Alice'))
 *   .zadd(bytes('z:scores'), { member: bytes('alice'), score: 12 }, { member: bytes('bob'), score: 7 })
 *   .commit()
 * const rows = await store.zrevrange(bytes('z:scores'), { count: 10 })
 * rows.map(({ score }) => score) // [ 12, 7 ]
 */
import {
  type Collection,
  type KeyOf,
  type KeyPart,
  type KeyRange,
  type Members,
  wordCodec
} from '@quoin/keyspace'
import { prefixEnd } from '@quoin/primitives'
import { Batch } from './batch.ts'
import { keyOnly, scoreOnly } from './batch-encoder.ts'
import { Bulk } from './bulk.ts'
import type {
  BackupOptions,
  Engine,
  EngineStats,
  FieldPage,
  FieldValue,
  HashEntry,
  KeyValue,
  LastWrite,
  Reads,
  Rows,
  ScoredMember,
  SyncReads
} from './engine.ts'
import { Log, LogReads } from './log.ts'
import { type OpenOptions, openEngine } from './open.ts'
import { type ReadPlan, type ReadSource, runAsync, runSync } from './plan.ts'
import { Queue, type QueueOptions, RAW_ITEMS } from './queue.ts'
import { type FoundRow, type Search, type SearchPage, search } from './search.ts'
import { readsOf, type SortedSetAt, type TypedRow, type UseForReads } from './typed-reads.ts'
import { wholeNumber } from './whole-number.ts'

/** Which rows of a sorted set, by score. */
export interface ScoreRange {
  readonly min?: number
  readonly max?: number
  readonly minExclusive?: boolean
  readonly maxExclusive?: boolean
  /** Rows to pass over first. A cursor (`search`) is better for pages: it does not count rows it will not give. */
  readonly offset?: number
  /** At most so many. */
  readonly count?: number
}

export interface TypedFoundRow<T> extends TypedRow<T> {
  /** Which of the sets it is from. */
  readonly from: number
}

export interface RangeLimits {
  readonly limit?: number
  readonly reverse?: boolean
}

const whole = (name: string, value: number | undefined): number | undefined =>
  value === undefined ? undefined : wholeNumber(name, value, 0)

/** The reads of a store, or of a snapshot of it. */
export class StoreReads {
  /** The reads of the engine, which do not check their arguments: keys have to be of limited length. @internal */
  readonly unchecked: Reads
  /** The same without promises, where the engine offers that. @internal */
  readonly syncReads: SyncReads | undefined

  /** Synchronous reads where there are any: their answers cost one promise, not two. */
  readonly #reads: ReadSource

  /** @internal */
  constructor(reads: Reads, syncReads?: SyncReads) {
    this.unchecked = reads
    this.syncReads = syncReads
    this.#reads = syncReads ?? reads
  }

  /** Runs a plan of reads: at once where the engine reads synchronously. */
  async run<T>(plan: ReadPlan<T>): Promise<T> {
    return this.syncReads ? runSync(plan, this.syncReads) : runAsync(plan, this.unchecked)
  }

  /** Typed reads of a declared collection: `store.use(collection).at(...key)`. */
  readonly use = ((collection: Collection) => readsOf(this, collection)) as unknown as UseForReads

  async get(key: Uint8Array): Promise<Uint8Array | undefined> {
    return this.#reads.get(keyOnly(key))
  }

  /** One answer for each key, in the order asked: on Redis, one round trip for all of them. */
  async mget(keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    return this.#reads.mget(keys.map(keyOnly))
  }

  /** Key-values under a prefix, or in a range, in the order of their keys. */
  async range(keys: Uint8Array | KeyRange, limits: RangeLimits = {}): Promise<KeyValue[]> {
    return this.#reads.range(rangeOf(keys, limits), whole('limit', limits.limit))
  }

  async hget(key: Uint8Array, field: Uint8Array): Promise<Uint8Array | undefined> {
    return this.#reads.hget(keyOnly(key), keyOnly(field))
  }

  /** One answer for each field, in the order asked. */
  async hmget(key: Uint8Array, fields: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    return this.#reads.hmget(keyOnly(key), fields.map(keyOnly))
  }

  /** In the order of the fields' bytes. */
  async hgetall(key: Uint8Array): Promise<FieldValue[]> {
    return this.#reads.hgetall(keyOnly(key))
  }

  /** A page of the fields of a hash, about `count` of them, after the page that gave the cursor. */
  async hscan(key: Uint8Array, cursor: Uint8Array | undefined, count = 1000): Promise<FieldPage> {
    return this.#reads.hscan(keyOnly(key), cursor && keyOnly(cursor), wholeNumber('count', count, 1))
  }

  /** The same of many hashes, in the order asked: on Redis, one round trip for all of them. */
  async mhgetall(keys: readonly Uint8Array[]): Promise<FieldValue[][]> {
    return this.#reads.mhgetall(keys.map(keyOnly))
  }

  /** Whether each of many hashes has fields, in the order asked. */
  async mhexists(keys: readonly Uint8Array[]): Promise<boolean[]> {
    return this.#reads.mhexists(keys.map(keyOnly))
  }

  /** Hashes under a prefix, or in a range, in the order of their keys. */
  async hrange(keys: Uint8Array | KeyRange, limits: RangeLimits = {}): Promise<HashEntry[]> {
    return this.#reads.hrange(rangeOf(keys, limits), whole('limit', limits.limit))
  }

  async sismember(key: Uint8Array, member: Uint8Array): Promise<boolean> {
    return this.#reads.sismember(keyOnly(key), keyOnly(member))
  }

  /** In the order of their bytes. */
  async smembers(key: Uint8Array): Promise<Uint8Array[]> {
    return this.#reads.smembers(keyOnly(key))
  }

  async zscore(key: Uint8Array, member: Uint8Array): Promise<number | undefined> {
    return this.#reads.zscore(keyOnly(key), keyOnly(member))
  }

  /** The same of many members, in the order asked. */
  async zmscore(key: Uint8Array, members: readonly Uint8Array[]): Promise<(number | undefined)[]> {
    if (members.length === 0) return []
    const scores = await this.#reads.zscores([keyOnly(key)], members.map(keyOnly))
    return scores.map(([score]) => score)
  }

  /** Takes the same time however many there are. */
  async zcard(key: Uint8Array): Promise<number> {
    return this.#reads.zcard(keyOnly(key))
  }

  /** By score, and by the bytes of the members where scores are the same. */
  async zrange(key: Uint8Array, range: ScoreRange = {}): Promise<ScoredMember[]> {
    return this.#reads.zrows(keyOnly(key), rowsOf(range, false))
  }

  /** The exact mirror of `zrange`. */
  async zrevrange(key: Uint8Array, range: ScoreRange = {}): Promise<ScoredMember[]> {
    return this.#reads.zrows(keyOnly(key), rowsOf(range, true))
  }

  /** The sum of all scores. */
  async zsum(key: Uint8Array): Promise<number> {
    return this.#reads.zsum(keyOnly(key))
  }

  /** The keys of sorted sets under a prefix, or in a range, in their order. */
  async zkeys(keys: Uint8Array | KeyRange, limits: RangeLimits = {}): Promise<Uint8Array[]> {
    return this.#reads.zkeys(rangeOf(keys, limits), whole('limit', limits.limit))
  }

  log(key: Uint8Array): LogReads {
    return new LogReads(this.unchecked, keyOnly(key), RAW_ITEMS)
  }

  /** A log of a declared collection, with entries as they are declared. */
  logAt<P extends readonly KeyPart[], T>(
    collection: Collection<P, readonly unknown[], Members<'log', T>>,
    key: KeyOf<P>
  ): LogReads<T> {
    return new LogReads(this.unchecked, collection.encode(...key), wordCodec(collection.value.member))
  }

  /** The same over declared sorted sets, with members as they are declared. */
  async searchSets<T>(
    sets: readonly SortedSetAt<T>[],
    {
      filter,
      ...query
    }: Omit<Search, 'keys' | 'filter'> & {
      readonly filter?: (
        rows: readonly TypedFoundRow<T>[]
      ) => readonly boolean[] | Promise<readonly boolean[]>
    } = {}
  ): Promise<{ readonly rows: readonly TypedFoundRow<T>[]; readonly cursor: string | undefined }> {
    const typed = ({ member, score, from }: FoundRow): TypedFoundRow<T> => ({
      member: sets[from]!.codec.decode(member),
      score,
      from
    })
    const page = await this.search({
      ...query,
      keys: sets.map(({ key }) => key),
      ...(filter && { filter: rows => filter(rows.map(typed)) })
    })
    return { rows: page.rows.map(typed), cursor: page.cursor }
  }

  /** Rows of several sorted sets together, a page at a time; `search.ts` defines the joins. */
  search(query: Search): Promise<SearchPage> {
    return search(this.unchecked, query)
  }
}

export class Store extends StoreReads {
  readonly #engine: Engine

  /** @internal Stores are made by `openStore`. */
  constructor(engine: Engine) {
    super(engine.reads, engine.syncReads)
    this.#engine = engine
  }

  /** Whether several processes can write to the store: the engine is a server, whose clock ends their leases. */
  get isShared(): boolean {
    return !this.#engine.manifest.leaseClock
  }

  /** Whether entries of deferred appends have their positions a moment after the commit. */
  get defersAppends(): boolean {
    return this.#engine.manifest.deferral
  }

  /** The name of the engine: `lmdb`. */
  get engine(): string {
    return this.#engine.name
  }

  batch(): Batch {
    return new Batch(batch => this.#engine.commit(batch))
  }

  /** Writes a great deal fast, in large transactions; see `bulk.ts`. */
  bulk(): Bulk {
    return new Bulk(this.#engine)
  }

  /** Reads that all see one state. On Redis the function runs again when its rows have changed meanwhile. */
  snapshot<T>(read: (reads: StoreReads) => Promise<T>): Promise<T> {
    return this.#engine.snapshot(reads => read(new StoreReads(reads)))
  }

  override log(key: Uint8Array): Log {
    return new Log(this.#engine, keyOnly(key), RAW_ITEMS)
  }

  override logAt<P extends readonly KeyPart[], T>(
    collection: Collection<P, readonly unknown[], Members<'log', T>>,
    key: KeyOf<P>
  ): Log<T> {
    return new Log(this.#engine, collection.encode(...key), wordCodec(collection.value.member))
  }

  queue(key: Uint8Array, options?: QueueOptions): Queue {
    return new Queue(this.#engine, keyOnly(key), RAW_ITEMS, options)
  }

  /** A queue of a declared collection, with items as they are declared. */
  queueAt<P extends readonly KeyPart[], T>(
    collection: Collection<P, readonly unknown[], Members<'queue', T>>,
    key: KeyOf<P>,
    options?: QueueOptions
  ): Queue<T> {
    return new Queue(this.#engine, collection.encode(...key), wordCodec(collection.value.member), options)
  }

  async set(key: Uint8Array, value: Uint8Array): Promise<void> {
    return this.batch().set(key, value).commit()
  }
  async del(key: Uint8Array): Promise<void> {
    return this.batch().del(key).commit()
  }
  async hset(key: Uint8Array, field: Uint8Array, value: Uint8Array): Promise<void> {
    return this.batch().hset(key, field, value).commit()
  }
  async hmset(
    key: Uint8Array,
    fields: Iterable<readonly [field: Uint8Array, value: Uint8Array]>
  ): Promise<void> {
    return this.batch().hmset(key, fields).commit()
  }
  async hdel(key: Uint8Array, ...fields: readonly Uint8Array[]): Promise<void> {
    return this.batch()
      .hdel(key, ...fields)
      .commit()
  }
  async sadd(key: Uint8Array, ...members: readonly Uint8Array[]): Promise<void> {
    return this.batch()
      .sadd(key, ...members)
      .commit()
  }
  async srem(key: Uint8Array, ...members: readonly Uint8Array[]): Promise<void> {
    return this.batch()
      .srem(key, ...members)
      .commit()
  }
  async zadd(key: Uint8Array, ...rows: readonly ScoredMember[]): Promise<void> {
    return this.batch()
      .zadd(key, ...rows)
      .commit()
  }
  async zrem(key: Uint8Array, ...members: readonly Uint8Array[]): Promise<void> {
    return this.batch()
      .zrem(key, ...members)
      .commit()
  }
  /** Adds to the score of a member, 0 without one, and gives the score it has then. */
  async zincrby(key: Uint8Array, member: Uint8Array, increment: number): Promise<number> {
    const [score] = await this.batch().zincrby(key, member, increment).answers()
    return score as number
  }
  /** Adds to the score of a member, 0 without one; a member whose score becomes 0 leaves the set. */
  async zcounter(key: Uint8Array, member: Uint8Array, increment: number): Promise<void> {
    return this.batch().zcounter(key, member, increment).commit()
  }

  /** Writes a copy of the store, as it is at one moment, into a directory that is new or empty. */
  backup(directory: string, options?: BackupOptions): Promise<void> {
    return this.#engine.backup(directory, options)
  }

  stats(): Promise<EngineStats> {
    return this.#engine.stats()
  }

  /**
   * Resolves when all that can be read now is as durable as a commit promises: for answers that rest on reads
   * and write nothing. Undefined where that is always so, which is everywhere but on Redis.
   */
  replicated(): Promise<void> | undefined {
    return this.#engine.replicated?.()
  }

  /** The last commit that wrote something, or failed to; undefined before the first. */
  get lastWrite(): LastWrite | undefined {
    return this.#engine.lastWrite
  }

  /** Rejects with the reason why a commit would fail now, as far as can be told without writing. */
  probe(): Promise<void> {
    return this.#engine.probe()
  }

  /** Waits for commits in flight, then closes the engine. */
  close(): Promise<void> {
    return this.#engine.close()
  }
}

/**
 * Opens the store that a URL names: `memory:`, `lmdb:PATH` (`lmdb:PATH?read-only` beside a process that writes),
 * `level:PATH`, `redis://HOST:PORT`, `rediss://HOST:PORT`.
 */
export const openStore = async (url: string, options?: OpenOptions): Promise<Store> =>
  new Store(await openEngine(url, options))

const rangeOf = (keys: Uint8Array | KeyRange, { reverse }: RangeLimits): KeyRange => {
  if (!(keys instanceof Uint8Array)) return reverse === undefined ? keys : { ...keys, reverse }
  return { start: keyOnly(keys), end: prefixEnd(keys), reverse: reverse ?? false }
}

const rowsOf = (range: ScoreRange, reverse: boolean): Rows => ({
  min: range.min === undefined ? undefined : { score: scoreOnly(range.min), exclusive: range.minExclusive },
  max: range.max === undefined ? undefined : { score: scoreOnly(range.max), exclusive: range.maxExclusive },
  offset: whole('offset', range.offset),
  count: whole('count', range.count),
  reverse
})
