/** How Node resolves and loads modules when `typescript.mjs` was imported. */
import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { packageSources } from './packages.mjs'

const SOURCES = new Map(packageSources().map(([specifier, path]) => [specifier, pathToFileURL(path).href]))
/** Compiled modules by their path and source: most processes of tests compile none, and start no compiler. */
const CACHE = fileURLToPath(new URL('../node_modules/.cache/quoin/', import.meta.url))

export const resolve = (specifier, context, next) => {
  const url = SOURCES.get(specifier)
  return url === undefined ? next(specifier, context) : { url, shortCircuit: true }
}

export const load = async (url, context, next) => {
  // Plug-ins among the fixtures are compiled as those of others are.
  if (!url.startsWith('file:') || !url.endsWith('.ts') || url.includes('/fixtures/'))
    return next(url, context)
  const path = fileURLToPath(url)
  const text = await readFile(path, 'utf8')
  const name = createHash('sha256').update(`${path}\0${text}`).digest('hex')
  const source = await readFile(CACHE + name, 'utf8').catch(() => compile(path, text, name))
  return { format: 'module', source, shortCircuit: true }
}

const compile = async (sourcefile, text, name) => {
  const { transform } = await import('esbuild')
  const { code } = await transform(text, { loader: 'ts', sourcefile, sourcemap: 'inline', target: 'node20' })
  // Another process may read it meanwhile.
  const written = `${CACHE}${randomUUID()}`
  await mkdir(CACHE, { recursive: true })
  await writeFile(written, code)
  await rename(written, CACHE + name)
  return code
}
