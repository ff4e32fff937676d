#!/usr/bin/env node
import { existsSync, readdirSync, statSync } from 'node:fs'

const bundle = new URL('../bundle/main.js', import.meta.url)
const compiled = new URL('../dist/cli/main.js', import.meta.url)

const timeOf = url => statSync(url, { throwIfNoEntry: false })?.mtimeMs ?? 0

/** In a source folder, the compiler's output is taken while it is newer than the bundle. */
const isBundleCurrent = () => {
  if (!existsSync(bundle)) return false
  if (!existsSync(new URL('../src', import.meta.url))) return true
  const packages = new URL('../../', import.meta.url)
  const built = readdirSync(packages).map(name => timeOf(new URL(`${name}/tsconfig.tsbuildinfo`, packages)))
  return timeOf(bundle) > Math.max(...built)
}

const main = isBundleCurrent() ? bundle : compiled
if (!existsSync(main)) {
  process.stderr.write(
    'quoin: not built yet. Run `npm ci` (or `npm run build`) in the source folder first.\n'
  )
  process.exit(2)
}
await import(main.href)
