/**
 * Kills what writes, at random moments, and looks at what is left: every acknowledged batch is whole, and no other is
 * there in part. QUOIN_CRASHES says how often each; `npm run test:crash` does it 200 times.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { openStore, type Store } from '@quoin/store'
import { afterAll, describe, expect, it } from 'vitest'
import { startRedis } from '../packages/store/src/redis/server.testing.ts'
// @ts-expect-error The child runs it without a compiler, so it has no types.
import { numberedBatch, partsOf, totals } from './crash.workload.mjs'

const CRASHES = Number(process.env['QUOIN_CRASHES'] ?? 6)
const child = fileURLToPath(new URL('crash.child.mjs', import.meta.url))
const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'quoin-crash-'))
  folders.push(folder)
  return folder
}
const sleep = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))

/** Looks at batches from `first` on, and returns the number of the first that was never written. */
const expectWhole = async (store: Store, first: number, acknowledged: ReadonlySet<number>, tried: number) => {
  let present = 0
  for (let n = first; n < tried; n++) {
    const parts: Record<string, boolean> = await partsOf(store, n)
    const there = Object.values(parts).filter(Boolean).length
    const whole = there === Object.values(parts).length
    if (acknowledged.has(n)) expect(parts, `acknowledged batch ${n}`).toSatisfy(() => whole)
    else expect(parts, `batch ${n}`).toSatisfy(() => whole || there === 0)
    if (whole) present++
  }
  return present
}

const expectTotals = async (store: Store, present: number): Promise<void> => {
  expect(await totals(store, present)).toEqual({
    card: present,
    rows: present,
    counter: present,
    hashes: present,
    members: present,
    due: present
  })
}

describe.concurrent.each(['lmdb', 'level'])('%s', scheme => {
  it.each([
    ['is killed', 'SIGKILL', CRASHES],
    // By which it takes down the thread that writes.
    ['ends itself', 'SIGTERM', Math.ceil(CRASHES / 4)]
  ] as const)(
    'survives that the process that writes %s (%s, %i times)',
    async (_, signal, crashes) => {
      let url = ''
      let first = 0
      let present = 0
      let acknowledgedInAll = 0
      for (let crash = 0; crash < crashes; crash++) {
        // A new store now and then, so that its beginnings are killed too.
        if (crash % 20 === 0) [url, first, present] = [`${scheme}:${newFolder()}`, 0, 0]
        const inFlight = [1, 8, 64][crash % 3]!
        const writer = spawn(process.execPath, [child, url, `${first}`, `${inFlight}`], {
          stdio: ['ignore', 'pipe', 'inherit']
        })
        const acknowledged = new Set<number>()
        const lines = createInterface(writer.stdout)
        lines.on('line', line => acknowledged.add(Number(line)))
        const ended = once(lines, 'close')
        // One in five is killed before it has written anything.
        if (crash % 5 !== 4)
          await Promise.race([
            once(lines, 'line'),
            ended.then(() => Promise.reject(new Error('the writer ended by itself')))
          ])
        await sleep(Math.random() * (crash % 5 === 4 ? 400 : 150))
        writer.kill(signal)
        await ended
        const tried = Math.max(first - 1, ...acknowledged) + 1 + inFlight + 1
        const store = await openStore(url)
        try {
          present += await expectWhole(store, first, acknowledged, tried)
          await expectTotals(store, present)
          await numberedBatch(store, tried).commit()
          present++
        } finally {
          await store.close()
        }
        acknowledgedInAll += acknowledged.size
        first = tried + 1
      }
      expect(acknowledgedInAll).toBeGreaterThan(crashes)
    },
    CRASHES * 15_000
  )
})

/** Writes until told to stop; what fails is not acknowledged. */
const writeTo = (store: Store, first: number) => {
  const acknowledged = new Set<number>()
  let next = first
  let stopped = false
  const write = async (): Promise<void> => {
    while (!stopped) {
      const n = next++
      try {
        await numberedBatch(store, n).commit()
        acknowledged.add(n)
      } catch (error) {
        expect(error).toMatchObject({ code: 'ERR_STORE_CONNECTION' })
        await sleep(5)
      }
    }
  }
  const writers = Array.from({ length: 32 }, write)
  return {
    acknowledged,
    stop: async () => {
      stopped = true
      await Promise.all(writers)
      return next
    }
  }
}

describe.concurrent('Redis', () => {
  const kills = Math.max(2, Math.ceil(CRASHES / 10))
  it(
    `survives ${kills} kills of the server`,
    async () => {
      const server = await startRedis({ appendonly: true, appendfsync: 'always' })
      let store = await openStore(server.url)
      try {
        let first = 0
        let present = 0
        for (let kill = 0; kill < kills; kill++) {
          const writing = writeTo(store, first)
          await sleep(100 + Math.random() * 300)
          await server.kill()
          await sleep(Math.random() * 200)
          await server.restart()
          await sleep(200)
          const tried = await writing.stop()
          expect(writing.acknowledged.size).toBeGreaterThan(0)
          await store.close()
          store = await openStore(server.url)
          present += await expectWhole(store, first, writing.acknowledged, tried)
          await expectTotals(store, present)
          first = tried
        }
      } finally {
        await store.close()
        await server.stop()
      }
    },
    kills * 60_000
  )
})
