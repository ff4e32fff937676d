/**
 * The operations of queues (`operations.ts`) on the rows in memory. A lease looks at rows in the order of their times,
 * so they are loaded before: the first that are due and that no other transaction has locked, and those whose lease or
 * wait is over.
 */
import { bytesKey, equalBytes } from '@quoin/primitives'
import type { QueueItem, QueueState, Rows } from '../engine.ts'
import { CLOCK_REPAIRS, EXPIRE_LIMIT, EXPIRED_CLASS, EXPIRED_REASON, type Operations } from '../operations.ts'
import type { Query } from './client.ts'
import { AT_REST, ITEM_COLUMNS, newRecord, type QueueRecord, queueItem, recordFrom } from './queue-record.ts'
import { put, type TableRows } from './table-rows.ts'

/** Returns the answer of the operation, if it has one. */
export type Step = () => unknown
type Operation = (...args: never[]) => unknown
type QueueOperation = 'enqueue' | 'lease' | 'renew' | 'remove' | 'retry' | 'bury' | 'wait' | 'wake' | 'revive'

const EMPTY: Uint8Array = new Uint8Array()
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const EXPIRED = { errorClass: bytes(EXPIRED_CLASS), reason: bytes(EXPIRED_REASON) }

/** One lease of a batch, and the dependency that one `wake` names. */
export interface LeaseScan {
  readonly key: Uint8Array
  readonly count: number
  readonly now: number
  readonly clock: number
}
export interface WakeScan {
  readonly key: Uint8Array
  readonly dependency: Uint8Array
}

export class Queues {
  readonly #rows: TableRows<QueueRecord>
  readonly #table: string
  readonly #leases: LeaseScan[] = []
  readonly #wakes: WakeScan[] = []

  constructor(rows: TableRows<QueueRecord>, schema: string) {
    this.#rows = rows
    this.#table = `${schema}.queue_items`
  }

  isLeased(key: Uint8Array, item: Uint8Array, token: Uint8Array): boolean {
    const record = this.#rows.cell(key, item).value
    return record?.state === 'leased' && equalBytes(record.token ?? EMPTY, token)
  }

  /** The operations of a batch while its rows are announced: each records its step. */
  announced(record: (step: Step) => void): Pick<Operations<undefined>, QueueOperation> {
    const announced = (name: QueueOperation) => {
      const [announce, run] = [this.#announcements[name], this.operations[name]] as Operation[]
      return (...args: never[]) => {
        announce!(...args)
        record(() => run!(...args))
      }
    }
    return Object.fromEntries(
      (Object.keys(this.operations) as QueueOperation[]).map(name => [name, announced(name)])
    ) as unknown as Pick<Operations<undefined>, QueueOperation>
  }

  readonly #announcements: Pick<Operations<undefined>, QueueOperation> = {
    enqueue: (key, item) => void this.#rows.readCell(key, item),
    lease: (key, _token, count, _until, _allowed, now, clock) => {
      this.#leases.push({ key, count, now, clock })
      return undefined
    },
    renew: (key, item) => void this.#rows.readCell(key, item),
    remove: (key, item) => void this.#rows.readCell(key, item),
    retry: (key, item) => void this.#rows.readCell(key, item),
    bury: (key, item) => void this.#rows.readCell(key, item),
    wait: (key, item) => void this.#rows.readCell(key, item),
    wake: (key, dependency) => void this.#wakes.push({ key, dependency }),
    revive: (key, item) => void this.#rows.readCell(key, item)
  }

