/** Finds benchmarks by name: `keyspace` is any `keyspace.bench.ts` below the source folder. */

import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'

const suffix = '.bench.ts'

/** Maps each name to its file, in the order of the names. */
export function findBenches(sourceDirectory: string): Map<string, string> {
  const found = new Map<string, string>()
  const files = readdirSync(sourceDirectory, { recursive: true, encoding: 'utf8' })
  for (const file of files.filter(file => file.endsWith(suffix)).sort()) {
    const name = basename(file, suffix)
    const other = found.get(name)
    const path = join(sourceDirectory, file)
    if (other !== undefined) throw new Error(`two benchmarks are named "${name}": ${other} and ${path}`)
    found.set(name, path)
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)))
}
