/** The record of a queue's item, and its columns. Texts are bytes: PostgreSQL's own have no NUL. */
import type { QueueItem, QueueState } from '../engine.ts'
import type { ColumnValue } from './arrays.ts'
import type { Row } from './client.ts'
import type { Column } from './table-rows.ts'

export interface QueueRecord {
  readonly state: QueueState
  /** See `ListedItem`. */
  readonly at: number
  readonly score: number
  readonly enqueued: number
  readonly attempts: number
  readonly errorClass: Uint8Array
  readonly reason: Uint8Array
  /** When its lease, its wait or the delay before a retry began; undefined when it stands at its score. */
  readonly since: number | undefined
  /** Of the lease, while it is leased. */
  readonly token: Uint8Array | undefined
  /** What it waits for, while it waits. */
  readonly dependency: Uint8Array | undefined
}

const column = (
  name: string,
  type: Column<QueueRecord>['type'],
  encode: (record: QueueRecord) => ColumnValue
): Column<QueueRecord> => ({ name, type, encode })

export const QUEUE_COLUMNS: readonly Column<QueueRecord>[] = [
  column('state', 'text', ({ state }) => state),
  column('at', 'float8', ({ at }) => at),
  column('score', 'float8', ({ score }) => score),
  column('enqueued', 'float8', ({ enqueued }) => enqueued),
  column('attempts', 'int4', ({ attempts }) => attempts),
  column('error_class', 'bytea', ({ errorClass }) => errorClass),
  column('reason', 'bytea', ({ reason }) => reason),
  column('since', 'float8', ({ since }) => since ?? null),
  column('token', 'bytea', ({ token }) => token ?? null),
  column('dependency', 'bytea', ({ dependency }) => dependency ?? null)
]

const EMPTY: Uint8Array = new Uint8Array()

/** Of an item that is new in its queue. */
export const newRecord = (score: number, enqueued: number): QueueRecord => ({
  state: 'due',
  at: score,
  score,
  enqueued,
  attempts: 0,
  errorClass: EMPTY,
  reason: EMPTY,
  ...AT_REST
})

/** Of an item that is neither leased nor waits. */
export const AT_REST = { since: undefined, token: undefined, dependency: undefined } as const

export const ITEM_COLUMNS = QUEUE_COLUMNS.map(({ name }) => name).join(', ')

/** A record from its columns, in their order. */
export const recordFrom = (row: Row): QueueRecord => {
  const [state, at, score, enqueued, attempts, errorClass, reason, since, token, dependency] = row
  return {
    state,
    at,
    score,
    enqueued,
    attempts,
    errorClass,
    reason,
    since: since ?? undefined,
    token: token ?? undefined,
    dependency: dependency ?? undefined
  } as QueueRecord
}

/** All of a text, be its first character a byte order mark. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

export const queueItem = (item: Uint8Array, record: QueueRecord): QueueItem => ({
  item,
  score: record.score,
  enqueued: record.enqueued,
  attempts: record.attempts,
  errorClass: decoder.decode(record.errorClass),
  reason: decoder.decode(record.reason)
})
