/**
 * Typed reads of declared collections. Keys, fields and members are encoded and decoded by the declaration, so callers
 * never see bytes.
 */

import {
  type Collection,
  type Hash,
  type KeyOf,
  type KeyPart,
  type Members,
  type PrefixOf,
  type Value,
  type ValueCodec,
  wordCodec
} from '@quoin/keyspace'
import { QuoinError } from '@quoin/primitives'
import { keyOnly } from './batch-encoder.ts'
import type { FieldValue } from './engine.ts'
import { ask, type ReadPlan } from './plan.ts'
import type { RangeLimits, ScoreRange, StoreReads } from './store.ts'

export type Parts = readonly KeyPart[]
export type Scans = readonly unknown[]
export type Fields = { readonly name: string }

/** A collection among the fields of a hash. */
export type Field<P extends Parts, T> = Collection<P, Scans, Value<T>>

export interface TypedRow<T> {
  readonly member: T
  readonly score: number
}

/** A collection whose keys stand for something: `at(...key)` is the set, the sorted set, the hash under one key. */
export class KeyedCollection<P extends Parts, At> {
  readonly #collection: { encode(...key: KeyOf<P>): Uint8Array }
  readonly #at: (key: Uint8Array) => At

  constructor(collection: { encode(...key: KeyOf<P>): Uint8Array }, at: (key: Uint8Array) => At) {
    this.#collection = collection
    this.#at = at
  }

  at(...key: KeyOf<P>): At {
    return this.#at(this.#collection.encode(...key))
  }
}

/** A collection of single values. */
export class Values<P extends Parts, S extends Scans, T> {
  readonly #reads: StoreReads
  readonly #collection: Collection<P, S, Value<T>>

  constructor(reads: StoreReads, collection: Collection<P, S, Value<T>>) {
    this.#reads = reads
    this.#collection = collection
  }

  get(...key: KeyOf<P>): Promise<T | undefined> {
    return this.#reads.run(this.plan(...key))
  }

