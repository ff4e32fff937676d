/**
 * The rows that a group of batches touches, in all tables. A batch is decoded twice: first it announces its rows, which
 * are then locked and loaded; then its conditions and operations (`operations.ts`) run on them in memory.
 */
import { equalBytes } from '@quoin/primitives'
import type { QueueItem } from '../engine.ts'
import type { Conditions, Operations } from '../operations.ts'
import type { Query } from './client.ts'
import { newRecord, QUEUE_COLUMNS, type QueueRecord, recordFrom } from './queue-record.ts'
import { Queues } from './queues.ts'
import { type Column, type Table, TableRows } from './table-rows.ts'

const EMPTY: Uint8Array = new Uint8Array()
/** The member of a log whose score is the last position given. */
const LAST = EMPTY

const VALUE: Column<Uint8Array> = {
  name: 'value',
  type: 'bytea',
  encode: value => value
}
const SCORE: Column<number> = { name: 'score', type: 'float8', encode: score => score }

const KEY_VALUES: Table<Uint8Array> = {
  name: 'key_values',
  keys: ['key'],
  columns: [VALUE],
  valueFrom: ([value]) => value as Uint8Array,
  blank: EMPTY
}
const HASH_FIELDS: Table<Uint8Array> = {
  name: 'hash_fields',
  keys: ['key', 'field'],
  columns: [VALUE],
  valueFrom: ([value]) => value as Uint8Array,
  blank: EMPTY
}
const SET_MEMBERS: Table<true> = {
  name: 'set_members',
  keys: ['key', 'member'],
  columns: [],
  valueFrom: () => true,
  blank: true
}
const SORTED_SETS: Table<number> = {
  name: 'sorted_sets',
  keys: ['key', 'member'],
  columns: [SCORE],
  valueFrom: ([score]) => score as number,
  blank: 0
}
const QUEUE_ITEMS: Table<QueueRecord> = {
  name: 'queue_items',
  keys: ['key', 'item'],
  columns: QUEUE_COLUMNS,
  valueFrom: recordFrom,
  blank: newRecord(0, 0)
}

export class BatchRows {
  readonly #values: TableRows<Uint8Array>
  readonly #fields: TableRows<Uint8Array>
  readonly #members: TableRows<true>
  readonly #scores: TableRows<number>
  readonly #items: TableRows<QueueRecord>
  readonly #queues: Queues

