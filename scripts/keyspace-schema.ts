/** Writes the JSON Schema of layout files into the package of key spaces. */
import { writeFileSync } from 'node:fs'
import { layoutSchema } from '../packages/keyspace/src/file/schema.ts'

writeFileSync(
  new URL('../packages/keyspace/layout.schema.json', import.meta.url),
  `${JSON.stringify(layoutSchema(), null, 2)}\n`
)
