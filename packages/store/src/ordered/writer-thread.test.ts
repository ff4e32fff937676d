/** The writer thread ends while the store is open: commits reject instead of waiting for it for ever. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'quoin-thread-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const CHILD = fileURLToPath(new URL('./writer-thread.process.testing.ts', import.meta.url))

const stopThread = (url: string, moment: string): { said: unknown; ended: unknown } => {
  const { stdout, stderr, status, signal } = spawnSync(
    process.execPath,
    ['--import', import.meta.resolve('tsx'), CHILD, url, moment],
    { encoding: 'utf8', timeout: 50_000, killSignal: 'SIGABRT' }
  )
  if (stdout === '') throw new Error(`${signal ?? status}: ${stderr}`)
  return { said: JSON.parse(stdout), ended: signal ?? status }
}

const FAILED = {
  underWay: ['ERR_STORE_FAILED'],
  later: 'ERR_STORE_FAILED',
  probed: 'ERR_STORE_FAILED',
  read: '1',
  closed: 'ok'
}

describe.each(['lmdb', 'level'])('%s: the writer thread ends between two commits', kind => {
  it('rejects later commits, still reads, closes and opens again', () => {
    expect(stopThread(`${kind}:${join(folder, kind)}`, 'between')).toEqual({
      said: { ...FAILED, reopened: 'ok' },
      ended: 0
    })
  })
})

describe('lmdb: the writer thread ends inside a transaction', () => {
  it('rejects the commits under way and later ones, closes, and lets the process end', () => {
    // The transaction holds the lock of LMDB until the process is gone, so it cannot open the store again.
    expect(stopThread(`lmdb:${join(folder, 'inside')}`, 'inside')).toEqual({
      said: { ...FAILED, reopened: 'ERR_STORE_FAILED' },
      ended: 'SIGKILL'
    })
  })
})
