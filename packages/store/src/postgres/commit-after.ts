/**
 * A statement and COMMIT in one message, as a query of `pg`: locks of the statement do not wait for the client. After an
 * error PostgreSQL skips what follows, up to Sync, so the commit is not done.
 * https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-PIPELINING
 */
import type { PoolClient } from 'pg'
import type { Statement } from './client.ts'

/** The part of a connection of `pg` that sends messages. */
interface Messages {
  readonly stream: { cork(): void; uncork(): void }
  readonly parsedStatements: Readonly<Record<string, string | undefined>>
  parse(message: { readonly text: string; readonly name?: string }): void
  bind(message: { readonly statement?: string; readonly values?: readonly unknown[] }): void
  execute(message: Record<string, never>): void
  sync(): void
}

export class CommitAfter {
  /** With these `pg` records that the statement is prepared. */
  readonly name: string
  readonly text: string
  readonly #values: readonly unknown[]
  #completed = 0
  /** Whether the server refused the statement, and so committed nothing. */
  isRefused = false
  /** Set, and wrapped in a timeout, by `pg`. */
  callback: (error?: unknown) => void = () => {}

  constructor(name: string, { sql, values }: Statement) {
    this.name = name
    this.text = sql
    this.#values = values
  }

  submit(connection: Messages): void {
    connection.stream.cork()
    const { name, text } = this
    if (connection.parsedStatements[name] === undefined) connection.parse({ name, text })
    connection.bind({ statement: name, values: this.#values })
    connection.execute({})
    connection.parse({ text: 'COMMIT' })
    connection.bind({})
    connection.execute({})
    connection.sync()
    connection.stream.uncork()
  }

  handleCommandComplete(): void {
    this.#completed++
  }

  handleReadyForQuery(): void {
    this.callback()
  }

  handleError(error: unknown): void {
    // Errors of the server have a severity; the connection has not ended.
    this.isRefused = this.#completed === 0 && (error as { severity?: unknown }).severity !== undefined
    this.callback(error)
  }
}

export const submitted = (client: PoolClient, query: CommitAfter): Promise<void> =>
  new Promise((resolve, reject) => {
    query.callback = error => (error === undefined ? resolve() : reject(error))
    client.query(query as never)
  })
