/**
 * The entries of the workspace's packages, read from the `exports` of each: the source file of every import specifier.
 * Tests, benchmarks and the bundler load sources by it; compiled programs load `dist` through the same `exports`.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const PACKAGES = new URL('../packages/', import.meta.url)

/** Pairs of an import specifier, such as `@quoin/store/engine`, and the path of its source. */
export const packageSources = () =>
  readdirSync(PACKAGES).flatMap(folder => {
    const { name, exports } = JSON.parse(readFileSync(new URL(`${folder}/package.json`, PACKAGES), 'utf8'))
    return Object.entries(exports).flatMap(([entry, target]) => {
      if (typeof target === 'string') return []
      const source = target.default.replace('./dist/', './src/').replace(/\.js$/, '.ts')
      return [[name + entry.slice(1), fileURLToPath(new URL(`${folder}/${source}`, PACKAGES))]]
    })
  })

/** The same for the `resolve.alias` of Vite: exact specifiers. */
export const sourceAliases = () =>
  packageSources().map(([specifier, replacement]) => ({ find: new RegExp(`^${specifier}$`), replacement }))
