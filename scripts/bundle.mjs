/**
 * Bundles the command `quoin`, with the programs of its threads and processes, into `packages/node/bundle`: a start
 * reads some dozens of files instead of a thousand. Native modules, the SDK and optional peers stay outside of it.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { packageSources } from './packages.mjs'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const OUT = join(ROOT, 'packages/node/bundle')
const SOURCES = new Map(packageSources())

/** Named as the modules that start them say it: all shared code is in one folder with them. */
const ENTRIES = {
  main: 'packages/node/src/cli/main.ts',
  thread: 'packages/store/src/ordered/thread.ts',
  'inspect-process': 'packages/store/src/ordered/inspect-process.ts',
  'signature-thread': 'packages/chain/src/verify/signature-thread.ts',
  'interpreter-process': 'packages/chain/src/verify/interpreter-process.ts',
  'process/main': 'packages/overlay/src/hosting/process/main.ts',
  'process/watchdog': 'packages/overlay/src/hosting/process/watchdog.ts'
}

const EXTERNAL = [
  '@bsv/sdk',
  'better-sqlite3',
  'classic-level',
  'knex',
  'lmdb',
  'pg',
  'mongodb',
  'secp256k1',
  'tsx'
]

rmSync(OUT, { recursive: true, force: true })
const { metafile } = await build({
  absWorkingDir: ROOT,
  entryPoints: Object.entries(ENTRIES).map(([out, source]) => ({ in: source, out })),
  outdir: OUT,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  metafile: true,
  legalComments: 'none',
  external: EXTERNAL,
  // CommonJS packages require modules of Node.
  banner: {
    js: "import { createRequire as requireOf } from 'node:module';\nconst require = requireOf(import.meta.url);"
  },
  plugins: [
    {
      name: 'package sources',
      setup: ({ onResolve }) => {
        onResolve({ filter: /^(@quoin\/|quoin$)/ }, ({ path }) => ({ path: SOURCES.get(path) }))
      }
    }
  ]
})

/** The packages of others that are in the bundle, from the paths of their modules. */
const packages = [
  ...new Set(
    Object.keys(metafile.inputs).flatMap(
      path => path.match(/^.*node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[0] ?? []
    )
  )
].sort()
const licences = packages.map(folder => {
  const { name, version, license } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'))
  const file = readdirSync(join(ROOT, folder)).find(each => /^licen[cs]e/i.test(each))
  const text = file ? readFileSync(join(ROOT, folder, file), 'utf8').trim() : license
  return `${name} ${version} (${license})\n\n${text}\n`
})
writeFileSync(join(OUT, 'LICENSES.txt'), `Packages of others in this bundle\n\n${licences.join('\n\n')}`)
