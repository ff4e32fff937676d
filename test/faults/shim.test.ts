/** The recorder sees every write: what it recorded, replayed, is what the files are. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { Disk } from './disk.ts'
import { newRandom } from './random.ts'
import { startSimulator, writer } from './simulator.ts'

const simulator = startSimulator()
afterAll(() => simulator.close())

/** Locks do not outlive a crash, and LOG is for people. */
const UNRECORDED = ['lock.mdb', 'LOCK', 'LOG', 'LOG.old']

const filesIn = (folder: string): Record<string, string> =>
  Object.fromEntries(
    (readdirSync(folder, { recursive: true }) as string[])
      .filter(name => statSync(join(folder, name)).isFile() && !UNRECORDED.includes(name.split('/').at(-1)!))
      .map(name => [name, readFileSync(join(folder, name)).toString('base64')])
  )

describe.each([
  ['lmdb', 2, undefined],
  ['level', 1, undefined],
  ['level', 1, 'small-level.mjs']
] as const)('%s with %i writers (%s)', (kind, writers, preload) => {
  it('leaves the files that its trace leaves', async () => {
    const folder = simulator.newFolder()
    const disk = new Disk(folder, 'strict', newRandom(1))
    const url = `${kind}:${join(folder, 'a/b')}`
    const { events } = await simulator.record(
      folder,
      Array.from({ length: writers }, (_, i) => writer(url, 2000 + i * 100, 100, 4, preload))
    )
    for (const event of events) disk.apply(event)
    const replayed = [...disk.cached()].flatMap(([name, content]) =>
      content === 'directory' ? [] : [[name, Buffer.from(content).toString('base64')]]
    )
    expect(Object.fromEntries(replayed)).toEqual(filesIn(folder))
    expect(events.filter(({ type }) => type === 'line')).toHaveLength(writers * 100)
    // The small buffers do what they are for.
    const logs = events.filter(event => event.type === 'create' && event.name.endsWith('.log'))
    if (preload) expect(logs.length).toBeGreaterThan(3)
  })
})
