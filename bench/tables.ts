/** Writes the tables of results into the READMEs of layers and into `docs`: `npm run bench:tables`. */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pagesOf, withTables } from './results.ts'

const repository = fileURLToPath(new URL('..', import.meta.url))

for (const path of pagesOf(repository)) {
  const page = readFileSync(join(repository, path), 'utf8')
  const current = withTables(page, repository)
  if (current === page) continue
  writeFileSync(join(repository, path), current)
  process.stdout.write(`${path}: tables written\n`)
}
