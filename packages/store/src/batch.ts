/**
 * A batch in the making: any mix of writes to any keys, and the conditions it depends on. Nothing happens until it
 * is committed; then all of it does, or none.
 */
import type { Collection } from '@quoin/keyspace'
import { hasCode, QuoinError } from '@quoin/primitives'
import { BatchEncoder, encode } from './batch-encoder.ts'
import type { OperationResult, ScoredMember } from './engine.ts'
import { type UseForWrites, writesOf } from './typed-writes.ts'

export class Batch {
  readonly #encoder = new BatchEncoder()
  readonly #commit: (batch: Uint8Array) => Promise<OperationResult[]>
  #taken = false

  /** @internal Batches are made by `Store.batch`. */
  constructor(commit: (batch: Uint8Array) => Promise<OperationResult[]>) {
    this.#commit = commit
  }

  /**
   * Commits the batch, once. When the promise resolves it is durable. It rejects with `ERR_STORE_PRECONDITION` or
   * `ERR_STORE_LEASE_LOST` when a condition does not hold, and nothing has been written.
   */
  async commit(): Promise<void> {
    await this.answers()
  }

  /** Commits, and answers whether all conditions held; false means that nothing has been written. */
  async tryCommit(): Promise<boolean> {
    try {
      await this.commit()
      return true
    } catch (error) {
      if (hasCode(error, 'ERR_STORE_PRECONDITION')) return false
      throw error
    }
  }

  /** Commits, and gives the answers of the operations in order. @internal */
  async answers(): Promise<OperationResult[]> {
    const batch = this.take()
    return batch ? this.#commit(batch) : []
  }

  /** The bytes of the batch, or undefined if there is nothing in it. @internal */
  take(): Uint8Array | undefined {
    if (this.#taken) throw committed()
    this.#taken = true
    return this.#encoder.isEmpty ? undefined : this.#encoder.take()
  }

  /** For queues and typed access. @internal */
  get encoder(): BatchEncoder {
    if (this.#taken) throw committed()
    return this.#encoder
  }

  /** Typed writes to a declared collection: `batch.use(collection).at(...key).set(value)`. */
  readonly use = ((collection: Collection) => writesOf(this, collection)) as unknown as UseForWrites

  set(key: Uint8Array, value: Uint8Array): this {
    encode.set(this.encoder, key, value)
    return this
  }
  del(key: Uint8Array): this {
    encode.del(this.encoder, key)
    return this
  }

  hset(key: Uint8Array, field: Uint8Array, value: Uint8Array): this {
    encode.hset(this.encoder, key, field, value)
    return this
  }
  hmset(key: Uint8Array, fields: Iterable<readonly [field: Uint8Array, value: Uint8Array]>): this {
    for (const [field, value] of fields) this.hset(key, field, value)
    return this
  }
  hdel(key: Uint8Array, ...fields: readonly Uint8Array[]): this {
    for (const field of fields) encode.hdel(this.encoder, key, field)
    return this
  }

  sadd(key: Uint8Array, ...members: readonly Uint8Array[]): this {
    for (const member of members) encode.sadd(this.encoder, key, member)
    return this
  }
  srem(key: Uint8Array, ...members: readonly Uint8Array[]): this {
    for (const member of members) encode.srem(this.encoder, key, member)
    return this
  }

  zadd(key: Uint8Array, ...rows: readonly ScoredMember[]): this {
    for (const { member, score } of rows) encode.zadd(this.encoder, key, member, score)
    return this
  }
  zrem(key: Uint8Array, ...members: readonly Uint8Array[]): this {
    for (const member of members) encode.zrem(this.encoder, key, member)
    return this
  }
  zincrby(key: Uint8Array, member: Uint8Array, increment: number): this {
    encode.zincrby(this.encoder, key, member, increment)
    return this
  }
  /** Adds to the score of a member, 0 without one; a member whose score becomes 0 leaves the set. */
  zcounter(key: Uint8Array, member: Uint8Array, increment: number): this {
    encode.zcounter(this.encoder, key, member, increment)
    return this
  }

  /** Gives an entry the next position of a log (`Store.log`), unless the log has it. */
  append(key: Uint8Array, entry: Uint8Array): this {
    encode.append(this.encoder, key, entry)
    return this
  }

  /** The same for a log with many writers: the entry may have its position a moment after the commit. */
  appendDeferred(key: Uint8Array, entry: Uint8Array): this {
    encode.appendDeferred(this.encoder, key, entry)
    return this
  }

  /** The key has this value; `undefined`: it has none. */
  ifValue(key: Uint8Array, expected: Uint8Array | undefined): this {
    if (expected) encode.valueIs(this.encoder, key, expected)
    else encode.valueAbsent(this.encoder, key)
    return this
  }
  /** The field has this value; `undefined`: the hash does not have the field. */
  ifField(key: Uint8Array, field: Uint8Array, expected: Uint8Array | undefined): this {
    if (expected) encode.fieldIs(this.encoder, key, field, expected)
    else encode.fieldAbsent(this.encoder, key, field)
    return this
  }
  /** The member has this score; `undefined`: the sorted set does not have it. */
  ifScore(key: Uint8Array, member: Uint8Array, expected: number | undefined): this {
    if (expected === undefined) encode.scoreAbsent(this.encoder, key, member)
    else encode.scoreIs(this.encoder, key, member, expected)
    return this
  }
  /** The set has the member, or has it not. */
  ifMember(key: Uint8Array, member: Uint8Array, present: boolean): this {
    encode[present ? 'memberPresent' : 'memberAbsent'](this.encoder, key, member)
    return this
  }
}

const committed = (): QuoinError =>
  new QuoinError('ERR_STORE_OPTION', 'a batch is committed once; make a new one')
