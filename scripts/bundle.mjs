/**
 * Bundles the command `quoin` into `packages/node/bundle`: its own modules and the libraries that it loads at a start. The
 * packages of Quoin stay outside of it: a plug-in that imports `@quoin/keyspace` has the same classes as the node.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const OUT = join(ROOT, 'packages/node/bundle')

rmSync(OUT, { recursive: true, force: true })
const { metafile } = await build({
  absWorkingDir: ROOT,
  entryPoints: [{ in: 'packages/node/src/cli/main.ts', out: 'main' }],
  outdir: OUT,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  metafile: true,
  legalComments: 'none',
  external: ['@quoin/*', '@bsv/sdk'],
  // CommonJS packages require modules of Node.
  banner: {
    js: "import { createRequire as requireOf } from 'node:module';\nconst require = requireOf(import.meta.url);"
  }
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
