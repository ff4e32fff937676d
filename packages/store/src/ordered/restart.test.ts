/** A store that several processes open one after the other, on systems that tell their boots apart and on others. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'quoin-restart-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const CHILD = fileURLToPath(new URL('./restart.process.testing.ts', import.meta.url))
const NAMES = ['first', 'second']

const run = (command: readonly string[], args: readonly string[]): unknown => {
  const [program, ...before] = [...command, process.execPath, '--import', import.meta.resolve('tsx'), CHILD]
  const { stdout, stderr, error } = spawnSync(program!, [...before, ...args], { encoding: 'utf8' })
  if (stdout === '') throw error ?? new Error(stderr)
  return JSON.parse(stdout)
}

/** Hides the boot id of Linux, as on macOS, Windows, BSD and in some sandboxes. */
const WITHOUT_BOOT_ID = [
  'unshare',
  '--mount',
  '--map-root-user',
  'sh',
  '-c',
  'mount -t tmpfs none /proc/sys/kernel/random && exec "$0" "$@"'
]

const holds = (name: string) => ({ members: [`member of ${name}`], cardinality: 1, values: [name] })
const EMPTY = { members: [], cardinality: 0, values: [] }

describe.each([
  ['with a boot id', [], process.platform === 'linux'],
  ['without a boot id', process.platform === 'linux' ? WITHOUT_BOOT_ID : [], false]
] as const)('%s', (system, command, hasBootId) => {
  it.each(['lmdb', 'level'])('new structures of each process get ids of their own on %s', kind => {
    const url = `${kind}:${join(folder, `${kind} ${system}`)}`
    for (const [i, name] of NAMES.entries()) {
      const found = Object.fromEntries(NAMES.map((each, j) => [each, j <= i ? holds(each) : EMPTY]))
      expect(run(command, [url, name, ...NAMES])).toEqual({ hasBootId, found })
    }
  })
})
