/**
 * Syncs a directory after its names changed. LevelDB syncs a log that it begins, but its name only at the next compaction:
 * where a file system does not keep the name of a synced file (POSIX does not ask for it), a power loss would take the
 * log, and what was acknowledged in it.
 */
import { statSync } from 'node:fs'
import { syncFolder } from './directory.ts'

/** Longer than a tick of the clock that stamps changes: two of them in one tick have the same time. */
const TICK_MS = 50

export class DirectoryNames {
  readonly #path: string
  /** The time of the last change that is durable, with all that came before. */
  #synced = -1

  constructor(path: string) {
    this.#path = path
  }

  async sync(): Promise<void> {
    const { mtimeMs } = statSync(this.#path)
    if (mtimeMs === this.#synced) return
    const isPast = Date.now() - mtimeMs > TICK_MS
    await syncFolder(this.#path)
    if (isPast) this.#synced = mtimeMs
  }
}
