/**
 * Tells a full disk from a broken one. LMDB reports a write that was cut short as an I/O error, whatever the reason;
 * so what it could not do is tried once more with a file of its own.
 */
import { closeSync, openSync, rmSync, statSync, writeSync } from 'node:fs'

const EIO = 5
const PROBE_BYTES = 64 * 1024

/** Throws what the system says when nothing can be written at the end of a file; otherwise it does nothing. */
export const assertRoom = (file: string, failure: unknown): void => {
  if ((failure as { code?: unknown }).code !== EIO) return
  const probe = `${file}.probe`
  const descriptor = openSync(probe, 'w')
  try {
    writeSync(descriptor, new Uint8Array(PROBE_BYTES), 0, PROBE_BYTES, statSync(file).size)
  } finally {
    closeSync(descriptor)
    rmSync(probe, { force: true })
  }
}
