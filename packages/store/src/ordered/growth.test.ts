/** An LMDB file that outgrows its map, from nothing to 200 MB, while others read it: nobody has to start again. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { bytes } from '../../../store-contract/src/steps.ts'
import { openStore } from '../store.ts'

const folder = mkdtempSync(join(tmpdir(), 'quoin-growth-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const READER = fileURLToPath(new URL('./growth.testing.ts', import.meta.url))
const COMMITS = 100
const ROWS = 20
const ROW_BYTES = 100_000

it('is read by this process, another one, and a snapshot from before, all the while', async () => {
  const store = await openStore(`lmdb:${folder}`)
  await store.set(bytes('before'), bytes('growth'))
  const reader = spawn(
    process.execPath,
    ['--import', import.meta.resolve('tsx'), READER, `lmdb:${folder}?read-only`, String(COMMITS * ROWS)],
    { stdio: ['ignore', 'pipe', 'inherit'] }
  )
  const ended = once(reader, 'exit')
  try {
    await once(reader.stdout, 'data')
    await store.snapshot(async before => {
      for (let row = 0; row < COMMITS * ROWS; row += ROWS) {
        const batch = store.batch().set(bytes('newest'), bytes(String(row + ROWS)))
        for (let i = row + 1; i <= row + ROWS; i++) {
          batch.set(bytes(`row ${i}`), new Uint8Array(ROW_BYTES).fill(i % 251))
        }
        await batch.commit()
        expect((await store.get(bytes(`row ${row + ROWS}`)))?.at(-1)).toBe((row + ROWS) % 251)
        expect(Buffer.from((await before.get(bytes('before'))) ?? []).toString()).toBe('growth')
        expect(await before.get(bytes('newest'))).toBeUndefined()
      }
    })
    expect(statSync(join(folder, 'data.mdb')).size).toBeGreaterThan(200_000_000)
    expect(await ended).toEqual([0, null])
  } finally {
    reader.kill()
    await store.close()
  }
})
