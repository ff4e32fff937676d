/**
 * What happens when there is no room: a process whose files may not grow beyond a limit writes until it fails. Needs
 * no rights: the limit is the shell's `ulimit`, under which a write fails as it does on a full disk.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { bytes } from '../../../store-contract/src/steps.ts'
import { openStore } from '../store.ts'
import { assertFreeSpace, rethrowIfDiskFull } from './disk-full.ts'
import { storeError } from './failure.ts'

const folder = mkdtempSync(join(tmpdir(), 'quoin-full-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const CHILD = fileURLToPath(new URL('./limited.testing.ts', import.meta.url))
/** In blocks of 512 bytes. */
const LIMIT = 10_000

const fill = (url: string): Record<string, unknown> => {
  const command = `trap '' XFSZ; ulimit -S -f ${LIMIT}; exec "$0" --import "$1" "$2" "$3"`
  const args = [process.execPath, import.meta.resolve('tsx'), CHILD, url]
  const { stdout, stderr, status } = spawnSync('sh', ['-c', command, ...args], { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return JSON.parse(stdout)
}

describe.each(['lmdb', 'level'])('a full disk under %s', kind => {
  const url = `${kind}:${join(folder, kind)}`

  it('refuses the commit with ERR_STORE_FULL, and keeps every one before it and nothing of its own', async () => {
    const { written, failure, again, readable, withRoom, reopened } = fill(url)
    // LevelDB's log may end in the middle of a batch, so it takes nothing more until it has read the log again.
    const later = kind === 'lmdb' ? 'ERR_STORE_FULL' : 'ERR_STORE_FAILED'
    expect({ failure, again, readable }).toEqual({
      failure: 'ERR_STORE_FULL',
      again: later,
      readable: 40_000
    })
    expect(withRoom).toBe(kind === 'lmdb' ? 'ok' : 'ERR_STORE_FAILED')
    expect(reopened).toBe('ok')

    const store = await openStore(url)
    try {
      const names = Array.from({ length: written as number }, (_, i) => String(i))
      const expected = [...names, ...(withRoom === 'ok' ? ['with room'] : []), 'reopened']
      const values = await store.range(bytes('a'))
      expect(values.every(({ value }) => value.length === 40_000)).toBe(true)
      const found = values.map(({ key }) => Buffer.from(key.subarray(1)).toString())
      expect(found.sort()).toEqual([...expected].sort())
      expect((await store.hrange(bytes('b'))).length).toBe(expected.length)
    } finally {
      await store.close()
    }
  })
})

describe('what a database says when there is no room', () => {
  it.each([
    { code: 28, message: 'No space left on device' },
    { code: 27, message: 'File too large' },
    { code: 122, message: 'Disk quota exceeded' },
    { code: -30792, message: 'MDB_MAP_FULL: Environment mapsize limit reached' },
    { code: 'ENOSPC', message: 'ENOSPC: no space left on device, write' },
    { code: 'LEVEL_IO_ERROR', message: 'IO error: 000005.log: No space left on device' },
    { code: 'LEVEL_WRITE', message: 'Batch failed', cause: new Error('IO error: 000005.log: File too large') }
  ])('$message is ERR_STORE_FULL', said => {
    expect(storeError(said)).toMatchObject({ code: 'ERR_STORE_FULL' })
  })

  it('a disk with less room than a commit needs is full before it is written to', () => {
    expect(() => assertFreeSpace(folder)).not.toThrow()
    expect(() => assertFreeSpace(folder, Number.MAX_SAFE_INTEGER)).toThrow(
      /the disk of .* has \d+ bytes left: make room/
    )
  })

  it('an I/O error where there is room stays one', () => {
    const error = Object.assign(new Error('Input/output error'), { code: 5 })
    expect(() => rethrowIfDiskFull(fileURLToPath(import.meta.url), error)).not.toThrow()
    expect(storeError(error)).toMatchObject({ code: 'ERR_STORE_ENGINE' })
  })
})

describe('what a database says of its files', () => {
  it.each([
    ['IO error: lock /a/LOCK: already held by process', 'ERR_STORE_LOCKED'],
    ['IO error: lock /a/LOCK: Resource temporarily unavailable', 'ERR_STORE_LOCKED'],
    ['IO error: /a/LOCK: Permission denied', 'ERR_STORE_READ_ONLY'],
    ['Input/output error: Attempting to write page at position 8192, size 4096, blocks 1', 'ERR_STORE_ENGINE']
  ])('%s is %s', (message, code) => {
    expect(storeError(new Error(message)).code).toBe(code)
  })
})
