/**
 * Who writes to a store on LMDB, as other processes can tell: LMDB knows which processes have read transactions, and
 * which of those are gone. Each writer has one in a small database beside the store.
 */
import { join } from 'node:path'
import { open, type RootDatabase, type Transaction } from 'lmdb'

const FILE = 'writers'

const openPresence = (directory: string): RootDatabase =>
  open({ path: join(directory, FILE), noSubdir: true, noSync: true, maxDbs: 1 })

export class Presence {
  readonly #handle: RootDatabase
  readonly #transaction: Transaction

  constructor(directory: string) {
    this.#handle = openPresence(directory)
    this.#transaction = this.#handle.useReadTransaction()
  }

  async close(): Promise<void> {
    this.#transaction.done()
    await this.#handle.close()
  }
}

/** Does what only one process may do at a time, and only while nobody writes to the store. */
export const whileNobodyWrites = <T>(directory: string, work: () => T): T | undefined => {
  const handle = openPresence(directory)
  try {
    // LMDB gives the lock back by itself when a process ends.
    return handle.transactionSync(() => (hasWriters(handle) ? undefined : work()))
  } finally {
    void handle.close()
  }
}

/** LMDB lists a process by its number, in a line; those that are gone were taken off the list by opening it. */
const hasWriters = (handle: RootDatabase): boolean =>
  /^\s*\d+\s/m.test((handle as unknown as { readerList(): string }).readerList())
