/**
 * Finds a full disk before a commit, and tells it from a broken one after a commit that failed: LMDB reports a write that
 * was cut short as an I/O error for any reason, so the same write is attempted once more with another file.
 */
import { closeSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs'
import { QuoinError } from '@quoin/primitives'

const EIO = 5
const PROBE_BYTES = 64 * 1024

/** Throws the error of the system when nothing can be written at the end of a file. */
export const rethrowIfDiskFull = (file: string, failure: unknown): void => {
  if ((failure as { code?: unknown }).code !== EIO) return
  probeDisk(`${file}.probe`, statSync(file).size)
}

/** Throws when nothing can be written to a new file at that position. */
export const probeDisk = (probe: string, at: number): void => {
  const descriptor = openSync(probe, 'w')
  try {
    // A nearly full disk takes a part of a write, and refuses the rest.
    for (let done = 0; done < PROBE_BYTES; ) {
      done += writeSync(descriptor, new Uint8Array(PROBE_BYTES - done), 0, PROBE_BYTES - done, at + done)
    }
  } finally {
    closeSync(descriptor)
    rmSync(probe, { force: true })
  }
}

/** Below this a disk counts as full: a commit of LMDB may need some megabytes. */
const LEAST_FREE_BYTES = 8 * 1024 * 1024

/** Throws ERR_STORE_FULL when the disk of a path has less room than a commit may need, which is to write `bytes`. */
export const assertFreeSpace = (path: string, bytes = 0): void => {
  const { bavail, bsize } = statfsSync(path)
  const free = bavail * bsize
  if (free >= LEAST_FREE_BYTES + bytes) return
  throw new QuoinError('ERR_STORE_FULL', `the disk of ${path} has ${free} bytes left: make room`, {
    path,
    free
  })
}
