/**
 * Loads a package to compare with. Peers are pinned in bench/package.json and installed on first use, so
 * that installing the project never installs them.
 */

import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const here = new URL('.', import.meta.url)

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(new URL(path, here), 'utf8')) as T
}

function isInstalled(name: string, version: string): boolean {
  const manifest = `node_modules/${name}/package.json`
  return existsSync(new URL(manifest, here)) && readJson<{ version: string }>(manifest).version === version
}

function install(): void {
  process.stderr.write('bench: installing the peers (npm ci in bench/)\n')
  // Standard output is for results, so npm reports on standard error.
  const { status, error } = spawnSync('npm', ['ci'], { cwd: fileURLToPath(here), stdio: ['ignore', 2, 2] })
  if (status !== 0) {
    const reason = error?.message ?? `npm ended with ${status}`
    throw new Error(`the peers could not be installed (${reason}); try: cd bench && npm ci`, { cause: error })
  }
}

/**
 * Imports a peer. The caller declares the functions it uses as `T`: the peer's types are missing before it is
 * installed, and the project must type-check without it.
 */
export async function peer<T>(name: string): Promise<T> {
  const { dependencies } = readJson<{ dependencies: Record<string, string> }>('package.json')
  const version = dependencies[name]
  if (version === undefined) {
    const known = Object.keys(dependencies).join(', ')
    throw new Error(`"${name}" is no peer; bench/package.json has: ${known}`)
  }
  if (!isInstalled(name, version)) install()
  // Resolution starts beside this file, in bench/node_modules, and takes a package's import condition.
  return (await import(name)) as T
}
