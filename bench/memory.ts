/** The memory of a process, in parts with different meanings: they are not to be added up. */

import { readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** In megabytes. */
export type Memory = {
  /** Live objects after garbage collection, with the bytes of their buffers. */
  readonly heap: number
  /** All resident memory without the mapped file: heaps of all threads, native memory, code. */
  readonly resident: number
  /**
   * Resident pages of the database file, which belong to the page cache; `null` where the system does not report
   * them.
   */
  readonly mapped: number | null
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const megabytes = (bytes: number): number => Math.round(bytes / 1e6)

/** Resident memory first: garbage collection returns memory that a busy program would hold. */
export function memory(file = 'data.mdb'): Memory {
  const rss = process.memoryUsage.rss()
  const mapped = mappedPages(file)
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return {
    heap: megabytes(heapUsed + external),
    resident: megabytes(rss - (mapped ?? 0)),
    mapped: mapped === null ? null : megabytes(mapped)
  }
}

/**
 * Resident bytes of the mappings of a file, from Linux. A page counts once for each mapping, as in resident memory.
 */
function mappedPages(file: string): number | null {
  let text: string
  try {
    text = readFileSync('/proc/self/smaps', 'utf8')
  } catch {
    // Another system: resident memory then includes the file.
    return null
  }
  let bytes = 0
  let isOfFile = false
  for (const line of text.split('\n')) {
    if (/^[0-9a-f]+-[0-9a-f]+ /.test(line)) isOfFile = line.endsWith(`/${file}`)
    else if (isOfFile && line.startsWith('Rss:')) bytes += Number.parseInt(line.slice(4), 10) * 1024
  }
  return bytes
}