  /** The same as part of a plan. */
  *plan(...key: KeyOf<P>): ReadPlan<T | undefined> {
    const encoded = keyOnly(this.#collection.encode(...key))
    const value = yield* ask(reads => reads.get(encoded))
    return value && this.#collection.value.codec.decode(value)
  }

  /** One answer for each key, in the order asked. */
  getMany(keys: readonly KeyOf<P>[]): Promise<(T | undefined)[]> {
    return this.#reads.run(this.planMany(keys))
  }

  *planMany(keys: readonly KeyOf<P>[]): ReadPlan<(T | undefined)[]> {
    if (keys.length === 0) return []
    const { codec } = this.#collection.value
    const encoded = keys.map(key => keyOnly(this.#collection.encode(...key)))
    const values = yield* ask(reads => reads.mget(encoded))
    return values.map(value => value && codec.decode(value))
  }

  /** The values of a promised scan, in the order of their keys. */
  async scan(prefix: PrefixOf<P, S>, limits?: RangeLimits): Promise<{ key: KeyOf<P>; value: T }[]> {
    const rows = await this.#reads.range(this.#collection.scan(...(prefix as never)), limits)
    return rows.map(({ key, value }) => ({
      key: this.#collection.decode(key),
      value: this.#collection.value.codec.decode(value)
    }))
  }
}

/** A collection of hashes. */
export class Hashes<P extends Parts, S extends Scans, F extends Fields> {
  readonly #reads: StoreReads
  readonly #collection: Collection<P, S, Hash<F>>

  constructor(reads: StoreReads, collection: Collection<P, S, Hash<F>>) {
    this.#reads = reads
    this.#collection = collection
  }

  at(...key: KeyOf<P>): HashAt<F> {
    return new HashAt(this.#reads, this.#collection.encode(...key), this.#collection.value.fields)
  }

  /** The hashes of a promised scan with all their fields, in the order of their keys. */
  async scan(
    prefix: PrefixOf<P, S>,
    limits?: RangeLimits
  ): Promise<{ key: KeyOf<P>; fields: FieldsRead<F> }[]> {
    const hashes = await this.#reads.hrange(this.#collection.scan(...(prefix as never)), limits)
    return hashes.map(({ key, fields }) => ({
      key: this.#collection.decode(key),
      fields: new FieldsRead(this.#collection.value.fields, fields)
    }))
  }
}

/** One hash. */
export class HashAt<F extends Fields> {
  readonly #reads: StoreReads
  readonly #key: Uint8Array
  readonly #fields: F

  constructor(reads: StoreReads, key: Uint8Array, fields: F) {
    this.#reads = reads
    this.#key = key
    this.#fields = fields
  }

  async get<P extends Parts, T>(field: Field<P, T>, ...key: KeyOf<P>): Promise<T | undefined> {
    const value = await this.#reads.hget(this.#key, fieldKey(this.#fields, field, key))
    return value && field.value.codec.decode(value)
  }

  /** One answer for each key of a field, in the order asked. */
  async getMany<P extends Parts, T>(
    field: Field<P, T>,
    keys: readonly KeyOf<P>[]
  ): Promise<(T | undefined)[]> {
    const names = keys.map(key => fieldKey(this.#fields, field, key))
    const values = await this.#reads.hmget(this.#key, names)
    return values.map(value => value && field.value.codec.decode(value))
  }

  async all(): Promise<FieldsRead<F>> {
    return new FieldsRead(this.#fields, await this.#reads.hgetall(this.#key))
  }
}

/** All fields of a hash, as they were read. */
export class FieldsRead<F extends Fields> {
  readonly #fields: F
  readonly #read: readonly FieldValue[]

  constructor(fields: F, read: readonly FieldValue[]) {
    this.#fields = fields
    this.#read = read
  }

  get size(): number {
    return this.#read.length
  }

  get<P extends Parts, T>(field: Field<P, T>, ...key: KeyOf<P>): T | undefined {
    const [found] = this.entries(field).filter(each => sameKey(each.key, key))
    return found?.value
  }

  /** The fields of one collection, in the order of their keys. */
  entries<P extends Parts, T>(field: Field<P, T>): { key: KeyOf<P>; value: T }[] {
    checkField(this.#fields, field)
    return this.#read
      .filter(each => field.owns(each.field))
      .map(each => ({ key: field.decode(each.field), value: field.value.codec.decode(each.value) }))
  }
}

/** One set. */
export class SetAt<T> {
  readonly #reads: StoreReads
  readonly #key: Uint8Array
  readonly #codec: ValueCodec<T>

  constructor(reads: StoreReads, key: Uint8Array, codec: ValueCodec<T>) {
    this.#reads = reads
    this.#key = key
    this.#codec = codec
  }

  has(member: T): Promise<boolean> {
    return this.#reads.sismember(this.#key, this.#codec.encode(member))
  }

  /** In the order of their bytes. */
  async members(): Promise<T[]> {
    return (await this.#reads.smembers(this.#key)).map(member => this.#codec.decode(member))
  }
}

/** One sorted set. */
export class SortedSetAt<T> {
  readonly #reads: StoreReads
  readonly key: Uint8Array
  readonly codec: ValueCodec<T>

  constructor(reads: StoreReads, key: Uint8Array, codec: ValueCodec<T>) {
    this.#reads = reads
    this.key = key
    this.codec = codec
  }

  score(member: T): Promise<number | undefined> {
    return this.#reads.zscore(this.key, this.codec.encode(member))
  }

  /** The same of many, in the order asked. */
  scores(members: readonly T[]): Promise<(number | undefined)[]> {
    return this.#reads.zmscore(
      this.key,
      members.map(member => this.codec.encode(member))
    )
  }

  count(): Promise<number> {
    return this.#reads.zcard(this.key)
  }

  sum(): Promise<number> {
    return this.#reads.zsum(this.key)
  }

  async range(range?: ScoreRange): Promise<TypedRow<T>[]> {
    return this.#typed(await this.#reads.zrange(this.key, range))
  }

  async reverseRange(range?: ScoreRange): Promise<TypedRow<T>[]> {
    return this.#typed(await this.#reads.zrevrange(this.key, range))
  }

  #typed(rows: readonly TypedRow<Uint8Array>[]): TypedRow<T>[] {
    return rows.map(({ member, score }) => ({ member: this.codec.decode(member), score }))
  }
}

/** `StoreReads.use`, by the kind of a collection's value. */
export interface UseForReads {
  <P extends Parts, S extends Scans, T>(collection: Collection<P, S, Value<T>>): Values<P, S, T>
  <P extends Parts, S extends Scans, F extends Fields>(collection: Collection<P, S, Hash<F>>): Hashes<P, S, F>
  <P extends Parts, T>(collection: Collection<P, Scans, Members<'set', T>>): KeyedCollection<P, SetAt<T>>
  <P extends Parts, T>(
    collection: Collection<P, Scans, Members<'sorted set', T>>
  ): KeyedCollection<P, SortedSetAt<T>>
}

/** The reads for the kind of a collection's value. */
export const readsOf = (reads: StoreReads, collection: Collection): unknown => {
  const { value } = collection
  switch (value.kind) {
    case 'value':
      return new Values(reads, collection as Collection<Parts, Scans, Value<unknown>>)
    case 'hash':
      return new Hashes(reads, collection as Collection<Parts, Scans, Hash<Fields>>)
    case 'set': {
      const codec = wordCodec(value.member)
      return new KeyedCollection(collection, key => new SetAt(reads, key, codec))
    }
    case 'sorted set': {
      const codec = wordCodec(value.member)
      return new KeyedCollection(collection, key => new SortedSetAt(reads, key, codec))
    }
    case 'log':
    case 'queue':
      throw notForUse(collection.name, value.kind)
  }
}

/** Logs and queues read and write: `Store` opens them. */
export const notForUse = (name: string, kind: 'log' | 'queue'): QuoinError =>
  new QuoinError('ERR_STORE_OPTION', `${name} holds ${kind}s, which Store.${kind}At opens`, {
    collection: name
  })

const sameKey = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.every((value, i) => {
    const other = b[i]
    return value instanceof Uint8Array && other instanceof Uint8Array
      ? value.length === other.length && value.every((byte, at) => byte === other[at])
      : value === other
  })

/** The fields of a hash are one keyspace: a field of another would mean something else there. */
const checkField = (fields: Fields, field: { readonly keyspace: string; readonly name: string }): void => {
  if (field.keyspace === fields.name) return
  throw new QuoinError(
    'ERR_KEY_VALUE',
    `${field.keyspace}.${field.name} is not a field of this hash, whose fields are ${fields.name}`,
    { field: field.name, fields: fields.name }
  )
}

/** The bytes of a field. */
export const fieldKey = <P extends Parts, T>(
  fields: Fields,
  field: Field<P, T>,
  key: KeyOf<P>
): Uint8Array => {
  checkField(fields, field)
  return field.encode(...key)
}
