/**
 * Watches files by their directories, since editors replace a file by renaming another one. Events of a moment are one
 * change, and a file whose content is the same did not change.
 */
import { createHash } from 'node:crypto'
import { type FSWatcher, readFileSync, watch } from 'node:fs'
import { dirname, join } from 'node:path'

const SETTLE_MS = 100

export class FileWatch {
  readonly #onChange: (files: ReadonlySet<string>) => void
  readonly #onError: (directory: string, reason: string) => void
  readonly #watchers = new Map<string, FSWatcher>()
  /** Of watched files; empty where the file does not exist. */
  readonly #digests = new Map<string, string>()
  readonly #touched = new Set<string>()
  #timer: NodeJS.Timeout | undefined

  constructor(
    onChange: (files: ReadonlySet<string>) => void,
    onError: (directory: string, reason: string) => void
  ) {
    this.#onChange = onChange
    this.#onError = onError
  }

  /** Adds files. Other files of their directories are reported when they are created or change. */
  add(files: Iterable<string>): void {
    for (const file of files) {
      if (!this.#digests.has(file)) this.#digests.set(file, digestOf(file))
      const directory = dirname(file)
      if (this.#watchers.has(directory)) continue
      try {
        const watcher = watch(directory, (_, name) => this.#touch(name ? join(directory, name) : directory))
        watcher.on('error', error => this.#onError(directory, error.message))
        this.#watchers.set(directory, watcher)
      } catch (error) {
        this.#onError(directory, (error as Error).message)
      }
    }
  }

  close(): void {
    clearTimeout(this.#timer)
    for (const watcher of this.#watchers.values()) watcher.close()
  }

  #touch(path: string): void {
    this.#touched.add(path)
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#settle(), SETTLE_MS)
  }

  #settle(): void {
    const changed = new Set<string>()
    for (const path of this.#touched) {
      const digest = digestOf(path)
      // A file that is gone comes back when the editor has written it, or is missed by a later reload.
      if (digest === '' || this.#digests.get(path) === digest) continue
      this.#digests.set(path, digest)
      changed.add(path)
    }
    this.#touched.clear()
    if (changed.size > 0) this.#onChange(changed)
  }
}

const digestOf = (path: string): string => {
  try {
    return createHash('sha256').update(readFileSync(path)).digest('hex')
  } catch {
    // A directory, or a file that is gone.
    return ''
  }
}
