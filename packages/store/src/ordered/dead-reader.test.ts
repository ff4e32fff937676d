/** A process that is killed while it reads an LMDB store leaves its place in the lock file, with the state that it read. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { bytes } from '../../../store-contract/src/steps.ts'
import { openStore } from '../store.ts'

const folder = mkdtempSync(join(tmpdir(), 'quoin-dead-reader-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const READER = fileURLToPath(new URL('./dead-reader.testing.ts', import.meta.url))
const COMMITS = 50
const VALUE_BYTES = 20_000

it('does not keep the pages of the state that it read', async () => {
  const store = await openStore(`lmdb:${folder}`)
  const write = async (): Promise<void> => {
    for (let i = 0; i < COMMITS; i++) await store.set(bytes('v'), new Uint8Array(VALUE_BYTES).fill(i))
  }
  const size = (): number => statSync(join(folder, 'data.mdb')).size
  await write()
  const reader = spawn(
    process.execPath,
    ['--import', import.meta.resolve('tsx'), READER, `lmdb:${folder}?read-only`],
    { stdio: ['ignore', 'pipe', 'inherit'] }
  )
  try {
    await once(reader.stdout, 'data')
    const before = size()
    await write()
    // While it lives, its state is kept.
    expect(size()).toBeGreaterThan(before + (COMMITS * VALUE_BYTES) / 2)
    reader.kill('SIGKILL')
    await once(reader, 'exit')
    await sleep(1100)
    await write()
    const after = size()
    await write()
    await write()
    expect(size()).toBe(after)
  } finally {
    reader.kill('SIGKILL')
    await store.close()
  }
})