  constructor(schema: string) {
    this.#values = new TableRows(schema, KEY_VALUES)
    this.#fields = new TableRows(schema, HASH_FIELDS)
    this.#members = new TableRows(schema, SET_MEMBERS)
    this.#scores = new TableRows(schema, SORTED_SETS)
    this.#items = new TableRows(schema, QUEUE_ITEMS)
    this.#queues = new Queues(this.#items, schema)
    this.announcedOperations = {
      set: key => this.#values.writes(key),
      del: key => this.#values.writes(key),
      hset: (key, field) => this.#fields.writes(key, field),
      hdel: (key, field) => this.#fields.writes(key, field),
      sadd: (key, member) => this.#members.writes(key, member),
      srem: (key, member) => this.#members.writes(key, member),
      zadd: (key, member) => this.#scores.writes(key, member),
      zrem: (key, member) => this.#scores.writes(key, member),
      zincrby: (key, member) => {
        this.#scores.needs(key, member)
        return 0
      },
      zcounter: (key, member) => this.#scores.needs(key, member),
      append: (key, entry) => {
        this.#scores.needs(key, entry)
        this.#scores.needs(key, LAST)
      },
      ...this.#queues.announcements
    }
    this.operations = {
      set: (key, value) => this.#values.put(key, EMPTY, value),
      del: key => this.#values.put(key, EMPTY, undefined),
      hset: (key, field, value) => this.#fields.put(key, field, value),
      hdel: (key, field) => this.#fields.put(key, field, undefined),
      sadd: (key, member) => this.#members.put(key, member, true),
      srem: (key, member) => this.#members.put(key, member, undefined),
      zadd: (key, member, score) => this.#scores.put(key, member, score),
      zrem: (key, member) => this.#scores.put(key, member, undefined),
      zincrby: (key, member, increment) => {
        const score = (this.#scores.get(key, member) ?? 0) + increment
        this.#scores.put(key, member, score)
        return score
      },
      zcounter: (key, member, increment) => {
        const score = (this.#scores.get(key, member) ?? 0) + increment
        this.#scores.put(key, member, score === 0 ? undefined : score)
      },
      append: (key, entry) => {
        if (this.#scores.get(key, entry) !== undefined) return
        const position = (this.#scores.get(key, LAST) ?? 0) + 1
        this.#scores.put(key, LAST, position)
        this.#scores.put(key, entry, position)
      },
      ...this.#queues.operations
    }
  }

  readonly announcedConditions: Conditions = {
    valueIs: key => announced(this.#values.needs(key)),
    valueAbsent: key => announced(this.#values.needs(key)),
    fieldIs: (key, field) => announced(this.#fields.needs(key, field)),
    fieldAbsent: (key, field) => announced(this.#fields.needs(key, field)),
    scoreIs: (key, member) => announced(this.#scores.needs(key, member)),
    scoreAbsent: (key, member) => announced(this.#scores.needs(key, member)),
    memberPresent: (key, member) => announced(this.#members.needs(key, member)),
    memberAbsent: (key, member) => announced(this.#members.needs(key, member)),
    leaseHeld: (key, item) => announced(this.#items.needs(key, item))
  }
  readonly announcedOperations: Operations<undefined>

  readonly conditions: Conditions = {
    valueIs: (key, expected) => isSame(this.#values.get(key), expected),
    valueAbsent: key => this.#values.get(key) === undefined,
    fieldIs: (key, field, expected) => isSame(this.#fields.get(key, field), expected),
    fieldAbsent: (key, field) => this.#fields.get(key, field) === undefined,
    scoreIs: (key, member, score) => this.#scores.get(key, member) === score,
    scoreAbsent: (key, member) => this.#scores.get(key, member) === undefined,
    memberPresent: (key, member) => this.#members.get(key, member) !== undefined,
    memberAbsent: (key, member) => this.#members.get(key, member) === undefined,
    leaseHeld: (key, item, token) => this.#queues.isLeased(key, item, token)
  }
  readonly operations: Operations<QueueItem[]>

  get hasChanges(): boolean {
    return this.#tables.some(table => table.hasChanges)
  }

  /** Whether the batches have conditions, or operations that depend on the rows that they change. */
  get hasReads(): boolean {
    return this.#tables.some(table => table.hasReads)
  }

  /** Takes the changes so far as predictions of the rows, and forgets them. */
  predict(): void {
    for (const table of this.#tables) table.predict()
  }

  /**
   * Locks and loads the rows that were announced, table after table; last the last positions of logs, which every writer of
   * a log waits for. Queues are scanned under all of these locks: a scan sees the batches that this one has waited for.
   */
  async load(query: Query): Promise<void> {
    for (const table of [this.#values, this.#fields, this.#members, this.#items]) await table.lock(query)
    await this.#scores.lock(query, member => member.length > 0)
    await this.#scores.lock(query, member => member.length === 0)
    await this.#queues.loadScans(query)
  }

  async write(query: Query): Promise<void> {
    for (const table of this.#tables) await table.write(query)
  }

  get #tables(): readonly Pick<TableRows<unknown>, 'hasChanges' | 'hasReads' | 'predict' | 'write'>[] {
    return [this.#values, this.#fields, this.#members, this.#items, this.#scores]
  }
}

/** While rows are announced, every condition holds. */
const announced = (_: unknown): true => true

const isSame = (value: Uint8Array | undefined, expected: Uint8Array): boolean =>
  value !== undefined && equalBytes(value, expected)
