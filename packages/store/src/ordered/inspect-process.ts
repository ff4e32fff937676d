/**
 * The process that reads every row of a store. LMDB may crash on a damaged page, which must not end the command that
 * asked: the reader is a process of its own, and says on standard output, line by line, how far it is.
 */
import { createHash } from 'node:crypto'
import { writeSync } from 'node:fs'
import { compareBytes, equalBytes, fromHex, toHex } from '@quoin/primitives'
import type { KeyValue } from '../engine.ts'
import { isSound } from './checksum.ts'
import type { StoreKind } from './directory.ts'
import { storeError } from './failure.ts'
import type { InspectedRow, InspectLine, InspectRequest } from './inspect.ts'
import { schemaRow } from './schema.ts'

/** Rows between two lines: after a crash it is known to so many rows where it came. */
const REPORT_ROWS = 1000

/** A database whose rows are walked by one cursor: a row out of order does not lead the walk astray. */
interface ScanResult {
  readonly rows: AsyncIterable<KeyValue> | Iterable<KeyValue>
  /** The result of a point read. */
  get(key: Uint8Array): Uint8Array | undefined
  /** The rows that the database says it has. */
  readonly count: number | undefined
  close(): Promise<void>
}

const say = (line: InspectLine): void => {
  const bytes = Buffer.from(`${JSON.stringify(line)}\n`)
  for (let at = 0; at < bytes.length; ) at += written(bytes, at)
}

/** A pipe that is full takes nothing until the other side has read. */
const written = (bytes: Uint8Array, at: number): number => {
  try {
    return writeSync(1, bytes, at)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return 0
    throw error
  }
}

const openWalked = (kind: StoreKind, path: string, reverse: boolean): Promise<ScanResult> =>
  kind === 'lmdb' ? openWalkedLmdb(path, reverse) : openWalkedLevel(path, reverse)

const openWalkedLmdb = async (path: string, reverse: boolean): Promise<ScanResult> => {
  const { closingOnFailure, openHandle, schemaOf } = await import('./lmdb-handle.ts')
  const handle = openHandle(path, { readOnly: true })
  await closingOnFailure(handle, () => schemaOf(path, handle))
  const transaction = handle.useReadTransaction()
  const { entryCount } = handle.getStats() as { entryCount: number }
  return {
    rows: handle.getRange({ limit: Number.MAX_SAFE_INTEGER, reverse, transaction }),
    get: key => {
      const row = handle.getBinaryFast(key, { transaction })
      // A Buffer that is larger than its length says.
      return row && new Uint8Array(row.buffer, row.byteOffset, row.length)
    },
    count: entryCount,
    close: async () => {
      transaction.done()
      await handle.close()
    }
  }
}

const openWalkedLevel = async (path: string, reverse: boolean): Promise<ScanResult> => {
  const { openHandle, schemaOf } = await import('./level-handle.ts')
  const handle = await openHandle(path)
  await schemaOf(path, handle)
  async function* rows(): AsyncGenerator<KeyValue> {
    for await (const [key, value] of handle.iterator({ reverse, fillCache: false })) yield { key, value }
  }
  return { rows: rows(), get: key => handle.getSync(key), count: undefined, close: () => handle.close() }
}

const inspect = async ({ kind, path, until }: InspectRequest): Promise<void> => {
  const reverse = until !== undefined
  const end = until === undefined ? undefined : fromHex(until)
  const walked = await openWalked(kind, path, reverse)
  const most = walked.count === undefined ? Number.POSITIVE_INFINITY : 2 * walked.count + REPORT_ROWS
  const hash = createHash('sha256')
  let rows = 0
  let last: Uint8Array | undefined
  for await (const { key: lent, value: lentValue } of walked.rows) {
    const [key, value] = [new Uint8Array(lent), new Uint8Array(lentValue)]
    if (end && compareBytes(key, end) <= 0) break
    const fault = faultOf(walked, key, value, last, reverse)
    if (fault) say({ type: 'damage', fault, row: toHex(key) })
    if (fault !== 'order') last = key
    hash.update(`${key.length} ${value.length} `).update(key).update(value)
    if (++rows % REPORT_ROWS === 0)
      say({ type: 'progress', rows, total: walked.count ?? null, last: toHex(key) })
    if (rows > most) {
      say({ type: 'failure', rows, message: 'the walk does not end', last: toHex(key) })
      return
    }
  }
  const isWhole = walked.count === undefined || reverse || walked.count === rows
  if (!isWhole) say({ type: 'count', rows, said: walked.count! })
  await walked.close()
  say({ type: 'done', rows, sha256: hash.digest('hex') })
}

const faultOf = (
  { get }: ScanResult,
  key: Uint8Array,
  value: Uint8Array,
  last: Uint8Array | undefined,
  reverse: boolean
): InspectedRow['fault'] | undefined => {
  const isSchema = equalBytes(key, schemaRow.key)
  if (!isSchema && !isSound(key, value)) return 'checksum'
  if (last && compareBytes(last, key) >= 0 !== reverse) return 'order'
  const found = get(key)
  return found && equalBytes(new Uint8Array(found), value) ? undefined : 'unreachable'
}

try {
  await inspect(JSON.parse(process.argv[2]!) as InspectRequest)
} catch (error) {
  const { code, message, details } = storeError(error)
  say({ type: 'error', code, message, details })
}
