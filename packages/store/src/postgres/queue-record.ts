/** The record of a queue's item, and its columns. Texts are bytes: PostgreSQL's own have no NUL. */
import type { QueueItem, QueueState } from '../engine.ts'
import type { ColumnValue } from './arrays.ts'
import type { Row } from './database.ts'
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
  placeholder: string,
  encode: (record: QueueRecord) => ColumnValue
): Column<QueueRecord> => ({ name, type, placeholder, encode })

export const QUEUE_COLUMNS: readonly Column<QueueRecord>[] = [
  column('state', 'text', "''", ({ state }) => state),
  column('at', 'float8', '0', ({ at }) => at),
  column('score', 'float8', '0', ({ score }) => score),
  column('enqueued', 'float8', '0', ({ enqueued }) => enqueued),
  column('attempts', 'int4', '0', ({ attempts }) => attempts),
  column('error_class', 'bytea', "''", ({ errorClass }) => errorClass),
  column('reason', 'bytea', "''", ({ reason }) => reason),
  column('since', 'float8', 'NULL', ({ since }) => since ?? null),
  column('token', 'bytea', 'NULL', ({ token }) => token ?? null),
  column('dependency', 'bytea', 'NULL', ({ dependency }) => dependency ?? null)
]

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
