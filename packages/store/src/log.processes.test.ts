/** One log, several processes that append to it, one that reads on: it sees every entry once, in order. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { bytes } from '../../store-contract/src/steps.ts'
import { startPostgres } from './postgres/server.testing.ts'
import { startRedis } from './redis/server.testing.ts'
import { openStore } from './store.ts'
import { latin1 } from './stores.testing.ts'

const WRITERS = ['one', 'two']
const BATCHES = 250
const LOG = 'log'
const WRITER = fileURLToPath(new URL('./log.writer.testing.ts', import.meta.url))

interface Place {
  readonly url: string
  /** For who only reads, where there is one. */
  readonly readOnly?: string
  stop(): unknown
}

const PLACES: Readonly<Record<string, () => Promise<Place>>> = {
  redis: () => startRedis(),
  postgres: () => startPostgres(),
  lmdb: async () => {
    const folder = await mkdtemp(join(tmpdir(), 'quoin-log-'))
    const url = `lmdb:${folder}`
    await (await openStore(url)).close()
    return {
      url,
      readOnly: `${url}?read-only`,
      stop: () => rmSync(folder, { recursive: true, force: true })
    }
  }
}

it.each(Object.keys(PLACES))('%s: two processes append, a third sees all of it in order', async name => {
  const place = await PLACES[name]!()
  const store = await openStore(place.readOnly ?? place.url)
  const writers = WRITERS.map(writer =>
    spawn(
      process.execPath,
      ['--import', import.meta.resolve('tsx'), WRITER, place.url, LOG, writer, String(BATCHES)],
      { stdio: ['pipe', 'pipe', 'inherit'] }
    )
  )
  const exits = writers.map(writer => once(writer, 'exit'))
  try {
    await Promise.all(writers.map(writer => once(writer.stdout, 'data')))
    for (const writer of writers) writer.stdin.end('go')
    let isDone = false
    const done = Promise.all(exits).finally(() => {
      isDone = true
    })

    const log = store.log(bytes(LOG))
    const found: string[] = []
    let pages = 0
    for (let isLast = false; !isLast; ) {
      isLast = isDone
      const { entries, last } = await log.read({ after: found.length })
      expect(entries.map(({ position }) => position)).toStrictEqual(
        entries.map((_, i) => found.length + 1 + i)
      )
      found.push(...entries.map(({ entry }) => latin1(entry)))
      expect(last).toBeGreaterThanOrEqual(found.length)
      if (entries.length > 0) pages++
      await sleep(1)
    }
    expect(await done).toStrictEqual(WRITERS.map(() => [0, null]))
    expect(pages).toBeGreaterThan(1)
    const written = [...WRITERS, 'common'].flatMap(writer =>
      Array.from({ length: BATCHES }, (_, i) => `${writer} ${i}`)
    )
    expect(found.toSorted()).toStrictEqual(written.toSorted())
    expect(await log.last()).toBe(written.length)
  } finally {
    for (const writer of writers) writer.kill('SIGKILL')
    await store.close()
    await place.stop()
  }
})
