/**
 * The rows that a group of batches touches, in all tables. A batch is decoded once, into steps on cells: the rows are
 * locked and loaded, then the conditions and operations (`operations.ts`) run on them in memory.
 */
import { equalBytes } from '@quoin/primitives'
import type { BatchDecoder } from '../batch-decoder.ts'
import type { Conditions, Operations } from '../operations.ts'
import type { Query, Statement } from './client.ts'
import { DeferredEntries } from './deferred-appends.ts'
import { LogAppends } from './log-appends.ts'
import { newRecord, QUEUE_COLUMNS, type QueueRecord, recordFrom } from './queue-record.ts'
import { Queues, type Step } from './queues.ts'
import { type Cell, type Column, put, type Table, TableRows } from './table-rows.ts'

const EMPTY: Uint8Array = new Uint8Array()

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

/** The steps of a batch. */
export interface Steps {
  readonly conditions: readonly (() => boolean)[]
  /** Each returns the answer of its operation, if it has one. */
  readonly operations: readonly Step[]
}

export class BatchRows {
  readonly #values: TableRows<Uint8Array>
  readonly #fields: TableRows<Uint8Array>
  readonly #members: TableRows<true>
  readonly #scores: TableRows<number>
  readonly #items: TableRows<QueueRecord>
  readonly #queues: Queues
  readonly #logs: LogAppends
  readonly #deferred: DeferredEntries
  readonly #announcedOperations: Operations<undefined>
  #conditions: (() => boolean)[] = []
  #operations: Step[] = []
  #hasScan = false

  /** `isCareful` when an entry of a log may be there already. */
  constructor(schema: string, isCareful: boolean) {
    this.#values = new TableRows(schema, KEY_VALUES)
    this.#fields = new TableRows(schema, HASH_FIELDS)
    this.#members = new TableRows(schema, SET_MEMBERS)
    this.#scores = new TableRows(schema, SORTED_SETS)
    this.#items = new TableRows(schema, QUEUE_ITEMS)
    this.#queues = new Queues(this.#items, schema)
    this.#logs = new LogAppends(this.#scores, schema, isCareful)
    this.#deferred = new DeferredEntries(schema)
    this.#announcedOperations = {
      set: (key, value) => this.#puts(this.#values.cell(key), value),
      del: key => this.#puts(this.#values.cell(key), undefined),
      hset: (key, field, value) => this.#puts(this.#fields.cell(key, field), value),
      hdel: (key, field) => this.#puts(this.#fields.cell(key, field), undefined),
      sadd: (key, member) => this.#puts(this.#members.cell(key, member), true),
      srem: (key, member) => this.#puts(this.#members.cell(key, member), undefined),
      zadd: (key, member, score) => this.#puts(this.#scores.cell(key, member), score),
      zrem: (key, member) => this.#puts(this.#scores.cell(key, member), undefined),
      zincrby: (key, member, increment) => {
        const cell = this.#scores.readCell(key, member)
        this.#operations.push(() => {
          const score = (cell.value ?? 0) + increment
          put(cell, score)
          return score
        })
        return 0
      },
      zcounter: (key, member, increment) => {
        const cell = this.#scores.readCell(key, member)
        this.#operations.push(() => {
          const score = (cell.value ?? 0) + increment
          put(cell, score === 0 ? undefined : score)
        })
      },
      append: (key, entry) => void this.#operations.push(this.#logs.append(key, entry)),
      appendDeferred: (key, entry) => void this.#operations.push(() => this.#deferred.push(key, entry)),
      ...this.#queues.announced(step => void this.#operations.push(step))
    }
  }

  /** Decodes batches, and names their rows. */
  stepsOf(batches: readonly BatchDecoder[]): Steps[] {
    const all = batches.map(batch => {
      const conditions: (() => boolean)[] = []
      const operations: Step[] = []
      this.#conditions = conditions
      this.#operations = operations
      batch.firstFailing(this.#announcedConditions)
      batch.run(this.#announcedOperations)
      this.#hasScan ||= batch.hasScan
      return { conditions, operations }
    })
    this.#logs.nameRows()
    return all
  }

  readonly #announcedConditions: Conditions = {
    valueIs: (key, expected) => this.#is(this.#values.readCell(key), expected),
    valueAbsent: key => this.#isAbsent(this.#values.readCell(key)),
    fieldIs: (key, field, expected) => this.#is(this.#fields.readCell(key, field), expected),
    fieldAbsent: (key, field) => this.#isAbsent(this.#fields.readCell(key, field)),
    scoreIs: (key, member, score) => {
      const cell = this.#scores.readCell(key, member)
      return this.#condition(() => cell.value === score)
    },
    scoreAbsent: (key, member) => this.#isAbsent(this.#scores.readCell(key, member)),
    memberPresent: (key, member) => {
      const cell = this.#members.readCell(key, member)
      return this.#condition(() => cell.value !== undefined)
    },
    memberAbsent: (key, member) => this.#isAbsent(this.#members.readCell(key, member)),
    leaseHeld: (key, item, token) => {
      this.#items.readCell(key, item)
      return this.#condition(() => this.#queues.isLeased(key, item, token))
    }
  }

  #is(cell: Cell<Uint8Array>, expected: Uint8Array): true {
    return this.#condition(() => cell.value !== undefined && equalBytes(cell.value, expected))
  }

  #isAbsent(cell: Cell<unknown>): true {
    return this.#condition(() => cell.value === undefined)
  }

  /** While rows are announced, every condition holds. */
  #condition(holds: () => boolean): true {
    this.#conditions.push(holds)
    return true
  }

  #puts<T>(cell: Cell<T>, value: T | undefined): void {
    this.#operations.push(() => put(cell, value))
  }

  /** Whether what the batches write depends on rows, or on the order in which rows are locked. */
  get hasReads(): boolean {
    return this.#hasScan || this.#tables.some(table => table.hasReads || table.hasDeletions)
  }

  get hasDeferred(): boolean {
    return this.#deferred.size > 0
  }

  get hasChanges(): boolean {
    return this.#logs.hasEntries || this.hasDeferred || this.#tables.some(table => table.hasChanges)
  }

  /** Takes the changes so far as predictions of the rows, and forgets them. */
  predict(): void {
    for (const table of this.#tables) table.predict()
    this.#logs.clear()
    this.#deferred.clear()
  }

  /**
   * Locks and loads the named rows, table after table; last the last positions of logs that are changed like sorted sets.
   * Queues are scanned under all of these locks: a scan sees the batches that this one has waited for.
   */
  async load(query: Query): Promise<void> {
    for (const table of [this.#values, this.#fields, this.#members, this.#items]) await table.lock(query)
    await this.#scores.lock(query, ({ member }) => member.length > 0)
    await this.#scores.lock(query, ({ member }) => member.length === 0)
    await this.#queues.loadScans(query)
  }

  /** Writes the changes, and returns the statement that is to be the last one. */
  async write(query: Query): Promise<Statement | undefined> {
    for (const table of this.#tables) await table.write(query)
    await this.#deferred.write(query)
    return this.#logs.statement
  }

  get #tables(): readonly Pick<
    TableRows<unknown>,
    'hasChanges' | 'hasDeletions' | 'hasReads' | 'predict' | 'write'
  >[] {
    return [this.#values, this.#fields, this.#members, this.#items, this.#scores]
  }
}
