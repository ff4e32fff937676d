/**
 * Bundles the command `quoin` into `packages/node/bundle`: its own modules and the libraries that it loads at a start. The
 * packages of Quoin stay outside of it: a plug-in that imports `@quoin/keyspace` has the same classes as the node.
 * TypeBox, which packages beside it load too, becomes one module of `@quoin/http`.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const COMMAND = join(ROOT, 'packages/node/bundle')
const HTTP = join(ROOT, 'packages/http/dist')

/** Bundles for Node, and writes the licences of the packages of others beside the bundle. */
const bundle = async options => {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    metafile: true,
    legalComments: 'none',
    ...options
  })
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
  const text = `Packages of others in this bundle\n\n${licences.join('\n\n')}`
  writeFileSync(join(options.outdir, 'LICENSES.txt'), text)
}

rmSync(COMMAND, { recursive: true, force: true })
await bundle({ entryPoints: [{ in: 'packages/http/src/typebox.ts', out: 'typebox' }], outdir: HTTP })
await bundle({
  entryPoints: [{ in: 'packages/node/src/cli/main.ts', out: 'main' }],
  outdir: COMMAND,
  splitting: true,
  external: ['@quoin/*', '@bsv/sdk'],
  // CommonJS packages require modules of Node.
  banner: {
    js: "import { createRequire as requireOf } from 'node:module';\nconst require = requireOf(import.meta.url);"
  }
})
