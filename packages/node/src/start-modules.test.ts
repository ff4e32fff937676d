/** The modules that a start of `quoin serve` loads: its processor time is mostly that of loading them. */
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { beforeAll, describe, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const LMDB = 'packages/store/src/ordered/lmdb.ts'
const STARTS = ['packages/node/src/cli/main.ts', 'packages/node/src/server/index.ts', LMDB]
const THREAD = ['packages/store/src/ordered/thread.ts', 'packages/store/src/ordered/lmdb-writer.ts']

let inputs: Awaited<ReturnType<typeof bundled>>
const bundled = async () => {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [...STARTS, ...THREAD],
    outdir: 'unused',
    bundle: true,
    write: false,
    metafile: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    tsconfig: 'tsconfig.json'
  })
  return metafile.inputs
}
beforeAll(async () => {
  inputs = await bundled()
}, 60_000)

/** Packages of others that modules load, by imports that are not deferred. */
const loadedBy = (entries: readonly string[]): { packages: string[]; modules: string[] } => {
  const modules = new Set(entries)
  const packages = new Set<string>()
  for (const module of modules) {
    for (const { path, kind, external } of inputs[module]!.imports) {
      if (kind !== 'import-statement') continue
      if (!external) modules.add(path)
      else if (!path.startsWith('node:'))
        packages.add(
          path
            .split('/')
            .slice(0, path.startsWith('@') ? 2 : 1)
            .join('/')
        )
    }
  }
  return { packages: [...packages].sort(), modules: [...modules] }
}

describe('a start of a node', () => {
  it('loads the libraries of requests, keys and LMDB, and no SDK, LevelDB, websocket or database client', () => {
    expect(loadedBy(STARTS).packages).toEqual([
      '@hono/node-server',
      '@sinclair/typebox',
      'commander',
      'hono',
      'lmdb',
      'prom-client',
      'secp256k1',
      'yaml'
    ])
    expect(loadedBy(THREAD).packages).toEqual(['lmdb'])
  })

  it('loads no layouts of older versions', () => {
    expect(loadedBy(STARTS).modules.filter(module => module.includes('node/src/server/upgrade/'))).toEqual([])
  })
})
