/**
 * What is done when the machine went down while a store on LMDB was written to. Its file is then a mixture of pages of
 * several commits: it is put back to the last checkpoint (`checkpoint.ts`), and what was committed after that is
 * written again from the redo log. When only the process ended, the system still has every commit, and nothing is done.
 */
import { closeSync, fdatasyncSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { QuoinError } from '../../keyspace/index.ts'
import { bootId, type Checkpoint, readCheckpoint, readHead, writeCheckpoint } from './checkpoint.ts'
import { LMDB_FILE } from './directory.ts'
import { writeWhole } from './files.ts'
import { META, readId } from './layout.ts'
import { type Handle, openHandle } from './lmdb-handle.ts'
import { whileNobodyWrites } from './presence.ts'
import { redoRecords } from './redo-log.ts'

/** Does what has to be done before a store is opened. Answers how many commits were written again, if any had to be. */
export const recoverLmdb = (directory: string, boot = bootId()): number | undefined => {
  if (!broken(directory, boot)) return undefined
  return whileNobodyWrites(directory, () => {
    const checkpoint = broken(directory, boot)
    return checkpoint && recover(directory, checkpoint, boot)
  })
}

/**
 * The checkpoint to go back to, when the machine went down after it. That another system ran then may also mean a
 * container that still runs: so it is done only while nobody writes.
 */
const broken = (directory: string, boot: string | undefined): Checkpoint | undefined => {
  const checkpoint = readCheckpoint(directory)
  return checkpoint && !checkpoint.closed && checkpoint.boot !== boot ? checkpoint : undefined
}

const recover = (directory: string, checkpoint: Checkpoint, boot: string | undefined): number => {
  const data = openSync(join(directory, LMDB_FILE), 'r+')
  try {
    writeWhole(data, checkpoint.head, 0)
    fdatasyncSync(data)
    const handle = openHandle(directory, { noSync: true })
    try {
      const commits = handle.transactionSync(() => replay(directory, checkpoint, handle))
      fdatasyncSync(data)
      const sequence = checkpoint.sequence + 1
      writeCheckpoint(directory, {
        ...checkpoint,
        sequence,
        boot: boot ?? '',
        closed: true,
        head: readHead(data)
      })
      return commits
    } finally {
      void handle.close()
    }
  } finally {
    closeSync(data)
  }
}

/** The log is in this file and, when a checkpoint was on its way, in the next. */
const replay = (directory: string, { log, file }: Checkpoint, handle: Handle): number => {
  const row = handle.getBinary(META.commits)
  const first = row ? readId(row, 0) : 0
  let commits = first
  for (const place of [
    { log, file },
    { log, file: file + 1 }
  ]) {
    for (const { number, rows } of redoRecords(directory, place)) {
      if (number !== commits + 1) {
        throw new QuoinError(
          'ERR_STORE_CORRUPT',
          `commit ${number} follows commit ${commits} in the redo log`
        )
      }
      commits = number
      for (const [key, value] of rows) {
        if (value) handle.putSync(key, value)
        else handle.removeSync(key)
      }
    }
  }
  return commits - first
}
