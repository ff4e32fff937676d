/** The resources of a benchmark, so that all of them are closed: stores, servers, folders. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const TMPFS = 0x01021994

let root: string | undefined

/** Folders and servers share a file system: that of the system's temporary folder. */
export const folder = (resources: Resources): string => {
  root ??= guarded(mkdtempSync(join(tmpdir(), 'quoin-bench-')))
  const path = mkdtempSync(join(root, 'store-'))
  resources.add(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** A shell removes the folder when this process ends, also where no exit handler runs. */
const guarded = (path: string): string => {
  const guard = spawn('sh', ['-c', 'read -r _; rm -rf "$1"', 'guard', path], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true
  })
  guard.unref()
  ;(guard.stdin as unknown as { unref(): void }).unref()
  return path
}

export const isInMemory = (): boolean => statfsSync(tmpdir()).type === TMPFS

/** Closed in reverse, each once, and all of them even if one fails. */
export class Resources {
  readonly #closers: (() => unknown)[] = []
  #closing: Promise<void> = Promise.resolve()

  add(closer: () => unknown): void {
    this.#closers.push(closer)
  }

  /** Also waits for the resources that an earlier call is closing. */
  readonly close = (): Promise<void> => {
    const before = this.#closing
    // The failure is reported to the caller of the earlier call.
    this.#closing = before.catch(() => {}).then(() => this.#closeAll())
    return this.#closing
  }

  async #closeAll(): Promise<void> {
    const failures: unknown[] = []
    for (let next = this.#closers.pop(); next; next = this.#closers.pop()) {
      try {
        await next()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
}
