/** Calls on one connection of `pg`. */
import { QuoinError } from '@quoin/primitives'
import type { ClientBase, PoolClient } from 'pg'
import { CommitAfter, submitted } from './commit-after.ts'
import { rejectStoreError, storeError } from './errors.ts'

export type Row = readonly unknown[]
/** Rows of a statement; statements with values are prepared once for each connection. */
export type Query = (sql: string, values?: readonly unknown[]) => Promise<Row[]>

/** A statement with its values. */
export interface Statement {
  readonly sql: string
  readonly values: readonly unknown[]
}

/** Of a connection that is lost between two queries: the next one is rejected with the reason. */
export const failsNextQuery = (): void => {}

const names = new Map<string, string>()
/** Prepared statements are named by their text. */
const nameOf = (sql: string): string => {
  let name = names.get(sql)
  if (name === undefined) {
    name = `quoin_${names.size}`
    names.set(sql, name)
  }
  return name
}

/** Statements on one connection, one after the other. */
export const queryOn = (client: ClientBase): Query => {
  let last: Promise<unknown> = Promise.resolve()
  return (sql, values) => {
    const prepared = values ? { name: nameOf(sql), values: values as unknown[] } : {}
    const send = () => client.query<unknown[]>({ text: sql, rowMode: 'array', ...prepared })
    const reply = last.then(send, send).then(({ rows }) => rows, rejectStoreError)
    last = reply
    return reply
  }
}

/**
 * Commits, after a last statement that is sent with it. A commit that lost its reply may have been done. One that stopped
 * waiting for a synchronous standby is done on this server, and PostgreSQL says so in a warning only.
 */
export const commit = async (client: PoolClient, last?: Statement): Promise<void> => {
  let warning: string | undefined
  const onNotice = (notice: { severity?: string | undefined; message?: string | undefined }): void => {
    if (notice.severity === 'WARNING') warning = notice.message
  }
  const sent = last && new CommitAfter(nameOf(last.sql), last)
  client.on('notice', onNotice)
  try {
    if (sent) await submitted(client, sent)
    else await client.query('COMMIT')
  } catch (error) {
    throw storeError(error, sent?.isRefused ? {} : { outcome: 'unknown' })
  } finally {
    client.off('notice', onNotice)
  }
  if (warning !== undefined) {
    throw new QuoinError(
      'ERR_STORE_REPLICAS',
      `the batch is on the primary, and perhaps on no standby: ${warning}`,
      { outcome: 'applied' }
    )
  }
}