  /** Loads and locks what leases and wakes will look at. */
  async loadScans(query: Query): Promise<void> {
    // What earlier operations of the batch may take away from, or put before, the rows of a scan.
    let margin = this.#rows.size
    for (const { key, dependency } of this.#wakes) {
      await this.#load(
        query,
        key,
        'ORDER BY item FOR UPDATE',
        "state = 'waiting' AND dependency = $2::bytea",
        [dependency]
      )
    }
    for (const { key, count, now, clock } of this.#leases) {
      await this.#load(
        query,
        key,
        'ORDER BY at, item LIMIT $3::int8 FOR UPDATE SKIP LOCKED',
        "state = 'due' AND at <= $2::float8",
        [now, Math.max(0, Math.trunc(count)) + margin]
      )
      await this.#load(query, key, 'ORDER BY item FOR UPDATE SKIP LOCKED', overdue(this.#table), [
        now,
        clock,
        margin
      ])
      margin += Math.max(0, Math.trunc(count)) + 2 * EXPIRE_LIMIT + 3 * CLOCK_REPAIRS
    }
  }

  readonly operations: Pick<Operations<QueueItem[]>, QueueOperation> = {
    enqueue: (key, item, score, now) => {
      const record = this.#rows.cell(key, item).value
      if (record === undefined) {
        this.#put(key, item, newRecord(score, now))
      } else if (record.state === 'due' && record.attempts === 0) {
        this.#put(key, item, { ...record, score, at: score })
      }
    },
    lease: (key, token, count, until, allowed, now, clock) => {
      this.#repair(key, 'leased', clock)
      this.#repair(key, 'waiting', now)
      for (const [item, record] of this.#pick(key, 'leased', {
        max: { score: clock },
        count: EXPIRE_LIMIT
      })) {
        if (record.attempts < allowed) this.#becomeDue(key, item, record)
        else this.#put(key, item, { ...record, ...AT_REST, ...EXPIRED, state: 'dead', at: now })
      }
      for (const [item, record] of this.#pick(key, 'waiting', { max: { score: now }, count: EXPIRE_LIMIT })) {
        this.#becomeDue(key, item, record)
      }
      this.#repair(key, 'due', now)
      return this.#pick(key, 'due', { max: { score: now }, count }).map(([item, record]) => {
        const leased: QueueRecord = {
          ...record,
          ...AT_REST,
          state: 'leased',
          at: until,
          since: clock,
          token,
          attempts: record.attempts + 1
        }
        this.#put(key, item, leased)
        return queueItem(item.slice(), leased)
      })
    },
    renew: (key, item, until, clock) => this.#whileLeased(key, item, () => ({ at: until, since: clock })),
    remove: (key, item) => this.#put(key, item, undefined),
    retry: (key, item, errorClass, reason, at, now) =>
      this.#whileLeased(key, item, () => ({ ...AT_REST, state: 'due', at, since: now, errorClass, reason })),
    bury: (key, item, errorClass, reason, now) =>
      this.#whileLeased(key, item, () => ({ ...AT_REST, state: 'dead', at: now, errorClass, reason })),
    wait: (key, item, errorClass, reason, dependency, until, now) =>
      this.#whileLeased(key, item, ({ attempts }) => ({
        ...AT_REST,
        state: 'waiting',
        at: until,
        since: now,
        dependency,
        errorClass,
        reason,
        attempts: attempts - 1
      })),
    wake: (key, dependency) => {
      for (const [item, record] of this.#pick(key, 'waiting', {})) {
        if (equalBytes(record.dependency!, dependency)) this.#becomeDue(key, item, record)
      }
    },
    revive: (key, item) => {
      const record = this.#rows.cell(key, item).value
      if (record?.state === 'dead') this.#becomeDue(key, item, { ...record, attempts: 0 })
    }
  }

  #put(key: Uint8Array, item: Uint8Array, record: QueueRecord | undefined): void {
    put(this.#rows.cell(key, item), record)
  }

  #whileLeased(
    key: Uint8Array,
    item: Uint8Array,
    change: (record: QueueRecord) => Partial<QueueRecord>
  ): void {
    const record = this.#rows.cell(key, item).value
    if (record?.state === 'leased') this.#put(key, item, { ...record, ...change(record) })
  }

  #becomeDue(key: Uint8Array, item: Uint8Array, record: QueueRecord): void {
    this.#put(key, item, { ...record, ...AT_REST, state: 'due', at: record.score })
  }

  /** Corrects times in a state that a clock which was ahead has written. */
  #repair(key: Uint8Array, state: QueueState, now: number): void {
    const later = this.#pick(key, state, {
      min: { score: now, exclusive: true },
      max: { score: Number.POSITIVE_INFINITY, exclusive: true },
      reverse: true,
      count: CLOCK_REPAIRS
    })
    for (const [item, record] of later) {
      if (record.since !== undefined) {
        if (record.since <= now) return
        this.#put(key, item, { ...record, at: now + (record.at - record.since), since: now })
      } else if (state === 'due' && record.enqueued > now && record.score <= record.enqueued) {
        const score = now + (record.score - record.enqueued)
        this.#put(key, item, { ...record, score, at: score, enqueued: now })
      }
    }
  }

  /** Items in a state by (at, item), of a range of times. */
  #pick(key: Uint8Array, state: QueueState, { min, max, reverse = false, count }: Rows): Found[] {
    const found = [...this.#rows.of(key)].filter(
      ([, { state: own, at }]) =>
        own === state &&
        (min === undefined || at > min.score) &&
        (max === undefined || (max.exclusive ? at < max.score : at <= max.score))
    )
    found.sort(([a, x], [b, y]) => x.at - y.at || (bytesKey(a) < bytesKey(b) ? -1 : 1))
    return (reverse ? found.reverse() : found).slice(0, count)
  }

  async #load(
    query: Query,
    key: Uint8Array,
    order: string,
    condition: string,
    values: readonly unknown[]
  ): Promise<void> {
    const rows = await query(
      `SELECT item, ${ITEM_COLUMNS} FROM ${this.#table} q WHERE key = $1::bytea AND ${condition} ${order}`,
      [key, ...values]
    )
    for (const [item, ...record] of rows) this.#rows.adopt(key, item as Uint8Array, recordFrom(record))
  }
}

type Found = readonly [item: Uint8Array, record: QueueRecord]

/**
 * Items whose lease or wait is over, and those that `#repair` looks at: from the latest time down to the first that no
 * clock which was ahead has written. $2 is now, $3 the clock of leases, $4 a margin of both.
 */
const overdue = (table: string): string => {
  const over = (state: string, time: string): string =>
    `SELECT item FROM (SELECT item FROM ${table} WHERE key = $1::bytea AND state = '${state}' AND at <= ${time}
      ORDER BY at, item LIMIT ${EXPIRE_LIMIT} + $4::int8) AS over_${state}`
  const ahead = (state: string, time: string): string =>
    `SELECT item FROM (
      SELECT item, since, enqueued, score, count(*) FILTER (WHERE since <= ${time})
        OVER (ORDER BY at DESC, item DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS ends
      FROM (SELECT item, at, since, enqueued, score FROM ${table}
        WHERE key = $1::bytea AND state = '${state}' AND at > ${time} AND at < 'Infinity'
        ORDER BY at DESC, item DESC LIMIT ${CLOCK_REPAIRS} + $4::int8) AS later_${state}) AS ahead_${state}
     WHERE ends <= $4::int8 AND
       ($4::int8 > 0 OR since > ${time} OR (since IS NULL AND enqueued > ${time} AND score <= enqueued))`
  const now = '$2::float8'
  const clock = '$3::float8'
  return `item IN (${[
    over('leased', clock),
    over('waiting', now),
    ahead('leased', clock),
    ahead('waiting', now),
    ahead('due', now)
  ].join(' UNION ALL ')})`
}
