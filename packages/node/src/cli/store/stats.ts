/** `quoin store stats`: the size of a store, and its engine. */
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { bytes, count, EXIT, paint, print, printJson, table } from '@quoin/primitives/command'
import { store } from './work.ts'

export const stats = async (url: string, json: boolean): Promise<number> => {
  const { openStore, readOnlyUrl } = await store()
  const opened = await openStore(readOnlyUrl(url), { create: false })
  try {
    const { engine, bytes: size, details } = await opened.stats()
    if (json) {
      printJson({ engine, bytes: size, ...details })
      return EXIT.ok
    }
    print(paint('bold', engine))
    print(
      table([
        ['  size', bytes(size)],
        ...Object.entries(details).map(([name, value]) => [
          `  ${name}`,
          typeof value === 'number' ? count(value) : String(value)
        ])
      ])
    )
    if (details['build'] === 'prebuilt') print(`\n${paint('yellow', 'slow')}: ${HINT}`)
  } finally {
    await opened.close()
  }
  return EXIT.ok
}

const SCRIPT = relative(
  process.cwd(),
  join(dirname(createRequire(import.meta.url).resolve('@quoin/store/package.json')), 'scripts/native.mjs')
)
const HINT = `this is the debug build of LMDB that its package comes with.
  node ${SCRIPT} compiles a fast one; it needs a C++ compiler, make and python3.`
