/**
 * The redo log that version 0.1 kept beside LMDB, read once to recover a store. A checkpoint names a state whose pages are
 * all on the disk by a copy of the head of LMDB's file; the log has each commit since then. Neither is written here.
 *
 *     checkpoint: twice 512 bytes of JSON, then twice the head of the file
 *     a record: u32 length of the rows · u48 number of the commit · SHA-256 of log, file, number and rows · rows
 *     a row: u16 length of the key · u32 0 for a deleted row, or 1 + length of the value · key · value
 */
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { copyFile, open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { equalBytes, QuoinError } from '@quoin/primitives'
import { LMDB_FILE, REDO_CHECKPOINT } from '../ordered/directory.ts'
import { META, readId } from '../ordered/layout.ts'
import { openHandle } from '../ordered/lmdb-handle.ts'

const SLOTS = 2
const ABOUT_BYTES = 512
const REDO_FILES = ['redo-0', 'redo-1'] as const
const NUMBER_AT = 4
const DIGEST_AT = NUMBER_AT + 6
const ROWS_AT = DIGEST_AT + 32
const ROW_HEAD = 6

interface CheckpointText {
  readonly sequence: number
  readonly boot: string
  /** Nothing was committed after it, and everything before it is on the disk. */
  readonly closed: boolean
  /** Names the log, and the first of its files that has commits since then. */
  readonly log: string
  readonly file: number
}

interface Checkpoint extends CheckpointText {
  readonly head: Uint8Array
}

/** The checkpoint that a store has to be recovered from; undefined when its file has every commit. */
export const openCheckpoint = async (directory: string): Promise<Checkpoint | undefined> => {
  const bytes = await readOptional(join(directory, REDO_CHECKPOINT))
  const headBytes = (bytes.length - SLOTS * ABOUT_BYTES) / SLOTS
  const checkpoints = Array.from({ length: SLOTS }, (_, slot) => {
    const text = bytes.subarray(slot * ABOUT_BYTES, (slot + 1) * ABOUT_BYTES)
    const at = SLOTS * ABOUT_BYTES + slot * headBytes
    return readCheckpoint(text, bytes.subarray(at, at + headBytes))
  }).filter(checkpoint => checkpoint !== undefined)
  const last = checkpoints.toSorted((a, b) => b.sequence - a.sequence)[0]
  return last?.closed === false ? last : undefined
}

/** Undefined of a slot that was not written yet, or not wholly. */
const readCheckpoint = (text: Uint8Array, head: Uint8Array): Checkpoint | undefined => {
  let about: CheckpointText & { readonly digest: string }
  try {
    about = JSON.parse(new TextDecoder().decode(text))
  } catch {
    return undefined
  }
  const { sequence, boot, closed, log, file, digest } = about
  const found = createHash('sha256')
    .update(JSON.stringify([sequence, boot, closed, log, file]))
    .update(head)
    .digest('hex')
  return found === digest ? { sequence, boot, closed, log, file, head } : undefined
}

/**
 * Makes a copy of LMDB's file, takes it back to the checkpoint and commits the log again. Answers how many commits that
 * were. The store itself stays as it is.
 */
export const recoverCopy = async (
  directory: string,
  checkpoint: Checkpoint,
  into: string
): Promise<number> => {
  const copy = join(into, LMDB_FILE)
  await copyFile(join(directory, LMDB_FILE), copy, constants.COPYFILE_FICLONE)
  const file = await open(copy, 'r+')
  try {
    await file.write(checkpoint.head, 0, checkpoint.head.length, 0)
  } finally {
    await file.close()
  }
  const records = await readLog(directory, checkpoint)
  const handle = openHandle(into)
  try {
    return handle.transactionSync(() => {
      const row = handle.getBinary(META.commits)
      const first = row ? readId(row, 0) : 0
      for (const [i, { number, rows }] of records.entries()) {
        if (number !== first + i + 1) throw brokenLog(directory, number, first + i)
        for (const [key, value] of rows) {
          if (value) handle.putSync(key, value)
          else handle.removeSync(key)
        }
      }
      return records.length
    })
  } finally {
    await handle.close()
  }
}

const brokenLog = (directory: string, number: number, last: number): QuoinError =>
  new QuoinError(
    'ERR_STORE_CORRUPT',
    `the redo log in ${directory} is damaged: commit ${number} follows commit ${last}. Restore a backup`,
    { directory, number, last }
  )

interface RedoRecord {
  readonly number: number
  readonly rows: readonly (readonly [key: Uint8Array, value?: Uint8Array])[]
}

/** The log is in the file of the checkpoint and, when another checkpoint was on its way, in the next. */
const readLog = async (directory: string, { log, file }: CheckpointText): Promise<RedoRecord[]> => {
  const parts = await Promise.all(
    [file, file + 1].map(async number => {
      const bytes = await readOptional(join(directory, REDO_FILES[number % REDO_FILES.length]!))
      return [...recordsIn(bytes, `${log} ${number} `)]
    })
  )
  return parts.flat()
}

/** Up to the first record that is of another log, or not whole. */
function* recordsIn(bytes: Uint8Array, name: string): Generator<RedoRecord> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  for (let at = 0; at + ROWS_AT <= bytes.length; ) {
    const end = at + ROWS_AT + view.getUint32(at, true)
    if (end > bytes.length) return
    const record = bytes.subarray(at, end)
    const digest = createHash('sha256')
      .update(name)
      .update(record.subarray(0, DIGEST_AT))
      .update(record.subarray(ROWS_AT))
      .digest()
    if (!equalBytes(digest, record.subarray(DIGEST_AT, ROWS_AT))) return
    yield { number: readId(record, NUMBER_AT), rows: rowsIn(record) }
    at = end
  }
}

const rowsIn = (record: Uint8Array): RedoRecord['rows'] => {
  const view = new DataView(record.buffer, record.byteOffset, record.length)
  const rows: (readonly [Uint8Array, Uint8Array?])[] = []
  for (let at = ROWS_AT; at < record.length; ) {
    const keyEnd = at + ROW_HEAD + view.getUint16(at, true)
    const mark = view.getUint32(at + 2, true)
    const end = keyEnd + Math.max(0, mark - 1)
    const key = record.subarray(at + ROW_HEAD, keyEnd)
    rows.push(mark === 0 ? [key] : [key, record.subarray(keyEnd, end)])
    at = end
  }
  return rows
}

const readOptional = async (path: string): Promise<Uint8Array> => {
  try {
    return await readFile(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Uint8Array()
    throw error
  }
}
