/** The local files that a module stands on: relative imports, followed from file to file, without packages. */
import { readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

const MAX_FILES = 2000
/** `from './x'`, `import './x'`, `import('./x')`, `require('./x')`. */
const SPECIFIER = /(?:\bfrom|\bimport|\brequire)\s*\(?\s*(['"])(\.{1,2}\/[^'"\n]*)\1/g
const EXTENSIONS = ['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs', '.json']
/** TypeScript names the compiled file. */
const SOURCES: Readonly<Record<string, readonly string[]>> = {
  '.js': ['.ts', '.tsx', '.jsx'],
  '.mjs': ['.mts'],
  '.cjs': ['.cts']
}

/** The module itself, and the files that exist of its imports. A file that cannot be read has no imports. */
export const localImports = (entry: string): Set<string> => {
  const found = new Set([entry])
  for (const file of found) {
    if (found.size >= MAX_FILES) break
    for (const [, , specifier = ''] of (readText(file) ?? '').matchAll(SPECIFIER)) {
      const target = resolveFile(join(dirname(file), specifier))
      if (target !== undefined && !/[/\\]node_modules[/\\]/.test(target)) found.add(target)
    }
  }
  return found
}

const resolveFile = (path: string): string | undefined => {
  const [extension = ''] = /\.[a-z]+$/.exec(path) ?? []
  const stem = path.slice(0, path.length - extension.length)
  const candidates = [
    path,
    ...(SOURCES[extension] ?? []).map(each => stem + each),
    ...EXTENSIONS.map(each => path + each),
    ...EXTENSIONS.map(each => join(path, `index${each}`))
  ]
  return candidates.find(isFile)
}

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false

const readText = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // An editor replaces the file at this moment; its next event comes when the file is there again.
    return undefined
  }
}
