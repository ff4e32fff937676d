/** A node whose store fails while it serves says so, refuses submissions, and still answers what it can. */
import { execFile, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'quoin-failing-'))
chmodSync(folder, 0o755)
afterAll(() => {
  chmodSync(join(folder, 'read-only'), 0o755)
  rmSync(folder, { recursive: true })
})

const CHILD = fileURLToPath(new URL('./failing-store.process.testing.ts', import.meta.url))
/** In blocks of 512 bytes. */
const LIMIT = 10_000

interface Seen {
  readonly first: unknown
  readonly failed: {
    readonly ready: { readonly status: number; readonly store: string }
    readonly submitted: unknown
    readonly again: unknown
    readonly later: { readonly status: number; readonly store: string }
  }
  readonly reads: readonly number[]
  readonly up: string
  readonly lines: readonly { readonly level: string; readonly event: string; readonly code?: string }[]
  readonly mended: unknown
}

/** Whether this user may mount a volume of its own, in a namespace of its own. */
const canMount = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0

const run = (how: string): Promise<Seen> => {
  const path = join(folder, how)
  const node = [process.execPath, '--import', import.meta.resolve('tsx'), CHILD, how]
  const limited = (command: string, ...more: string[]) => [
    'sh',
    '-c',
    `${command}; exec "$0" "$@"`,
    ...node,
    ...more
  ]
  const small = `mkdir -p ${path} && mount -t tmpfs -o size=24m none ${path}`
  const [file, ...args] =
    how !== 'full'
      ? [...node, path]
      : canMount
        ? ['unshare', '-rm', ...limited(small, join(path, 'store'), path)]
        : limited(`trap '' XFSZ; ulimit -S -f ${LIMIT}`, path)
  return new Promise((resolve, reject) => {
    execFile(file!, args, (error, stdout, stderr) => {
      if (error) reject(new Error(stderr || error.message))
      else resolve(JSON.parse(stdout))
    })
  })
}

const READY = { status: 200 }
const TAKEN = { status: 200 }
const CASES = [
  ['deleted', 'ERR_STORE_FAILED', 503],
  ['thread', 'ERR_STORE_FAILED', 503],
  ['full', 'ERR_STORE_FULL', 507],
  // What is open for writing stays so: the next start would fail.
  ['read-only', 'ERR_STORE_READ_ONLY', undefined]
] as const

it.concurrent.each(CASES)(
  '%s: unready with %s, submissions are %s',
  { timeout: 60_000 },
  async (how, code, status) => {
    const { first, failed, reads, up, lines, mended } = await run(how)
    expect(first).toEqual({ ready: READY, submitted: TAKEN })
    const submitted = status === undefined ? TAKEN : { status, code }
    expect(failed).toEqual({
      ready: { status: 503, store: expect.stringContaining(code) },
      submitted,
      again: submitted,
      later: { status: 503, store: expect.stringContaining(code) }
    })
    expect({ reads, up }).toEqual({ reads: [200, 200], up: '0' })
    // Once, though everything that works by itself tries again each second.
    expect(lines).toContainEqual({ level: 'error', event: 'the store cannot be written', code })
    const delivery = { level: 'warn', event: 'the lookup service ls_first is failing' }
    expect([lines.length, lines]).toEqual([2, expect.arrayContaining([delivery])])
    // A disk is asked for room before it is written to; a quota is met by the write.
    if (how === 'full' && canMount) expect(failed.later.store).toContain('bytes left: make room')
    if (how === 'full') expect(mended).toEqual({ submitted: TAKEN, ready: READY })
  }
)
