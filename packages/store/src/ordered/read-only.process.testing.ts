/** A process that opens stores whose directory it may not write: prints the errors as a line of JSON. */
import { openLevel } from './level.ts'
import { openLmdb } from './lmdb.ts'
import { makeReadOnly } from './read-only.testing.ts'

const [folder = ''] = process.argv.slice(2)
const open = { lmdb: openLmdb, level: openLevel }

const stores = Object.entries(open).map(([kind, openIt]) => ({ kind, openIt, path: `${folder}/${kind}` }))
for (const { openIt, path } of stores) await (await openIt(path)).close()
makeReadOnly(...stores.map(({ path }) => path))
const errors: unknown[] = []
for (const { kind, openIt, path } of stores) {
  for (const at of [path, `${path}/new`]) {
    const refused = await openIt(at).then(
      () => ({ code: 'opened', message: '' }),
      ({ code, message }) => ({ code, message })
    )
    errors.push({ kind, at, ...refused })
  }
}
const reader = await openLmdb(`${folder}/lmdb`, { readOnly: true })
const { details } = await reader.stats()
await reader.close()
process.stdout.write(`${JSON.stringify({ errors, readOnly: details['readOnly'] })}\n`)
