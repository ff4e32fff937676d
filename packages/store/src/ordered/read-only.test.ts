/** A directory that cannot be written is named as one, not as a store that another process has open. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { storeError } from './failure.ts'

const folder = mkdtempSync(join(tmpdir(), 'quoin-read-only-'))
chmodSync(folder, 0o755)
afterAll(() => {
  for (const kind of ['lmdb', 'level']) chmodSync(join(folder, kind), 0o755)
  rmSync(folder, { recursive: true })
})

const CHILD = fileURLToPath(new URL('./read-only.process.testing.ts', import.meta.url))

it('is ERR_STORE_READ_ONLY with the path, for a store that is there and for one to be made', () => {
  const args = ['--import', import.meta.resolve('tsx'), CHILD, folder]
  const { errors, readOnly } = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as {
    errors: { kind: string; at: string; code: string; message: string }[]
    readOnly: boolean
  }
  expect(errors).toHaveLength(4)
  for (const { at, code, message } of errors) {
    expect({ at, code }).toEqual({ at, code: 'ERR_STORE_READ_ONLY' })
    expect(message).toContain(`${at} cannot be written`)
  }
  // It can be read all the same.
  expect(readOnly).toBe(true)
})

describe('a database that may not write its lock', () => {
  it.each([
    { code: 13, message: 'Permission denied: Attempting to setup locks' },
    { code: 1, message: 'Operation not permitted: Attempting to setup locks' },
    { code: 30, message: 'Read-only file system: Attempting to setup locks' },
    { code: 'LEVEL_X', message: 'failed', cause: new Error('IO error: /x/LOCK: Read-only file system') }
  ])('$message is not locked', said => {
    expect(storeError(said, '/x')).toMatchObject({ code: 'ERR_STORE_READ_ONLY', details: { path: '/x' } })
  })

  it('a lock that another process holds still is one', () => {
    const said = { code: 'LEVEL_X', message: 'IO error: lock /x/LOCK: Resource temporarily unavailable' }
    expect(storeError(said)).toMatchObject({ code: 'ERR_STORE_LOCKED' })
  })
})
