/** The memory of this process, in MB. */
import { readFileSync } from 'node:fs'

/** Without the pages of mapped files, which the system reclaims on demand. Linux reports them apart. */
export const ownMemory = (): number => {
  try {
    const [, kilobytes] = /RssAnon:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
    if (kilobytes !== undefined) return Number(kilobytes) / 1e3
  } catch {
    // Not on Linux.
  }
  return allMemory()
}

export const allMemory = (): number => process.memoryUsage.rss() / 1e6
