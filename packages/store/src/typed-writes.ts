/** Typed writes and conditions of a batch: the counterpart of `typed-reads.ts`. */
import {
  type Collection,
  type Hash,
  type KeyOf,
  type Members,
  type Value,
  type ValueCodec,
  wordCodec
} from '@quoin/keyspace'
import type { Batch } from './batch.ts'
import {
  type Field,
  type Fields,
  fieldKey,
  KeyedCollection,
  notForUse,
  type Parts,
  type Scans
} from './typed-reads.ts'

export class WriteValue<T> {
  readonly #batch: Batch
  readonly #key: Uint8Array
  readonly #codec: ValueCodec<T>

  constructor(batch: Batch, key: Uint8Array, codec: ValueCodec<T>) {
    this.#batch = batch
    this.#key = key
    this.#codec = codec
  }

  set(value: T): void {
    this.#batch.set(this.#key, this.#codec.encode(value))
  }

  delete(): void {
    this.#batch.del(this.#key)
  }

  /** The batch needs the key to have this value, or none. */
  expect(value: T | undefined): void {
    this.#batch.ifValue(this.#key, value === undefined ? undefined : this.#codec.encode(value))
  }
}

export class WriteHash<F extends Fields> {
  readonly #batch: Batch
  readonly #key: Uint8Array
  readonly #fields: F

  constructor(batch: Batch, key: Uint8Array, fields: F) {
    this.#batch = batch
    this.#key = key
    this.#fields = fields
  }

  set<P extends Parts, T>(field: Field<P, T>, key: KeyOf<P>, value: T): void {
    this.#batch.hset(this.#key, fieldKey(this.#fields, field, key), field.value.codec.encode(value))
  }

  delete<P extends Parts, T>(field: Field<P, T>, ...key: KeyOf<P>): void {
    this.#batch.hdel(this.#key, fieldKey(this.#fields, field, key))
  }

  /** The batch needs the field to have this value, or none. */
  expect<P extends Parts, T>(field: Field<P, T>, key: KeyOf<P>, value: T | undefined): void {
    const expected = value === undefined ? undefined : field.value.codec.encode(value)
    this.#batch.ifField(this.#key, fieldKey(this.#fields, field, key), expected)
  }
}

export class WriteSet<T> {
  readonly #batch: Batch
  readonly #key: Uint8Array
  readonly #codec: ValueCodec<T>

  constructor(batch: Batch, key: Uint8Array, codec: ValueCodec<T>) {
    this.#batch = batch
    this.#key = key
    this.#codec = codec
  }

  add(member: T): void {
    this.#batch.sadd(this.#key, this.#codec.encode(member))
  }

  delete(member: T): void {
    this.#batch.srem(this.#key, this.#codec.encode(member))
  }

  /** The batch needs the set to have the member, or not to have it. */
  expect(member: T, present: boolean): void {
    this.#batch.ifMember(this.#key, this.#codec.encode(member), present)
  }
}

export class WriteSortedSet<T> {
  readonly #batch: Batch
  readonly #key: Uint8Array
  readonly #codec: ValueCodec<T>

  constructor(batch: Batch, key: Uint8Array, codec: ValueCodec<T>) {
    this.#batch = batch
    this.#key = key
    this.#codec = codec
  }

  add(member: T, score: number): void {
    this.#batch.zadd(this.#key, { member: this.#codec.encode(member), score })
  }

  increment(member: T, by: number): void {
    this.#batch.zincrby(this.#key, this.#codec.encode(member), by)
  }

  /** Adds to the score, and deletes the member when it becomes 0. */
  count(member: T, by: number): void {
    this.#batch.zcounter(this.#key, this.#codec.encode(member), by)
  }

  delete(member: T): void {
    this.#batch.zrem(this.#key, this.#codec.encode(member))
  }

  /** The batch needs the member to have this score, or none. */
  expect(member: T, score: number | undefined): void {
    this.#batch.ifScore(this.#key, this.#codec.encode(member), score)
  }
}

/** `Batch.use`, by the kind of a collection's value. */
export interface UseForWrites {
  <P extends Parts, T>(collection: Collection<P, Scans, Value<T>>): KeyedCollection<P, WriteValue<T>>
  <P extends Parts, F extends Fields>(
    collection: Collection<P, Scans, Hash<F>>
  ): KeyedCollection<P, WriteHash<F>>
  <P extends Parts, T>(collection: Collection<P, Scans, Members<'set', T>>): KeyedCollection<P, WriteSet<T>>
  <P extends Parts, T>(
    collection: Collection<P, Scans, Members<'sorted set', T>>
  ): KeyedCollection<P, WriteSortedSet<T>>
}

/** The writes for the kind of a collection's value. */
export const writesOf = (batch: Batch, collection: Collection): KeyedCollection<Parts, unknown> => {
  const { value } = collection
  switch (value.kind) {
    case 'value':
      return new KeyedCollection(collection, key => new WriteValue(batch, key, value.codec))
    case 'hash':
      return new KeyedCollection(collection, key => new WriteHash(batch, key, value.fields))
    case 'set': {
      const codec = wordCodec(value.member)
      return new KeyedCollection(collection, key => new WriteSet(batch, key, codec))
    }
    case 'sorted set': {
      const codec = wordCodec(value.member)
      return new KeyedCollection(collection, key => new WriteSortedSet(batch, key, codec))
    }
    case 'log':
    case 'queue':
      throw notForUse(collection.name, value.kind)
  }
}
