/** COPY in binary, as a floor: https://www.postgresql.org/docs/current/sql-copy.html */
import type pg from 'pg'

export type Field = Uint8Array | number

const SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')
const END = Buffer.from([0xff, 0xff])

/** Rows as COPY receives them: bytes as `bytea`, numbers as `float8`. */
export const binaryRows = (rows: readonly (readonly Field[])[]): Buffer => {
  let size = SIGNATURE.length + END.length
  for (const row of rows) {
    size += 2
    for (const field of row) size += 4 + (typeof field === 'number' ? 8 : field.length)
  }
  const buffer = Buffer.allocUnsafe(size)
  let at = SIGNATURE.copy(buffer)
  for (const row of rows) {
    at = buffer.writeInt16BE(row.length, at)
    for (const field of row) {
      if (typeof field === 'number') {
        at = buffer.writeInt32BE(8, at)
        at = buffer.writeDoubleBE(field, at)
      } else {
        at = buffer.writeInt32BE(field.length, at)
        buffer.set(field, at)
        at += field.length
      }
    }
  }
  END.copy(buffer, at)
  return buffer
}

/** The part of a connection of `pg` that copies. */
interface CopyConnection {
  query(text: string): void
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
}

export const copyInto = (client: pg.Client, table: string, rows: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    let failure: unknown
    const copy = {
      submit: (connection: CopyConnection) => connection.query(`COPY ${table} FROM STDIN (FORMAT binary)`),
      handleCopyInResponse: (connection: CopyConnection) => {
        connection.sendCopyFromChunk(rows)
        connection.endCopyFrom()
      },
      handleCommandComplete: () => {},
      handleReadyForQuery: () => (failure === undefined ? resolve() : reject(failure)),
      handleError: (error: unknown) => {
        failure = error
        reject(error)
      }
    }
    client.query(copy as never)
  })
