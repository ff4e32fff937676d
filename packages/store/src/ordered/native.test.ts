import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { lmdbBuild } from './native.ts'

const lmdb = join(dirname(createRequire(import.meta.url).resolve('lmdb')), '..')
const compiled = join(lmdb, 'build/Release/lmdb.node')

/** The shared objects of this process, as the system's own loader has them. */
const loaded = (): string[] => {
  const report = process.report?.getReport() as unknown as { sharedObjects: string[] }
  return report.sharedObjects.filter(path => /node_modules[/\\]@?lmdb[/\\].*\.node$/.test(path))
}

const inChild = (env: Record<string, string>): string => {
  const source = JSON.stringify(new URL('./native.ts', import.meta.url))
  const code = `console.log((await import(${source})).lmdbBuild())`
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '-e', code],
    { env: { ...process.env, ...env }, cwd: import.meta.dirname, encoding: 'utf8' }
  )
  if (status !== 0) throw new Error(stderr)
  return stdout.trim()
}

describe('the binary of lmdb', () => {
  it('is named after the file that the system has loaded', () => {
    const files = loaded()
    expect(files).toHaveLength(1)
    expect(lmdbBuild()).toBe(files[0] === compiled ? 'optimised' : 'prebuilt')
  })

  it('is the compiled one wherever there is one', () => {
    expect(inChild({})).toBe(existsSync(compiled) ? 'optimised' : 'prebuilt')
  })

  it('is the prebuilt one for a process that insists on it', () => {
    expect(inChild({ PREBUILDS_ONLY: '1' })).toBe('prebuilt')
  })
})
