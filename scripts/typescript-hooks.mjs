/** How Node resolves and loads modules when `typescript.mjs` was imported. */
import { readFile } from 'node:fs/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { transform } from 'esbuild'
import { packageSources } from './packages.mjs'

const SOURCES = new Map(packageSources().map(([specifier, path]) => [specifier, pathToFileURL(path).href]))

export const resolve = (specifier, context, next) => {
  const url = SOURCES.get(specifier)
  return url === undefined ? next(specifier, context) : { url, shortCircuit: true }
}

export const load = async (url, context, next) => {
  // Plug-ins among the fixtures are compiled as those of others are.
  if (!url.startsWith('file:') || !url.endsWith('.ts') || url.includes('/fixtures/'))
    return next(url, context)
  const sourcefile = fileURLToPath(url)
  const { code } = await transform(await readFile(sourcefile, 'utf8'), {
    loader: 'ts',
    sourcefile,
    sourcemap: 'inline',
    target: 'node20'
  })
  return { format: 'module', source: code, shortCircuit: true }
}
