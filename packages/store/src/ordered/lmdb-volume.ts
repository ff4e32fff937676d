/** An LMDB database for copying: rows in the order of their keys, out of it or into it. */
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { QuoinError, successor } from '@quoin/primitives'
import type { Transaction } from 'lmdb'
import type { KeyValue } from '../engine.ts'
import { CHUNK_BYTES, CHUNK_ROWS, type Chunks, type Volume, type VolumeMode } from './copy.ts'
import { LMDB_FILE, MAKING, placeFile, syncFile, syncFolder } from './directory.ts'
import { probeDisk, rethrowIfDiskFull } from './disk-full.ts'
import { type Handle, openHandle } from './lmdb-handle.ts'
import { schemaRow } from './schema.ts'

/** All rows of one state. The transaction is given back at the end, however that comes about. */
export async function* lmdbChunks(handle: Handle, from?: Uint8Array): Chunks {
  handle.resetReadTxn()
  const transaction = handle.useReadTransaction()
  try {
    let start = from
    for (;;) {
      const chunk = takeChunk(handle, transaction, start)
      if (chunk.length === 0) return
      yield chunk
      start = successor(chunk.at(-1)!.key)
    }
  } finally {
    transaction.done()
  }
}

const takeChunk = (handle: Handle, transaction: Transaction, start: Uint8Array | undefined): KeyValue[] => {
  const chunk: KeyValue[] = []
  let bytes = 0
  for (const { key, value } of handle.getRange({ start, limit: CHUNK_ROWS, transaction })) {
    chunk.push({ key, value: new Uint8Array(value) })
    bytes += key.length + value.length
    if (bytes >= CHUNK_BYTES) break
  }
  return chunk
}

/**
 * Makes a store under another name and links it into place when it is on the disk: a power loss leaves a store that
 * opens, or none. Of two processes that make one, the first wins.
 */
export const makeLmdb = async (path: string): Promise<void> => {
  const making = await mkdtemp(join(path, MAKING))
  try {
    // The prebuilt lmdb takes the process down when it cannot write the first pages of a file.
    probeDisk(join(making, 'probe'), 0)
    const handle = openHandle(making)
    try {
      handle.transactionSync(() => handle.putSync(schemaRow.key, schemaRow.value))
    } finally {
      await handle.close()
    }
    const made = join(making, LMDB_FILE)
    await syncFile(made)
    await placeFile(made, join(path, LMDB_FILE))
  } finally {
    await rm(making, { recursive: true, force: true })
  }
  await syncFolder(path)
}

export const openLmdbVolume = (path: string, mode: VolumeMode): Volume => {
  const handle = openHandle(path, { readOnly: mode === 'read', noSync: mode === 'write' })
  return {
    chunks: from => lmdbChunks(handle, from),
    count: async () => (handle.getStats() as { entryCount: number }).entryCount,
    lastKey: async () => [...handle.getKeys({ reverse: true, limit: 1 })][0],
    get: key => handle.getBinary(key),
    append: async (rows, durably) => {
      try {
        handle.transactionSync(() => appendAll(handle, rows))
        if (durably && mode === 'write') await synced(handle)
      } catch (error) {
        rethrowIfDiskFull(join(path, LMDB_FILE), error)
        throw error
      }
    },
    put: async ({ key, value }) => {
      handle.putSync(key, value)
    },
    close: () => handle.close()
  }
}

/** Another thread waits for the disk, not this one. */
const synced = (handle: Handle): Promise<void> =>
  new Promise((resolve, reject) => {
    handle.sync(error => (error ? reject(error) : resolve()))
  })

/** LMDB fills pages to the brim when it is told that rows come in order. */
const appendAll = (handle: Handle, rows: readonly KeyValue[]): void => {
  for (const { key, value } of rows) {
    if (handle.putSync(key, value, { append: true })) continue
    throw new QuoinError('ERR_STORE_CORRUPT', 'rows did not come in the order of their keys')
  }
}
