/** Converts errors of databases and of the system to `QuoinError`s. */
import { QuoinError } from '@quoin/primitives'

const FULL: readonly unknown[] = [28, 27, 122, 'ENOSPC', 'EFBIG', 'EDQUOT', -30792 /* MDB_MAP_FULL */]
const READ_ONLY: readonly unknown[] = [1, 13, 30, 'EPERM', 'EACCES', 'EROFS']
/** LMDB: MDB_VERSION_MISMATCH, MDB_INVALID. */
const FOREIGN: readonly unknown[] = [-30794, -30793]

/** Of LevelDB, about its file LOCK. */
const LOCKED = /IO error: lock /

const isFull = (code: unknown, message: string): boolean =>
  FULL.includes(code) || /no space left|file too large|quota exceeded|MDB_MAP_FULL/i.test(message)

const isReadOnly = (code: unknown, message: string): boolean =>
  READ_ONLY.includes(code) || /permission denied|not permitted|read-only file system/i.test(message)

/** The files at a path cannot be written. */
export const readOnlyError = (path: string, said: string, cause?: unknown): QuoinError =>
  new QuoinError(
    'ERR_STORE_READ_ONLY',
    `${path} cannot be written: ${said}. Make it writable for the user of this process; ` +
      'a store on LMDB can be read as lmdb:PATH?read-only',
    { path, said, cause }
  )

/** The error of a commit that failed, and of every later one. */
export const failedStore = (cause: QuoinError): QuoinError =>
  new QuoinError(
    'ERR_STORE_FAILED',
    `a write failed, and the store refuses all further ones: ${cause.message}. ` +
      'Mend the cause, then close the store and open it again',
    { ...cause.details, cause }
  )

/** @param path Of the store. */
export const storeError = (error: unknown, path = 'the store'): QuoinError => {
  if (error instanceof QuoinError) return error
  const { code, message, cause } = error as { code?: unknown; message: string; cause?: Error }
  const said = cause ? `${message}: ${cause.message}` : message
  const details = { code: String(code), said, cause: error }
  if (isFull(code, said)) {
    return new QuoinError('ERR_STORE_FULL', `no space left for the store: ${said}`, details)
  }
  if (FOREIGN.includes(code)) {
    return new QuoinError('ERR_STORE_VERSION', `the files are of another program: ${said}`, details)
  }
  // Before the lock: LMDB and LevelDB name its file when they may not write it.
  if (isReadOnly(code, said)) return readOnlyError(path, said, error)
  if (LOCKED.test(said)) {
    return new QuoinError(
      'ERR_STORE_LOCKED',
      'another process has the store open; close it there first',
      details
    )
  }
  return new QuoinError('ERR_STORE_ENGINE', `the database failed: ${said}`, details)
}
