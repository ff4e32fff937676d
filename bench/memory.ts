/** What a process holds, in parts that mean different things: they are not to be added up into one number. */

import { readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** In megabytes. */
export type Memory = {
  /** What the program refers to, after everything else was collected; with the bytes of its buffers. */
  readonly heap: number
  /** All that the process has in memory, the mapped file apart: heaps of all threads, native memory, code. */
  readonly resident: number
  /** Pages of the database file, which belong to the cache of the kernel; `null` where that is not told. */
  readonly mapped: number | null
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const megabytes = (bytes: number): number => Math.round(bytes / 1e6)

/** Resident first: collecting gives memory back that a program without a break would hold. */
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
 * Resident bytes of the mappings of a file, as Linux tells them. A page counts once for each mapping that has it, here
 * as in what is resident.
 */
function mappedPages(file: string): number | null {
  let text: string
  try {
    text = readFileSync('/proc/self/smaps', 'utf8')
  } catch {
    // Another system: resident is then with the file.
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
